"""2WikiMultiHopQA (Ho et al. 2020, https://github.com/Alab-NII/2wikimultihop): HotpotQA's shape with evidence triples.

``evidences`` are (subject, relation, object); ``evidences_id`` are the same as Wikidata ids, for some questions.
``qa_pairs``, where another project added them, are sub-questions with answers, one a triple.
"""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import numpy as np
from scipy.optimize import linear_sum_assignment

from kit.corpus.formats import hotpotqa
from kit.corpus.source import Item, Source
from kit.corpus.types import EvidenceGraph, SubQuestion

Triple = tuple[str, str, str]

#: Which triple's object is which triple's subject, by type of question (Ho et al. 2020, §2.2): a comparison puts two
#: facts side by side, a compositional or inference question chains two, a bridge comparison compares two chains.
CHAINS: dict[str, tuple[tuple[int, int], ...]] = {
    "comparison": (),
    "compositional": ((0, 1),),
    "inference": ((0, 1),),
    "bridge_comparison": ((0, 2), (1, 3)),
}


class QaPair(msgspec.Struct):
    """A sub-question."""

    question: str
    answer: str


class WikiQuestion(hotpotqa.HotpotQuestion, kw_only=True):
    """A question as published."""

    evidences: list[Triple]
    evidences_id: list[tuple[str | None, str | None, str | None]] | None = None
    qa_pairs: list[QaPair] = msgspec.field(default_factory=list)


def read(path: Path, source: Source) -> None:
    """Supports stand in the order of the triples that they carry where that is clear, else as published."""
    source.each(path, WikiQuestion, lambda published: source.ask(_to_item(published, source)))


def _to_item(published: WikiQuestion, source: Source) -> Item:
    item = hotpotqa.to_item(published, source)
    titles = [source.paragraphs[id].title for (id,) in item.question.supporting]
    carriers = _carriers(published.evidences, titles)
    known = None not in carriers
    order = list(dict.fromkeys([*(carriers if known else ()), *range(len(titles))]))
    carriers = [None if carrier is None else order.index(carrier) for carrier in carriers]
    links = _links(published)
    edges = [(carriers[i], carriers[j]) for i, j in links or ()]
    question = msgspec.structs.replace(
        item.question,
        supporting=tuple(item.question.supporting[old] for old in order),
        triples=tuple(published.evidences),
        decomposition=_decomposition(published, carriers, links or ()),
        evidence=EvidenceGraph.of(len(titles), edges) if known and links is not None else None,
    )
    return msgspec.structs.replace(item, question=question, named=tuple(item.named[old] for old in order))


def _carriers(triples: list[Triple], titles: list[str]) -> list[int | None]:
    """For each triple, the index of the support that states it: the one whose title is the triple's subject.

    Where names differ and there are as many triples as supports, the others go to what is left, in published order:
    wherever titles can be compared, that order is the triples'.
    """
    carriers: list[int | None] = []
    for subject, _, _ in triples:
        exact = [index for index, title in enumerate(titles) if title == subject]
        alike = exact or [index for index, title in enumerate(titles) if _plain(title) == _plain(subject)]
        carriers.append(alike[0] if len(alike) == 1 else None)
    free = iter(sorted(set(range(len(titles))) - set(carriers)) if len(triples) == len(titles) else ())
    return [next(free, None) if carrier is None else carrier for carrier in carriers]


def _links(published: WikiQuestion) -> tuple[tuple[int, int], ...] | None:
    """The pairs (i, j) of triples where the object of i is the subject of j; None where names and type disagree.

    Wikidata ids decide where they are given. Names are often written in two ways, so the type's pattern completes what
    they show.
    """
    pattern = CHAINS.get(published.type)
    if pattern is None or max((j for _, j in pattern), default=0) >= len(published.evidences):
        return None
    ends = [(_plain(subject), _plain(object)) for subject, _, object in published.evidences]
    if len(published.evidences_id or ()) == len(ends):
        ends = [(subject, object) for subject, _, object in published.evidences_id]
    same = {(i, j) for i, (_, end) in enumerate(ends) for j, (start, _) in enumerate(ends) if end and end == start}
    return pattern if same <= set(pattern) else None


def _decomposition(
    published: WikiQuestion, carriers: list[int | None], links: tuple[tuple[int, int], ...]
) -> tuple[SubQuestion, ...]:
    """The sub-questions, each with the triple that it asks for: their orders differ in some records.

    It is the one whose subject stands in the question and whose object stands in the answer; where nothing tells them
    apart, the orders agree.
    """
    pairs = published.qa_pairs
    if len(pairs) != len(published.evidences):
        return tuple(SubQuestion(pair.question, pair.answer) for pair in pairs)
    fits = [
        [_share(subject, pair.question) + _share(object, pair.answer) for subject, _, object in published.evidences]
        for pair in pairs
    ]
    asked = linear_sum_assignment(
        np.array(fits).reshape(len(pairs), len(pairs)) + 1e-6 * np.eye(len(pairs)), maximize=True
    )[1]
    return tuple(
        SubQuestion(
            pair.question,
            pair.answer,
            support=carriers[triple],
            depends_on=tuple(earlier for earlier in range(number) if (asked[earlier], triple) in links),
        )
        for number, (pair, triple) in enumerate(zip(pairs, asked.tolist()))
    )


def _share(name: str, text: str) -> float:
    """The share of a name's words that stand in a text."""
    words = set(_plain(name).split())
    return len(words & set(_plain(text).split())) / max(len(words), 1)


def _plain(name: str) -> str:
    """A name without what tells namesakes apart ("(1930 film)"), case and punctuation."""
    return re.sub(r"\W+", " ", re.sub(r"\([^()]*\)", " ", name)).strip().casefold()
