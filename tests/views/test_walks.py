"""Figures of walks: what a walk finds itself, and a metric along the values of a setting."""

import pytest

from kit.corpus import example
from kit.evaluation import Experiment, evaluate
from kit.methods import make
from kit.views import walks


@pytest.fixture(scope="module")
def experiment() -> Experiment:
    narrow = {"budget": 6, "branching": 3}
    methods = {
        "tfidf": make("tfidf"),
        "two passages": make("kgp-tfidf", depth=2, **narrow),
        "three passages": make("kgp-tfidf", depth=3, **narrow),
    }
    return evaluate(methods, example(), ks=(5,), n_resamples=200)


def test_only_what_walks_is_shown(experiment: Experiment) -> None:
    figure = walks.walked(experiment)
    assert figure.table["retriever"].tolist() == ["two passages", "three passages"]
    means = figure.table.set_index("retriever")["mean"]
    assert means["two passages"] <= means["three passages"] <= 6
    assert "passages by its own steps" in figure.title
    assert walks.walked(experiment, ["tfidf"]).title == "No method walks"


def test_a_setting_is_on_the_axis(experiment: Experiment) -> None:
    values = {"two passages": 2, "three passages": 3}
    figure = walks.along(experiment, "depth", values, ["full@5", "recall@5"])
    assert figure.table["depth"].unique().tolist() == [2, 3]
    assert set(figure.table["line"]) == {"Full@5", "Recall@5"}
    assert figure.title.startswith("2 questions are too few")
