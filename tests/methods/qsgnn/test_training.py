"""How QSGNN learns: the loss by hand, the batches, and what an interruption changes (nothing)."""

from itertools import chain, count
from pathlib import Path

import numpy as np
import pytest
import torch

from kit.corpus import Benchmark, Question, example, load
from kit.methods import make
from kit.methods.qsgnn.questions import TrainingQuestion
from kit.methods.qsgnn.retriever import QSGNN, Asked
from kit.methods.qsgnn.training import (
    HELD_OUT,
    Lesson,
    LessonBatch,
    Lessons,
    Stage,
    batch_loss,
    held_out_loss,
    list_loss,
    nt_xent,
)

HAND = example()
LEARN = Benchmark("hand", HAND.corpus, train=HAND.test, dev=HAND.test)
RIVER = "Which river floods Selby Quay?"


def small(**settings: object) -> QSGNN:
    usual = make("qsgnn", start="untrained", dimension=16, synthetic=20, epochs=1, documents=4)
    return usual.variant(**settings)


def prepared(lesson: Lesson) -> Asked:
    return lesson.prepared


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


def test_the_loss_of_a_list_by_hand() -> None:
    """Two supports among three documents with scores ln 1, ln 2 and ln 3."""
    scores = torch.log(torch.Tensor([1, 2, 3]))
    expected = -(np.log(1 / 6) + np.log(2 / 6)) / 2
    assert list_loss(scores, 2).item() == pytest.approx(expected, rel=1e-5)


def test_the_graph_in_training_holds_the_supports_and_the_nearest_others() -> None:
    learner = small(training_documents=3, corpus=HAND.corpus)
    vector = learner.walk.encode([RIVER])
    order = learner.walk.rows(vector, 6)[0].tolist()
    last, before, *_ = reversed(order)
    documents = Lesson(learner, TrainingQuestion(RIVER, (last,))).prepared.documents
    assert documents.tolist() == [last, *order[:2]]
    two_supports = Lesson(learner, TrainingQuestion(RIVER, (before, last))).prepared.documents
    assert two_supports.tolist() == [before, last, order[0]]


@pytest.mark.parametrize("form", ["printed", "residual"])
def test_passages_that_state_the_same_are_no_negatives(form: str) -> None:
    learner = small(form=form, training_documents=6, corpus=HAND.corpus)
    question = TrainingQuestion(RIVER, (2,), alike=(0, 4))
    documents = Lesson(learner, question).prepared.documents
    assert documents[0] == 2
    assert sorted(documents) == [1, 2, 3, 5]


@pytest.mark.parametrize(("negatives", "documents"), [(3, 40), (30, 40), (100, 4)])
def test_as_many_negatives_as_are_wanted_and_there(negatives: int, documents: int) -> None:
    """A network of which nothing is left but the bias gives all documents the same vector."""
    learner = small(negatives=negatives, training_documents=documents, temperature=1.0)
    learner.index(HAND.corpus)
    with torch.no_grad():
        for update in learner.network.layers[-1].after_inter.values():
            update.norm.weight.zero_()
            update.outer.bias.fill_(1)
    lesson = Lesson(learner, TrainingQuestion(RIVER, (2,)))
    loss = batch_loss(LessonBatch([lesson], np.random.default_rng(0)), prepared)
    n_drawn = min(negatives, documents - 1, 5)  # of the six passages, one is the support
    assert loss.item() == pytest.approx(np.log(1 + n_drawn), rel=1e-5)


def test_an_epoch_goes_through_all_questions_once_in_periods_on_one_schedule() -> None:
    one = small()
    other = small()
    lessons = [Lesson(one, TrainingQuestion(str(row), (row,))) for row in range(40)]
    lessons += [Lesson(other, TrainingQuestion(str(row), (row,))) for row in range(40, 50)]
    stage = Stage(1, lessons, 2, 0.25, batch=12, seed=0)
    periods = [make_period() for make_period in stage.periods()]
    sizes = [len(period.batches) for period in periods]
    assert [period.step for period in periods] == [0, *np.cumsum(sizes)[:-1]]
    assert {period.total for period in periods} == {sum(sizes)}
    assert {period.learning_rate for period in periods} == {0.25}
    assert all(period.notes == {"stage": 1} for period in periods)
    for epoch in (periods[:2], periods[2:]):
        batches = [batch.lessons for period in epoch for batch in period.batches]
        assert max(map(len, batches)) <= 12
        for batch in batches:  # each over one corpus
            assert len({id(lesson.learner) for lesson in batch}) == 1
        texts = [lesson.question.text for lesson in chain.from_iterable(batches)]
        assert sorted(texts) == sorted(map(str, range(50)))


def test_lessons_are_those_with_supports() -> None:
    unsupported = Question("u", "Which?", "", ())
    benchmark = Benchmark("hand", HAND.corpus, train=(*HAND.test, unsupported))
    learner = small()
    lessons = Lessons([], [], [])
    lessons.add(learner, benchmark)
    row = HAND.corpus.row
    expected = [
        TrainingQuestion(question.text, tuple(row[name] for name in question.supporting_ids))
        for question in HAND.test
    ]
    assert [lesson.question for lesson in lessons.labelled] == expected
    assert {id(lesson.learner) for lesson in lessons.labelled} == {id(learner)}


def test_some_synthetic_questions_are_held_out_and_so_are_those_of_dev() -> None:
    benchmark = load()
    learner = small(synthetic=200)
    lessons = Lessons([], [], [])
    lessons.add(learner, benchmark)
    n_held_out = round(HELD_OUT * 200)
    assert len(lessons.synthetic) == 200 - n_held_out
    assert len(lessons.held_out) == n_held_out + 100
    held_out = {lesson.question.text for lesson in lessons.held_out}
    learned = {lesson.question.text for lesson in (*lessons.synthetic, *lessons.labelled)}
    assert len(held_out & learned) <= 1  # two facts may read alike
    assert {question.text for question in benchmark.dev} >= {
        lesson.question.text for lesson in lessons.held_out[n_held_out:]
    }


def test_weights_are_chosen_by_the_loss_on_held_out_questions(own_store: Path) -> None:
    retriever = small(synthetic=0, epochs=2)
    retriever.fit(LEARN)
    measured = [row["measured"] for row in retriever.history if "measured" in row]
    retriever.index(HAND.corpus)
    lessons = Lessons([], [], [])
    lessons.add(retriever, LEARN)
    loss = held_out_loss(lessons.held_out, 12, prepared)
    assert loss == pytest.approx(-max(measured), rel=1e-3)
    assert loss < -measured[0]
    assert held_out_loss([], 12, prepared) == 0


def test_several_corpora_teach_one_network(own_store: Path) -> None:
    part = HAND.corpus.subset([0, 1, 2, 3])
    inside = [q for q in HAND.test if set(q.supporting_ids) <= set(part.row)]
    retriever = small(synthetic=0)
    retriever.learn([LEARN, Benchmark("part", part, train=inside)])
    assert sum("loss" in row for row in retriever.history) == 2 * 2  # a batch of each, twice
    alone = small(synthetic=0)
    alone.fit(LEARN)
    name = "layers.0.inter.od.value.up.weight"
    assert not torch.equal(alone.learned[name], retriever.learned[name])


@pytest.mark.parametrize("kind", ["co", "oc", "od", "do", "cd"])
def test_all_weights_of_an_edge_between_levels_learn(kind: str, own_store: Path) -> None:
    """But ``dc``: a sentence hears of one document alone, with a weight of 1."""
    retriever = small()
    retriever.index(HAND.corpus)
    before = retriever.network.layers[0].inter[kind].state_dict()
    retriever.fit(LEARN)
    for name, weight in before.items():
        assert not torch.equal(retriever.learned[f"layers.0.inter.{kind}.{name}"], weight), name


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
