"""Speed and memory of some methods, each corpus in a process of its own, on one core.

``python -m tests.benchmarks gnn-ret --passages 20000 100000`` prints a table; a million passages
take 5 GB of memory.
"""

import argparse
import os
import resource
import sys
import timeit
from collections.abc import Callable, Sequence
from itertools import product
from multiprocessing import get_context
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

import faiss
import numpy as np
import pandas as pd
import torch
from scipy import sparse

from kit.corpus import Corpus, Passage, Query
from kit.evaluation.timing import time_index
from kit.graphs import PassageGraph, TermBipartite
from kit.methods import make
from kit.methods.baselines.classic import Dense
from kit.methods.gnn_ret.retriever import GNNRet
from kit.methods.graph_reranker.logistic import Logistic
from kit.methods.graph_reranker.retriever import GraphReranker
from kit.methods.qsgnn.retriever import QSGNN
from kit.text import BipartiteIncidence, Encoder
from kit.worlds import generated

Row = dict[str, Any]

#: The sizes of the corpus that each benchmark is taken at unless others are given.
SIZES = {
    "gnn-ret": (20_000, 1_000_000),
    "qsgnn": (1_000, 3_000, 10_000, 30_000, 100_000),
    "graph-reranker": (2_000, 6_500),
    "collections": (10_000, 100_000),
}
DEGREES = (336, 672)  # the two readings of "edges per node" in GNN-Ret Table 5 (MuSiQue)
TOP_KS = (5, 10)
QUERIES = 64  # in a batch for GNN-Ret
DIMENSION = 384
KEYWORDS = 8  # of a passage
DEPTH = 10  # passages that are retrieved
RUNS = 5  # that are timed
#: That search collections of any size.
SEARCHED_BY = ("bm25", "dense", "gnn-ret", "pagerank", "hipporag2", "linear", "fuse(bm25, gnn-ret)")
CANDIDATES = (60, 300)  # that the graph reranker reorders
MOST_WHOLE = 3_000  # passages of the largest corpus whose whole graph QSGNN passes


def bench(
    method: str, sizes: Sequence[int] | None = None, degrees: Sequence[int] = DEGREES
) -> pd.DataFrame:
    """A row per case: of ``gnn-ret`` over graphs of mean ``degrees``, or of another method."""
    sizes = sizes or SIZES[method]
    if method == "gnn-ret":
        cases = product([method], sizes, degrees, TOP_KS)
    elif method == "collections":
        cases = product([method], sizes, SEARCHED_BY)
    else:
        cases = product([method], sizes)
    with get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        rows = pool.starmap(measure, cases, chunksize=1)
    return pd.DataFrame(rows)


def measure(method: str, *case: Any) -> Row:
    """The row of a case, and the peak of this process's memory."""
    torch.set_num_threads(1)
    faiss.omp_set_num_threads(1)
    measures = {
        "gnn-ret": measure_gnn_ret,
        "qsgnn": measure_qsgnn,
        "graph-reranker": measure_graph_reranker,
        "collections": measure_collection,
    }
    row = measures[method](*case)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    units_per_mib = 1 << 20 if sys.platform == "darwin" else 1 << 10  # bytes, or kilobytes
    return row | {"peak MiB": peak / units_per_mib}


def random_vectors(_: Encoder, texts: Sequence[str], **__: object) -> np.ndarray:
    """Unit vectors in the encoder's place: a method's time depends on how many there are."""
    generator = np.random.default_rng(len(texts))
    vectors = generator.standard_normal((len(texts), DIMENSION), np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def milliseconds(work: Callable[[], object], n_queries: int) -> float:
    """What a query takes where the work is done on so many: the median of five runs.

    They follow a run that is not counted.
    """
    _, *seconds = timeit.repeat(work, repeat=1 + RUNS, number=1)
    return 1000 * float(np.median(seconds)) / n_queries


@mock.patch.object(Encoder, "encode", random_vectors)
def measure_gnn_ret(size: int, degree: int, top_k: int) -> Row:
    """Milliseconds per query, in batches of 64, over random vectors and keywords.

    ``dense`` is the retriever of that name (faiss), ``messages`` GNN-Ret's propagation. GNN-Ret
    Table 5 has 335.77 "edges per node", by the table's own density |E| / |V|, so that a passage has
    twice as many neighbours.
    """
    corpus = Corpus(Passage(str(row), "", "", str(row)) for row in range(size))
    queries = [Query(str(i), "") for i in range(QUERIES)]
    dense = Dense()
    dense.index(corpus)

    retriever = GNNRet(top_k=top_k)
    retriever.corpus = corpus
    retriever.encoder = dense.encoder
    retriever.vectors = dense.vectors
    retriever.graph = random_graph(corpus, degree, np.random.default_rng(0))
    h = retriever.distances(retriever.encode([query.text for query in queries]))
    dense_rows = retriever.dense_rows(h, DEPTH)

    parts = {
        "dense": lambda: dense.retrieve_many(queries, DEPTH),
        "messages": lambda: retriever.propagate(h, dense_rows),
        "GNN-Ret": lambda: retriever.retrieve_many(queries, DEPTH),
    }
    row = {"passages": size, "mean degree": degree, "K": top_k}
    for part, work in parts.items():
        row[f"{part}, ms"] = milliseconds(work, QUERIES)
    return row


@mock.patch.object(Encoder, "encode", random_vectors)
def measure_qsgnn(size: int) -> Row:
    """Milliseconds per question, one after the other, over atlases with random vectors.

    ``dense`` is the retriever of that name, ``subgraph`` QSGNN in the graph of 60 documents,
    ``whole`` in that of all, up to 3,000 passages. Indexing is the extraction of triples and the
    graph.
    """
    world = generated("atlas", size=size, test=20)
    queries = [question.query for question in world.test]
    dense = Dense()
    dense.index(world.corpus)
    retriever = QSGNN()
    indexing = timeit.timeit(lambda: retriever.index(world.corpus), number=1)
    whole = retriever.variant(documents=0)

    row = {
        "passages": len(world.corpus),
        "edges": retriever.graph.data.num_edges,
        "indexing, s": indexing,
    }
    row["dense, ms"] = milliseconds(
        lambda: [dense.retrieve(query, DEPTH) for query in queries],
        len(queries),
    )
    row["subgraph, ms"] = milliseconds(
        lambda: retriever.retrieve_many(queries, DEPTH),
        len(queries),
    )
    if size <= MOST_WHOLE:
        row["whole, ms"] = milliseconds(lambda: whole.retrieve(queries[0], DEPTH), 1)
    return row


@mock.patch.object(Encoder, "encode", random_vectors)
def measure_graph_reranker(size: int) -> Row:
    """Milliseconds per question, one after the other, over atlases with random vectors.

    ``logistic`` finds the candidates; the others have all that a question takes after its vector:
    the six scores, what the nodes know, and the network.
    """
    world = generated("atlas", size=size, test=20)
    queries = [question.query for question in world.test]
    logistic = Logistic(start="untrained")
    logistic.index(world.corpus)
    retriever = GraphReranker(start="untrained")
    indexing = timeit.timeit(lambda: retriever.index(world.corpus), number=1)

    row = {"passages": len(world.corpus), "indexing, s": indexing}
    row["logistic, ms"] = milliseconds(
        lambda: [logistic.retrieve(query, DEPTH) for query in queries],
        len(queries),
    )
    for n_candidates in CANDIDATES:
        variant = retriever.variant(candidates=n_candidates)
        row[f"{n_candidates} candidates, ms"] = milliseconds(
            lambda variant=variant: [variant.retrieve(query, DEPTH) for query in queries],
            len(queries),
        )
    return row


@mock.patch.object(Encoder, "encode", random_vectors)
def measure_collection(size: int, method: str) -> Row:
    """Seconds until an atlas is ready to search, the first time and again, with random vectors.

    Then the milliseconds per question, one after the other. ``kit index`` takes as long, and what
    encoding takes beside.
    """
    world = generated("atlas", size=size, test=20)
    queries = [question.query for question in world.test]
    retriever = make(method)
    with TemporaryDirectory() as folder, mock.patch.dict(os.environ, KIT_CACHE=folder):
        row = {"method": method, "passages": len(world.corpus)}
        row["first, s"] = time_index(retriever, world.corpus)
        row["again, s"] = time_index(retriever, world.corpus)
    row["question, ms"] = milliseconds(
        lambda: [retriever.retrieve(query, DEPTH) for query in queries],
        len(queries),
    )
    return row


def random_graph(corpus: Corpus, degree: int, generator: np.random.Generator) -> PassageGraph:
    """Passages with eight random keywords each.

    There are so many keywords that a passage has ``degree`` neighbours on average.
    """
    n = len(corpus)
    # Two passages share Poisson(8² / terms) keywords; one or more in degree / n of all pairs.
    terms = max(1, round(KEYWORDS**2 / -np.log1p(-degree / n)))
    rows = np.repeat(np.arange(n), KEYWORDS)
    columns = generator.integers(terms, size=n * KEYWORDS)
    ones = np.ones(len(columns), np.float32)

    matrix = sparse.csr_array((ones, (rows, columns)))
    incidence = BipartiteIncidence(matrix, np.arange(matrix.shape[1]))
    return PassageGraph(corpus, {"random": TermBipartite(incidence)})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=SIZES)
    parser.add_argument(
        "--passages",
        type=int,
        nargs="+",
        help="sizes of the corpus; others for each by default",
    )
    parser.add_argument(
        "--degrees",
        type=int,
        nargs="+",
        default=DEGREES,
        help="mean degrees of the graph of gnn-ret",
    )
    arguments = parser.parse_args()
    smallest = min(arguments.passages or SIZES["gnn-ret"])
    if arguments.what == "gnn-ret" and max(arguments.degrees) >= smallest:
        parser.error("expected mean degrees below the number of passages")

    table = bench(arguments.what, arguments.passages, arguments.degrees)
    print(table.to_string(index=False, float_format="{:,.4g}".format))


if __name__ == "__main__":
    main()
