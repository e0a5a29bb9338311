"""Speed and memory of graph builders, GNN-Ret and QSGNN, each corpus in a process of its own, on one core."""

import resource
import sys
import timeit
from collections.abc import Callable, Sequence
from itertools import product
from multiprocessing import get_context
from types import SimpleNamespace
from typing import Any
from unittest import mock

import faiss
import numpy as np
import pandas as pd
import torch
from scipy import sparse
from sklearn.feature_extraction.text import HashingVectorizer

from kit.corpus import Corpus, Passage, Query, generated
from kit.errors import InputError
from kit.graphs import PassageGraph, TermBipartite, build, builders
from kit.retrievers import QSGNN, Dense, GNNRet
from kit.text import Encoder, Incidence

Row = dict[str, Any]

#: The sizes of the corpus that each benchmark is taken at unless others are given.
SIZES = {
    "graphs": (1_000, 10_000, 100_000),
    "gnn-ret": (20_000, 1_000_000),
    "qsgnn": (1_000, 3_000, 10_000, 30_000, 100_000),
}
TOP_KS = (5, 10)
_DIMENSION, _KEYWORDS, _BATCH, _DEPTH, _REPEATS = 384, 8, 64, 10, 5
_QUESTIONS = 20
_MOST_WHOLE = 3_000  # passages of the largest corpus whose whole graph is passed for a question of QSGNN


def bench(what: str, sizes: Sequence[int], names: Sequence[str], degrees: Sequence[int]) -> pd.DataFrame:
    """A row a case: ``graphs`` of the builders ``names``, ``gnn-ret`` over graphs of mean ``degrees``, or ``qsgnn``."""
    sizes = sizes or SIZES[what]
    for name in names:
        builders(name)  # one that there is not is told before anything is measured
    if what == "gnn-ret" and max(degrees) >= min(sizes):
        expected = f"expected mean degrees below {min(sizes)} passages, not {max(degrees)}"
        raise InputError(expected, field="degrees")
    cases = {"graphs": product(sizes, names), "gnn-ret": product(sizes, degrees, TOP_KS), "qsgnn": product(sizes)}[what]
    with get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        return pd.DataFrame(pool.starmap(_measured, [(what, *case) for case in cases], chunksize=1))


def _measured(what: str, *case: Any) -> Row:
    """The row of a case, and the peak of this process's memory."""
    torch.set_num_threads(1)
    faiss.omp_set_num_threads(1)
    row = {"graphs": _graphs, "gnn-ret": _gnn_ret, "qsgnn": _qsgnn}[what](*case)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # kilobytes on Linux, bytes on macOS
    return row | {"peak MiB": peak / (1 << (20 if sys.platform == "darwin" else 10))}


def _graphs(size: int, builder: str) -> Row:
    """A builder at its defaults on passages of the atlas. Encoding is apart, since vectors are stored."""
    corpus, built = generated("atlas", size=size).corpus, []
    encoding = _seconds(lambda: Encoder().encode([passage.full_text for passage in corpus.passages]))
    building = _seconds(lambda: built.append(build(builder, corpus)))
    row = {"builder": builder, "passages": len(corpus), "encoding, s": encoding, "build, s": building}
    return row | {"passages/s": len(corpus) / building, "mean degree": built[0].mean_degree}


def _gnn_ret(size: int, degree: int, top_k: int) -> Row:
    """Milliseconds a query, in batches of 64, over random vectors and keywords: time depends on how many there are.

    ``dense`` is the retriever of that name (faiss), ``search`` what GNN-Ret does before any message (distances to all
    passages), ``messages`` its propagation. gnn-ret.txt Table 5 (MuSiQue) has 335.77 "edges per node", by the table's
    own density |E| / |V|, so that a passage has twice as many neighbours.
    """
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
        "dense": lambda: dense.retrieve_many(queries, _DEPTH),
        "search": lambda: retriever.near(retriever.distances(vectors), _DEPTH),
        "messages": lambda: retriever.propagate(h, near),
        "GNN-Ret": lambda: retriever.retrieve_many(queries, _DEPTH),
    }
    row = {"passages": size, "mean degree": degree, "K": top_k}
    return row | {f"{part}, ms": 1000 * _seconds(work, _REPEATS) / _BATCH for part, work in times.items()}


def _qsgnn(size: int) -> Row:
    """Milliseconds a question, one after the other, over atlases; vectors are hashed counts of words.

    ``dense`` is the search that it begins with, ``subgraph`` the graph of 60 documents, ``whole`` that of all, up to
    3,000 passages. Indexing is the extraction of triples and the graph. Vectors of texts and questions are left out.
    """
    world = generated("atlas", size=size, test=_QUESTIONS)
    words = HashingVectorizer(n_features=_DIMENSION, dtype=np.float32)
    encoder = SimpleNamespace(encode=lambda texts, **_: words.transform(texts).toarray())
    retriever = QSGNN()
    with mock.patch("kit.retrievers.qsgnn.Encoder", return_value=encoder):
        indexing = _seconds(lambda: retriever.index(world.corpus))
    graph, whole = retriever.graph, retriever.variant(documents=0)

    def median(work: Callable[[Query], object], n: int = _QUESTIONS) -> float:
        return 1000 * float(np.median([_seconds(lambda it=it: work(it.query)) for it in world.test[:n]]))

    vectors = {question.query: encoder.encode([question.text]) for question in world.test}
    row = {"passages": len(world.corpus), "entities": len(graph.entities), "sentences": len(graph.chunks)}
    row |= {"edges": graph.data.num_edges, "indexing, s": indexing}
    row["dense, ms"] = median(lambda query: retriever.sampler.nearest.search(vectors[query], _DEPTH))
    row["subgraph, ms"] = median(lambda query: retriever.retrieve(query, _DEPTH))
    if size <= _MOST_WHOLE:
        row["whole, ms"] = median(lambda query: whole.retrieve(query, _DEPTH), 5)
    return row


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
