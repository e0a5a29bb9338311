"""What is called in another way than it is meant: it works where it is plain, or ends in a line."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kit
from kit.arguments import as_list, whole
from kit.corpus import Benchmark


def evaluated(retrievers: object, benchmark: object = None, **settings: object) -> kit.Experiment:
    return kit.evaluate(
        retrievers, kit.example() if benchmark is None else benchmark, progress=False, **settings
    )


@given(st.text() | st.lists(st.text()) | st.integers() | st.none())
def test_one_is_a_list_of_one(values: object) -> None:
    assert as_list(values) == (values if isinstance(values, list) else [values])


@pytest.mark.parametrize("value", [3, np.int64(3), np.uint8(3)])
def test_whole_numbers_of_any_type(value: object) -> None:
    assert whole(value, "k") == 3 and type(whole(value, "k")) is int


def test_one_retriever_stands_for_a_list_of_one() -> None:
    by_list = evaluated(["bm25"], ks=[5])
    for one in ("bm25", kit.make("bm25"), {"bm25": kit.make("bm25")}):
        table = evaluated(one, ks=5).table
        assert table.equals(by_list.table)
    assert list(by_list.only("bm25").rankings) == ["bm25"]


def test_a_query_may_be_a_text_or_a_question() -> None:
    benchmark = kit.example()
    question = benchmark.test[0]
    bm25 = kit.make("bm25")
    bm25.index(benchmark.corpus)
    expected = bm25.retrieve(question.query, 3).ids
    assert bm25.retrieve(question, np.int64(3)).ids == expected
    for queries in (question.text, [question.text], [question]):
        assert [ranking.ids for ranking in bm25.retrieve_many(queries, 3)] == [expected]


@pytest.mark.parametrize("name", ["bm25", "dense", "knn", "gnn-ret"])
@pytest.mark.parametrize("k", [0, -1, 2.5, "3", None, True])
def test_a_ranking_has_a_length(name: str, k: object) -> None:
    retriever = kit.make(name)
    retriever.index(kit.example().corpus)
    for ask in (retriever.retrieve, retriever.explain):
        with pytest.raises(kit.InputError, match=f"^field k: expected a whole number .*not {k!r}$"):
            ask("Who?", k)


def indexed() -> kit.Retriever:
    retriever = kit.make("bm25")
    retriever.index(kit.example().corpus)
    return retriever


@pytest.mark.parametrize(
    ("call", "line"),
    [
        (lambda: evaluated([]), "field retrievers: expected at least one retriever"),
        (lambda: evaluated({}), "field retrievers: expected at least one retriever"),
        (lambda: evaluated(None), "no retriever 'None'; known are bm25, .*"),
        (lambda: evaluated([indexed()]), r"no retriever 'BM25\(\).*'; known are bm25, .*"),
        (lambda: evaluated({"x": "bm25"}), "field retrievers: expected a Retriever, not 'bm25'"),
        (
            lambda: evaluated("bm25", kit.example().corpus),
            "field benchmark: expected a Benchmark, not Corpus: 6 passages",
        ),
        (
            lambda: evaluated("bm25", "dev.json"),
            "field benchmark: expected a Benchmark, not 'dev.json'",
        ),
        (
            lambda: evaluated("bm25", training=kit.example().corpus),
            "field training: expected a Benchmark, .*",
        ),
        (lambda: evaluated("bm25", ks=["5"]), "field ks: expected a whole number from 0, not '5'"),
        (lambda: evaluated("bm25", ks=[2.5]), "field ks: expected a whole number from 0, not 2.5"),
        (lambda: evaluated("bm25", seed=-1), "field seed: expected a whole number from 0, not -1"),
        (
            lambda: evaluated("bm25", n_resamples=0),
            "field n_resamples: expected a whole number from 1, not 0",
        ),
        (
            lambda: evaluated("bm25").compare("bm25"),
            "expected another retriever to compare with bm25",
        ),
        (
            lambda: evaluated(["bm25", "tfidf"]).compare("dense"),
            "no retriever 'dense'; known are bm25, tfidf",
        ),
        (
            lambda: evaluated(["bm25", "tfidf"]).compare("bm25", "recall@3"),
            "no column 'recall@3'; known are .*; did you mean 'recall@.*'.*",
        ),
        (
            lambda: evaluated("bm25").summary("hop"),
            "no column 'hop'; known are .*; did you mean 'hops'.*",
        ),
        (lambda: evaluated("bm25").only(["x"]), "no retriever 'x'; known are bm25"),
        (
            lambda: evaluated(["bm25", "tfidf"]).gain("bm25", over="x"),
            "no retriever 'x'; known are bm25, tfidf",
        ),
        (lambda: indexed().retrieve(None, 3), "field query: expected a Query, not None"),
        (
            lambda: indexed().retrieve_many([["a"]], 3),
            r"field query: expected a Query, not \['a'\]",
        ),
        (
            lambda: indexed().index(kit.example()),
            "field corpus: expected a Corpus, not Benchmark.*",
        ),
        (lambda: kit.make([]), r"no retriever '\[\]'; known are .*"),
        (lambda: kit.register("x"), "expected a subclass of kit.Retriever with a name, not 'x'"),
        (
            lambda: kit.build("entity", kit.example()),
            "field corpus: expected a Corpus, not Bench.*",
        ),
        (
            lambda: kit.ask("Who?", kit.example(), method="bm25"),
            "field corpus: expected a Corpus, not Bench.*",
        ),
        (
            lambda: kit.ask(kit.example().test[0], kit.example().corpus),
            "field question: expected a str, not Question.*",
        ),
        (
            lambda: kit.ask("Who?", kit.example().corpus, method="bm25", k=0),
            "field k: expected a whole number from 1, not 0",
        ),
        (lambda: kit.load(corpus="nowhere.json"), "nowhere.json: no such file"),
        (lambda: kit.load_training("nowhere.json"), "nowhere.json: no such file"),
        (
            lambda: kit.generated("x"),
            "no world 'x'; known are atlas, planner, reports, networks, adapters",
        ),
        (
            lambda: kit.generated("atlas", tests=1),
            "no split 'tests'; known are train, dev, test; did you mean 'test'.*",
        ),
        (
            lambda: kit.explore("bm25", kit.example(), []),
            "field questions: expected at least one question",
        ),
        (
            lambda: kit.explore("bm25", kit.example().corpus, kit.example().test),
            "field benchmark: expected a Benchmark, not Corpus: 6 passages",
        ),
        (
            lambda: kit.explore("bm25", kit.example(), kit.example()),
            "field questions: expected a Question, not Benchmark.*",
        ),
        (
            lambda: Benchmark("x", list(kit.example().corpus.passages)),
            r"field corpus: expected a Corpus, not \[Passage.*",
        ),
    ],
)
def test_what_is_not_meant_ends_in_one_line(call: Callable[[], object], line: str) -> None:
    with pytest.raises(kit.InputError, match=f"^{line}$"):
        call()


@pytest.mark.parametrize("name", ["bm25", "tfidf", "dense", "gnn-ret", "bgr", "mdr", "ircot"])
def test_every_method_says_that_it_searches_a_corpus(name: str) -> None:
    with pytest.raises(kit.InputError, match=r"^field corpus: expected a Corpus, not Benchmark"):
        kit.make(name).index(kit.example())
    assert kit.make(name).corpus is None
