"""Synthetic questions for pre-training, by templates over triples (qsgnn.txt §3.3; qsgnn-i22, qsgnn-i24).

The paper has questions of one and of two hops. Comparisons of two of either are added here, since published sets ask
many: they need two or four passages.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from kit.retrievers.training import sample
from kit.text.mentions import fold
from kit.text.triples import DATE, Extraction, Triple

CHAINS = 12  # over one entity, at most
ALIKE = 40  # comparisons of triples that say the same, at most
#: How many of the questions are of which kind.
SHARES = {"one hop": 0.2, "two hops": 0.5, "comparison of two": 0.1, "comparison of four": 0.2}


class Synthetic(NamedTuple):
    """A question and the rows of the passages that support it."""

    text: str
    supports: tuple[int, ...]


class Chain(NamedTuple):
    """Two triples: the second one's subject is the first one's object, and they stand in different passages."""

    first: Triple
    second: Triple
    rows: tuple[int, int]


def synthetic_questions(extractions: Sequence[Extraction], n: int, seed: int) -> list[Synthetic]:
    """At most ``n`` questions of the kinds of :data:`SHARES`, those of each kind drawn by ``seed``."""
    generator = np.random.default_rng(seed)
    followed = chains(extractions, generator)
    firsts = [(of.first, of.rows) for of in followed]
    triples = [(triple, (row,)) for row, of in enumerate(extractions) for triple in of.triples]
    kinds = (one_hop(extractions), two_hops(followed), comparisons(triples, generator), comparisons(firsts, generator))
    return [each for share, of in zip(SHARES.values(), kinds) for each in sample(of, round(share * n), seed)]


def one_hop(extractions: Sequence[Extraction]) -> list[Synthetic]:
    """(sbj, verb, ?) and (?, verb, obj) of each triple, where the object is no date; the support is its passage."""
    return [
        Synthetic(text, (row,))
        for row, extraction in enumerate(extractions)
        for triple in extraction.triples
        for text in (_object(triple, triple.subject), *_subject(triple, triple.object))
    ]


def chains(extractions: Sequence[Extraction], generator: np.random.Generator) -> list[Chain]:
    """(sbj_i, verb_i, ent, verb_j, obj_j), the entity shared by two passages.

    The entity is no date, and the chain does not lead back. Of those over one entity at most :data:`CHAINS` are drawn:
    else what is mentioned everywhere would support most questions, and be learned to be right.
    """
    arriving: dict[str, list[tuple[int, Triple]]] = defaultdict(list)
    leaving: dict[str, list[tuple[int, Triple]]] = defaultdict(list)
    for row, extraction in enumerate(extractions):
        for triple in extraction.triples:
            leaving[fold(triple.subject)].append((row, triple))
            if not DATE.fullmatch(triple.object):
                arriving[fold(triple.object)].append((row, triple))
    found = []
    for entity, firsts in arriving.items():
        seconds = leaving.get(entity, [])
        for pick in generator.permutation(len(firsts) * len(seconds))[:CHAINS]:
            (row, first), (other, second) = firsts[pick // len(seconds)], seconds[pick % len(seconds)]
            if row != other and fold(second.object) != fold(first.subject):
                found.append(Chain(first, second, (row, other)))
    return found


def two_hops(followed: Sequence[Chain]) -> list[Synthetic]:
    """(sbj_i, verb_i, ent, verb_j, ?) and (?, verb_i, ent, verb_j, obj_j) of each chain; the entity is not named."""
    return [
        Synthetic(text, rows)
        for first, second, rows in followed
        for text in (
            _object(second, f"the {first.relation} of {first.subject}"),
            *_subject(first, f"the {second.relation} {second.object}"),
        )
    ]


def comparisons(facts: Sequence[tuple[Triple, tuple[int, ...]]], generator: np.random.Generator) -> list[Synthetic]:
    """(sbj_i or sbj_j, verb, ?) of two triples that say the same, that is, whose last two words are the same.

    A triple comes with the rows of its support, its own passage and perhaps the one where its object is told of.
    """
    alike: dict[str, list[tuple[Triple, tuple[int, ...]]]] = defaultdict(list)
    for triple, rows in facts:
        alike[" ".join(triple.relation.lower().split()[-2:])].append((triple, rows))
    found = []
    for of in alike.values():
        for _ in range(min(len(of), ALIKE) if len(of) > 1 else 0):
            (one, supports), (other, more) = (of[pick] for pick in generator.choice(len(of), 2, replace=False))
            if not set(supports) & set(more):
                found.append(Synthetic(f"Which {one.relation}, {one.subject} or {other.subject}?", supports + more))
    return found


def _object(triple: Triple, subject: str) -> str:
    return f"{'When' if DATE.fullmatch(triple.object) else 'What'} {triple.relation} {subject}?"


def _subject(triple: Triple, object: str) -> list[str]:
    return [] if DATE.fullmatch(triple.object) else [f"What {triple.relation} {object}?"]
