"""How well a graph's neighbourhoods cover the evidence: SF-EM and precision while the graph grows denser."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from kit.views.labels import label_lines, place_labels
from kit.views.style import GREY, SMALL, Figure, look, panels, plain_log, require, styled

#: In the ``builder`` column: the row of the seeds without their neighbours, drawn as a level to compare with.
SEEDS = "seeds"
_METRICS = {
    "sf_em": "SF-EM: questions with all supports reached",
    "precision": "precision: supports among those reached",
}
_COLUMNS = (
    "builder",
    "parameter",
    "value",
    "mean_neighbourhood",
    *(m + e for m in _METRICS for e in ("", "_low", "_high")),
)
_LEVEL = {"color": GREY, "linestyle": ":", "linewidth": 1.5}
_X_LABEL = "passages in the neighbourhood of the seeds, mean over questions (log scale)"


@styled
def quality_curves(table: pd.DataFrame, title: str) -> Figure:
    """SF-EM and precision against the size of the seeds' neighbourhood, a curve a builder (kgp.txt Figures 5 and 9).

    ``table`` has a row a builder and knob setting: builder, parameter, value, mean_neighbourhood (passages), sf_em and
    precision (fractions) with their ``_low`` and ``_high``. A builder called ``seeds`` is drawn as a level. The small
    numbers beside the marks are the settings of the knob.
    """
    require(table, *_COLUMNS)
    figure = Figure(title)
    [axes] = panels(figure, 1, 2, sharex=True)
    figure.supxlabel(_X_LABEL, fontsize=12)
    curves = table.sort_values(["builder", "mean_neighbourhood"])
    for ax, metric in zip(axes, _METRICS):
        ax.set_title(_METRICS[metric])
        _curves(ax, curves, metric)
    shown = curves[curves["builder"] != SEEDS]
    ends = [
        (r.mean_neighbourhood, r.precision, _name(r), look(r.builder).colour)
        for r in shown.groupby("builder").tail(1).itertuples()
    ]
    label_lines(axes[-1], ends)
    for row in table[table["builder"] == SEEDS].itertuples():
        at = {"xy": (1, row.sf_em), "xycoords": ("axes fraction", "data"), "textcoords": "offset points"}
        axes[0].annotate("seeds alone", xytext=(0, 3), ha="right", color=GREY, fontsize=SMALL, **at)
    for ax, metric in zip(axes, _METRICS):
        points = [
            (r.mean_neighbourhood, getattr(r, metric), look(r.builder).colour, r.value) for r in shown.itertuples()
        ]
        place_labels(ax, [(x, y, "" if pd.isna(v) else f"{v:g}", colour) for x, y, colour, v in points])
    return figure


@styled
def quality_by_hops(table: pd.DataFrame, title: str) -> Figure:
    """:func:`quality_curves` for each hop count (a column ``hops`` more), side by side on the same scales."""
    require(table, "hops", *_COLUMNS)
    counts = sorted(table["hops"].unique().tolist())
    figure = Figure(title)
    rows = panels(figure, 2, len(counts), sharex=True, sharey="row")
    for axes, metric in zip(rows, _METRICS):
        axes[0].set_ylabel(_METRICS[metric].split(":")[0])
        for ax, hops in zip(axes, counts):
            of = table[table["hops"] == hops].sort_values(["builder", "mean_neighbourhood"])
            _curves(ax, of, metric, narrow=True)
            if metric == "sf_em":
                ax.set_title(f"{hops} hop" + "s" * (hops != 1))
    names = [name for name in table["builder"].unique() if name != SEEDS]
    handles = [Line2D([], [], label=name, **look(name).line) for name in names]
    if SEEDS in set(table["builder"]):
        handles.append(Line2D([], [], label="seeds alone", **_LEVEL))
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), title=_X_LABEL)
    return figure


def _curves(ax: Axes, table: pd.DataFrame, metric: str, *, narrow: bool = False) -> None:
    plain_log(ax, "x", table["mean_neighbourhood"], narrow=narrow)
    if metric == "sf_em":
        ax.set_ylim(0, 1.02)
    elif (table[metric] > 0).all():  # precision falls as one over the size: a straight line on two such axes
        plain_log(ax, "y", table[metric])
    for name, of in table.groupby("builder", sort=False):
        x, y = of["mean_neighbourhood"], of[metric]
        if name == SEEDS:
            ax.axhline(float(y.iloc[0]), **_LEVEL)
            continue
        low = of[f"{metric}_low"].clip(lower=y.min() / 10)  # an interval that touches 0 has no place on a log axis
        ax.fill_between(x, low, of[f"{metric}_high"], color=look(name).colour, alpha=0.13, linewidth=0)
        ax.plot(x, y, **look(name).line)


def _name(row: object) -> str:
    return f"{row.builder}\n({row.parameter})" if row.parameter else row.builder
