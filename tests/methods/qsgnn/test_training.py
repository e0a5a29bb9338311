"""How QSGNN learns: the loss by hand, the batches, and what an interruption changes (nothing)."""

from itertools import chain, count
from pathlib import Path

import numpy as np
import pytest
import torch

from kit.corpus import Benchmark, Question, example
from kit.methods import make
from kit.methods.qsgnn.questions import TrainingQuestion
from kit.methods.qsgnn.retriever import QSGNN
from kit.methods.qsgnn.training import (
    BATCH,
    LEARNING_RATES,
    Stage,
    batch_loss,
    labelled_questions,
    nt_xent,
    with_supports_first,
)

HAND = example()
LEARN = Benchmark("hand", HAND.corpus, train=HAND.test, dev=HAND.test)
RIVER = "Which river floods Selby Quay?"


def small(**settings: object) -> QSGNN:
    usual = make("qsgnn", dimension=16, synthetic=12, epochs=1, documents=4)
    return usual.variant(**settings)


@pytest.mark.parametrize(
    ("positives", "negatives", "loss"),
    [
        ([1], [0, 0], np.log(np.e + 2) - 1),
        # Two supports, each against the same negatives.
        ([1, 0], [0, 0], (np.log(np.e + 2) - 1 + np.log(3)) / 2),
        # Chance: at the paper's τ the loss moves little, …
        ([0], [0] * 30, np.log(31)),
        # … from 3.43 to 1.62 when all cosines are at their ends.
        ([1], [-1] * 30, np.log(1 + 30 * np.exp(-2))),
    ],
)
def test_the_loss_by_hand(positives: list[float], negatives: list[float], loss: float) -> None:
    """Eq. 5 with τ = 1."""
    computed = nt_xent(torch.Tensor(positives), torch.Tensor(negatives), 1.0)
    assert computed.item() == pytest.approx(loss, rel=1e-5)


def test_the_graph_in_training_holds_the_supports_and_the_nearest_others() -> None:
    nearest = np.array([4, 0, 3, 1])
    assert with_supports_first((5,), nearest).tolist() == [5, 4, 0, 3]
    assert with_supports_first((3, 4), nearest).tolist() == [3, 4, 0, 1]


def test_as_many_negatives_as_are_asked_for() -> None:
    """A network of which nothing is left but the bias gives all documents the same vector."""
    for negatives, n_drawn in ((3, 3), (30, 5)):  # of the six passages, one is the support
        learner = small(negatives=negatives, temperature=1.0)
        learner.index(HAND.corpus)
        with torch.no_grad():
            for update in learner.network.layers[-1].after_inter.values():
                update.outer.weight.zero_()
                update.outer.bias.fill_(1)
        [batch] = Stage(0, [TrainingQuestion(RIVER, (2,))], 1, seed=0).period(0, 1).batches
        loss = batch_loss(learner, batch)
        assert loss.item() == pytest.approx(np.log(1 + n_drawn), rel=1e-5)


def test_an_epoch_goes_through_all_questions_once_in_periods_on_one_schedule() -> None:
    questions = [TrainingQuestion(str(row), (row,)) for row in range(40)]
    stage = Stage(1, questions, 2, seed=0)
    periods = [make_period() for make_period in stage.periods()]
    assert [period.step for period in periods] == [0, 2, 4, 6]
    assert {period.total for period in periods} == {8}
    assert {period.learning_rate for period in periods} == {LEARNING_RATES[1]}
    assert all(period.notes == {"stage": 1} for period in periods)
    for epoch in (periods[:2], periods[2:]):
        batches = [batch.questions for period in epoch for batch in period.batches]
        assert max(map(len, batches)) <= BATCH
        assert sorted(chain.from_iterable(batches)) == sorted(questions)


def test_labelled_questions_are_those_with_supports() -> None:
    unsupported = Question("u", "Which?", "", ())
    benchmark = Benchmark("hand", HAND.corpus, train=(*HAND.test, unsupported))
    row = HAND.corpus.row
    expected = [
        TrainingQuestion(question.text, tuple(row[name] for name in question.supporting_ids))
        for question in HAND.test
    ]
    assert labelled_questions(benchmark, 0, seed=0) == expected
    assert len(labelled_questions(benchmark, 1, seed=0)) <= 1


@pytest.mark.parametrize("kind", ["co", "oc", "od", "do", "cd"])
def test_all_weights_of_an_edge_between_levels_learn(kind: str, own_store: Path) -> None:
    """But ``dc``: a sentence hears of one document alone, with a weight of 1."""
    retriever = small()
    retriever.index(HAND.corpus)
    before = retriever.network.layers[0].inter[kind].state_dict()
    retriever.fit(LEARN)
    for name, weight in before.items():
        assert not torch.equal(retriever.learned[f"layers.0.inter.{kind}.{name}"], weight)


def test_an_interrupted_training_goes_on_to_the_same_weights(
    own_store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = small()
    whole.fit(LEARN)
    monkeypatch.setenv("KIT_CACHE", str(own_store / "other"))
    period = Stage.period
    begun = count()

    def stop(stage: Stage, epoch: int, part: int) -> object:
        if next(begun) == 3:
            raise KeyboardInterrupt
        return period(stage, epoch, part)

    with monkeypatch.context() as stopping, pytest.raises(KeyboardInterrupt):
        stopping.setattr(Stage, "period", stop)
        small().fit(LEARN)
    again = small()
    again.fit(LEARN)
    assert again.history == whole.history
    torch.testing.assert_close(again.learned, whole.learned, rtol=0, atol=0)


def test_the_same_training_is_found_again(own_store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = small()
    first.fit(LEARN)
    monkeypatch.setattr(QSGNN, "train", None)  # to be trained is to fail
    again = small(documents=2)  # which is a matter of retrieval
    again.fit(LEARN)
    assert again.history == first.history
    with pytest.raises(TypeError, match="not callable"):
        small(synthetic=10).fit(LEARN)


def test_training_leaves_the_retriever_as_it_was(own_store: Path) -> None:
    retriever = small()
    retriever.index(HAND.corpus)
    before = retriever.retrieve(RIVER, 6)
    retriever.fit(LEARN)
    after = retriever.retrieve(RIVER, 6)
    assert after.ids == before.ids
    np.testing.assert_array_equal(after.scores, before.scores)
