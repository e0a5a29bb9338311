"""The cells of a grid beside one of them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from kit.errors import InputError
from kit.evaluation import statistics
from kit.evaluation.grids import compare_cells

CELLS = [{"alpha": 0.5, "hops": 1}, {"alpha": 0.5, "hops": 2}, {"alpha": 1, "hops": 1}]
RECALLS = [[0.0, 1.0, 0.5, 0.5], [0.5, 1.0, 1.0, 0.5], [0.0, 0.0, 0.5, 0.5]]


@pytest.fixture
def table() -> pd.DataFrame:
    rows = [
        {"retriever": "mdr", "question": f"q{number}", "recall@5": recall, "seconds": 0.1 * place, "seconds_to_fit": 7}
        for place, recalls in enumerate(RECALLS)
        for number, recall in enumerate(recalls)
    ]
    return pd.DataFrame(rows)


def test_cells_by_hand(table: pd.DataFrame) -> None:
    found = compare_cells(table, CELLS)
    assert list(found.columns[:3]) == ["alpha", "hops", "group"]
    assert list(found["label"]) == ["alpha = 0.5, hops = 1", "alpha = 0.5, hops = 2", "alpha = 1, hops = 1"]
    assert list(found["mean"]) == list(found["recall@5"]) == [0.5, 0.75, 0.25]
    assert found["difference"].fillna(9).to_list() == [9, 0.25, -0.25]
    assert list(found["seconds"].round(9)) == [0, 0.1, 0.2]
    assert set(found["seconds_to_fit"]) == {7} and set(found["n"]) == {4} and set(found["group"]) == {"mdr"}


def test_intervals_are_those_of_the_statistics(table: pd.DataFrame) -> None:
    found = compare_cells(table, CELLS, base=2, seed=3)
    assert np.isnan(found.loc[2, "difference"])
    for place, recalls in enumerate(RECALLS[:2]):
        gain = statistics.paired(np.array(recalls), np.array(RECALLS[2]), 3)
        assert found.loc[place, ["difference", "difference_low", "difference_high"]].to_list() == list(gain[:3])
        level = statistics.interval(np.array(recalls), 3)
        assert found.loc[place, ["mean", "low", "high"]].to_list() == list(level)


def test_cells_of_equal_values_stay_apart(table: pd.DataFrame) -> None:
    found = compare_cells(table, [{"x": 1}, {"x": 1.0}, {"x": True}])
    assert list(found["label"]) == ["x = 1", "x = 1.0", "x = true"]
    assert list(found["mean"]) == [0.5, 0.75, 0.25]


def test_a_setting_that_is_named_like_a_column_is_told_apart(table: pd.DataFrame) -> None:
    found = compare_cells(table, [{"n": 1, "mean": 2}, {"n": 2, "mean": 2}, {"n": 3, "mean": 2}])
    assert list(found["setting_n"]) == [1, 2, 3] and set(found["n"]) == {4}
    assert list(found["setting_mean"]) == [2, 2, 2] and list(found["mean"]) == [0.5, 0.75, 0.25]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda table: table.iloc[:-1], "the same questions in each cell"),
        (lambda table: table.iloc[:0], "the same questions in each cell"),
        (lambda table: table.iloc[::-1].reset_index(drop=True).assign(question=range(12)), "the same questions"),
        (lambda table: table.drop(columns="recall@5"), "field table: expected the column 'recall@5'"),
        (lambda table: table.drop(columns="question"), "field table: expected the column 'question'"),
    ],
)
def test_a_table_of_another_shape_is_told(table: pd.DataFrame, change, told: str) -> None:
    with pytest.raises(InputError, match=told):
        compare_cells(change(table), CELLS)
