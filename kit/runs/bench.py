"""Speed and memory of graph builders, GNN-Ret and QSGNN, each corpus in a process of its own, on one core."""

from __future__ import annotations

import multiprocessing
import resource
import sys
import time
import timeit
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product
from types import SimpleNamespace
from unittest import mock

import faiss
import numpy as np
import torch
from scipy import sparse
from sklearn.feature_extraction.text import HashingVectorizer

from kit.corpus import Corpus, Passage, Query, generated
from kit.errors import InputError
from kit.evaluation.graph_quality import describe_graph
from kit.graphs import BUILDERS, PassageGraph, TermBipartite, build
from kit.retrievers import QSGNN, Dense, GNNRet
from kit.text import Encoder, Incidence

Row = dict[str, float | str]

TOP_KS = (5, 10)
_DIMENSION, _KEYWORDS, _BATCH, _DEPTH, _REPEATS = 384, 8, 64, 10, 5
_QUESTIONS = 20
_MOST_WHOLE = 3_000  # passages of the largest corpus whose whole graph is passed for a question of QSGNN


def bench_graphs(
    builders: Sequence[str] = tuple(BUILDERS), sizes: Sequence[int] = (1_000, 10_000, 100_000)
) -> Iterator[str]:
    """Each builder at its defaults on passages of the atlas. Encoding is apart, since vectors are stored."""
    for builder in builders:
        build(builder, Corpus([]))  # a name that there is not is told before anything is measured
    return _table(_graphs, product(sizes, builders))


def bench_gnn_ret(sizes: Sequence[int] = (20_000, 1_000_000), degrees: Sequence[int] = (336, 672)) -> Iterator[str]:
    """Milliseconds a query, in batches of 64, over random vectors and keywords: time depends on how many there are.

    ``dense`` is the retriever of that name (faiss), ``search`` what GNN-Ret does before any message (distances to all
    passages), ``messages`` its propagation. gnn-ret.txt Table 5 (MuSiQue) has 335.77 "edges per node", by the table's
    own density |E| / |V|, so that a passage has twice as many neighbours.
    """
    if max(degrees) >= min(sizes):
        expected = f"expected mean degrees below {min(sizes)} passages, not {max(degrees)}"
        raise InputError(expected, field="degrees")
    return _table(_gnn_ret, product(sizes, degrees, TOP_KS))


def bench_qsgnn(sizes: Sequence[int] = (1_000, 3_000, 10_000, 30_000, 100_000)) -> Iterator[str]:
    """Milliseconds a question, one after the other, over atlases; vectors are hashed counts of words.

    ``dense`` is the search that it begins with, ``subgraph`` the graph of 60 documents, ``whole`` that of all, up to
    3,000 passages. Indexing is the extraction of triples and the graph. Vectors of texts and questions are left out.
    """
    return _table(_qsgnn, product(sizes))


BENCHMARKS: dict[str, Callable[..., Iterator[str]]] = {
    "graphs": bench_graphs,
    "gnn-ret": bench_gnn_ret,
    "qsgnn": bench_qsgnn,
}


def _table(measure: Callable[..., Row], cases: Iterable[tuple]) -> Iterator[str]:
    """Lines of a table: a row a case, measured in its own process, and the peak of that process's memory."""
    for number, case in enumerate(cases):
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            row = pool.apply(_measured, (measure, case))
        lines = [list(row), [_shown(value) for value in row.values()]]
        for cells in lines[number > 0 :]:
            yield "  ".join(f"{cell:>{max(10, len(name))}}" for name, cell in zip(row, cells))


def _shown(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:,.4g}" if value < 1000 else f"{value:,.0f}"


def _measured(measure: Callable[..., Row], case: tuple) -> Row:
    torch.set_num_threads(1)
    faiss.omp_set_num_threads(1)
    row = measure(*case)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # kilobytes on Linux, bytes on macOS
    return row | {"peak MiB": peak / (1 << (20 if sys.platform == "darwin" else 10))}


def _graphs(size: int, builder: str) -> Row:
    corpus = generated("atlas", size=size).corpus
    row: Row = {"builder": builder, "passages": len(corpus)}
    if "encoder" in BUILDERS[builder].__struct_fields__:
        row["encoding, s"] = _seconds(lambda: Encoder().encode([passage.full_text for passage in corpus.passages]))
    begun = time.perf_counter()
    graph = build(builder, corpus)
    built = time.perf_counter()
    degree = describe_graph(graph)["mean_degree"]
    counted = time.perf_counter()
    row |= {"build, s": built - begun, "statistics, s": counted - built}
    return row | {"passages/s": len(corpus) / (counted - begun), "mean degree": degree}


def _gnn_ret(size: int, degree: int, top_k: int) -> Row:
    generator = np.random.default_rng(0)
    corpus = Corpus(Passage(str(row), "", "", str(row)) for row in range(size))
    queries = [Query(str(number), "") for number in range(_BATCH)]

    def encode(texts: Sequence[str], **_: object) -> np.ndarray:
        """Random unit vectors."""
        vectors = generator.standard_normal((len(texts), _DIMENSION), np.float32)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    dense, retriever = Dense(), GNNRet(top_k=top_k)
    dense.learned = retriever.encoder = SimpleNamespace(encode=encode)
    dense.index(corpus)
    retriever.corpus, retriever.graph = corpus, random_graph(corpus, degree, generator)
    retriever.vectors = dense.vectors
    vectors = encode(queries)
    h = retriever.distances(vectors)
    near = retriever.near(h, _DEPTH)
    times = {
        "dense": _seconds(lambda: dense.retrieve_many(queries, _DEPTH), _REPEATS) / _BATCH,
        "search": _seconds(lambda: retriever.near(retriever.distances(vectors), _DEPTH), _REPEATS) / _BATCH,
        "messages": _seconds(lambda: retriever.propagate(h, near), _REPEATS) / _BATCH,
        "GNN-Ret": _seconds(lambda: retriever.retrieve_many(queries, _DEPTH), _REPEATS) / _BATCH,
    }
    sample = generator.choice(size, min(size, 1000), replace=False)
    found = float(np.mean([len(retriever.graph.neighbours(row)) for row in sample]))
    return {"passages": size, "mean degree": found, "K": top_k} | _milliseconds(times)


def _qsgnn(size: int) -> Row:
    world = generated("atlas", size=size, test=_QUESTIONS)
    words = HashingVectorizer(n_features=_DIMENSION, dtype=np.float32)
    encoder = SimpleNamespace(encode=lambda texts, **_: words.transform(texts).toarray())
    retriever = QSGNN()
    with mock.patch("kit.retrievers.qsgnn.Encoder", return_value=encoder):
        indexing = _seconds(lambda: retriever.index(world.corpus))
    queries = [question.query for question in world.test]
    vectors = encoder.encode([query.text for query in queries])
    times = {
        "dense": np.median([_seconds(lambda v=v: retriever.sampler.nearest.search(v[None], _DEPTH)) for v in vectors]),
        "subgraph": np.median([_seconds(lambda q=q: retriever.retrieve(q, _DEPTH)) for q in queries]),
    }
    if len(world.corpus) <= _MOST_WHOLE:
        unlimited = retriever.variant(documents=0)
        times["whole"] = np.median([_seconds(lambda q=q: unlimited.retrieve(q, _DEPTH)) for q in queries[:5]])
    graph = retriever.graph
    counts = {"entities": len(graph.entities), "sentences": len(graph.chunks), "edges": graph.data.num_edges}
    return {"passages": len(world.corpus), **counts, "indexing, s": indexing} | _milliseconds(times)


def _milliseconds(seconds: dict[str, float]) -> Row:
    return {f"{name}, ms": 1000 * value for name, value in seconds.items()}


def _seconds(work: Callable[[], object], repeats: int = 0) -> float:
    """Seconds that the work takes: the first time, or the median of several after one that is not counted."""
    taken = timeit.repeat(work, repeat=1 + repeats, number=1)
    return float(np.median(taken[1:] or taken))


def random_graph(corpus: Corpus, degree: int, generator: np.random.Generator) -> PassageGraph:
    """Passages with eight random keywords each, of so many that they have ``degree`` neighbours on average."""
    n = len(corpus)
    # Two passages share Poisson(8² / terms) keywords; one or more in degree / n of all pairs.
    terms = max(1, round(_KEYWORDS**2 / -np.log1p(-degree / n)))
    columns = generator.integers(terms, size=n * _KEYWORDS)
    matrix = sparse.csr_array((np.ones(len(columns), np.float32), (np.repeat(np.arange(n), _KEYWORDS), columns)))
    return PassageGraph(corpus, {"random": TermBipartite(Incidence(matrix, np.arange(matrix.shape[1])))})
