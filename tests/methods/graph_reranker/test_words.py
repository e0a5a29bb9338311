"""Words by hand, and BM25 as the method of that name has it."""

import numpy as np
import pytest

from kit.corpus import Query, example
from kit.methods import make
from kit.methods.graph_reranker.words import Vocabulary, WordIndex

TEXTS = ["red river", "red house", "green hill"]
IDF = {"red": np.log(1 + 1.5 / 2.5), "other": np.log(1 + 2.5 / 1.5)}  # in two texts, in one


def test_shares_by_hand() -> None:
    vocabulary = Vocabulary(TEXTS)
    marks = vocabulary.marked("Where is the red red house of the king?")  # the king is nowhere
    assert marks.sum() == 2
    index = WordIndex(vocabulary, TEXTS, ["River", "The Red House", ""])

    share = IDF["red"] / (IDF["red"] + IDF["other"])
    assert (index.named @ marks).tolist() == pytest.approx([0, 1, 0])
    covered = index.idf @ marks / (vocabulary.idf @ marks)
    assert covered.tolist() == pytest.approx([share, 1, 0])
    unnamed = WordIndex(vocabulary, TEXTS)  # a text is its own name
    assert (unnamed.named @ marks).tolist() == pytest.approx([share, 1, 0])


def test_bm25_by_hand() -> None:
    """tf / (tf + k1 (1 − b + b · length / mean length)) · idf."""
    vocabulary = Vocabulary(["red red river", "hill"])
    index = WordIndex(vocabulary, ["red red river", "hill"])
    expected = np.log(1 + 1.5 / 1.5) * 2 / (2 + 1.5 * (0.25 + 0.75 * 3 / 2))
    assert index.bm25 @ vocabulary.marked("red") == pytest.approx([expected, 0])


def test_bm25_is_that_of_the_method() -> None:
    benchmark = example()
    method = make("bm25")
    method.index(benchmark.corpus)
    texts = [passage.full_text for passage in benchmark.corpus.passages]
    vocabulary = Vocabulary(texts)
    index = WordIndex(vocabulary, texts)
    for question in benchmark.test:
        ranking = method.retrieve(Query("", question.text), len(texts))
        scores = index.bm25 @ vocabulary.marked(question.text)
        by_id = dict(zip([passage.id for passage in benchmark.corpus.passages], scores))
        assert ranking.scores == pytest.approx([by_id[name] for name in ranking.ids], abs=1e-5)


def test_a_text_without_words() -> None:
    vocabulary = Vocabulary(["", "the"])
    index = WordIndex(vocabulary, ["", "the"])
    assert (index.bm25 @ vocabulary.marked("red")).tolist() == [0, 0]
    assert (index.named @ vocabulary.marked("red")).tolist() == [0, 0]
