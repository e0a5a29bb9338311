"""The baselines: by hand, against plain computations, and the protocol that all retrievers keep."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from kit.corpus import Corpus, Passage
from kit.corpus.example import example
from kit.errors import InputError
from kit.retrievers import RETRIEVERS, make, make_all, ranking_from_scores
from kit.text import Encoder

OFFLINE = [name for name in RETRIEVERS if name != "kgp-chat"]  # that needs a server


def indexed(name: str, corpus: Corpus):
    retriever = make(name)
    retriever.index(corpus)
    return retriever


def test_bm25_by_hand() -> None:
    corpus = Corpus(
        [
            Passage("a", "", "river mill", "a"),
            Passage("b", "", "river river quay town", "b"),
            Passage("c", "", "town", "c"),
        ]
    )
    ranking = indexed("bm25", corpus).retrieve("rivers", 3)
    # Lucene's BM25: ln(1 + (N − df + ½)/(df + ½)) · tf / (tf + k1 (1 − b + b·length / mean length)).
    idf, mean = math.log(1 + (3 - 2 + 0.5) / (2 + 0.5)), 7 / 3
    score = {id: idf * tf / (tf + 1.5 * (0.25 + 0.75 * length / mean)) for id, tf, length in (("a", 1, 2), ("b", 2, 4))}
    assert ranking.ids == ("b", "a", "c")
    assert ranking.scores.tolist() == pytest.approx([score["b"], score["a"], 0], abs=1e-6)


def test_dense_is_the_cosine() -> None:
    corpus = example().corpus
    query = "Which river floods Selby Quay?"
    vectors = Encoder().encode([passage.full_text for passage in corpus.passages])
    cosines = vectors @ Encoder().encode([query], role="query")[0]
    ranking = indexed("dense", corpus).retrieve(query, 6)
    assert ranking.ids == tuple(corpus.passages[row].id for row in np.argsort(-cosines))
    np.testing.assert_allclose(ranking.scores, np.sort(cosines)[::-1], atol=1e-6)


@pytest.mark.parametrize("name", OFFLINE)
def test_protocol(name: str) -> None:
    benchmark = example()
    retriever = indexed(name, benchmark.corpus)
    queries = [question.query for question in benchmark.test]
    many = retriever.retrieve_many(queries, 4)
    for query, ranking in zip(queries, many):
        assert ranking.ids == retriever.retrieve(query, 4).ids
        assert len(set(ranking.ids)) == len(ranking.ids) == len(ranking.scores) == 4
        assert (np.diff(ranking.scores) <= 1e-6).all()
        explained = retriever.explain(query, 4)
        assert explained.ids == ranking.ids and explained.trace.events
        assert {seed.passage for seed in explained.trace.seeds} <= set(benchmark.corpus.row)
        if name in ("bm25", "tfidf", "dense"):
            assert [seed.passage for seed in explained.trace.seeds] == list(ranking.ids)
    assert len(retriever.retrieve(queries[0], 99).ids) == 6
    assert retriever.retrieve_many([], 4) == []


@pytest.mark.parametrize("name", OFFLINE)
@pytest.mark.parametrize("query", ["", "the", "zzz qqq", "?! <b>"])
def test_queries_without_known_words(name: str, query: str) -> None:
    assert len(indexed(name, example().corpus).retrieve(query, 3).ids) == 3


@given(arrays(np.float32, st.integers(0, 9), elements=st.sampled_from([0.0, 0.5, 1.0])), st.integers(0, 10))
def test_ties_are_broken_by_corpus_order(scores: np.ndarray, k: int) -> None:
    corpus = Corpus(Passage(str(row), "", "", str(row)) for row in range(len(scores)))
    expected = sorted(range(len(scores)), key=lambda row: (-scores[row], row))[:k]
    assert ranking_from_scores(corpus, scores, k).ids == tuple(str(row) for row in expected)


def test_unknown_names_and_settings() -> None:
    with pytest.raises(InputError, match="no retriever 'bm52'; known are bm25"):
        make("bm52")
    with pytest.raises(InputError, match="the retriever dense has no setting 'depth'; it has encoder"):
        make("dense", depth=2)
    with pytest.raises(InputError, match="the retriever kgp-random has no setting 'beam'; it has graph, branching, "):
        make("kgp-random", beam=2)


def test_settings_are_those_of_the_class_and_of_what_it_extends() -> None:
    walk = {"graph": "entity+structure", "branching": 3, "depth": 2, "budget": 30}
    assert make("kgp-tfidf").defaults() == walk
    assert make("kgp-random").defaults() == walk | {"seed": 0}
    assert make("bm25").defaults() == {}
    trained = RETRIEVERS["dpr"].defaults()
    assert RETRIEVERS["mdr"].defaults() == trained | {"hops": 2, "beam": 15, "branches": 3, "graph": ""}
    assert RETRIEVERS["kgp-mdr"].defaults() == walk | trained
    mixed = make_all(["kgp-random", "kgp-mdr"], seed=4, budget=9, epochs=1)
    assert (mixed["kgp-mdr"].settings.epochs, mixed["kgp-mdr"].settings.seed) == (1, 4)
    assert mixed["kgp-random"].settings.budget == mixed["kgp-mdr"].settings.budget == 9


@pytest.mark.realdata
def test_dense_agrees_with_sentence_transformers(realdata: Path) -> None:
    from sentence_transformers import util

    from kit.corpus import load
    from kit.evaluation import evaluate

    benchmark = load(realdata / "2wikimultihopqa" / "dev.json")
    model = Encoder().model
    texts = [f"{passage.title}\n{passage.text}" for passage in benchmark.corpus.passages]
    hits = util.semantic_search(
        model.encode([question.text for question in benchmark.test]), model.encode(texts), top_k=5
    )
    recall = [
        np.mean(
            [
                any(benchmark.corpus.row[id] in {hit["corpus_id"] for hit in found} for id in support)
                for support in question.supporting
            ]
        )
        for question, found in zip(benchmark.test, hits)
    ]
    table = evaluate(["dense"], benchmark, ks=(5,), progress=False).table
    assert table["recall@5"].mean() == pytest.approx(np.mean(recall), abs=0.001)
