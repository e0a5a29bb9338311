"""2WikiMultiHopQA (Ho et al. 2020, https://github.com/Alab-NII/2wikimultihop).

It has HotpotQA's shape with evidence triples: ``evidences`` are (subject, relation, object).
``qa_pairs``, where another project added them, are sub-questions with answers, one per triple.
"""

import re
from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from kit.corpus.formats import hotpotqa
from kit.corpus.source import Item, Source
from kit.corpus.types import Edge, EvidenceGraph, PlainTriple, SubQuestion

Links = tuple[Edge, ...]

#: Which triple's object is which triple's subject, by type of question (Ho et al. 2020, §2.2). A
#: comparison puts two facts side by side, a compositional or inference question chains two, a
#: bridge comparison compares two chains.
CHAINS = {
    "comparison": (),
    "compositional": ((0, 1),),
    "inference": ((0, 1),),
    "bridge_comparison": ((0, 2), (1, 3)),
}


class QaPair(Struct):
    question: str
    answer: str


class WikiQuestion(hotpotqa.HotpotQuestion, kw_only=True):
    evidences: tuple[PlainTriple, ...] = ()
    qa_pairs: tuple[QaPair, ...] = ()


def to_item(published: WikiQuestion, source: Source) -> Item:
    """The question; supports stand in the order of the triples that they carry.

    Where that is unclear they stand as published.
    """
    item = hotpotqa.to_item(published, source)
    supporting = item.question.supporting
    triples = published.evidences
    titles = [source.title(passage_id) for (passage_id,) in supporting]

    carriers = _carriers(triples, titles)
    links = CHAINS.get(published.type)
    if links and max(map(max, links)) >= len(triples):
        links = None  # a triple is missing

    evidence = None
    if None not in carriers:
        order = list(dict.fromkeys([*carriers, *range(len(titles))]))
        supporting = tuple(supporting[carrier] for carrier in order)
        carriers = [order.index(carrier) for carrier in carriers]
        if links is not None:
            edges = [(carriers[i], carriers[j]) for i, j in links]
            evidence = EvidenceGraph.acyclic(len(titles), edges)

    question = replace(
        item.question,
        supporting=supporting,
        triples=triples,
        decomposition=_decomposition(published.qa_pairs, triples, carriers, links or ()),
        evidence=evidence,
    )
    return replace(item, question=question)


def _carriers(
    triples: Sequence[PlainTriple],
    titles: list[str],
) -> list[int | None]:
    """For each triple, the index of the support that states it.

    Its title is the triple's subject. Where names differ and there are as many triples as supports,
    the others go to what is left, in published order: wherever titles can be compared, that order
    is the triples'.
    """
    supports = {_plain(title): index for index, title in enumerate(titles)}
    supports |= {title: index for index, title in enumerate(titles)}
    carriers = [supports.get(subject, supports.get(_plain(subject))) for subject, _, _ in triples]
    if len(triples) != len(titles):
        return carriers

    free = iter(sorted(set(range(len(titles))) - set(carriers)))
    return [next(free, None) if carrier is None else carrier for carrier in carriers]


def _decomposition(
    pairs: Sequence[QaPair],
    triples: Sequence[PlainTriple],
    carriers: list[int | None],
    links: Links,
) -> tuple[SubQuestion, ...]:
    """The sub-questions, each with the triple that it asks for.

    It is the triple whose subject stands in the question and whose object stands in the answer:
    in some records the orders differ.
    """
    from scipy.optimize import linear_sum_assignment  # it takes a second to load

    if len(pairs) != len(triples):
        return tuple(SubQuestion(pair.question, pair.answer) for pair in pairs)

    fits = 1e-6 * np.eye(len(pairs))  # (pairs, triples); equal fits stay in published order
    for row, pair in enumerate(pairs):
        for column, (subject, _, value) in enumerate(triples):
            fits[row, column] += _share(subject, pair.question) + _share(value, pair.answer)
    _, assigned = linear_sum_assignment(fits, maximize=True)
    triple_of = assigned.tolist()

    steps = []
    for index, pair in enumerate(pairs):
        triple = triple_of[index]
        earlier = [step for step in range(index) if (triple_of[step], triple) in links]
        steps.append(
            SubQuestion(
                pair.question,
                pair.answer,
                support=carriers[triple],
                depends_on=tuple(earlier),
            )
        )
    return tuple(steps)


def _share(name: str, text: str) -> float:
    """The share of a name's words that stand in a text."""
    words = set(_plain(name).split())
    return len(words.intersection(_plain(text).split())) / max(len(words), 1)


def _plain(name: str) -> str:
    """A name without case, punctuation and what tells namesakes apart, as "(1930 film)"."""
    without_remark = re.sub(r"\([^()]*\)", " ", name)
    return re.sub(r"\W+", " ", without_remark).strip().casefold()
