"""The baselines: by hand, against plain computations, and the protocol that all retrievers keep."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from kit.corpus import Corpus, Passage, Question, example
from kit.errors import InputError
from kit.evaluation import evaluate
from kit.methods import METHODS, make, method
from kit.methods.base import ranking_from_scores
from kit.text import Encoder

OFFLINE = [name for name in METHODS if name != "kgp-chat"]  # that needs a server


def test_bm25_by_hand(indexed) -> None:
    texts = {"a": "river mill", "b": "river river quay town", "c": "town"}
    corpus = Corpus([Passage(name, "", text, name) for name, text in texts.items()])
    ranking = indexed("bm25", corpus).retrieve("rivers", 3)
    # Lucene's BM25:
    # ln(1 + (N − df + ½)/(df + ½)) · tf / (tf + k1 (1 − b + b·length / mean length)).
    idf = math.log(1 + (3 - 2 + 0.5) / (2 + 0.5))
    mean = 7 / 3
    score = {
        name: idf * tf / (tf + 1.5 * (0.25 + 0.75 * length / mean))
        for name, tf, length in (("a", 1, 2), ("b", 2, 4))
    }
    assert ranking.ids == ("b", "a", "c")
    assert ranking.scores.tolist() == pytest.approx([score["b"], score["a"], 0], abs=1e-6)


def test_dense_is_the_cosine(indexed) -> None:
    corpus = example().corpus
    query = "Which river floods Selby Quay?"
    vectors = Encoder().encode([passage.full_text for passage in corpus.passages])
    cosines = vectors @ Encoder().encode([query], role="query")[0]
    ranking = indexed("dense").retrieve(query, 6)
    assert ranking.ids == tuple(corpus.passages[row].id for row in np.argsort(-cosines))
    np.testing.assert_allclose(ranking.scores, np.sort(cosines)[::-1], atol=1e-6)


@pytest.mark.parametrize("name", OFFLINE)
def test_protocol(name: str, indexed) -> None:
    retriever = indexed(name)
    queries = [question.query for question in example().test]
    many = retriever.retrieve_many(queries, 4)
    for query, ranking in zip(queries, many):
        assert ranking.ids == retriever.retrieve(query, 4).ids
        assert len(set(ranking.ids)) == len(ranking.ids) == len(ranking.scores) == 4
        assert (np.diff(ranking.scores) <= 1e-6).all()
        explained = retriever.explain(query, 4)
        assert explained.ids == ranking.ids and explained.trace.events
        assert {seed.passage for seed in explained.trace.seeds} <= set(retriever.corpus.row)
        if name in ("bm25", "tfidf", "dense"):
            assert [seed.passage for seed in explained.trace.seeds] == list(ranking.ids)
    assert len(retriever.retrieve(queries[0], 99).ids) == 6
    assert retriever.retrieve_many([], 4) == []


@given(
    arrays(np.float32, st.integers(0, 9), elements=st.sampled_from([0.0, 0.5, 1.0])),
    st.integers(0, 10),
)
def test_ties_are_broken_by_corpus_order(scores: np.ndarray, k: int) -> None:
    corpus = Corpus(Passage(str(row), "", "", str(row)) for row in range(len(scores)))
    expected = sorted(range(len(scores)), key=lambda row: (-scores[row], row))[:k]
    assert ranking_from_scores(corpus, scores, k).ids == tuple(str(row) for row in expected)


def test_knn_takes_the_nearest_by_vector_and_by_edit_distance_in_turn(indexed) -> None:
    texts = {
        "river": "The Oll is a long river that floods the lower streets of a town each spring.",
        "novel": "A novel about a harbour pilot who counts ships in a quiet northern port.",
        "short": "What?",
        "like": "Which liver foods?",
    }
    corpus = Corpus([Passage(name, "", text, name) for name, text in texts.items()])
    dense = indexed("dense", corpus)
    knn = indexed("knn", corpus)
    question = "Which river floods?"
    assert dense.retrieve(question, 2).ids == ("river", "like")
    # Edit distance to "like": the line break after the empty title, a letter changed, a letter
    # left out; then "short".
    assert knn.retrieve(question, 3).ids == ("river", "like", "short")
    assert knn.retrieve(question, 3).scores.tolist() == [1, 1 / 2, 1 / 3]


def test_golden_puts_the_supports_first_in_reasoning_order_and_says_that_it_sees_gold() -> None:
    benchmark = example()
    result = evaluate(["golden", "tfidf"], benchmark, ks=(3,), progress=False)
    assert result.rankings["golden"]["river"].ids == ("harbour", "moravec", "quay")
    assert set(result.table.query("retriever == 'golden'")["full@3"]) == {1.0}
    assert result.sees_gold == ("golden",)
    assert "golden sees gold" in result.caption


def test_golden_without_gold_is_tfidf(indexed) -> None:
    text = "Which river floods Selby Quay?"
    words = indexed("tfidf").retrieve(text, 4).ids
    for query in (text, Question("q", text, "", (("not-here",),)).gold_query):
        assert indexed("golden").retrieve(query, 4).ids == words


@pytest.mark.parametrize(
    ("name", "field", "value", "expected"),
    [
        ("kgp-tfidf", "budget", 0, "a whole number from 1"),
        ("kgp-mdr", "n_train", -1, "a whole number from 0"),
        ("dpr", "negatives", "soft", "one of 'hard', 'in-batch', 'random'"),
        ("dpr", "learning_rate", 0, "a number above 0 below 1"),
        ("gnn-ret", "layers", 1.5, "a whole number from 1"),
        ("gnn-ret", "alpha", True, "a number from 0 to 1"),
    ],
)
def test_a_value_out_of_range_is_told(name: str, field: str, value: object, expected: str) -> None:
    with pytest.raises(InputError, match=f"field {field}: expected {expected}.*not {value!r}"):
        make(name, **{field: value})


def test_unknown_names_settings_and_graphs() -> None:
    with pytest.raises(InputError, match="no retriever 'bm52'; known are bm25"):
        make("bm52")
    with pytest.raises(
        InputError,
        match=r"no setting 'beam'; it has encoder, .* graph, branching, ",
    ):
        make("kgp-random", beam=2)
    for name in ("gnn-ret", "kgp-tfidf", "mdr"):
        with pytest.raises(InputError, match="no graph builder 'web'"):
            make(name, graph="web")


def test_settings_are_those_of_the_class_and_of_what_it_extends() -> None:
    walk = method("kgp-tfidf").defaults()
    trained = method("dpr").defaults()
    encoder = method("dense").defaults()
    assert walk == encoder | {
        "graph": "entity+structure",
        "branching": 3,
        "depth": 2,
        "budget": 30,
    }
    assert method("mdr").defaults() == trained | {
        "hops": 3,
        "beam": 4,
        "branches": 3,
        "graph": "",
        "stop": -1.0,
    }
    assert method("kgp-mdr").defaults() == walk | trained
    assert make("bm25").defaults() == {}
