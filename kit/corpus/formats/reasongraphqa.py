"""ReasonGraphQA (Zhu et al. 2022, bgr.txt §4): JSON lists in which each question has a small database of facts.

``order_true_fact`` are the facts that a question needs, each with the texts of those ``before`` and ``after`` it in the
evidence graph. Read as the code at https://github.com/zhu-minjun/Graphhop does; the files themselves were never seen.
"""

from hashlib import blake2b
from typing import Annotated

import msgspec
from msgspec import Meta

from kit.corpus.source import Item, Source, Unexpected, quote
from kit.corpus.types import EvidenceGraph, FullText, Question


class Relation(msgspec.Struct):
    before: list[str]
    after: list[str]


class TrueFact(msgspec.Struct):
    facts: str
    relation: Relation


class Function(msgspec.Struct):
    function: str


class GraphQuestion(msgspec.Struct):
    question: FullText
    fact: Annotated[list[FullText], Meta(min_length=1)]
    order_true_fact: Annotated[list[TrueFact], Meta(min_length=1)]
    program: list[Function] = []
    answer: str = ""


def to_item(published: GraphQuestion, source: Source) -> Item:
    """The question; its id is made of its text and facts, its type is the last function of its program.

    Nodes are matched by their text. Supports stand in an order that the graph allows, as published where it is open.
    """
    own = {text: source.add("", text) for text in published.fact}
    nodes, edges = list(dict.fromkeys(it.facts for it in published.order_true_fact)), []
    for number, it in enumerate(published.order_true_fact):
        if it.facts not in own:
            expected = f"expected one of the question's facts, not {quote(it.facts)}"
            raise Unexpected(expected, f"order_true_fact[{number}].facts")
        for side, texts in (("before", it.relation.before), ("after", it.relation.after)):
            if other := [text for text in texts if text not in nodes]:
                field = f"order_true_fact[{number}].relation.{side}"
                raise Unexpected(f"expected facts of this list, not {quote(other[0])}", field)
        place = nodes.index(it.facts)
        edges += [(nodes.index(text), place) for text in it.relation.before]
        edges += [(place, nodes.index(text)) for text in it.relation.after]
    graph = EvidenceGraph.of(len(nodes), edges)
    if graph is None:
        raise Unexpected("expected a graph without a cycle", "order_true_fact")
    order = list(graph.order)
    evidence = EvidenceGraph.of(
        len(nodes), [(order.index(i), order.index(j)) for i, j in graph.edges]
    )
    id = blake2b(
        "\n".join([published.question, *published.fact]).encode(), digest_size=8
    ).hexdigest()
    supporting = tuple((own[nodes[place]],) for place in order)
    type = published.program[-1].function if published.program else ""
    question = Question(
        id, published.question, published.answer, supporting, type=type, evidence=evidence
    )
    return Item(question, own=tuple(dict.fromkeys(own.values())))
