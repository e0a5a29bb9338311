"""DPR, and what every trained retriever promises: weights learned, and found again by content."""

from pathlib import Path

import numpy as np
import pytest

from kit.corpus import Benchmark, example, load
from kit.errors import InputError
from kit.learning import shipped
from kit.learning.contrastive import Pair
from kit.methods import make
from kit.methods.baselines import dpr
from kit.methods.baselines.dpr import DPR
from kit.methods.training import DEV_PASSAGES, draw, pool
from kit.text import Encoder, TfidfIndex


def quick(encoder: str, **settings: object) -> DPR:
    quickly = {"epochs": 1, "batch": 2, "learning_rate": 1e-2}
    return DPR(start="untrained", **{"encoder": encoder, **quickly, **settings})


def test_a_question_with_each_of_its_supports() -> None:
    _, river = example().test
    assert DPR(start="untrained").pairs(river, example().corpus) == [
        (river.text, "harbour"),
        (river.text, "moravec"),
        (river.text, "quay"),
    ]


def test_before_it_learns_it_is_the_base_encoder(indexed) -> None:
    query = "Which river floods Selby Quay?"
    ranking = indexed("dpr", start="untrained").explain(query, 6)
    dense = indexed("dense").explain(query, 6)
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
        make(name, start="untrained").fit(example().without_test())
    with pytest.raises(InputError, match="expected 9 training questions"):
        make(name, start="untrained", n_train=9).fit(
            Benchmark("b", example().corpus, train=example().test)
        )


TRAINING = load().without_test()
NEAREST = TfidfIndex(TRAINING.corpus)
QUESTIONS = draw(TRAINING.train, 20, 0)


def test_questions_are_drawn_by_the_seed_and_once() -> None:
    assert QUESTIONS == draw(TRAINING.train, 20, 0)
    assert len({question.id for question in QUESTIONS}) == 20


def test_candidates_for_the_negatives() -> None:
    hard, random, none = (
        DPR(start="untrained", negatives=negatives).training_pairs(
            QUESTIONS, TRAINING.corpus, NEAREST
        )
        for negatives in ("hard", "random", "in-batch")
    )
    scores = NEAREST.scores([QUESTIONS[0].text])[0]
    assert [scores[row] for row in hard[0].negatives] == sorted(scores, reverse=True)[:20]
    assert {len(pair.negatives) for pair in random} == {20}
    assert {pair.negatives for pair in none} == {()}
    rows = {TRAINING.corpus.row[support] for support in QUESTIONS[0].supporting_ids}
    assert hard[0].supports == rows


class Caught(Exception):
    """In the place of a training: what it was to learn from."""


@pytest.fixture
def untaught(monkeypatch: pytest.MonkeyPatch) -> None:
    def finetune(base, pairs, dev, passages, *_):
        raise Caught(pairs, dev, passages)

    monkeypatch.setattr(dpr, "finetune", finetune)


def test_hundreds_of_questions_choose_the_model(untaught: None, own_store: Path) -> None:
    with pytest.raises(Caught) as caught:
        DPR(start="untrained").fit(TRAINING)
    _, dev, _ = caught.value.args
    assert len({pair.query for pair in dev}) == 200


def test_pairs_of_several_data_sets_stand_among_the_passages_of_all(
    untaught: None, own_store: Path
) -> None:
    first = Benchmark("first", example().corpus, train=example().test[:1], dev=example().test)
    second = Benchmark("second", TRAINING.corpus, train=QUESTIONS[:1])
    with pytest.raises(Caught) as caught:
        DPR(start="untrained").learn([first, second])
    pairs, dev, passages = caught.value.args
    assert len(passages) == len(first.corpus) + len(second.corpus)

    expected = []
    for benchmark in (first, second):
        [question] = benchmark.train
        for passage_id in question.supporting_ids:
            expected.append((question.text, benchmark.corpus[passage_id].full_text))
    assert [(pair.query, passages[pair.positive]) for pair in pairs] == expected
    corpus_of_second = {passage.full_text for passage in second.corpus.passages}
    last: Pair = pairs[-1]
    assert all(passages[row] in corpus_of_second for row in (*last.negatives, *last.supports))
    assert {pair.query for pair in dev} == {question.text for question in example().test}


def test_what_comes_with_the_kit_is_the_encoder_that_learned(
    own_store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lesson = Benchmark("lesson", example().corpus, train=example().test)
    teacher = DPR(start="untrained", rank=2, learning_rate=1e-2, batch=2)
    learned = teacher.learn([lesson])
    monkeypatch.setattr(shipped, "NETWORKS", tmp_path)
    teacher.ship(learned, tmp_path / "dpr")
    assert sum(file.stat().st_size for file in (tmp_path / "dpr").iterdir()) < 100_000

    texts = [passage.full_text for passage in lesson.corpus.passages]
    pupil = DPR(start="worlds")
    vectors = teacher.learned.encode(texts)
    np.testing.assert_allclose(pupil.learned.encode(texts), vectors, atol=1e-3)
    assert np.abs(vectors - Encoder().encode(texts)).max() > 1e-2
    assert pupil.history == teacher.history

    pupil.fit(lesson)  # goes on from there
    assert pupil.learned.name != teacher.learned.name
    with pytest.raises(InputError, match="train another"):
        pupil.variant(start="untrained")


def test_the_pool_to_choose_on_holds_the_supports_and_the_nearest() -> None:
    expected = {support for question in QUESTIONS for support in question.supporting_ids}
    nearest = NEAREST.nearest([question.text for question in QUESTIONS], DEV_PASSAGES)
    expected |= {TRAINING.corpus.passages[row].id for rows in nearest for row in rows}
    small = pool(QUESTIONS, TRAINING.corpus, NEAREST)
    assert {passage.id for passage in small.passages} == expected
