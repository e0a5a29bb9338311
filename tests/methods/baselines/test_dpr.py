"""DPR, and what every trained retriever promises: weights learned, and found again by content."""

import pytest

from kit.corpus import Benchmark, example, load
from kit.errors import InputError
from kit.methods import make
from kit.methods.baselines.dpr import DPR
from kit.methods.training import DEV_PASSAGES, draw, pool
from kit.text import TfidfIndex


def quick(encoder: str, **settings: object) -> DPR:
    return DPR(**{"encoder": encoder, "epochs": 1, "batch": 2, "learning_rate": 1e-2, **settings})


def test_a_question_with_each_of_its_supports() -> None:
    _, river = example().test
    assert DPR().pairs(river, example().corpus) == [
        (river.text, "harbour"),
        (river.text, "moravec"),
        (river.text, "quay"),
    ]


def test_before_it_learns_it_is_the_base_encoder(indexed) -> None:
    ranking, dense = (
        indexed(name).explain("Which river floods Selby Quay?", 6) for name in ("dpr", "dense")
    )
    assert ranking.ids == dense.ids and ranking.trace == dense.trace


def test_what_it_learned_is_found_again(tiny_model: str, own_store, monkeypatch) -> None:
    lesson = Benchmark("lesson", example().corpus, train=example().test, dev=example().test[:1])
    first = quick(tiny_model)
    first.fit(lesson)
    assert set(first.history[0]) == {"step", "measured"} and first.learned.name != tiny_model
    monkeypatch.setattr(DPR, "train", None)  # to be trained is to fail
    again = quick(tiny_model)
    again.fit(lesson)
    assert again.learned.name == first.learned.name and again.history == first.history
    for other in (
        {"negatives": "random"},
        {"n_train": 1},
        {"seed": 1},
        {"epochs": 2},
        {"layers": 0},
    ):
        with pytest.raises(TypeError, match="not callable"):
            quick(tiny_model, **other).fit(lesson)
    with pytest.raises(TypeError, match="not callable"):
        again.fit(Benchmark("lesson", lesson.corpus, train=lesson.train))


@pytest.mark.parametrize("name", ["dpr", "mdr"])
def test_without_training_questions_the_way_to_give_some_is_named(name: str) -> None:
    with pytest.raises(
        InputError, match=rf"training questions \(--train FILE\) for {name}.*found 0"
    ):
        make(name).fit(example().without_test())
    with pytest.raises(InputError, match="expected 9 training questions"):
        make(name, n_train=9).fit(Benchmark("b", example().corpus, train=example().test))


TRAINING = load().without_test()
NEAREST = TfidfIndex(TRAINING.corpus)
QUESTIONS = draw(TRAINING.train, 20, 0)


def test_questions_are_drawn_by_the_seed_and_once() -> None:
    assert QUESTIONS == draw(TRAINING.train, 20, 0)
    assert len({question.id for question in QUESTIONS}) == 20


def test_candidates_for_the_negatives() -> None:
    hard, random, none = (
        DPR(negatives=negatives).training_pairs(QUESTIONS, TRAINING.corpus, NEAREST)
        for negatives in ("hard", "random", "in-batch")
    )
    scores = NEAREST.scores([QUESTIONS[0].text])[0]
    assert [scores[row] for row in hard[0].negatives] == sorted(scores, reverse=True)[:20]
    assert {len(pair.negatives) for pair in random} == {20}
    assert {pair.negatives for pair in none} == {()}
    rows = {TRAINING.corpus.row[support] for support in QUESTIONS[0].supporting_ids}
    assert hard[0].supports == rows


def test_the_pool_to_choose_on_holds_the_supports_and_the_nearest() -> None:
    expected = {support for question in QUESTIONS for support in question.supporting_ids}
    nearest = NEAREST.nearest([question.text for question in QUESTIONS], DEV_PASSAGES)
    expected |= {TRAINING.corpus.passages[row].id for rows in nearest for row in rows}
    small = pool(QUESTIONS, TRAINING.corpus, NEAREST)
    assert {passage.id for passage in small.passages} == expected
