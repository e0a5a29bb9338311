"""Figures of GNN-Ret's weights and steps bring their numbers, and titles that are true."""

import pandas as pd
import pytest

from kit.evaluation import evaluate
from kit.evaluation.statistics import Estimate
from kit.evaluation.sub_questions import COLUMNS
from kit.methods import make
from kit.views import messages
from kit.worlds.atlas import generate


@pytest.fixture(scope="module")
def methods():
    return {f"α = {alpha}": make("gnn-ret", alpha=alpha) for alpha in (0.2, 1.0)}


def test_along_alpha_has_the_loss_and_the_recall_of_each(methods) -> None:
    benchmark = generate(size="small")
    training = benchmark.without_test()
    few = benchmark.asking(benchmark.test[:20])
    experiment = evaluate(methods, few, ks=(10,), n_resamples=200, progress=False)
    figure = messages.along_alpha(experiment, methods, training)
    assert len(figure.table) == 4
    assert set(figure.table["alpha"]) == {0.2, 1.0}
    assert figure.drawn("png").startswith(b"\x89PNG")


def test_the_title_says_no_more_than_the_numbers() -> None:
    losses = pd.DataFrame({"retriever": ["a", "b"], "alpha": [0.5, 1.0], "mean": [0.1, 0.2]})
    recalls = losses.assign(mean=[0.6, 0.5])
    title = messages._lowest_and_highest(losses, recalls, None, "recall@10")
    assert title == "The hinge loss is lowest at α = 0.5, and Recall@10 is highest there"


def step_rows(**recalls: float) -> pd.DataFrame:
    rows = []
    for name, recall in recalls.items():
        for row in range(40):
            rows.append((name, f"q{row}", 2, 1, 1.0))
            rows.append((name, f"q{row}", 2, 2, float(row < 40 * recall)))
    return pd.DataFrame(rows, columns=COLUMNS)


def test_by_step_compares_with_the_first() -> None:
    figure = messages.by_step(step_rows(dense=0.5, bm25=0.9), seed=0, n_resamples=200)
    assert figure.table["mean"].tolist() == [1.0, 0.5, 1.0, 0.9]
    assert figure.title == "BM25 adds 20.0 points of Recall@5 of a step to dense retrieval"


def test_wrong_bridges_are_compared_where_half_are_wrong() -> None:
    none_wrong = step_rows(dense=0.9, bm25=0.9).assign(share=0.0, draw=0)
    half_wrong = step_rows(dense=0.5, bm25=0.5).assign(share=0.5, draw=0)
    rows = pd.concat([none_wrong, half_wrong])
    figure = messages.by_wrong_bridges(rows, seed=0, n_resamples=200)
    assert len(figure.table) == 4
    assert figure.title.startswith("No difference to dense retrieval")
    assert figure.title.endswith("with half of the bridges wrong")


@pytest.fixture(scope="module")
def weights() -> pd.DataFrame:
    rows = []
    for n, value in ((5, 0.5), (20, 0.6)):
        rows += [(n, "after", "alpha1", value), (n, "before", "alpha1", 0.0)]
    return pd.DataFrame(rows, columns=["n_train", "competitors", "weight", "value"])


def test_what_is_learned_by_the_number_of_questions(weights) -> None:
    figure = messages.learned(weights, "competitors", {"untrained": 0.5})
    assert figure.title == (
        "The median of what 20 questions teach: α = 0.60 (after) and α = 0.00 (before)"
    )
    assert len(figure.table) == 4
    one_line = messages.learned(weights[weights["competitors"] == "after"])
    assert one_line.title.endswith("α = 0.60")


def test_layers_do_not_announce_what_may_be_chance() -> None:
    columns = ["quantity", "layers", "layer", "mean", "low", "high"]
    rows = [("recall@10", 1, None, 0.6, 0.5, 0.7), ("α", 1, 1, 0.5, 0.4, 0.6)]
    gain = Estimate(0.01, -0.01, 0.03, 100)
    figure = messages.layers(pd.DataFrame(rows, columns=columns), gain)
    assert figure.title == "No difference to one layer in Recall@10 is more than chance"


def test_contexts_are_compared_by_their_largest_gain() -> None:
    rows = []
    for budget, share in ((3_500, 0.5), (5_000, 0.9)):
        for row in range(40):
            rows.append(("dense", f"q{row}", 2, budget, float(row < 10)))
            rows.append(("gnn-ret", f"q{row}", 2, budget, float(row < 40 * share)))
    contexts = pd.DataFrame(rows, columns=["retriever", "question", "hops", "budget", "full"])
    draws = {"seed": 0, "n_resamples": 200}
    figure = messages.along_budgets(contexts, "gnn-ret", "dense", **draws)
    assert figure.title == "GNN-Ret adds 65.0 points of Full within 5,000 tokens to dense retrieval"
    counted = messages.found_by_supports(contexts, "gnn-ret", "dense", **draws)
    assert (
        counted.title == "GNN-Ret adds 25.0 points of Full within 3,500 tokens to dense retrieval"
    )
    assert counted.drawn("png").startswith(b"\x89PNG")
