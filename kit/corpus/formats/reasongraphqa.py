"""ReasonGraphQA (Zhu et al. 2022, BGR §4): JSON lists.

Each question has a small database of facts. ``order_true_fact`` are the facts that a question
needs, each with the texts of those ``before`` and ``after`` it in the evidence graph.

They are read as the code at https://github.com/zhu-minjun/Graphhop does; the files themselves were
never seen.
"""

from hashlib import blake2b
from typing import Annotated

from msgspec import Struct

from kit.corpus.source import Item, Source, Unexpected, quote
from kit.corpus.types import Edge, EvidenceGraph, FullText, OneOrMore, Question


class Relation(Struct):
    before: list[str]
    after: list[str]


class TrueFact(Struct):
    facts: str
    relation: Relation


class Function(Struct):
    function: str


class GraphQuestion(Struct):
    question: FullText
    fact: Annotated[list[FullText], OneOrMore]
    order_true_fact: Annotated[list[TrueFact], OneOrMore]
    program: list[Function] = []
    answer: str = ""


def to_item(published: GraphQuestion, source: Source) -> Item:
    """The question; its id is made of its text and facts, its type is its program's last function.

    Nodes are matched by their text. Supports stand in an order that the graph allows, as published
    where the graph leaves it open.
    """
    ids = {text: source.add_paragraph("", text) for text in published.fact}
    nodes = list(dict.fromkeys(fact.facts for fact in published.order_true_fact))
    edges = []
    for index, fact in enumerate(published.order_true_fact):
        edges += _edges(fact, nodes, ids, f"order_true_fact[{index}]")

    graph = EvidenceGraph.acyclic(len(nodes), edges)
    if graph is None:
        raise Unexpected("expected a graph without a cycle", "order_true_fact")

    order = graph.order
    in_order = [(order.index(i), order.index(j)) for i, j in graph.edges]
    content = "\n".join([published.question, *published.fact])
    question = Question(
        blake2b(content.encode(), digest_size=8).hexdigest(),
        published.question,
        published.answer,
        tuple((ids[nodes[node]],) for node in order),
        type=published.program[-1].function if published.program else "",
        evidence=EvidenceGraph.acyclic(len(nodes), in_order),
    )
    return Item(question, tuple(dict.fromkeys(ids.values())))


def _edges(
    fact: TrueFact,
    nodes: list[str],
    ids: dict[str, str],
    field: str,
) -> list[Edge]:
    """The edges to and from a fact's node; ``field`` is where the fact stands."""
    if fact.facts not in ids:
        raise Unexpected(
            f"expected one of the question's facts, not {quote(fact.facts)}",
            f"{field}.facts",
        )

    relation = fact.relation
    for side, texts in (("before", relation.before), ("after", relation.after)):
        for text in texts:
            if text not in nodes:
                raise Unexpected(
                    f"expected facts of this list, not {quote(text)}",
                    f"{field}.relation.{side}",
                )

    node = nodes.index(fact.facts)
    edges = [(nodes.index(text), node) for text in relation.before]
    edges += [(node, nodes.index(text)) for text in relation.after]
    return edges
