"""A benchmark of six passages and three questions, small enough to rank by hand."""

from collections.abc import Sequence

import numpy as np
import pytest

from kit.corpus import Benchmark, Corpus, EvidenceGraph, Passage, Query, Question
from kit.methods import Ranking, Retriever

CHAIN = EvidenceGraph(2, ((0, 1),))
QUESTIONS = (
    Question("q1", "one", "", (("a",), ("b",)), type="bridge", evidence=CHAIN),
    Question("q2", "two", "", (("c", "d"), ("e",)), type="comparison", evidence=EvidenceGraph(2)),
    Question("q3", "three", "", (("a",), ("c",), ("e",), ("f",)), type="bridge"),
)


class Alphabetical(Retriever):
    """Ranks passages by id, whatever is asked, and remembers what it was given."""

    name = "alphabetical"

    def __init__(self, reverse: bool = False) -> None:
        self.reverse = reverse
        self.fitted: list[Benchmark] = []
        self.indexed: list[Corpus] = []
        self.asked: list[Query] = []

    def fit(self, benchmark: Benchmark) -> None:
        self.fitted.append(benchmark)

    def index(self, corpus: Corpus) -> None:
        self.indexed.append(corpus)

    def retrieve_many(self, queries: Sequence[Query], k: int) -> list[Ranking]:
        self.asked += queries
        ids = sorted(self.indexed[-1].row, reverse=self.reverse)[:k]
        return [Ranking(tuple(ids), -np.arange(len(ids), dtype=np.float32)) for _ in queries]


@pytest.fixture
def alphabetical() -> Alphabetical:
    return Alphabetical()


@pytest.fixture
def reverse() -> Alphabetical:
    return Alphabetical(reverse=True)


@pytest.fixture
def benchmark() -> Benchmark:
    corpus = Corpus(Passage(letter, letter, "", letter) for letter in "abcdef")
    train = Question("t1", "learn", "", (("a",),))
    return Benchmark("small", corpus, train=[train], test=QUESTIONS)


@pytest.fixture
def per_question(benchmark: Benchmark) -> Benchmark:
    rows = {
        "q1": np.array([0, 1, 2]),
        "q2": np.array([2, 3, 4]),
        "q3": np.array([0, 2, 4, 5]),
        "t1": np.array([0]),
    }
    return Benchmark(
        "small", benchmark.corpus, train=benchmark.train, test=benchmark.test, collections=rows
    )
