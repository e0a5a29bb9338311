"""Statistical plots: each is a seaborn call on the tidy table that is saved beside the figure.

Intervals come from the table's columns ``low`` and ``high``; seaborn computes none, so that picture and numbers agree.
What is compared, a value of the column ``by``, has its colour, marker and dash from :func:`kit.views.style.looks` and
its name at the right end of its line. ``facet`` and ``row`` are columns whose values each have a panel. ``labels`` are
``xlabel`` and ``ylabel``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np
import pandas as pd
import seaborn
import seaborn.objects as so
from matplotlib.colors import to_hex
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from kit.views.panels import (
    ABOVE,
    LEAST_HEIGHT,
    LEVEL,
    Levels,
    base_plot,
    draw_changes,
    draw_dots,
    each_panel,
    frame_axis,
    in_rows,
    interval_bar,
    label_rows,
    level_rows,
    name_ends,
    places_along,
    take,
    tick_labels,
    write_names,
)
from kit.views.style import GREY, SIZE, SMALL, Figure, Look, heading, looks, plain_log, style, wrapped

DODGE = 0.09  # between the lines at one place, as a share of what places are apart
MOST_MARKED = 40  # points of a curve that each get a mark
POINT = {"pointsize": 9, "edgecolor": "white", "edgewidth": 0.6}
_MEANINGS = ("the search for seeds", "finding and comparing neighbours", "encoding what is read", "all the rest")
_PARTS = dict(zip(("seeding", "matching", "encoding", "rest"), _MEANINGS))


@style()
def lines(
    table: pd.DataFrame,
    title: str,
    x: str,
    by: str = "retriever",
    facet: str = "",
    *,
    y: str = "mean",
    log: bool = False,
    joined: bool = True,
    share: bool = True,
    levels: Levels = None,
    **labels: str,
) -> Figure:
    """Means with intervals at each of a few values of ``x``, a line for each value of ``by``, a little apart.

    ``table`` has a row a point: the columns named, low and high. Numbers stand one step apart or (``log``) by their
    logarithms; words stand as they come, and are not ``joined`` where they have no order. Where the number ``n`` of
    questions changes along x, it is told. Panels have one y axis if they ``share`` it. ``levels`` to compare with
    are dotted lines: values by name, or rows with the columns ``by``, ``y`` and ``facet``.
    """
    drawn = take(table, x=x, y=y, name=by, column=facet, low="low", high="high")
    levels = level_rows(levels, y=y, name=by, column=facet)
    places, styles = places_along(drawn["x"], log), looks(drawn["name"])
    ticks, end = tick_labels(table, x, places), max(places.values())
    step = DODGE * max(1.0, end / max(1, len(places) - 1))
    beside = {name: step * (number - (len(styles) - 1) / 2) for number, name in enumerate(styles)}
    drawn = drawn.assign(x=drawn["x"].map(places), width=step * len(styles))
    dodge, mark = so.Dodge(by=["color"]), so.Line(**POINT) if joined else so.Dot(**POINT, **ABOVE)
    plot = base_plot(drawn, styles).add(
        interval_bar(1.5, 0.6), dodge, ymin="low", ymax="high", width="width", legend=False
    )
    plot = plot.add(mark, dodge, marker="name", linestyle="name", width="width", legend=False)
    drawn = drawn.assign(x=drawn["x"] + drawn["name"].map(beside))
    for ax, of, known, last in each_panel(plot, Figure(title), drawn, levels, share, **{"xlabel": x} | labels):
        ax.set_xticks(list(places.values()), ticks)
        ax.set_xlim(-5 * step, end + 5 * step)
        ax.grid(axis="x", visible=False)
        frame_axis(ax, [drawn if share else of, known])
        if last or not share:
            name_ends(ax, of, known, styles)
    return ax.figure


@style()
def curves(
    table: pd.DataFrame,
    title: str,
    x: str,
    y: str = "mean",
    by: str = "builder",
    facet: str = "",
    row: str = "",
    *,
    log: Collection[str] = (),
    behind: str = "",
    notes: str = "",
    levels: Levels = None,
    **labels: str,
) -> Figure:
    """``y`` along a measured quantity ``x``, a curve for each value of ``by``, with bands from low to high if given.

    ``table`` has a row a point; panels stand in columns by ``facet`` and in rows by ``row``. ``log`` names what has a
    logarithmic axis: ``x``, ``y``, or the panels whose y axis is one. The column ``behind`` is drawn pale behind the
    curve, that of ``notes`` stands beside its points. ``levels`` are as for :func:`lines`.
    """
    banded = {"low": "low", "high": "high"} if {"low", "high"} <= set(table) else {}
    drawn = take(table, x=x, y=y, name=by, column=facet, row=row, behind=behind, notes=notes, **banded)
    levels, styles = level_rows(levels, y=y, name=by, column=facet, row=row), looks(drawn["name"])
    plot, labels = base_plot(drawn, styles), {"xlabel": x} | labels
    if banded:
        plot = plot.add(so.Band(alpha=0.1, edgewidth=0), ymin="low", ymax="high", legend=False)
    if behind:
        plot = plot.add(so.Line(alpha=0.2, linewidth=1), y="behind", legend=False)
    plot = plot.add(so.Line(**POINT | {"pointsize": 7}), marker="name", linestyle="name", legend=False)
    for ax, of, known, _ in each_panel(plot, Figure(title), drawn, levels, "row" if row else False, **labels):
        for line in ax.lines:
            line.set_marker(line.get_marker() if len(line.get_xdata()) <= MOST_MARKED else "")
        if "x" in log:
            plain_log(ax, "x", of["x"], narrow=bool(row))
        if {"y", of["column"].iloc[0], of["row"].iloc[0]} & set(log):
            plain_log(ax, "y", of["y"])
            ax.set_ylim(of["y"].min() / 1.3, of["y"].max() * 1.3)
        elif banded:
            frame_axis(ax, [of, known])
        if notes:
            write_names(ax, of.dropna(subset="notes"), "notes", styles)
        if not row:
            name_ends(ax, of, known, styles)
    if row:  # panels too small for names
        keys = [Line2D([], [], label=name, **each.line) for name, each in styles.items()]
        keys += [Line2D([], [], label=name, **LEVEL) for name in levels["name"].unique()]
        ax.figure.supxlabel("")
        ax.figure.legend(handles=keys, loc="outside lower center", ncols=len(keys), title=labels["xlabel"])
    return ax.figure


@style()
def scatter(table: pd.DataFrame, title: str, x: str, y: str = "mean", by: str = "retriever", **labels: str) -> Figure:
    """Points with intervals (low, high) over a measured ``x`` on a logarithmic axis, their names beside them."""
    drawn = take(table, x=x, y=y, name=by, low="low", high="high")
    styles = looks(drawn["name"])
    plot = base_plot(drawn, styles).add(interval_bar(1.5, 0.6), orient="x", ymin="low", ymax="high", legend=False)
    plot = plot.add(so.Dot(**POINT | {"pointsize": 10}, **ABOVE), marker="name", legend=False)
    [(ax, *_)] = each_panel(plot, Figure(title), drawn, level_rows(None), **labels)
    plain_log(ax, "x", drawn["x"])
    frame_axis(ax, [drawn])
    write_names(ax, drawn, "name", styles, distance=9, size=11)
    return ax.figure


@style()
def points(
    table: pd.DataFrame,
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
    """A row for each value of ``rows``, under a heading for each value of ``group``: points with their values.

    ``table`` has a row a point, with an interval if it has the columns low and high. Panels have one x axis if they
    ``share`` it.
    """
    ends = {end: end for end in ("low", "high") if end in table}
    drawn, places = in_rows(take(table, x=x, y=rows, name=by, column=facet, group=group, **ends).dropna(subset="x"))
    figure = Figure(title, (SIZE[0], max(SIZE[1], 1.5 + 0.34 * len(places))))
    across = figure.subplots(1, drawn["column"].nunique(), squeeze=False, sharex=share, sharey=True)[0]
    for ax, (name, of) in zip(across, drawn.groupby("column", sort=False)):
        draw_dots(ax, of, heading(name))
        ax.margins(x=0.12)
        if log:
            plain_log(ax, "x", of["x"])
        for value, place in zip(of["x"], of["y"]):
            ax.annotate(f"{value:.3g}", (value, place), (0, 9), textcoords="offset points", ha="center", fontsize=SMALL)
    label_rows(across, places)
    figure.supxlabel(xlabel, fontsize=12)
    return figure


@style()
def differences(table: pd.DataFrame, title: str, baseline: str, metric: str, rows: str = "retriever") -> Figure:
    """Paired differences to a baseline with their intervals, the line of no difference, and the numbers.

    ``table`` has a row a comparison: difference, low, high (fractions) and p_holm, as ``Experiment.compare`` gives
    them. A filled mark has p below 0.05 after Holm's correction.
    """
    drawn = take(table, x="difference", y=rows, name="retriever", low="low", high="high", p="p_holm")
    drawn, places = in_rows(drawn.assign(sure=drawn["p"] < 0.05))
    figure = Figure(title)
    ax = figure.subplots()
    draw_changes(ax, drawn)
    label_rows([ax], places)
    note = "with 95 % interval; filled: p < 0.05 after Holm's correction"
    ax.set_xlabel(f"difference in {metric} to {baseline}, {note}", color=GREY)
    return figure


@style()
def ablation(table: pd.DataFrame, title: str, metric: str) -> Figure:
    """Variants in groups: their means, and their paired differences to the first of the group, with intervals.

    ``table`` has a row a variant: group, label, mean, low, high, difference, difference_low, difference_high (missing
    for the first of a group, which is a dashed line). A filled mark is a difference whose interval does not hold 0.
    """
    ends = {"low": "difference_low", "high": "difference_high"}
    means, places = in_rows(take(table, x="mean", y="label", low="low", high="high", group="group"))
    gains, _ = in_rows(take(table, x="difference", y="label", group="group", **ends))
    figure = Figure(title)
    left, right = figure.subplots(1, 2, sharey=True, width_ratios=(3, 2))
    draw_dots(left, means, heading(metric))
    for first in means[gains["x"].isna()].itertuples():
        end = means.loc[means["group"] == first.group, "y"].max()
        left.vlines(first.x, first.y - 0.5, end + 0.5, color=GREY, linestyle="--", linewidth=1.5)
    gains = gains.dropna(subset="x")
    draw_changes(right, gains.assign(sure=(gains["low"] > 0) | (gains["high"] < 0)), "difference to the dashed line")
    label_rows([left, right], places)
    return figure


@style()
def heatmap(table: pd.DataFrame, title: str, x: str, y: str, metric: str, **labels: str) -> Figure:
    """A metric over a grid of two settings, each square with its mean and interval (low, high).

    Numbers stand in their order, words as they come.
    """
    drawn = take(table, x=x, y=y, mean="mean", low="low", high="high")
    drawn["text"] = [f"{of.mean:.3f}\n{of.low:.3f} to {of.high:.3f}" for of in drawn.itertuples()]
    order = {"index": list(places_along(drawn["y"])), "columns": list(places_along(drawn["x"]))}
    means, texts = (drawn.pivot(index="y", columns="x", values=of).reindex(**order) for of in ("mean", "text"))
    middle, reach = drawn["mean"].agg(["min", "max"]).mean(), max(np.ptp(drawn["mean"]), LEAST_HEIGHT) / 2
    figure = Figure(title)
    ax = figure.subplots()
    colours = {"cmap": "crest", "vmin": middle - reach, "vmax": middle + reach, "cbar_kws": {"label": heading(metric)}}
    seaborn.heatmap(means, annot=texts.fillna(""), fmt="", linewidths=2, annot_kws={"size": 11}, ax=ax, **colours)
    ax.set(**{"xlabel": x, "ylabel": y} | labels)
    ax.tick_params(length=0, labelrotation=0)
    return figure


@style()
def times(table: pd.DataFrame, title: str) -> Figure:
    """Milliseconds a question by the number of passages, and what they go to in the largest collection.

    ``table`` has a row a retriever, size and question: retriever, passages, seconds, and its parts in seconds: seeding,
    matching, encoding, rest.
    """
    parts = list(_PARTS)
    table = take(table, name="retriever", x="passages", y="seconds", **{part: part for part in parts})
    means = table.groupby(["name", "x"], sort=False)[["y", *parts]].mean().mul(1000).reset_index()
    styles, figure = looks(means["name"]), Figure(title)
    left, right = figure.subplots(1, 2)
    plot = base_plot(means, styles).add(so.Line(**POINT), marker="name", linestyle="name", legend=False)
    plot.label(x="passages in the collection", title="milliseconds a question").on(left).plot()
    plain_log(left, "x", means["x"])
    plain_log(left, "y", means["y"])
    name_ends(left, means, level_rows(None), styles)
    last = means.loc[means.groupby("name")["x"].idxmax()].sort_values("y")
    last["share"] = [f"{wrapped(of.name, 20)}: {of.y:.3g} ms" for of in last.itertuples()]
    shares = last.set_index("share")[parts].div(last[parts].sum(axis=1).to_numpy(), axis=0).mul(100)
    shares = shares.rename_axis("y").reset_index().melt("y", var_name="name", value_name="x")
    colours = dict(zip(("#332288", "#882255", "#117733", "#bdbdbd"), ("", "///", "...", "xxx")))
    plot = base_plot(shares, {part: Look(colour, "") for part, colour in zip(parts, colours)})
    plot = plot.add(so.Bar(alpha=1, edgewidth=0, width=0.7), so.Stack(), orient="y", legend=False)
    plot.label(x="per cent of the time", title="what it goes to, largest collection").on(right).plot()
    for bar in right.patches:  # hatched for a grey print
        bar.set(hatch=colours[to_hex(bar.get_facecolor())], edgecolor="white", linewidth=0)
    right.grid(axis="y", visible=False)
    keys = [Patch(facecolor=c, hatch=h, edgecolor="white", label=m) for (c, h), m in zip(colours.items(), _MEANINGS)]
    figure.legend(handles=keys, loc="outside lower center", ncols=4, fontsize=SMALL)
    return figure


def long(table: pd.DataFrame, metrics: Mapping[str, str]) -> pd.DataFrame:
    """A table with the columns NAME, NAME_low, NAME_high for each of ``metrics``, as rows: metric, mean, low, high.

    ``metrics`` maps each name to what the column ``metric`` shall call it.
    """
    ends = {"mean": "", "low": "_low", "high": "_high"}
    others = table.drop(columns=[name + end for name in metrics for end in ends.values()])
    parts = [
        others.assign(metric=meaning, **{column: table[name + end] for column, end in ends.items()})
        for name, meaning in metrics.items()
    ]
    return pd.concat(parts, ignore_index=True)
