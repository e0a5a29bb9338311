"""Lines over a few values, and curves along a measured quantity: one for each name.

Up to eight names share their panels and stand in a legend. More have a row of panels each.
"""

from collections.abc import Collection, Mapping

import pandas as pd
from matplotlib.axes import Axes
from pandas import DataFrame

from kit.views.panels import (
    BAND,
    CURVE,
    DOT,
    INTERVAL,
    LINE,
    MOST_LINES,
    draw,
    frame_axis,
    name_ends,
    name_lines,
    nothing,
    panels,
    plain_log,
    split_names,
    take,
    wrapped,
)
from kit.views.style import SMALL, Figure, Looks, looks, style

_APART = 0.09  # between the lines of two names, in steps of x
_MARKED = 40  # a curve of more points has no marks


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

    The lines of a panel are a little apart, and named at their ends where there is one panel.
    Numbers are in their order, words as they come, and those are not ``joined`` that have none.
    Where the number ``n`` of questions changes along x, the ticks say it. Panels have one y axis if
    they ``share`` it. ``levels`` are to be compared with in all panels, by name.
    """
    if levels:
        table = pd.concat([table, DataFrame(levels.items(), columns=[by, y])])
    points = take(table, x=x, y=y, name=by, column=facet).dropna(subset="y")
    styles = _looks_of(points)
    if not styles:
        return nothing(title)

    values = list(table[x].dropna().unique())
    if not isinstance(values[0], str):
        values.sort()
    ticks = _ticks(table, x, values)
    points["x"] = points["x"].map({value: step for step, value in enumerate(values)})

    figure = Figure(title)
    is_one_panel = points["column"].nunique() <= 1 and len(styles) <= MOST_LINES
    if len(styles) > MOST_LINES:
        points = split_names(figure, points)
    else:
        points["x"] += _beside_each_other(points["name"], styles)
        if not is_one_panel:
            name_lines(figure, styles, joined)

    mark = LINE if joined else DOT
    labels = {"xlabel": x, "name_levels": not is_one_panel} | labels
    for ax, members, framed in panels(figure, points, sharex=True, sharey=share or "col", **labels):
        draw(ax, members, styles, mark, INTERVAL)
        ax.set_xticks(range(len(values)), ticks, fontsize=SMALL + 1)
        ax.set_xlim(-0.45, len(values) - 0.55)
        ax.grid(axis="x", visible=False)
        frame_axis(ax, framed)
        if is_one_panel:
            name_ends(ax, members, styles)
    return figure


def _beside_each_other(names: pd.Series, styles: Looks) -> pd.Series:
    """How far along x the points of each name are drawn from their step; 0 for levels."""
    middle = (len(styles) - 1) / 2
    shifts = {name: _APART * (rank - middle) for rank, name in enumerate(styles)}
    return names.map(shifts).fillna(0)


def _looks_of(points: DataFrame) -> Looks:
    """A look for each name but those of levels."""
    return looks(points["name"][points["x"].notna()])


def _ticks(table: DataFrame, x: str, values: list) -> list[str]:
    """The values in words, with the numbers of questions where these differ."""
    ticks = {}
    for value in values:
        ticks[value] = wrapped(value, 16) if isinstance(value, str) else f"{value:,g}"
    if "n" in table:
        counts = table.groupby(x)["n"].max()
        if counts.nunique() > 1:
            for value in values:
                ticks[value] += f"\nn = {counts[value]:,.0f}"
    return list(ticks.values())


@style()
def curves(
    table: DataFrame,
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
    **labels: str,
) -> Figure:
    """``y`` along a measured quantity ``x``, a curve for each value of ``by``.

    Curves have bands from low to high if given. Where each name has a single point, it has an
    interval instead. Panels are in columns by ``facet`` and in rows by ``row``. ``log`` names what
    has a logarithmic axis: ``x``, ``y``, or the panels whose y axis is one. The column ``behind``
    is drawn pale behind the curve, that of ``notes`` stands at its two ends.
    """
    points = take(table, x=x, y=y, name=by, column=facet, row=row, behind=behind, notes=notes)
    drawn = ["y", "behind"] if behind else ["y"]
    points = points.dropna(subset=drawn, how="all")
    styles = _looks_of(points)
    if not styles:
        return nothing(title)

    figure = Figure(title)
    alone = table[by].is_unique
    if len(styles) > MOST_LINES and not alone and not row:
        points = split_names(figure, points)
    else:
        name_lines(figure, styles, not alone)

    interval = INTERVAL if alone else BAND
    sharey = "row" if row else "col"
    labels = {"xlabel": x} | labels
    for ax, members, framed in panels(figure, points, sharex=True, sharey=sharey, **labels):
        draw(ax, members, styles, CURVE, interval)
        _scale(ax, members, framed, log)
        _finish(ax, members, styles, bool(notes))
    return figure


def _finish(ax: Axes, members: DataFrame, styles: Looks, noted: bool) -> None:
    """Take the marks from long curves, and write notes to their ends."""
    for line in ax.lines:
        if len(line.get_xdata()) > _MARKED:
            line.set_marker("")
    if noted:
        for name, curve in members.dropna(subset="x").groupby("name"):
            _note(ax, curve.iloc[0], -7, "right", styles[name].colour)
            _note(ax, curve.iloc[-1], 7, "left", styles[name].colour)


def _scale(ax: Axes, members: DataFrame, framed: DataFrame, log: Collection[str]) -> None:
    """The axes of a panel: logarithmic where ``log`` says so, y around what is to be framed."""
    if "x" in log:
        plain_log(ax, "x", members["x"])
    if {"y", *members["column"], *members["row"]}.intersection(log):
        plain_log(ax, "y", framed["y"])
        ax.set_ylim(framed["y"].min() / 1.3, framed["y"].max() * 1.3)
    elif "low" in framed:
        frame_axis(ax, framed)


def _note(ax: Axes, end: pd.Series, offset: float, side: str, colour: str) -> None:
    """The note of a curve's end, on one side of it."""
    ax.annotate(
        f"{end['notes']:g}",
        (end["x"], end["y"]),
        (offset, 0),
        ha=side,
        textcoords="offset points",
        va="center",
        fontsize=SMALL,
        color=colour,
    )
