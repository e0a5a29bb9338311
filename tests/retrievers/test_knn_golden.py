"""KNN as the paper has it, and the oracle."""

from __future__ import annotations

from kit.corpus import Corpus, Passage, Question
from kit.corpus.example import example
from kit.evaluation import evaluate
from kit.retrievers import make


def test_knn_takes_the_nearest_by_vector_and_by_edit_distance_in_turn():
    corpus = Corpus(
        [
            Passage("river", "", "The Oll is a long river that floods the lower streets of a town each spring.", "a"),
            Passage("novel", "", "A novel about a harbour pilot who counts ships in a quiet northern port.", "b"),
            Passage("short", "", "What?", "c"),
            Passage("like", "", "Which liver foods?", "d"),
        ]
    )
    dense, knn = make("dense"), make("knn")
    for retriever in (dense, knn):
        retriever.index(corpus)
    question = "Which river floods?"
    assert dense.retrieve(question, 2).ids == ("river", "like")
    # Edit distance to "like": the line break after the empty title, a letter changed, a letter left out; then "short".
    assert knn.retrieve(question, 3).ids == ("river", "like", "short")
    assert knn.retrieve(question, 3).scores.tolist() == [1, 1 / 2, 1 / 3]


def test_golden_puts_the_supports_first_in_reasoning_order_and_says_that_it_sees_gold():
    benchmark = example()
    found = evaluate(["golden", "tfidf"], benchmark, ks=(3,), progress=False)
    assert found.rankings["golden"]["river"].ids == ("harbour", "moravec", "quay")
    assert set(found.table.query("retriever == 'golden'")["full@3"]) == {1.0}
    assert found.sees_gold == ("golden",) and "golden sees gold" in found.caption


def test_golden_without_gold_is_tfidf():
    corpus = example().corpus
    golden, tfidf = make("golden"), make("tfidf")
    for retriever in (golden, tfidf):
        retriever.index(corpus)
    assert (
        golden.retrieve("Which river floods Selby Quay?", 4).ids
        == tfidf.retrieve("Which river floods Selby Quay?", 4).ids
    )
    elsewhere = Question("q", "Which river floods Selby Quay?", "", (("not-here",),)).gold_query
    assert golden.retrieve(elsewhere, 4).ids == tfidf.retrieve(elsewhere, 4).ids
