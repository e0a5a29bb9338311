from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from kit.views.series import by_size, evenly, frame, interval_lines, looks, signed, wrapped
from kit.views.style import LOOKS, Figure, panels


def points(**more: object) -> pd.DataFrame:
    table = pd.DataFrame({"k": [1, 5, 10] * 2, "of": ["a"] * 3 + ["b"] * 3, "mean": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]})
    return table.assign(low=table["mean"] - 0.05, high=table["mean"] + 0.1).assign(**more)


def test_looks_are_distinct_and_a_method_keeps_its_own():
    found = looks(["mean", "gnn-ret", "min", "dense", "mean", 5])
    assert list(found) == ["mean", "gnn-ret", "min", "dense", 5]
    assert (found["gnn-ret"], found["dense"]) == (LOOKS["gnn-ret"], LOOKS["dense"])
    assert len({look.colour for look in found.values()}) == 5
    assert len(looks(range(9))) == 9  # more than there are


def test_places():
    assert evenly([10, 1, 5, 10]) == {1: 0, 5: 1, 10: 2}
    assert evenly(["neither", "both"]) == {"neither": 0, "both": 1}
    assert by_size([40, 10, 20, 160]) == pytest.approx({10: 0, 20: 1, 40: 2, 160: 4})
    assert by_size([7]) == {7: 0}


def test_lines_stand_side_by_side_with_their_intervals():
    [[ax]] = panels(Figure("t"))
    ends = interval_lines(ax, points().iloc[::-1], "of", "k", evenly([1, 5, 10]), looks(["a", "b"]))
    drawn = {line.get_color(): line.get_xydata() for line in ax.lines if line.get_linestyle() != "None"}
    first, second = (drawn[look.colour] for look in looks(["a", "b"]).values())
    np.testing.assert_allclose(first, [[-0.045, 0.1], [0.955, 0.2], [1.955, 0.3]])
    np.testing.assert_allclose(second[:, 0] - first[:, 0], 0.09)
    assert [(round(x, 3), y, name) for x, y, name, _ in ends] == [(1.955, 0.3, "a"), (2.045, 0.6, "b")]
    bars = [segment[:, 1].tolist() for bar in ax.collections for segment in bar.get_segments()]
    assert bars[0] == pytest.approx([0.05, 0.2])
    assert [label.get_text() for label in ax.get_xticklabels()] == ["1", "5", "10"]


def test_ticks_that_would_touch_stand_on_two_lines():
    [[ax]] = panels(Figure("t"))
    table = points(k=[1000, 10_000, 10_500] * 2)
    interval_lines(ax, table, "of", "k", by_size(table["k"]), looks(["a", "b"]))
    assert [label.get_text() for label in ax.get_xticklabels()] == ["1k", "10k", "\n10.5k"]


def test_an_interval_that_is_not_known_is_not_drawn():
    [[ax]] = panels(Figure("t"))
    table = points(low=np.nan, high=np.nan)
    interval_lines(ax, table, "of", "k", evenly(table["k"]), looks(["a", "b", "not in the table"]))
    frame([ax], table)
    ax.figure.draw_without_rendering()
    assert ax.get_ylim() == pytest.approx((0.06, 0.64))


@pytest.mark.parametrize(
    ("low", "high", "limits"), [(0.5, 0.52, (0.46, 0.56)), (0, 1, (-0.02, 1.02)), (0.4, 0.9, (0.36, 0.94))]
)
def test_noise_does_not_fill_a_frame(low, high, limits):
    [[ax]] = panels(Figure("t"))
    frame([ax], pd.DataFrame({"mean": [(low + high) / 2], "low": [low], "high": [high]}))
    assert ax.get_ylim() == pytest.approx(limits)


def test_words(hostile):
    assert signed(-0.0312) == "−0.031" and signed(0.5) == "+0.500"
    lines = wrapped(hostile, 20).split("\n")
    assert len(lines) == 3 and all(len(line) <= 20 for line in lines) and lines[-1].endswith("…")
