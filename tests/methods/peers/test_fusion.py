"""Fusion by hand: sums of 1 / (60 + rank), and weights that dev questions choose."""

from collections import Counter

import numpy as np
import pytest

from kit.corpus import Benchmark, example
from kit.evaluation import evaluate
from kit.methods import make
from kit.methods.base import Retriever, ranking_from_order
from kit.methods.peers.fusion import Fuse, shares

QUESTION = "Which river floods the birthplace of the director of the film The Glass Harbour?"


class Fixed(Retriever):
    """Ranks the passages of the corpus in their order."""

    name = "fixed"
    step = 1

    def rank(self, queries, k):
        ids = [passage.id for passage in self.corpus.passages][:: self.step]
        return [ranking_from_order(ids[:k])] * len(queries)


class Backward(Fixed):
    name = "backward"
    step = -1


def test_ranks_are_summed_as_the_paper_says(indexed) -> None:
    fused = indexed("fuse(bm25, dense)", constant=60)
    expected = Counter()
    for name in ("bm25", "dense"):
        for rank, passage in enumerate(indexed(name).retrieve(QUESTION, 6).ids, start=1):
            expected[passage] += 1 / (60 + rank)
    ranking = fused.retrieve(QUESTION, 6)
    assert dict(zip(ranking.ids, ranking.scores)) == pytest.approx(expected)
    in_corpus_order = sorted(expected, key=fused.corpus.row.__getitem__)
    assert list(ranking.ids) == sorted(in_corpus_order, key=lambda name: -round(expected[name], 12))


def test_shares_are_all_ways_and_the_equal_one_comes_first() -> None:
    assert len(shares(2)) == 11 and len(shares(3)) == 66
    assert shares(2)[0].tolist() == [0.5, 0.5] and shares(1).tolist() == [[1.0]]
    assert np.allclose(shares(4).sum(axis=1), 1) and len(np.unique(shares(4), axis=0)) == 286


def test_dev_questions_choose_whom_to_believe(own_store) -> None:
    hand = example()
    [question] = [question for question in hand.test if question.text == QUESTION]
    first, *_ = hand.corpus.passages
    wanted = question.__replace__(supporting=((hand.corpus.passages[-1].id,),))
    benchmark = Benchmark("six", hand.corpus, dev=(wanted,), test=(wanted,))

    fused = Fuse(Fixed(), Backward(), by="scores")
    evaluate({"fused": fused}, benchmark, ks=(1,), n_resamples=10)
    # All of five find the last passage but those who believe the first method almost alone.
    assert fused.learned == (0.5, 0.5)
    assert fused.retrieve(QUESTION, 6).ids[0] == first.id  # equal sums stand in corpus order

    by_hand = fused.retrieve(QUESTION, 6)
    one_over_rank = 1 / np.arange(1, 7)
    spread = (one_over_rank - one_over_rank[-1]) / (1 - one_over_rank[-1])
    expected = dict(zip((passage.id for passage in hand.corpus.passages), spread + spread[::-1]))
    assert dict(zip(by_hand.ids, 2 * by_hand.scores)) == pytest.approx(expected)


def test_without_dev_questions_all_count_the_same_and_a_note_says_so() -> None:
    hand = example()
    fused = make("fuse(bm25, dense)", by="scores")
    with pytest.warns(UserWarning, match="no dev questions to choose the weights"):
        fused.fit(Benchmark("six", hand.corpus, test=hand.test))
    assert fused.learned is None


def test_a_variant_leaves_the_parts_of_the_first_alone(indexed) -> None:
    fused = indexed("fuse(bm25, dense)")
    smaller = fused.variant(corpus=example().corpus.subset([0, 1]))
    assert len(smaller.retrieve(QUESTION, 9).ids) == 2 and len(fused.retrieve(QUESTION, 9).ids) == 6
