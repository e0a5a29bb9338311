"""How QSGNN's time a question grows with the corpus: in a graph around the question, and in the whole one.

Passages and questions are those of atlases of several sizes. Vectors are hashed counts of words: time depends on which
passages are near to one another, not on how well an encoder reads, and 100,000 passages have half a million sentences.
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from sklearn.feature_extraction.text import HashingVectorizer

from kit.corpus import generated
from kit.retrievers.qsgnn import QSGNN
from kit.runs.bench import peak_memory
from kit.text.precision import one_thread

_DIMENSION, _QUESTIONS, _DEPTH = 384, 20, 10
_MOST_WHOLE = 3_000  # passages of the largest corpus whose whole graph is passed for a question
_COLUMNS = "{:>9} {:>9} {:>10} {:>10} {:>12} {:>10} {:>11} {:>10} {:>9}"


def bench_qsgnn(sizes: Sequence[int]) -> Iterator[str]:
    """Lines of a table: milliseconds a question on one core, one after the other, each corpus in its own process.

    ``dense`` is the search that both begin with, ``around`` the graph of 60 documents, ``whole`` that of all, up to
    3,000 passages. Indexing is the extraction of triples and the graph. Vectors of texts and questions are left out.
    """
    times = ("indexing, s", "dense, ms", "around, ms", "whole, ms")
    yield _COLUMNS.format("passages", "entities", "sentences", "edges", *times, "peak MiB")
    spawn = multiprocessing.get_context("spawn")
    for size in sizes:
        with spawn.Pool(1) as pool:
            yield pool.apply(_measure, (size,))


def _measure(size: int) -> str:
    world = generated("atlas", size=size, test=_QUESTIONS)
    queries = [question.query for question in world.test]
    retriever = QSGNN()
    retriever.encoder = _Hashed()  # type: ignore[assignment]
    begun = time.perf_counter()
    retriever.index(world.corpus)
    indexing = time.perf_counter() - begun
    graph = retriever.surroundings.graph
    with one_thread():
        vectors = retriever.encoder.encode([query.text for query in queries])
        dense = _median(lambda row: retriever.surroundings.nearest.search(vectors[row : row + 1], _DEPTH))
        around = _median(lambda row: retriever.retrieve_many(queries[row : row + 1], _DEPTH))
        whole = np.nan
        if len(world.corpus) <= _MOST_WHOLE:
            retriever.documents = 0
            whole = _median(lambda row: retriever.retrieve_many(queries[row : row + 1], _DEPTH), 5)
    sizes = (len(world.corpus), len(graph.entities), len(graph.chunks), sum(of.shape[1] for of in graph.edges.values()))
    shown = [f"{1000 * each:.1f}" for each in (dense, around)] + ["–" if np.isnan(whole) else f"{1000 * whole:,.0f}"]
    return _COLUMNS.format(*(f"{each:,}" for each in sizes), f"{indexing:.1f}", *shown, f"{peak_memory():,.0f}")


def _median(ask: Callable[[int], object], n: int = _QUESTIONS) -> float:
    """Seconds a question, after one that is not counted."""
    taken = []
    for row in range(n):
        begun = time.perf_counter()
        ask(row)
        taken.append(time.perf_counter() - begun)
    return float(np.median(taken[1:]))


class _Hashed:
    """An encoder to which a text is the signed counts of its words in 384 places."""

    def __init__(self) -> None:
        self._vectorizer = HashingVectorizer(n_features=_DIMENSION, dtype=np.float32)

    def encode(self, texts: Sequence[str], *, role: str = "document", progress: bool = True) -> np.ndarray:
        return self._vectorizer.transform(texts).toarray()
