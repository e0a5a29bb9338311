"""Figures of trainings say where a training began and what it came to."""

import pytest

from kit.corpus import load
from kit.evaluation import evaluate
from kit.views.trainings import DEV_LOSS, LOSS, ends_of_chains, training_curve

HISTORY = [
    {"step": 0, "measured": -2.0},
    {"step": 1, "loss": 3.0},
    {"step": 2, "loss": 1.0},
    {"step": 2, "measured": -0.5},
    {"step": 3, "loss": 2.0},
    {"step": 3, "measured": -0.75},
]


def test_the_loss_of_dev_questions_is_shown_with_its_sign() -> None:
    figure = training_curve({"dpr": HISTORY})
    assert figure.title == "The loss of dev questions at best: for DPR from 2.00 to 0.50"
    checks = figure.table[figure.table["quantity"] == DEV_LOSS]
    assert checks["value"].tolist() == [2.0, 0.5, 0.75]
    steps = figure.table[figure.table["quantity"] == LOSS]
    assert steps["smoothed"].tolist() == pytest.approx([3, 2, 2])


def test_a_training_that_improves_nothing_is_no_gain() -> None:
    history = [{"step": 0, "measured": 0.7}, {"step": 5, "measured": 0.6}]
    figure = training_curve({"qsgnn": history}, measured="Recall@5 of dev questions")
    assert figure.title.endswith("for QSGNN no step improves on the start, 0.70")
    assert training_curve({"dpr": HISTORY[1:3]}).title == "Loss of each step of training"


def test_the_ends_of_chains_are_shown_apart() -> None:
    atlas = load()
    questions = [question for question in atlas.test if question.hops == 2][:6]
    methods = ["tfidf", "golden"]
    experiment = evaluate(methods, atlas.asking(questions), ks=(10,), n_resamples=100)
    figure = ends_of_chains(experiment, methods)
    assert figure.table["support"].tolist() == 2 * ["first support", "last support"]
    first, last, *golden = figure.table["mean"]
    assert 0 <= last <= first <= 1 and golden == [1, 1]
    few = "4 questions are too few to tell methods apart from TF-IDF in Recall@10"
    assert figure.title == f"Of the last supports: {few}"


def test_what_is_gained_at_the_end_is_told_question_by_question() -> None:
    atlas = load()
    questions = [question for question in atlas.test if question.hops == 2][:80]
    methods = ["tfidf", "golden"]
    experiment = evaluate(methods, atlas.asking(questions), ks=(10,), n_resamples=100)
    figure = ends_of_chains(experiment, methods)
    last = figure.table.set_index(["line", "support"])["mean"][:, "last support"]
    points = 100 * (1 - last["tfidf"])
    assert f"{points:.1f} points" in figure.title
