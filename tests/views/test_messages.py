"""Figures of GNN-Ret's weights and steps bring their numbers, and titles that are true."""

import pandas as pd
import pytest

from kit.evaluation import evaluate
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
    asked = benchmark.asking(benchmark.test[:20])
    experiment = evaluate(methods, asked, ks=(10,), n_resamples=200, progress=False)
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
        for number in range(40):
            rows.append((name, f"q{number}", 2, 1, 1.0))
            rows.append((name, f"q{number}", 2, 2, float(number < 40 * recall)))
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
