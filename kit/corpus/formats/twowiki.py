"""2WikiMultiHopQA (Ho et al. 2020, https://github.com/Alab-NII/2wikimultihop): HotpotQA's shape with evidence triples.

``evidences`` are (subject, relation, object).
``qa_pairs``, where another project added them, are sub-questions with answers, one a triple.
"""

import re
from itertools import product

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
    question: str
    answer: str


class WikiQuestion(hotpotqa.HotpotQuestion, kw_only=True):
    evidences: list[Triple]
    qa_pairs: list[QaPair] = msgspec.field(default_factory=list)


def to_item(published: WikiQuestion, source: Source) -> Item:
    """The question; supports stand in the order of the triples that they carry, or as published if that is unclear."""
    item, triples = hotpotqa.to_item(published, source), published.evidences
    titles = [source.paragraphs[id].title for (id,) in item.question.supporting]
    carriers = _carriers(triples, titles)
    known = None not in carriers
    order = list(dict.fromkeys([*(carriers if known else ()), *range(len(titles))]))
    carriers = [None if carrier is None else order.index(carrier) for carrier in carriers]
    links = CHAINS.get(published.type)
    fits = links is not None and all(j < len(triples) for _, j in links)
    edges = [(carriers[i], carriers[j]) for i, j in links] if fits and known else ()
    question = msgspec.structs.replace(
        item.question,
        supporting=tuple(item.question.supporting[old] for old in order),
        triples=tuple(triples),
        decomposition=_decomposition(published.qa_pairs, triples, carriers, links if fits else ()),
        evidence=EvidenceGraph.of(len(titles), edges) if fits and known else None,
    )
    return msgspec.structs.replace(item, question=question)


def _carriers(triples: list[Triple], titles: list[str]) -> list[int | None]:
    """For each triple, the index of the support that states it: the one whose title is the triple's subject.

    Where names differ and there are as many triples as supports, the others go to what is left, in published order:
    wherever titles can be compared, that order is the triples'.
    """
    places = {_plain(title): index for index, title in enumerate(titles)}
    places |= {title: index for index, title in enumerate(titles)}
    carriers = [places.get(subject, places.get(_plain(subject))) for subject, _, _ in triples]
    free = iter(
        sorted(set(range(len(titles))) - set(carriers)) if len(triples) == len(titles) else ()
    )
    return [next(free, None) if carrier is None else carrier for carrier in carriers]


def _decomposition(
    pairs: list[QaPair],
    triples: list[Triple],
    carriers: list[int | None],
    links: tuple[tuple[int, int], ...],
) -> tuple[SubQuestion, ...]:
    """The sub-questions, each with the triple that it asks for: their orders differ in some records.

    It is the one whose subject stands in the question and whose object stands in the answer.
    """
    if len(pairs) != len(triples):
        return tuple(SubQuestion(pair.question, pair.answer) for pair in pairs)
    fits = 1e-6 * np.eye(len(pairs))
    for (i, pair), (j, (subject, _, object)) in product(enumerate(pairs), enumerate(triples)):
        fits[i, j] += _share(subject, pair.question) + _share(object, pair.answer)
    asked = linear_sum_assignment(fits, maximize=True)[1].tolist()
    return tuple(
        SubQuestion(
            pair.question,
            pair.answer,
            support=carriers[triple],
            depends_on=tuple(
                earlier for earlier in range(number) if (asked[earlier], triple) in links
            ),
        )
        for number, (pair, triple) in enumerate(zip(pairs, asked))
    )


def _share(name: str, text: str) -> float:
    """The share of a name's words that stand in a text."""
    words = _plain(name).split()
    return len(set(words).intersection(_plain(text).split())) / max(len(set(words)), 1)


def _plain(name: str) -> str:
    """A name without what tells namesakes apart ("(1930 film)"), case and punctuation."""
    return re.sub(r"\W+", " ", re.sub(r"\([^()]*\)", " ", name)).strip().casefold()
