"""How an encoder learns (kgp.txt §8.2): its loss and recall while it trains, and recall along a number that is set."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from kit.views.labels import label_lines
from kit.views.series import by_size, evenly, frame, heading, interval_lines, looks, wrapped
from kit.views.style import GREY, Figure, panels, require, styled


@styled
def training_curves(table: pd.DataFrame, title: str) -> Figure:
    """Quantities against the steps of training, a panel a quantity and a line a retriever.

    ``table`` has a row a point: retriever, quantity, step, value, smoothed. Where the two differ, the smoothed values
    are the line and the values a pale one behind it; else the values are marked, as those of a few checks.
    """
    require(table, "retriever", "quantity", "step", "value", "smoothed")
    figure = Figure(title)
    quantities, styles = list(dict.fromkeys(table["quantity"])), looks(table["retriever"])
    [axes] = panels(figure, 1, len(quantities))
    for ax, quantity in zip(axes, quantities):
        of = table[table["quantity"] == quantity]
        checks = of["value"].equals(of["smoothed"])
        ends = []
        for name, line in of.groupby("retriever", sort=False):
            line, style = line.sort_values("step"), styles[name]
            if not checks:
                ax.plot(line["step"], line["value"], color=style.colour, alpha=0.2, linewidth=1)
            ax.plot(line["step"], line["smoothed"], **style.line | ({} if checks else {"marker": ""}))
            last = line.iloc[-1]
            ends.append((last["step"], last["smoothed"], wrapped(name, 18), style.colour))
        ax.set_title(heading(quantity) + ("" if checks else ", mean of ten steps"), parse_math=False)
        ax.set_xlabel("steps of training")
    label_lines(axes[-1], ends)
    return figure


@styled
def recall_along(
    table: pd.DataFrame, title: str, x: str, metric: str, label: str = "", levels: Mapping[str, float] | None = None
) -> Figure:
    """A metric along the column ``x``, a line for each value of the column ``line``, with 95 % intervals.

    ``table`` has a row a point: line, the column ``x``, mean, low, high (fractions). Numbers above 0 stand on a
    logarithmic axis, words one beside the other. ``label`` names the axis; ``levels`` are values to compare with.
    """
    require(table, "line", x, "mean", "low", "high")
    figure = Figure(title)
    [[ax]] = panels(figure)
    words = any(isinstance(value, str) for value in table[x])
    places = evenly(table[x]) if words else by_size(table[x])
    ends = interval_lines(ax, table, "line", x, places, looks(table["line"]))
    for name, level in (levels or {}).items():
        ax.axhline(level, color=GREY, linestyle=":", linewidth=1.5)
        ends.append((ax.get_xlim()[1], level, wrapped(name, 20), GREY))
    shown = [pd.Series({"mean": level, "low": level, "high": level}) for level in (levels or {}).values()]
    frame([ax], pd.concat([table[["mean", "low", "high"]], pd.DataFrame(shown)]))
    ax.set_ylabel(heading(metric), parse_math=False)
    ax.set_xlabel(label or x, parse_math=False)
    label_lines(ax, ends)
    return figure
