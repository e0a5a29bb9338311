"""Each benchmark at a size that says nothing of its speed."""

import numpy as np
import pytest

from kit.corpus import Corpus, Passage
from tests.benchmarks import TOP_KS, bench, measure, random_graph


def test_a_benchmark_has_a_row_per_case_each_from_a_process_of_its_own() -> None:
    table = bench("gnn-ret", [100], [6])
    assert table["K"].tolist() == list(TOP_KS)
    assert table.columns[-1] == "peak MiB"
    assert (table > 0).all(axis=None)


@pytest.mark.parametrize("method", ["qsgnn", "graph-reranker"])
def test_what_a_row_tells(method: str) -> None:
    row = measure(method, 200)
    assert 100 < row["passages"] < 300
    assert all(value > 0 for value in row.values())


def test_a_collection_is_opened_twice() -> None:
    row = measure("collections", 200, "gnn-ret")
    assert row["method"] == "gnn-ret"
    assert min(row["first, s"], row["again, s"], row["question, ms"]) > 0


@pytest.mark.parametrize("degree", [40, 300])
def test_the_random_graph_has_the_degree_that_was_asked_for(degree: int) -> None:
    corpus = Corpus(Passage(str(row), "", "", str(row)) for row in range(3000))
    graph = random_graph(corpus, degree, np.random.default_rng(0))
    assert graph.mean_degree == pytest.approx(degree, rel=0.05)
