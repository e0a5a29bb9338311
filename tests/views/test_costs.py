"""Figures of costs show the parts that were measured, and name what is cheap and good."""

import pandas as pd
import pytest

from kit.corpus import example
from kit.evaluation import evaluate
from kit.evaluation.costs import costs_of, in_largest
from kit.evaluation.timing import PARTS
from kit.methods import make
from kit.views import costs as figures

ROWS = [
    # retriever, passages, seconds, encoding
    ("bm25", 100, 0.001, 0.0),
    ("bm25", 400, 0.004, 0.0),
    ("dense", 100, 0.011, 0.01),
    ("dense", 400, 0.011, 0.01),
]


@pytest.fixture
def costs() -> pd.DataFrame:
    table = pd.DataFrame(
        ROWS,
        columns=["retriever", "passages", "seconds", "encoding"],
    )
    table[["seeding", "matching", "messages"]] = 0.0
    return table.assign(
        rest=table["seconds"] - table["encoding"],
        question="q",
        texts=1,
    )


def test_costs_are_measured_among_ever_more_passages() -> None:
    hand = example()
    table = costs_of({"bm25": make("bm25")}, hand, hand.test[:1], [4, 100])
    assert table["passages"].tolist() == [4, 6]
    largest = in_largest(table).loc["bm25"]
    assert largest["seconds"] == pytest.approx(largest[list(PARTS)].sum())


def test_the_parts_of_the_dearest_are_announced(
    costs: pd.DataFrame,
) -> None:
    figure = figures.parts(costs)
    assert figure.title == (
        "Dense retrieval takes most time per query, 11 ms; 91% of it is reading texts"
    )
    assert figure.table["retriever"].tolist() == ["bm25", "dense"]


def test_growth_is_announced_where_it_is_large(
    costs: pd.DataFrame,
) -> None:
    figure = figures.growth(costs)
    assert figure.title == "BM25 searches 4.0 times as long among 4.0 times the passages"
    flat = figures.growth(costs, ["dense"])
    assert flat.title == "Among 4.0 times the passages no method searches much longer"


def test_what_is_found_for_the_time(costs: pd.DataFrame) -> None:
    methods = {"bm25": make("bm25"), "dense": make("dense")}
    experiment = evaluate(
        methods,
        example(),
        ks=(5,),
        progress=False,
        n_resamples=100,
    )
    figure = figures.found_for_time(experiment, costs)
    assert figure.title.endswith("; a query takes 4.0 to 11 ms")
    assert figure.table["milliseconds"].tolist() == [4, 11]
