"""The facts of a corpus, as the peers search them: each triple once, with its ends and passages."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
from numpy import ndarray
from scipy import sparse

from kit.corpus.types import Texts
from kit.text import NearestNeighbours
from kit.text.derived import kept
from kit.text.entities import fold
from kit.text.triples import Extraction

MOST_SYNONYMS = 20  # of an entity
Synonyms = list[tuple[int, int, float]]  # two names and their cosine
SAMPLED = 1_000  # entities by which the usual likeness of two is measured


class Facts(NamedTuple):
    """What the triples of all passages say.

    ``texts`` are the facts in words, ``ends`` (facts, 2) their entities, whose names are
    ``entities``. ``related`` (entities, entities) counts the passages that state a fact of two, and
    ``contained`` (entities, passages) says where an entity stands.
    """

    texts: Texts
    ends: ndarray
    entities: Texts
    related: sparse.csr_array
    contained: sparse.csr_array
    stated: sparse.csr_array


def facts_of(extractions: Sequence[Extraction]) -> Facts:
    """The facts of passages with these extractions; names and facts that fold alike are one."""
    rows_of_names = {}
    rows_of_facts = {}
    entities = []
    texts = []
    ends = []
    related = []
    contained = []
    stated = []
    for passage, extraction in enumerate(extractions):
        pairs = {}
        rows = {}
        for triple in extraction.triples:
            of_fact = []
            for name in (triple.subject, triple.object):
                row = rows_of_names.setdefault(fold(name), len(entities))
                if row == len(entities):
                    entities.append(name)
                of_fact.append(row)
            text = f"{triple.subject} {triple.relation} {triple.object}"
            fact = rows_of_facts.setdefault(fold(text), len(texts))
            if fact == len(texts):
                texts.append(text)
                ends.append(of_fact)
            rows[fact] = None
            pairs[tuple(of_fact)] = None
        stated += [(fact, passage) for fact in rows]
        related += [pair for pair in pairs if pair[0] != pair[1]]
        contained += [(row, passage) for row in {row for pair in pairs for row in pair}]

    n = len(entities)
    joined = _counted(related, (n, n))
    return Facts(
        texts,
        np.array(ends, int).reshape(-1, 2),
        entities,
        joined + joined.T,
        _counted(contained, (n, len(extractions))),
        _counted(stated, (len(texts), len(extractions))),
    )


def _counted(pairs: Sequence[tuple[int, int]], shape: tuple[int, int]) -> sparse.csr_array:
    rows, columns = np.array(pairs, int).reshape(-1, 2).T
    return sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=shape)


def synonyms(vectors: ndarray, least: float) -> sparse.csr_array:
    """Edges (entities, entities) between names with like vectors, weighted by their cosine.

    ``least`` is how many standard deviations the cosine is above the mean of any two names: so an
    encoder's scale does not count. Those of many names are kept in the store.
    """
    n = len(vectors)
    content = blake2b(np.ascontiguousarray(vectors)).hexdigest()
    edges = kept(_alike, Synonyms, vectors, content, least)
    first, second, cosines = np.array(edges).reshape(-1, 3).T
    one_way = sparse.csr_array((cosines, (first.astype(int), second.astype(int))), shape=(n, n))
    return one_way.maximum(one_way.T)


def _alike(vectors: ndarray, least: float) -> Synonyms:
    """Two names, and their cosine; some pairs stand there both ways."""
    n = len(vectors)
    if n < 2:
        return []
    sampled = vectors[np.random.default_rng(0).permutation(n)[:SAMPLED]]
    usual = (sampled @ sampled.T)[np.triu_indices(len(sampled), 1)]
    scores, rows = NearestNeighbours(vectors).search(vectors, MOST_SYNONYMS + 1)
    is_alike = (scores >= usual.mean() + least * usual.std()) & (rows != np.arange(n)[:, None])
    first, rank = np.nonzero(is_alike)
    return list(zip(first.tolist(), rows[first, rank].tolist(), scores[first, rank].tolist()))
