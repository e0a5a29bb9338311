"""Synthetic questions for pre-training, by templates over triples (qsgnn.txt §3.3; qsgnn-i22, qsgnn-i24)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from kit.text.mentions import fold
from kit.text.triples import DATE, Extraction, Triple

CHAINS = 6  # two-hop questions over one entity and one of its triples, at most


class Synthetic(NamedTuple):
    """A question and the rows of the passages that support it."""

    text: str
    supports: tuple[int, ...]


def one_hop(extractions: Sequence[Extraction]) -> list[Synthetic]:
    """(sbj, verb, ?) and (?, verb, obj) of each triple; the support is its passage."""
    return [
        Synthetic(text, (row,))
        for row, extraction in enumerate(extractions)
        for triple in extraction.triples
        for text in (_object(triple, triple.subject), _subject(triple, triple.object))
    ]


def two_hop(extractions: Sequence[Extraction], seed: int) -> list[Synthetic]:
    """(?, verb_i, ent, verb_j, obj_j) and (sbj_i, verb_i, ent, verb_j, ?), the entity shared by two passages.

    The entity is not named; it is no date, and each pair of a triple and an entity is continued by at most ``CHAINS``
    triples, drawn by ``seed``, so that hubs don't outweigh the rest.
    """
    generator = np.random.default_rng(seed)
    of_subject: dict[str, list[tuple[int, Triple]]] = defaultdict(list)
    for row, extraction in enumerate(extractions):
        for triple in extraction.triples:
            of_subject[fold(triple.subject)].append((row, triple))
    return list(
        chain.from_iterable(
            _chains(row, triple, of_subject[fold(triple.object)], generator)
            for row, extraction in enumerate(extractions)
            for triple in extraction.triples
            if fold(triple.object) in of_subject and not DATE.fullmatch(triple.object)
        )
    )


def _chains(
    row: int, first: Triple, following: Sequence[tuple[int, Triple]], generator: np.random.Generator
) -> Iterator[Synthetic]:
    others = [(other, triple) for other, triple in following if other != row]
    for pick in generator.permutation(len(others))[:CHAINS]:
        other, second = others[pick]
        if fold(second.object) != fold(first.subject):
            supports = (row, other)
            yield Synthetic(_object(second, f"the one that {first.subject} {first.relation}"), supports)
            yield Synthetic(_subject(first, f"the one that {second.relation} {second.object}"), supports)


def _object(triple: Triple, subject: str) -> str:
    return f"{subject} {triple.relation} what?"


def _subject(triple: Triple, object: str) -> str:
    return f"What {triple.relation} {object}?"
