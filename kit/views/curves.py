"""Curves along a measured quantity, with bands."""

from collections.abc import Collection

import pandas as pd
from matplotlib.axes import Axes
from pandas import DataFrame

from kit.views.panels import (
    BAND,
    CURVE,
    INTERVAL,
    MOST_LINES,
    draw,
    frame_axis,
    name_lines,
    nothing,
    panels,
    plain_log,
    take,
    tall,
)
from kit.views.style import SMALL, Figure, Looks, looks, style

_MARKED = 40  # a curve of more points has no marks


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

    Curves have bands from low to high if given, names with a single point each an interval instead.
    Panels are in columns by ``facet`` and in rows by ``row``. ``log`` names what has a logarithmic
    axis: ``x``, ``y``, or the panels whose y axis is one. The column ``behind`` is drawn pale
    behind the curve, that of ``notes`` stands at its two ends. More than eight curves have a row of
    panels each, unless rows are in use.
    """
    points = take(table, x=x, y=y, name=by, column=facet, row=row, behind=behind, notes=notes)
    drawn = ["y", "behind"] if behind else ["y"]
    points = points.dropna(subset=drawn, how="all")
    styles = looks(points["name"][points["x"].notna()])
    if not styles:
        return nothing(title)

    figure = Figure(title)
    alone = table[by].is_unique
    many = len(styles) > MOST_LINES and not alone and not row
    shared = "row" if row else ""
    if many:
        points["row"] = points["name"].where(points["x"].notna())
        figure.set_size_inches(tall(len(styles), 0.8))
        figure.supylabel(labels.get("ylabel", ""))
        shared = "column"
    else:
        name_lines(figure, styles, not alone)

    interval = INTERVAL if alone else BAND
    sharey = {"row": "row", "column": "col"}.get(shared, False)
    labels = {"xlabel": x} | labels
    for ax, members in panels(figure, points, sharex=True, sharey=sharey, **labels):
        draw(ax, members, styles, CURVE, interval)
        framed = _beside(members, points, shared) if shared else members
        _scale(ax, members, framed, log)
        _finish(ax, members, styles, bool(notes))
        if many:
            ax.yaxis.label.set(rotation=0, ha="right", va="center")
            ax.tick_params(labelbottom=ax.get_subplotspec().is_last_row())
    return figure


def _beside(members: DataFrame, points: DataFrame, line: str) -> DataFrame:
    """The points of all panels in the members' row or column."""
    name = members[line].dropna().iloc[0]
    return points[points[line].fillna(name) == name]


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
