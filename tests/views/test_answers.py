"""Figures of answers join what was found with what was right, and announce only what holds."""

from dataclasses import replace

import pandas as pd
import pytest

from kit.evaluation import Experiment, evaluate
from kit.views import answers as figures
from kit.worlds.atlas import generate


@pytest.fixture(scope="module")
def experiment() -> Experiment:
    benchmark = generate(size="small")
    forty = benchmark.asking(benchmark.test[:40])
    return evaluate(["dense", "bm25"], forty, ks=(5,), n_resamples=200, progress=False)


@pytest.fixture(scope="module")
def answers(experiment: Experiment) -> Experiment:
    """A reader that is right where all supports were found, and never otherwise."""
    table = experiment.table.assign(em=experiment.table["full@5"])
    one = table[table["retriever"] == "dense"]
    floor = one.assign(retriever="none", em=0.0)
    ceiling = one.assign(retriever="golden", em=1.0)
    rows = [table, floor, ceiling]
    measured = ["retriever", "question", "hops", "em"]
    joined = pd.concat(rows, ignore_index=True)[measured]
    rankings = experiment.rankings | dict.fromkeys(["none", "golden"])
    return replace(experiment, table=joined, runs=None, rankings=rankings)


def test_found_and_right_stand_beside_each_other(
    experiment: Experiment, answers: Experiment
) -> None:
    table = figures.found_and_right(experiment, answers).table
    means = table.pivot(index="retriever", columns="metric", values="mean")
    assert (means.loc[["dense", "bm25"], "em"] == means.loc[["dense", "bm25"], "full@5"]).all()
    assert means.loc[["none", "golden"], "em"].tolist() == [0, 1]


def test_the_worth_of_supports_is_all_of_the_answer_here(
    experiment: Experiment, answers: Experiment
) -> None:
    figure = figures.right_by_found(experiment, answers)
    groups = figure.table.groupby("group")["mean"]
    assert groups.min()["all supports found"] == 1 and groups.max()["a support missing"] == 0
    assert (
        figure.title == "Where all supports are found, 100.0 points more of the answers are right"
    )


def test_few_questions_announce_nothing(experiment: Experiment, answers: Experiment) -> None:
    few = experiment.questions[:20]
    ids = [question.id for question in few]
    parts = []
    for whole in (experiment, answers):
        table = whole.table[whole.table["question"].isin(ids)]
        parts.append(replace(whole, table=table, runs=None, questions=few))
    assert "too few" in figures.right_by_found(*parts).title


def test_costs_of_methods_without_a_model_are_nothing(
    experiment: Experiment, answers: Experiment
) -> None:
    figure = figures.costs(experiment, answers)
    assert figure.table["calls"].tolist() == [0, 0]
    assert figure.title == "No method uses calls of a language model"


def test_answers_by_hops_lie_between_floor_and_ceiling(answers: Experiment) -> None:
    table = figures.answers_by_hops(answers, ["dense", "bm25"]).table
    assert set(table["retriever"]) == {"none", "dense", "bm25", "golden"}
