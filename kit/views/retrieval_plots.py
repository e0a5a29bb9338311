"""How much of the evidence a retriever finds, how sure that is, and which differences are real."""

from __future__ import annotations

import re
from collections.abc import Callable

import pandas as pd
from matplotlib.axes import Axes

from kit.views.labels import label_lines
from kit.views.series import heading
from kit.views.style import GREY, INK, SMALL, Figure, look, panels, require, styled

_DODGE = 0.09  # between the retrievers of one hop count, in hop counts


@styled
def recall_by_hops(table: pd.DataFrame, title: str) -> Figure:
    """A metric for each hop count, a line a retriever, with 95 % intervals; a panel a metric.

    ``table`` has a row a retriever, hop count and metric: retriever, hops, metric, mean, low, high (fractions) and n,
    the number of questions.
    """
    require(table, "retriever", "hops", "metric", "mean", "low", "high", "n")
    names, hops = list(dict.fromkeys(table["retriever"])), sorted(table["hops"].unique().tolist())
    questions = table.groupby("hops")["n"].max()
    figure = Figure(title)
    [axes] = panels(figure, 1, table["metric"].nunique(), sharey=True)
    for ax, (metric, of) in zip(axes, table.groupby("metric", sort=False)):
        ax.set_title(heading(metric), parse_math=False)
        for number, name in enumerate(names):
            rows = of[of["retriever"] == name].sort_values("hops")
            places = [hops.index(hop) + _DODGE * (number - (len(names) - 1) / 2) for hop in rows["hops"]]
            _points(ax, places, rows, name)
        ax.set_xticks(range(len(hops)), [f"{hop} hop{'s' * (hop != 1)}\n(n = {questions[hop]:,})" for hop in hops])
        ax.grid(axis="x", visible=False)
    _finish(axes, table[table["metric"] == list(dict.fromkeys(table["metric"]))[-1]], names, "hops", hops.index)
    return figure


@styled
def recall_at_k(table: pd.DataFrame, title: str, metric: str = "recall") -> Figure:
    """A metric against the cut-off k, a line a retriever, with 95 % intervals.

    ``table`` has a row a retriever and metric, as ``Experiment.summary()`` has: retriever, metric, mean, low, high. The
    rows whose metric is ``metric@k`` are drawn.
    """
    require(table, "retriever", "metric", "mean", "low", "high")
    k = pd.to_numeric(table["metric"].str.extract(rf"^{re.escape(metric)}@(\d+)$", expand=False))
    table = require(table.assign(k=k).dropna(subset="k"), "k")
    names, cuts = list(dict.fromkeys(table["retriever"])), sorted(table["k"].unique().tolist())
    figure = Figure(title)
    [axes] = panels(figure)
    for name in names:
        rows = table[table["retriever"] == name].sort_values("k")
        _points(axes[0], [cuts.index(k) for k in rows["k"]], rows, name)
    axes[0].set_xticks(range(len(cuts)), [f"{k:g}" for k in cuts])
    axes[0].set(xlabel="k, passages retrieved", ylabel=f"{heading(metric)}@k")
    _finish(axes, table, names, "k", cuts.index)
    return figure


def _points(ax: Axes, places: list[float], rows: pd.DataFrame, name: str) -> None:
    reach = [rows["mean"] - rows["low"], rows["high"] - rows["mean"]]
    ax.errorbar(places, rows["mean"], reach, capsize=3, elinewidth=1.5, markersize=9, **look(name).line)


def _finish(axes: list[Axes], table: pd.DataFrame, names: list[str], column: str, place: Callable) -> None:
    for ax in axes:
        ax.set_ylim(-0.02, 1.02)
    last = table.sort_values(column).groupby("retriever").tail(1).set_index("retriever")
    ends = [
        (place(last.loc[name, column]), last.loc[name, "mean"], name, look(name).colour)
        for name in names
        if name in last.index
    ]
    label_lines(axes[-1], ends)


@styled
def differences(table: pd.DataFrame, title: str, baseline: str, metric: str = "recall@5") -> Figure:
    """Paired differences to a baseline with their 95 % intervals, the line of no difference, and Holm's p.

    ``table`` has a row a comparison, as ``Experiment.compare()`` has: retriever, difference, low, high (fractions) and
    p_holm; a column ``label``, where there is one, says more than the retriever's name. A filled mark is a difference
    with p below 0.05 after Holm's correction, a hollow one is not.
    """
    require(table, "retriever", "difference", "low", "high", "p_holm")
    figure = Figure(title)
    [[ax]] = panels(figure)
    ax.axvline(0, color=INK, linewidth=1.2)
    for height, row in enumerate(table.itertuples()):
        colour = look(row.retriever).colour
        ax.plot([row.low, row.high], [height, height], color=colour, linewidth=2.5, solid_capstyle="butt")
        fill = colour if row.p_holm < 0.05 else "white"
        ax.plot(
            row.difference,
            height,
            look(row.retriever).marker,
            color=colour,
            markerfacecolor=fill,
            markersize=10,
            markeredgewidth=2,
        )
        p = "p < 0.001" if row.p_holm < 0.001 else f"p = {row.p_holm:.3f}"
        ax.annotate(
            f"{row.difference:+.3f}  [{row.low:+.3f}, {row.high:+.3f}]  {p}".replace("-", "−"),
            (1.02, height),
            xycoords=("axes fraction", "data"),
            va="center",
            fontsize=SMALL + 1,
        )
    ax.set_yticks(range(len(table)), list(table["label"] if "label" in table else table["retriever"]), parse_math=False)
    ax.set_ylim(len(table) - 0.4, -0.6)
    ax.grid(axis="y", visible=False)
    reach = 1.1 * max(table[["low", "high"]].abs().to_numpy().max(), 1e-3)
    ax.set_xlim(-reach, reach)
    ax.locator_params(axis="x", nbins=5)
    ax.set_xlabel(
        f"difference in {heading(metric)} to {baseline}, with 95 % interval; filled: p < 0.05 after Holm's correction",
        color=GREY,
    )
    return figure
