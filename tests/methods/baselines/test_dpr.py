"""DPR, and what every trained retriever promises: learning from training questions, weights found again by content."""

import pytest

from kit.corpus import Benchmark, example, load
from kit.errors import InputError
from kit.methods import dpr, make
from kit.methods.baselines.dpr import DPR
from kit.methods.training import pool, sample
from kit.text import TfidfIndex


def quick(encoder: str, **settings: object) -> DPR:
    return DPR(**{"encoder": encoder, "epochs": 1, "batch": 2, "learning_rate": 1e-2, **settings})


def test_a_question_with_each_of_its_supports() -> None:
    _, river = example().test
    assert DPR().pairs(river, example().corpus) == [
        (river.text, id) for id in ("harbour", "moravec", "quay")
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
    monkeypatch.setattr(dpr, "finetune", None)  # to be trained is to fail
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


def test_negatives_and_the_pool_to_choose_on() -> None:
    benchmark = load().without_test()
    questions, nearest = sample(benchmark.train, 20, 0), TfidfIndex(benchmark.corpus)
    assert (
        questions == sample(benchmark.train, 20, 0)
        and len({question.id for question in questions}) == 20
    )
    hard, random, none = (
        DPR(negatives=negatives)._with_negatives(questions, benchmark.corpus, nearest)
        for negatives in ("hard", "random", "in-batch")
    )
    scores = nearest.scores([questions[0].text])[0]
    assert [scores[row] for row in hard[0].negatives] == sorted(scores, reverse=True)[:20]
    assert {len(pair.negatives) for pair in random} == {20} and {
        pair.negatives for pair in none
    } == {()}
    assert hard[0].supports == {benchmark.corpus.row[id] for id in questions[0].supporting_ids}
    small = pool(questions, benchmark.corpus, nearest)
    expected = {id for question in questions for id in question.supporting_ids}
    near = nearest.nearest([question.text for question in questions], dpr.DEV_PASSAGES)
    expected |= {benchmark.corpus.passages[row].id for rows in near for row in rows}
    assert {passage.id for passage in small.passages} == expected
