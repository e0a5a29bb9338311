"""How much time GNN-Ret takes beside the dense search that it starts from, and how that grows with the corpus.

Vectors and keywords are random: time depends on how many there are, not on what they say. The graph is a random
incidence of passages and keywords with the mean degree of gnn-ret.txt Table 5 (MuSiQue): 335.77 "edges per node", which
by the table's own density is |E| / |V|, so that a passage has twice as many neighbours.
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Iterator, Sequence

import faiss
import numpy as np
import torch
from scipy import sparse

from kit.corpus import Corpus, Passage, Query
from kit.errors import InputError
from kit.evaluation.timing import propagation_times
from kit.graphs import PassageGraph, TermBipartite
from kit.retrievers import Dense, Retriever
from kit.retrievers.gnn_ret import GNNRet
from kit.runs.bench import peak_memory
from kit.text import Incidence

SENDERS = (5, 10)
_DIMENSION, _KEYWORDS, _BATCH, _DEPTH, _REPEATS = 384, 8, 64, 10, 5
_COLUMNS = "{:>10} {:>12} {:>4} {:>10} {:>11} {:>13} {:>12} {:>10} {:>9}"


def bench_gnn_ret(sizes: Sequence[int], degrees: Sequence[int]) -> Iterator[str]:
    """Lines of a table: milliseconds a query on one core, in batches of 64, each corpus and graph in its own process.

    ``dense`` is the retriever of that name (faiss), ``search`` what GNN-Ret does before any message (distances to all
    passages), ``messages`` its propagation; what is ``added`` to the search is the messages, the ranking and its trace.
    The encoding of the questions is left out. ``degrees`` are mean degrees. Raises InputError for one that a size does
    not allow.
    """
    if max(degrees) >= min(sizes):
        raise InputError(f"expected mean degrees below {min(sizes)} passages, not {max(degrees)}", field="degrees")
    names = ("dense, ms", "search, ms", "messages, ms", "GNN-Ret, ms", "added, ms", "peak MiB")
    yield _COLUMNS.format("passages", "mean degree", "K", *names)
    spawn = multiprocessing.get_context("spawn")
    grown: dict[tuple[int, int], list[tuple[float, float]]] = {}
    for size in sizes:
        for degree in degrees:
            with spawn.Pool(1) as pool:
                found, dense, times, peak = pool.apply(_measure, (size, degree))
            for senders, (search, messages, whole) in zip(SENDERS, times):
                grown.setdefault((degree, senders), []).append((messages, whole - search))
                shown = [f"{1000 * each:.2f}" for each in (dense, search, messages, whole, whole - search)]
                yield _COLUMNS.format(f"{size:,}", f"{found:.1f}", senders, *shown, f"{peak:,.0f}")
    for (degree, senders), of in grown.items():
        if len(sizes) > 1:
            messages, added = (f"{last / first:.1f}" for first, last in zip(of[0], of[-1]))
            more = f"{sizes[-1] / sizes[0]:g} times the passages"
            yield f"mean degree {degree}, K = {senders}, {more}: messages × {messages}, added × {added}"


def _measure(size: int, degree: int) -> tuple[float, float, list[tuple[float, float, float]], float]:
    """Mean degree; seconds a query of the dense search, and of GNN-Ret for each K; peak memory in MiB."""
    torch.set_num_threads(1)
    faiss.omp_set_num_threads(1)
    generator = np.random.default_rng(0)
    corpus = Corpus(Passage(str(row), "", "", str(row)) for row in range(size))
    graph = random_graph(corpus, degree, generator)
    sample = generator.choice(size, min(size, 1000), replace=False)
    found = float(np.mean([len(graph.neighbours(row)) for row in sample]))
    queries = [Query(str(number), "") for number in range(_BATCH)]
    dense = Dense()
    dense.encoder = _Vectors(generator)
    dense.index(corpus)
    times = []
    for senders in SENDERS:
        retriever = GNNRet(top_k=senders)
        retriever.encoder, retriever.corpus, retriever.graph = dense.encoder, corpus, graph
        retriever.vectors = dense.vectors
        parts = propagation_times(retriever, queries, [senders], _REPEATS).iloc[0]
        times.append((parts["seconds_search"], parts["seconds_messages"], _seconds(retriever, queries)))
    return found, _seconds(dense, queries), times, peak_memory()


class _Vectors:
    """An encoder to which every text is a random unit vector."""

    def __init__(self, generator: np.random.Generator) -> None:
        self._generator = generator

    def encode(self, texts: Sequence[str], *, role: str = "document", progress: bool = True) -> np.ndarray:
        vectors = self._generator.standard_normal((len(texts), _DIMENSION), np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors


def random_graph(corpus: Corpus, degree: int, generator: np.random.Generator) -> PassageGraph:
    """Passages with eight random keywords each, of so many that they have ``degree`` neighbours on average."""
    n = len(corpus)
    # Two passages share Poisson(8² / terms) keywords; one or more in degree / n of all pairs.
    terms = max(1, round(_KEYWORDS**2 / -np.log1p(-degree / n)))
    columns = generator.integers(terms, size=n * _KEYWORDS)
    matrix = sparse.csr_array((np.ones(len(columns), np.float32), (np.repeat(np.arange(n), _KEYWORDS), columns)))
    return PassageGraph(corpus, {"random": TermBipartite(Incidence(matrix, np.arange(matrix.shape[1])))})


def _seconds(retriever: Retriever, queries: Sequence[Query]) -> float:
    """Seconds a query: the median of several batches, after one that is not counted."""
    taken = []
    for _ in range(1 + _REPEATS):
        begun = time.perf_counter()
        retriever.retrieve_many(queries, _DEPTH)
        taken.append(time.perf_counter() - begun)
    return float(np.median(taken[1:])) / len(queries)
