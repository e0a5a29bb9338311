"""Statistical plots: seaborn draws the tidy table that is saved beside the figure, a row a point.

Intervals are the columns ``low`` and ``high``; none is computed here, so that picture and numbers agree. A value of
``by`` has its look from :func:`kit.views.style.looks` and its name in the legend, a value of ``facet`` a panel. A row
without x is a level to compare with: a dotted line, named at its end. ``labels`` are ``xlabel`` and ``ylabel``.
"""

import textwrap
from collections.abc import Collection, Iterator, Mapping
from itertools import product

import numpy as np
import pandas as pd
import seaborn
import seaborn.objects as so
from matplotlib import rcParams
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator

from kit.views.style import GREY, INK, SIZE, SMALL, Figure, Look, looks, style

LEAST_HEIGHT = 0.1  # of an axis of fractions: what differs by less shall not fill it
DOT = {"edgecolor": "white", "edgewidth": 0.6}
INTERVAL = so.Range(linewidth=1.5, alpha=0.6)
ABOVE = {"artist_kws": {"zorder": 3}}  # points on their intervals


@style()
def lines(
    table: pd.DataFrame,
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
    """Means with intervals at each of a few values of ``x``, a line for each value of ``by``, a little apart.

    Numbers stand in their order, words as they come, and are not ``joined`` where they have none. Where the number
    ``n`` of questions changes along x, it is told. Panels have one y axis if they ``share`` it. ``levels`` are to be
    compared with in all panels, by name.
    """
    table = pd.concat([table, pd.DataFrame(levels.items(), columns=[by, y])]) if levels else table
    drawn, values = take(table, x=x, y=y, name=by, column=facet), table[x].dropna().unique()
    values = list(values) if isinstance(values[0], str) else sorted(values)
    counts = table.groupby(x)["n"].max() if "n" in table else pd.Series(dtype=float)
    ticks = [wrapped(value, 16) if isinstance(value, str) else f"{value:,g}" for value in values]
    if counts.nunique() > 1:
        ticks = [f"{tick}\n(n = {counts[value]:,.0f})" for tick, value in zip(ticks, values)]
    styles = looks(drawn["name"][drawn["x"].notna()])
    beside = {name: 0.09 * (number - (len(styles) - 1) / 2) for number, name in enumerate(styles)}
    drawn["x"] = drawn["x"].map({value: place for place, value in enumerate(values)}) + drawn[
        "name"
    ].map(beside)
    figure, mark = (
        Figure(title),
        so.Line(pointsize=9, **DOT) if joined else so.Dot(pointsize=9, **DOT, **ABOVE),
    )
    for ax, of in panels(figure, drawn, sharex=True, sharey=share, **{"xlabel": x} | labels):
        draw(ax, of, styles, mark, INTERVAL)
        ax.set_xticks(range(len(values)), ticks, fontsize=SMALL + 1)
        ax.set_xlim(-0.45, len(values) - 0.55)
        ax.grid(axis="x", visible=False)
        frame_axis(ax, drawn if share else of)
    name_lines(figure, styles, joined)
    return figure


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
    **labels: str,
) -> Figure:
    """``y`` along a measured quantity ``x``, a curve for each value of ``by``, with bands from low to high if given.

    Names with a single point each have an interval instead. Panels are in columns by ``facet`` and in rows by ``row``.
    ``log`` names what has a logarithmic axis: ``x``, ``y``, or the panels whose y axis is one. The column ``behind`` is
    drawn pale behind the curve, that of ``notes`` stands at its two ends.
    """
    alone = table[by].is_unique
    drawn = take(table, x=x, y=y, name=by, column=facet, row=row, behind=behind, notes=notes)
    figure, styles = Figure(title), looks(drawn["name"][drawn["x"].notna()])
    for ax, of in panels(
        figure, drawn, sharex=True, sharey="row" if row else False, **{"xlabel": x} | labels
    ):
        draw(
            ax,
            of,
            styles,
            so.Line(pointsize=8, **DOT),
            INTERVAL if alone else so.Band(alpha=0.1, edgewidth=0),
        )
        for line in ax.lines:  # a mark a point, as long as there are few
            line.set_marker(line.get_marker() if len(line.get_xdata()) <= 40 else "")
        if "x" in log:
            plain_log(ax, "x", of["x"])
        if {"y", *of["column"], *of["row"]} & set(log):
            plain_log(ax, "y", of["y"])
            ax.set_ylim(of["y"].min() / 1.3, of["y"].max() * 1.3)
        elif "low" in of:
            frame_axis(ax, of)
        for name, told in of.dropna(subset="x").groupby("name") if notes else ():
            at = {
                "textcoords": "offset points",
                "va": "center",
                "fontsize": SMALL,
                "color": styles[name].colour,
            }
            for end, side, aside in ((told.iloc[0], -7, "right"), (told.iloc[-1], 7, "left")):
                ax.annotate(f"{end['notes']:g}", (end["x"], end["y"]), (side, 0), ha=aside, **at)
    name_lines(figure, styles, not alone)
    return figure


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

    Intervals are drawn if there are any. Panels have one x axis if they ``share`` it.
    """
    drawn, places = in_rows(
        take(table, x=x, y=rows, name=by, column=facet, group=group).dropna(subset="x")
    )
    figure = Figure(title, (SIZE[0], max(SIZE[1], 1.5 + 0.34 * len(places))))
    for ax, of in panels(figure, drawn, sharex=share, sharey=True, xlabel=xlabel):
        draw_dots(ax, of, places)
        ax.margins(x=0.12)
        if log:
            plain_log(ax, "x", of["x"])
        form = ".3f" if of["x"].abs().max() <= 1 else ".3g"  # of shares, and of quantities
        at = {"textcoords": "offset points", "ha": "center", "fontsize": SMALL}
        for value, place in zip(of["x"], of["y"]):
            ax.annotate(f"{value:{form}}", (value, place), (0, 9), **at)
    return figure


@style()
def differences(
    table: pd.DataFrame, title: str, baseline: str, metric: str, rows: str = "retriever"
) -> Figure:
    """Paired differences to a baseline, as ``Experiment.compare`` gives them: difference, low, high, p_holm."""
    drawn, places = in_rows(take(table, x="difference", y=rows, name="retriever", p="p_holm"))
    figure, note = Figure(title), "with 95 % interval; p after Holm's correction"
    [(ax, of)] = panels(figure, drawn, xlabel=f"difference in {metric} to {baseline}, {note}")
    draw_changes(ax, of, places)
    return figure


@style()
def ablation(table: pd.DataFrame, title: str, metric: str) -> Figure:
    """Variants (label) in groups: their means, and paired differences to the first of the group, a dashed line.

    Intervals are low, high, difference_low and difference_high.
    """
    means = take(table, x="mean", y="label", group="group").assign(column=metric)
    ends = {"low": "difference_low", "high": "difference_high"}
    gains = take(table, x="difference", y="label", group="group", **ends).assign(
        column="difference to the dashed line"
    )
    drawn, places = in_rows(pd.concat([means, gains.dropna(subset="x")]))
    figure = Figure(title)
    (left, means), (right, gains) = panels(figure, drawn, sharey=True, width_ratios=(3, 2))
    draw_dots(left, means, places)
    firsts = means.groupby("group").agg(x=("x", "first"), top=("y", "min"), bottom=("y", "max"))
    left.vlines(
        firsts["x"],
        firsts["top"] - 0.5,
        firsts["bottom"] + 0.5,
        color=GREY,
        linestyle="--",
        linewidth=1.5,
    )
    draw_changes(right, gains, places)
    right.tick_params(labelleft=False)
    return figure


@style()
def heatmap(table: pd.DataFrame, title: str, x: str, y: str, metric: str, **labels: str) -> Figure:
    """A metric over a grid of two settings, each square with its mean and interval."""
    told = [f"{of.mean:.3f}\n{of.low:.3f} to {of.high:.3f}" for of in table.itertuples()]
    squares = table.assign(told=told).pivot(index=y, columns=x, values=["mean", "told"])
    middle, reach = (
        table["mean"].agg(["min", "max"]).mean(),
        max(np.ptp(table["mean"]), LEAST_HEIGHT) / 2,
    )
    colours = {"cmap": "crest", "vmin": middle - reach, "vmax": middle + reach}
    words = {"annot": squares["told"].fillna(""), "fmt": "", "annot_kws": {"size": 11}}
    figure = Figure(title)
    ax = figure.subplots()
    bar = {"label": metric.capitalize()}
    seaborn.heatmap(
        squares["mean"].astype(float), linewidths=2, ax=ax, cbar_kws=bar, **colours, **words
    )
    ax.set(**labels)
    ax.tick_params(length=0, labelrotation=0)
    return figure


def times(table: pd.DataFrame, title: str) -> Figure:
    """Milliseconds a question by the number of passages, and how many of them the encoder takes.

    A row is a question: retriever, passages, seconds, and ``encoding``, a part of these.
    """
    means = (
        table.groupby(["retriever", "passages"], sort=False)[["seconds", "encoding"]]
        .mean()
        .mul(1000)
    )
    rows = long(
        means.reset_index(),
        {"seconds": "milliseconds a question", "encoding": "of these for encoding"},
    )
    labels = {"xlabel": "passages in the collection"}
    return curves(
        rows[rows["mean"] > 0],
        title,
        "passages",
        by="retriever",
        facet="metric",
        log="xy",
        **labels,
    )


def long(table: pd.DataFrame, metrics: Mapping[str, str]) -> pd.DataFrame:
    """The columns NAME, NAME_low and NAME_high of several metrics as rows: mean, low, high, metric (the meaning)."""
    parts = []
    for name, meaning in metrics.items():
        names = {name: "mean", f"{name}_low": "low", f"{name}_high": "high"}
        parts.append(table.rename(columns=names).assign(metric=meaning))
    return pd.concat(parts, ignore_index=True)


# ---- what they are put together from


def take(table: pd.DataFrame, **columns: str) -> pd.DataFrame:
    """The columns of a table, and its intervals, as all plots here name them; without a name: one panel, row, group."""
    alike = {"name": "", "column": "", "row": "", "group": ""}
    named = {end: end for end in ("low", "high") if end in table} | {
        new: old for new, old in columns.items() if old
    }
    return pd.DataFrame(alike | {new: table[old] for new, old in named.items()}).reset_index(
        drop=True
    )


def in_rows(drawn: pd.DataFrame) -> tuple[pd.DataFrame, list[tuple[str, str]]]:
    """The points with their rows' numbers in ``y``, and the rows: (group, name), a group's heading without a name."""
    rows: list[tuple[str, str]] = []
    for group, of in drawn.groupby("group", sort=False):
        rows += [(group, "")] * bool(group) + [(group, name) for name in of["y"].unique()]
    return drawn.assign(y=[float(rows.index(row)) for row in zip(drawn["group"], drawn["y"])]), rows


def panels(
    figure: Figure, drawn: pd.DataFrame, *, xlabel: str = "", ylabel: str = "", **shared: object
) -> Iterator[tuple[Axes, pd.DataFrame]]:
    """Panels in columns and rows, each with its points; levels are drawn. ``shared`` as of ``Figure.subplots``."""
    rows, columns = (drawn[way].dropna().unique() for way in ("row", "column"))
    axes = figure.subplots(len(rows), len(columns), squeeze=False, **shared)
    figure.supxlabel(xlabel)
    for ax, (row, column) in zip(axes.flat, product(rows, columns)):
        heading = (
            f"{column[:1].upper()}{column[1:]}" if column[1:] else column
        )  # a letter of the paper stays small
        ax.set_title(heading if row == rows[0] else "")
        ax.set_ylabel((row or ylabel) if column == columns[0] else "")
        of = drawn[(drawn["row"].fillna(row) == row) & (drawn["column"].fillna(column) == column)]
        for level in of[of["x"].isna()].itertuples():
            ax.axhline(level.y, color=GREY, linestyle=":", linewidth=1.5)
            at = {
                "xycoords": ("axes fraction", "data"),
                "va": "center",
                "fontsize": SMALL,
                "color": GREY,
            }
            ax.annotate(level.name, (1.01, level.y), **at)
        yield ax, of
        if shared.get("sharey"):
            ax.label_outer()


def draw(
    ax: Axes,
    drawn: pd.DataFrame,
    styles: Mapping[str, Look],
    mark: so.Mark,
    interval: so.Mark,
    rows: bool = False,
) -> None:
    """Points in a panel, with the looks of their names: what is behind, intervals (in ``rows`` along x), marks."""
    way, ends = ("y", ("xmin", "xmax")) if rows else ("x", ("ymin", "ymax"))
    colours = {name: each.colour for name, each in styles.items()}
    markers = {name: each.marker for name, each in styles.items()}
    dashes = {name: each.dash or "-" for name, each in styles.items()}
    theme = {
        key: rcParams[key] for key in so.Plot.config.theme if key in rcParams
    }  # the kit's style, not seaborn's
    plot = so.Plot(drawn.dropna(subset="x"), x="x", y="y", color="name").on(ax).theme(theme)
    plot = plot.label(x=ax.get_xlabel(), y=ax.get_ylabel(), title=ax.get_title("left"))
    plot = plot.scale(color=colours, marker=markers, linestyle=dashes)
    if "low" in drawn:
        plot = plot.add(interval, orient=way, legend=False, **dict(zip(ends, ("low", "high"))))
    if "behind" in drawn:
        plot = plot.add(so.Line(alpha=0.2, linewidth=1), y="behind", legend=False)
    plot.add(mark, orient=way, marker="name", linestyle="name", legend=False).plot()


def draw_dots(ax: Axes, drawn: pd.DataFrame, rows: list[tuple[str, str]]) -> None:
    """Points with their intervals in rows of these names, headings in bold."""
    mark = so.Dot(pointsize=10, edgewidth=2, **ABOVE)
    draw(ax, drawn, looks(drawn["name"]), mark, so.Range(linewidth=2.5), rows=True)
    ax.locator_params(axis="x", nbins=4)
    ax.set_yticks(range(len(rows)), [wrapped(name or group, 34) for group, name in rows])
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.grid(axis="y", visible=False)
    ax.tick_params(axis="y", length=0)
    for label, (_, name) in zip(ax.get_yticklabels(), rows):
        label.set_weight("normal" if name else "bold")


def draw_changes(ax: Axes, drawn: pd.DataFrame, rows: list[tuple[str, str]]) -> None:
    """Differences in rows, the line of no difference, and their numbers on the right."""
    draw_dots(ax, drawn, rows)
    ax.axvline(0, color=INK, linewidth=1.2, zorder=0.9)
    at = {"xycoords": ("axes fraction", "data"), "va": "center", "fontsize": SMALL + 1}
    for of in drawn.itertuples():
        p = "" if "p" not in drawn else "  p < 0.001" if of.p < 0.001 else f"  p = {of.p:.3f}"
        ax.annotate(
            f"{of.x:+.3f} [{of.low:+.3f}, {of.high:+.3f}]{p}".replace("-", "−"), (1.02, of.y), **at
        )
    # A group of one question has no interval.
    reach = 1.1 * np.nanmax([1e-3, *drawn[["x", "low", "high"]].abs().to_numpy().ravel()])
    ax.set_xlim(-reach, reach)


def frame_axis(ax: Axes, drawn: pd.DataFrame) -> None:
    """A range of fractions for the y axis: around the intervals, and never so narrow that noise fills it."""
    values = drawn[["y", "low", "high"]].to_numpy(float)
    low, high = np.nanmin(values), np.nanmax(values)
    room = max(0.08 * (high - low), (LEAST_HEIGHT - (high - low)) / 2)
    least, most = -0.02 if low >= 0 else -np.inf, 1.02 if high <= 1 else np.inf
    ax.set_ylim(max(low - room, least), min(high + room, most))


def plain_log(ax: Axes, which: str, values: pd.Series) -> None:
    """Makes the ``x`` or ``y`` axis logarithmic, with plain numbers; a zero has no place among logarithms."""
    ax.set(**{f"{which}scale": "log" if values.min() > 0 else "symlog"})
    axis = getattr(ax, f"{which}axis")
    if values.min() > 0:
        axis.set_major_locator(
            LogLocator(subs=(1,) if values.max() / values.min() > 150 else (1, 2, 5))
        )
    axis.set_major_formatter("{x:,g}")
    axis.set_minor_formatter("")


def name_lines(figure: Figure, styles: Mapping[str, Look], joined: bool) -> None:
    """One legend for all panels, on their right."""
    line = {} if joined else {"linestyle": "none"}
    signs = {name: {"marker": each.marker, **each.line, **line} for name, each in styles.items()}
    handles = [Line2D([], [], label=wrapped(name, 20), **sign) for name, sign in signs.items()]
    figure.legend(handles=handles, loc="outside right center", handlelength=3)


def wrapped(text: str, width: int) -> str:
    """A label in lines of this width, cut after the third."""
    return textwrap.fill(text, width, max_lines=3, placeholder=" …")
