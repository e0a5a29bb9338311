"""Speed and memory of GNN-Ret and QSGNN, each corpus in a process of its own, on one core.

``python -m tests.benchmarks gnn-ret --passages 20000 100000`` prints a table; a million passages take 5 GB of memory.
"""

import argparse
import resource
import sys
import timeit
from collections.abc import Callable, Sequence
from itertools import product
from multiprocessing import get_context
from typing import Any
from unittest import mock

import faiss
import numpy as np
import pandas as pd
import torch
from scipy import sparse

from kit.corpus import Corpus, Passage, Query
from kit.graphs import PassageGraph, TermBipartite
from kit.methods.baselines.classic import Dense
from kit.methods.gnn_ret.retriever import GNNRet
from kit.methods.qsgnn.retriever import QSGNN
from kit.text import Encoder, BipartiteIncidence
from kit.worlds import generated

Row = dict[str, Any]

#: The sizes of the corpus that each benchmark is taken at unless others are given.
SIZES = {"gnn-ret": (20_000, 1_000_000), "qsgnn": (1_000, 3_000, 10_000, 30_000, 100_000)}
DEGREES = (336, 672)  # the two readings of "edges per node" in gnn-ret.txt Table 5 (MuSiQue)
TOP_KS = (5, 10)
_DIMENSION, _KEYWORDS, _DEPTH = 384, 8, 10
_MOST_WHOLE = (
    3_000  # passages of the largest corpus whose whole graph is passed for a question of QSGNN
)


def bench(
    what: str, sizes: Sequence[int] | None = None, degrees: Sequence[int] = DEGREES
) -> pd.DataFrame:
    """A row a case: of ``gnn-ret`` over graphs of mean ``degrees``, or of ``qsgnn``."""
    sizes = sizes or SIZES[what]
    cases = product(sizes, degrees, TOP_KS) if what == "gnn-ret" else product(sizes)
    with get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        return pd.DataFrame(pool.starmap(_measured, [(what, *case) for case in cases], chunksize=1))


def _measured(what: str, *case: Any) -> Row:
    """The row of a case, and the peak of this process's memory."""
    torch.set_num_threads(1)
    faiss.omp_set_num_threads(1)
    row = {"gnn-ret": _gnn_ret, "qsgnn": _qsgnn}[what](*case)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # kilobytes on Linux, bytes on macOS
    return row | {"peak MiB": peak / (1 << (20 if sys.platform == "darwin" else 10))}


def _random_vectors(_: Encoder, texts: Sequence[str], **__: object) -> np.ndarray:
    """Unit vectors in the encoder's place: the time that a method takes depends on how many there are."""
    vectors = np.random.default_rng(len(texts)).standard_normal(
        (len(texts), _DIMENSION), np.float32
    )
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def _milliseconds(work: Callable[[], object], queries: int) -> float:
    """What one of the queries takes, all of which are worked on: the median of five times, after one not counted."""
    return 1000 * float(np.median(timeit.repeat(work, repeat=6, number=1)[1:])) / queries


@mock.patch.object(Encoder, "encode", _random_vectors)
def _gnn_ret(size: int, degree: int, top_k: int) -> Row:
    """Milliseconds a query, in batches of 64, over random vectors and keywords.

    ``dense`` is the retriever of that name (faiss), ``messages`` GNN-Ret's propagation. gnn-ret.txt Table 5 has 335.77
    "edges per node", by the table's own density |E| / |V|, so that a passage has twice as many neighbours.
    """
    corpus = Corpus(Passage(str(row), "", "", str(row)) for row in range(size))
    queries = [Query(str(number), "") for number in range(64)]
    dense, retriever = Dense(), GNNRet(top_k=top_k)
    dense.index(corpus)
    retriever.corpus, retriever.encoder, retriever.vectors = corpus, dense.encoder, dense.vectors
    retriever.graph = random_graph(corpus, degree, np.random.default_rng(0))
    h = retriever.distances(retriever.encode(queries))
    near = retriever.near(h, _DEPTH)
    times = {
        "dense": lambda: dense.retrieve_many(queries, _DEPTH),
        "messages": lambda: retriever.propagate(h, near),
        "GNN-Ret": lambda: retriever.retrieve_many(queries, _DEPTH),
    }
    row = {"passages": size, "mean degree": degree, "K": top_k}
    return row | {f"{part}, ms": _milliseconds(work, len(queries)) for part, work in times.items()}


@mock.patch.object(Encoder, "encode", _random_vectors)
def _qsgnn(size: int) -> Row:
    """Milliseconds a question, one after the other, over atlases with random vectors.

    ``dense`` is the retriever of that name, ``subgraph`` QSGNN in the graph of 60 documents, ``whole`` in that of all,
    up to 3,000 passages. Indexing is the extraction of triples and the graph.
    """
    world = generated("atlas", size=size, test=20)
    queries, dense, retriever = [question.query for question in world.test], Dense(), QSGNN()
    dense.index(world.corpus)
    indexing = timeit.timeit(lambda: retriever.index(world.corpus), number=1)
    whole = retriever.variant(documents=0)
    row = {
        "passages": len(world.corpus),
        "edges": retriever.graph.data.num_edges,
        "indexing, s": indexing,
    }
    row["dense, ms"] = _milliseconds(
        lambda: [dense.retrieve(query, _DEPTH) for query in queries], len(queries)
    )
    row["subgraph, ms"] = _milliseconds(
        lambda: retriever.retrieve_many(queries, _DEPTH), len(queries)
    )
    if size <= _MOST_WHOLE:
        row["whole, ms"] = _milliseconds(lambda: whole.retrieve(queries[0], _DEPTH), 1)
    return row


def random_graph(corpus: Corpus, degree: int, generator: np.random.Generator) -> PassageGraph:
    """Passages with eight random keywords each, of so many that they have ``degree`` neighbours on average."""
    n = len(corpus)
    # Two passages share Poisson(8² / terms) keywords; one or more in degree / n of all pairs.
    terms = max(1, round(_KEYWORDS**2 / -np.log1p(-degree / n)))
    columns = generator.integers(terms, size=n * _KEYWORDS)
    matrix = sparse.csr_array(
        (np.ones(len(columns), np.float32), (np.repeat(np.arange(n), _KEYWORDS), columns))
    )
    return PassageGraph(
        corpus, {"random": TermBipartite(BipartiteIncidence(matrix, np.arange(matrix.shape[1])))}
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=SIZES)
    parser.add_argument(
        "--passages", type=int, nargs="+", help="sizes of the corpus; others for each by default"
    )
    parser.add_argument(
        "--degrees",
        type=int,
        nargs="+",
        default=DEGREES,
        help="mean degrees of the graph of gnn-ret",
    )
    asked = parser.parse_args()
    if asked.what == "gnn-ret" and max(asked.degrees) >= min(asked.passages or SIZES["gnn-ret"]):
        parser.error("expected mean degrees below the number of passages")
    print(
        bench(asked.what, asked.passages, asked.degrees).to_string(
            index=False, float_format="{:,.4g}".format
        )
    )


if __name__ == "__main__":
    main()
