"""Figures of walks: what a walk finds itself, and a metric along the values of a setting."""

import pandas as pd
import pytest

from kit.corpus import example
from kit.evaluation import Experiment, evaluate
from kit.methods import make
from kit.views import walks

FEW = {"seed": 0, "n_resamples": 200}


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


def test_the_best_branching_is_compared_with_a_single_seed() -> None:
    rows = []
    for branching, value in ((2, 0.0), (5, 1.0), (30, 0.0)):
        for question in range(40):
            rows.append(("kgp-mdr", branching, 30 // branching, str(question), value))
    columns = ["retriever", "branching", "seeds", "question", "full@30"]
    figure = walks.branching(pd.DataFrame(rows, columns=columns), **FEW)
    expected = "KGP (MDR agent), branching 5 adds 100.0 points of Full@30 to a single seed"
    assert figure.title == expected
    assert figure.table["mean"].tolist() == [0, 1, 0]


def graphs_along_density() -> pd.DataFrame:
    """The denser of two graphs has more within reach, and the walk finds less."""
    rows = []
    for degree, reached, full in ((2.0, 0.5, 1.0), (8.0, 1.0, 0.5)):
        for question in range(40):
            about = {"builder": "knn", "value": degree, "mean_degree": degree}
            value = full if question % 2 else 1.0
            matched = 0.001 * degree
            measured = {"sf_em": reached, "full@30": value, "matching": matched}
            rows.append(about | {"question": str(question)} | measured)
    return pd.DataFrame(rows)


def test_density_is_judged_from_the_sparsest_graph_to_the_densest() -> None:
    figure = walks.density(graphs_along_density(), **FEW)
    assert figure.title.startswith("The KNN graph at its densest loses 25.0 points of Full@30")
    assert figure.table["seconds"].tolist() == pytest.approx([0.002, 0.008])


def test_what_is_within_reach_need_not_be_found() -> None:
    along = graphs_along_density()
    assert walks.reach_and_retrieval(along, **FEW).title.endswith("correlation of −1.00")
    alike = walks.reach_and_retrieval(along.assign(sf_em=1.0), **FEW)
    assert alike.title == "SF-EM or Full@30 of the walk is the same in all 2 graphs"


def test_times_are_compared_in_the_largest_collection() -> None:
    rows = []
    for passages in (100, 200):
        for question in range(4):
            for name, seconds in (("kgp-tfidf", 0.01), ("dense", 0.02 * passages / 100)):
                rows.append((passages, str(question), name, seconds, 0.01))
    columns = ["passages", "question", "retriever", "seconds", "encoding"]
    costs = pd.DataFrame(rows, columns=columns)
    title = walks.growth(costs, "kgp-tfidf", "dense", **FEW).title
    assert "0.25 times as long" in title and title.endswith("among 200 passages")
    alike = walks.growth(costs.assign(seconds=0.02), "kgp-tfidf", "dense", **FEW)
    assert alike.title.endswith("about as long per question")
