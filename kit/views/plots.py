"""Statistical plots: seaborn draws the tidy table that is saved beside the figure, a row per point.

Intervals are the columns ``low`` and ``high``; none is computed here, so that picture and numbers
agree. A value of ``by`` has its look from :func:`kit.views.style.looks` and its name in the legend,
a value of ``facet`` a panel. A row without x is a level to compare with: a dotted line, named at
its end. ``labels`` are ``xlabel`` and ``ylabel``.
"""

from collections.abc import Mapping

import pandas as pd
import seaborn
from pandas import DataFrame

from kit.views.curves import curves
from kit.views.curves import lines as lines
from kit.views.names import metric_name, name_of
from kit.views.panels import (
    LEAST_HEIGHT,
    draw_changes,
    draw_dots,
    in_rows,
    nothing,
    panels,
    plain_log,
    take,
    tall,
)
from kit.views.style import GREY, SMALL, Figure, looks, style


@style()
def points(
    table: DataFrame,
    title: str,
    rows: str = "retriever",
    x: str = "mean",
    by: str = "retriever",
    facet: str = "",
    group: str = "",
    *,
    log: bool = False,
    share: bool = False,
    xlabel: str = "",
) -> Figure:
    """A row for each value of ``rows``, under a heading for each value of ``group``.

    Points have their values, and intervals if there are any. Panels have one x axis if they
    ``share`` it.
    """
    taken = take(table, x=x, y=rows, name=by, column=facet, group=group)
    drawn, names = in_rows(taken.dropna(subset="x"))
    if not names:
        return nothing(title)

    figure = Figure(title, tall(len(names)))
    styles = looks(drawn["name"])  # one look per name in all panels
    for ax, members, _ in panels(figure, drawn, sharex=share, xlabel=xlabel):
        draw_dots(ax, members, names, styles)
        ax.margins(x=0.12)
        if log:
            plain_log(ax, "x", members["x"])
        digits = ".3f" if members["x"].abs().max() <= 1 else ".3g"  # of shares, and of quantities
        for value, height in zip(members["x"], members["y"]):
            ax.annotate(
                f"{value:{digits}}",
                (value, height),
                (0, 9),
                textcoords="offset points",
                ha="center",
                fontsize=SMALL,
            )
    return figure


@style()
def differences(
    table: DataFrame, title: str, baseline: str, metric: str, rows: str = "retriever"
) -> Figure:
    """Paired differences to a baseline, as of ``Experiment.compare``.

    The columns are difference, low, high, p_holm.
    """
    taken = take(table, x="difference", y=rows, name="retriever", p="p_holm")
    drawn, names = in_rows(taken.dropna(subset="x"))
    if not names:
        return nothing(title)

    figure = Figure(title, tall(len(names)))
    label = f"difference in {metric_name(metric)} to {name_of(baseline)}"
    label += ", with 95 % interval; p after Holm's correction"
    [(ax, members, _)] = panels(figure, drawn, xlabel=label)
    draw_changes(ax, members, names)
    return figure


@style()
def ablation(table: DataFrame, title: str, metric: str) -> Figure:
    """Variants (label) in groups: their means, and paired differences to the first of the group.

    The first is a dashed line. Intervals are low, high, difference_low and difference_high.
    """
    means = take(table, x="mean", y="label", group="group").assign(column=metric)
    gains = take(
        table,
        x="difference",
        y="label",
        group="group",
        low="difference_low",
        high="difference_high",
    ).assign(column="difference to the dashed line")
    drawn, names = in_rows(pd.concat([means, gains]).dropna(subset="x"))
    if drawn["column"].nunique() < 2:
        return nothing(title)

    figure = Figure(title, tall(len(names)))
    (left, means, _), (right, gains, _) = panels(figure, drawn, width_ratios=(3, 2))
    draw_dots(left, means, names, looks(means["name"]))
    firsts = means.groupby("group").agg(x=("x", "first"), top=("y", "min"), bottom=("y", "max"))
    left.vlines(
        firsts["x"],
        firsts["top"] - 0.5,
        firsts["bottom"] + 0.5,
        color=GREY,
        linestyle="--",
        linewidth=1.5,
    )
    draw_changes(right, gains, names)
    right.tick_params(labelleft=False)
    return figure


@style()
def heatmap(table: DataFrame, title: str, x: str, y: str, metric: str, **labels: str) -> Figure:
    """A metric over a grid of two settings, each square with its mean and interval."""
    if table.empty or table["mean"].isna().all():
        return nothing(title)

    words = [
        f"{square.mean:.3f}\n{square.low:.3f} to {square.high:.3f}" for square in table.itertuples()
    ]
    grid = table.assign(words=words).pivot(index=y, columns=x, values=["mean", "words"])
    middle = table["mean"].agg(["min", "max"]).mean()
    reach = max(table["mean"].max() - table["mean"].min(), LEAST_HEIGHT) / 2

    figure = Figure(title, tall(len(grid), 0.45))
    ax = figure.subplots()
    seaborn.heatmap(
        grid["mean"].astype(float),
        linewidths=2,
        ax=ax,
        cbar_kws={"label": metric.capitalize()},
        cmap="crest",
        vmin=middle - reach,
        vmax=middle + reach,
        annot=grid["words"].fillna(""),
        fmt="",
        annot_kws={"size": 11},
    )
    ax.set(**labels)
    ax.tick_params(length=0, labelrotation=0)
    return figure


def times(table: DataFrame, title: str) -> Figure:
    """Milliseconds per question by the number of passages, and how many the encoder takes.

    A row is a question: retriever, passages, seconds, and ``encoding``, a part of these.
    """
    if table.empty:
        return nothing(title)

    groups = table.groupby(["retriever", "passages"], sort=False)
    means = groups[["seconds", "encoding"]].mean().mul(1000)
    panel_names = {"seconds": "milliseconds a question", "encoding": "of these for encoding"}
    rows = long(means.reset_index(), panel_names)
    return curves(
        rows[rows["mean"] > 0],
        title,
        "passages",
        by="retriever",
        facet="metric",
        log="xy",
        xlabel="passages in the collection",
    )


def long(table: DataFrame, metrics: Mapping[str, str]) -> DataFrame:
    """The columns NAME, NAME_low and NAME_high of several metrics as rows.

    They have the columns mean, low, high, metric (the meaning).
    """
    parts = []
    for name, meaning in metrics.items():
        names = {name: "mean", f"{name}_low": "low", f"{name}_high": "high"}
        parts.append(table.rename(columns=names).assign(metric=meaning))
    return pd.concat(parts, ignore_index=True)
