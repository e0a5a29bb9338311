"""Statistical plots: seaborn draws the tidy table that is saved beside the figure, a row per point.

Intervals are the columns ``low`` and ``high``; none is computed here, so that picture and numbers
agree. A value of ``by`` has its look from :func:`kit.views.style.looks` and its name in the legend,
a value of ``facet`` a panel. A row without x is a level to compare with: a dotted line, named at
its end. ``labels`` are ``xlabel`` and ``ylabel``.
"""

from collections.abc import Collection, Mapping
from typing import Any

import pandas as pd
import seaborn
from pandas import DataFrame

from kit.views.curves import curves
from kit.views.panels import (
    DOT,
    INTERVAL,
    LEAST_HEIGHT,
    LINE,
    MOST_LINES,
    draw,
    draw_changes,
    draw_dots,
    frame_axis,
    in_rows,
    name_lines,
    nothing,
    panels,
    plain_log,
    take,
    tall,
    wrapped,
)
from kit.views.style import GREY, SMALL, Figure, looks, style

_APART = 0.09  # between the lines of two names, in steps of x


@style()
def lines(
    table: DataFrame,
    title: str,
    x: str,
    by: str = "retriever",
    facet: str = "",
    *,
    y: str = "mean",
    joined: bool = True,
    share: bool = True,
    levels: Mapping[str, float] | None = None,
    **labels: str,
) -> Figure:
    """Means with intervals at each of a few values of ``x``, a line for each value of ``by``.

    The lines stand a little apart. Numbers stand in their order, words as they come, and are not
    ``joined`` where they have none. Where the number ``n`` of questions changes along x, it is
    told. Panels have one y axis if they ``share`` it. ``levels`` are to be compared with in all
    panels, by name. More than eight names have a row each instead of a line.
    """
    if levels:
        table = pd.concat([table, DataFrame(levels.items(), columns=[by, y])])
    points = take(table, x=x, y=y, name=by, column=facet).dropna(subset="y")
    styles = looks(points["name"][points["x"].notna()])
    if not styles:
        return nothing(title)

    values = list(table[x].dropna().unique())
    if not isinstance(values[0], str):
        values.sort()
    ticks = _ticks(table, x, values)
    if len(styles) > MOST_LINES:
        words = dict(zip(values, ticks))
        return _many(points, title, words, share, x, labels)

    beside = _offsets(styles, _APART)
    steps = {value: step for step, value in enumerate(values)}
    points["x"] = points["x"].map(steps) + points["name"].map(beside)

    figure = Figure(title)
    mark = LINE if joined else DOT
    labels = {"xlabel": x} | labels
    for ax, members in panels(figure, points, sharex=True, sharey=share, **labels):
        draw(ax, members, styles, mark, INTERVAL)
        ax.set_xticks(range(len(values)), ticks, fontsize=SMALL + 1)
        ax.set_xlim(-0.45, len(values) - 0.55)
        ax.grid(axis="x", visible=False)
        framed = points if share else members
        frame_axis(ax, framed)
    name_lines(figure, styles, joined)
    return figure


def _offsets(names: Collection[str], apart: float) -> dict[str, float]:
    """Where names stand beside the middle of a step or row, so far apart."""
    middle = (len(names) - 1) / 2
    return {name: apart * (rank - middle) for rank, name in enumerate(names)}


def _many(
    points: DataFrame,
    title: str,
    words: Mapping[Any, str],
    share: bool,
    x: str,
    labels: Mapping[str, str],
) -> Figure:
    """Means in a row for each name, with a look for each value of x, in these words."""
    levels = points[points["x"].isna()]
    means = points.dropna(subset="x")
    means = means.assign(x=means["y"], y=means["name"], name=means["x"].map(words))
    means, rows = in_rows(means)

    offsets = _offsets(words.values(), 0.7 / max(len(words), 2))
    means["y"] += means["name"].map(offsets)
    styles = looks(words.values())

    figure = Figure(title, tall(len(rows), 0.14 + 0.09 * len(words)))
    for ax, members in panels(
        figure,
        pd.concat([means, levels]),
        sharex=share,
        sharey=True,
        upright=True,
        xlabel=labels.get("ylabel", ""),
    ):
        draw_dots(ax, members, rows, styles)
    name_lines(figure, styles, False, labels.get("xlabel", x))
    return figure


def _ticks(table: DataFrame, x: str, values: list) -> list[str]:
    """The values in words, with the numbers of questions where these differ."""
    ticks = {}
    for value in values:
        ticks[value] = wrapped(value, 16) if isinstance(value, str) else f"{value:,g}"
    if "n" in table:
        counts = table.groupby(x)["n"].max()
        if counts.nunique() > 1:
            for value in values:
                ticks[value] += f"\n(n = {counts[value]:,.0f})"
    return list(ticks.values())


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
    for ax, members in panels(figure, drawn, sharex=share, sharey=True, xlabel=xlabel):
        draw_dots(ax, members, names, looks(members["name"]))
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
    label = f"difference in {metric} to {baseline}"
    label += ", with 95 % interval; p after Holm's correction"
    [(ax, members)] = panels(figure, drawn, xlabel=label)
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
    (left, means), (right, gains) = panels(figure, drawn, sharey=True, width_ratios=(3, 2))
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
