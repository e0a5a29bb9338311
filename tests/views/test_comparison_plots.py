"""Gains by group and recall against time: what is drawn, and for whom."""

from __future__ import annotations

import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from kit.errors import InputError
from kit.views import gains, recall_against_time

DIFFERENCES = pd.DataFrame(
    [
        {"retriever": name, "hops": hops, "structure": f"{hops} of <b>$x$", "difference": hops / 20 - 0.1} | ends
        for name in ("gnn-ret", "qsgnn")
        for hops in (4, 2, 1)
        for ends in [{"low": hops / 20 - 0.15, "high": hops / 20 - 0.05, "n": 10 * hops}]
    ]
)
TIMES = pd.DataFrame({"retriever": ["dense", "qsgnn"], "seconds": [0.0004, 0.05], "mean": [0.5, 0.6]}).eval(
    "low = mean - 0.05\nhigh = mean + 0.05"
)


def through(ax: Axes) -> list[Line2D]:
    """The lines through three points, not the ends of their intervals."""
    return [line for line in ax.get_lines() if len(line.get_xdata()) == 3 and line.get_marker() != "_"]


def test_hops_stand_in_order_and_groups_as_given() -> None:
    ax = gains(DIFFERENCES, "t", "hops", "dense").axes[0]
    assert [tick.get_text() for tick in ax.get_xticklabels()] == [
        "1 hop\n(n = 10)",
        "2 hops\n(n = 20)",
        "4 hops\n(n = 40)",
    ]
    lines = [line.get_ydata().tolist() for line in ax.get_lines() if len(line.get_xdata()) == 3]
    assert [pytest.approx(y) for y in lines[:1]] == [[-0.05, 0.0, 0.1]]
    assert {line.get_linestyle() for line in through(ax)} <= {"-", "--"}
    ax = gains(DIFFERENCES, "t", "structure", "dense").axes[0]
    assert ax.get_xticklabels()[0].get_text().startswith("4 of <b>$x$")
    assert {line.get_linestyle() for line in through(ax)} == {"None"}
    assert ax.get_ylabel() == "Recall@5 minus that of dense"


def test_recall_against_time_is_in_milliseconds_and_names_each() -> None:
    figure = recall_against_time(TIMES, "t")
    ax = figure.axes[0]
    marks = [line.get_xdata()[0] for line in ax.get_lines() if line.get_marker() in ("s", "o", "P", "X", "h", "D")]
    assert sorted(marks)[:2] == pytest.approx([0.4, 50])
    assert ax.get_xscale() == "log" and {text.get_text() for text in ax.texts} >= {"dense", "qsgnn"}


@pytest.mark.parametrize("draw", [lambda t: gains(t, "t", "hops", "dense"), lambda t: recall_against_time(t, "t")])
def test_a_missing_column_is_named(draw) -> None:
    with pytest.raises(InputError, match=r"seconds|difference|hops|mean"):
        draw(pd.DataFrame({"retriever": ["a"]}))
