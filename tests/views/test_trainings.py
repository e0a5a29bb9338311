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
    experiment = evaluate(["tfidf"], atlas.asking(questions), ks=(10,), n_resamples=100)
    table = ends_of_chains(experiment, ["tfidf"]).table
    assert table["support"].tolist() == ["first support", "last support"]
    first, last = table["mean"]
    assert 0 <= last <= first <= 1
