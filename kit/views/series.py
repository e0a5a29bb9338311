"""Lines with intervals along the settings of an experiment: what plots of sweeps, steps and budgets have in common."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from kit.views.style import LOOKS, Look, look, own_look

_DODGE = 0.09  # between the lines at one place, as a share of what places are apart on average
_LEAST_HEIGHT = 0.1  # of an axis of fractions: what differs by less shall not fill it


def looks(names: Iterable[object]) -> dict[object, Look]:
    """A look for each name, no two alike: a method's own, and for settings those that the methods here leave."""
    names = list(dict.fromkeys(names))
    own = {name: found for name in names if (found := own_look(name))}
    free = [each for each in dict.fromkeys(LOOKS.values()) if each not in own.values()]
    return {name: own.get(name) or (free.pop(0) if free else look(str(name))) for name in names}


def evenly(values: Iterable[float | str]) -> dict[float | str, float]:
    """Places 1 apart: numbers in their order, words in the order given."""
    values = list(dict.fromkeys(values))
    order = values if any(isinstance(value, str) for value in values) else sorted(values)
    return {value: float(place) for place, value in enumerate(order)}


def by_size(values: Iterable[float]) -> dict[float | str, float]:
    """Places on a logarithmic axis for numbers above 0, the two nearest ones 1 apart."""
    values = sorted(set(values))
    logs = np.log(values) - np.log(values[0])
    return dict(zip(values, (logs / min(np.diff(logs), default=1.0)).tolist()))


def interval_lines(
    ax: Axes,
    table: pd.DataFrame,
    by: str,
    x: str,
    places: Mapping[float | str, float],
    styles: Mapping[object, Look],
    joined: bool = True,
) -> list[tuple[float, float, str, str]]:
    """A line for each value of the column ``by`` along the column ``x``, with intervals, the lines a little apart.

    ``table`` has a row a point: mean, low, high. ``places`` says where on the axis the values of x stand, ``styles``
    how those of ``by`` are drawn and in which order. Without ``joined`` the points stand alone, as they should where x
    has no order. Returns the lines' right ends as ``label_lines`` takes them.
    """
    ends = []
    at_places = list(places.values())
    dodge = _DODGE * max(1, (at_places[-1] - at_places[0]) / max(1, len(at_places) - 1))
    for number, (name, style) in enumerate(styles.items()):
        rows = table[table[by] == name].sort_values(x, key=lambda values: values.map(places))
        if rows.empty:
            continue
        at = [places[value] + dodge * (number - (len(styles) - 1) / 2) for value in rows[x]]
        reach = [rows["mean"] - rows["low"], rows["high"] - rows["mean"]]
        line = style.line if joined else style.line | {"linestyle": "none"}
        _, caps, bars = ax.errorbar(at, rows["mean"], reach, capsize=3, elinewidth=1.5, markersize=9, **line)
        for part in (*caps, *bars):
            part.set_alpha(0.6)
        ends.append((at[-1], float(rows["mean"].iloc[-1]), wrapped(name, 20), style.colour))
    ax.set_xticks(at_places, _staggered([_tick(value) for value in places], at_places), parse_math=False)
    ax.set_xlim(at_places[0] - 5 * dodge, at_places[-1] + 5 * dodge)
    ax.grid(axis="x", visible=False)
    return ends


def _tick(value: float | str) -> str:
    if isinstance(value, str):
        return value
    return f"{value / 1000:g}k" if value >= 1000 else f"{value:g}"


def _staggered(names: list[str], places: list[float]) -> list[str]:
    """Names of ticks, one a line lower where it would touch the one before."""
    found, close = [], 0.09 * (places[-1] - places[0])
    for number, name in enumerate(names):
        low = number > 0 and places[number] - places[number - 1] < close and not found[-1].startswith("\n")
        found.append("\n" * low + name)
    return found


def frame(axes: Iterable[Axes], table: pd.DataFrame) -> None:
    """One range of fractions for all axes: around the intervals, and never so narrow that noise fills it."""
    values = table[["mean", "low", "high"]].to_numpy(float)
    low, high = np.nanmin(values), np.nanmax(values)
    room = max(0.08 * (high - low), (_LEAST_HEIGHT - (high - low)) / 2)
    for ax in axes:
        ax.set_ylim(max(low - room, -0.02), min(high + room, 1.02))


def heading(metric: str) -> str:
    """``recall@5`` as it is written in a heading."""
    return metric[:1].upper() + metric[1:]


def wrapped(name: object, width: int) -> str:
    """A label in lines of this width, cut after the third."""
    return textwrap.fill(str(name), width, max_lines=3, placeholder=" …")


def signed(value: float) -> str:
    """A difference of fractions with its sign, the minus as long as the plus."""
    return f"{value:+.3f}".replace("-", "−")
