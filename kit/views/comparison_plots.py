"""Many methods at once: their gains by group of questions, and what they find against the time that they take."""

from __future__ import annotations

import pandas as pd

from kit.views.labels import label_lines, place_labels
from kit.views.series import evenly, frame, heading, interval_lines, looks, wrapped
from kit.views.style import INK, Figure, panels, plain_log, require, styled


@styled
def gains(table: pd.DataFrame, title: str, by: str, baseline: str, metric: str = "recall@5") -> Figure:
    """Differences in a metric to ``baseline`` for each group of questions, a line a retriever, with 95 % intervals.

    ``table`` has a row a retriever and group, as ``Experiment.compare(baseline, by=by)`` has: retriever, the column
    ``by`` (a number of hops, or words, between which there are no lines), difference, low, high (fractions) and n
    (questions).
    """
    require(table, "retriever", by, "difference", "low", "high", "n")
    n = table.groupby(by, sort=False)["n"].max()
    hops = sorted(n.index) if by == "hops" else list(n.index)
    names = {
        of: f"{f'{of} hop' + 's' * (of != 1) if by == 'hops' else wrapped(of, 16)}\n(n = {n[of]:,})" for of in hops
    }
    points = table.assign(mean=table["difference"], place=table[by].map(names))
    figure = Figure(title)
    [[ax]] = panels(figure)
    ax.axhline(0, color=INK, linewidth=1.2)
    places, styles = evenly(names.values()), looks(table["retriever"])
    ends = interval_lines(ax, points, "retriever", "place", places, styles, joined=by == "hops")
    ax.set_ylabel(f"{heading(metric)} minus that of {baseline}", parse_math=False)
    label_lines(ax, ends)
    return figure


@styled
def recall_against_time(table: pd.DataFrame, title: str, metric: str = "recall@5") -> Figure:
    """A metric against milliseconds a question on a logarithmic axis, a mark a retriever, with 95 % intervals.

    ``table`` has a row a retriever: retriever, seconds, mean, low, high (fractions). Up and to the left is better.
    """
    require(table, "retriever", "seconds", "mean", "low", "high")
    styles, figure = looks(table["retriever"]), Figure(title)
    [[ax]] = panels(figure)
    times = 1000 * table["seconds"]
    plain_log(ax, "x", times)
    for row, x in zip(table.itertuples(), times):
        drawn = styles[row.retriever]
        bar = {"color": drawn.colour, "ecolor": drawn.colour, "elinewidth": 1.5, "capsize": 3}
        reach = [[row.mean - row.low], [row.high - row.mean]]
        ax.errorbar(x, row.mean, reach, marker=drawn.marker, markersize=10, linestyle="none", **bar)
    ax.set_xlabel("milliseconds a question, on one core")
    ax.set_ylabel(heading(metric), parse_math=False)
    frame([ax], table)
    found = zip(times, table["mean"], table["retriever"])
    place_labels(ax, [(x, y, wrapped(name, 24), styles[name].colour) for x, y, name in found], distance=9, size=11)
    return figure
