"""What statistical plots are put together from: panels, marks, axes and legends.

All take points as a table with the columns that :func:`take` names: x, y, name (which has a look),
column and row (of its panel), group, and the ends of intervals, low and high.
"""

import textwrap
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product

import numpy as np
import pandas as pd
import seaborn.objects as so
from matplotlib import rcParams
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import Locator, LogLocator, MaxNLocator
from numpy import ndarray
from pandas import DataFrame
from sklearn.isotonic import IsotonicRegression

from kit.views.names import name_of, with_minus
from kit.views.style import GREY, INK, SIZE, SMALL, Figure, Looks, looks

LEAST_HEIGHT = 0.1  # of an axis of fractions: what differs by less shall not fill it
LEAST_GAP = 0.055  # between names beside a panel, as a share of its height
MOST_LINES = 8  # that a reader can tell apart
LINE = so.Line(pointsize=9, edgecolor="white", edgewidth=0.6)
CURVE = so.Line(pointsize=8, edgecolor="white", edgewidth=0.6)
ON_INTERVALS = {"zorder": 3}
DOT = so.Dot(pointsize=9, edgecolor="white", edgewidth=0.6, artist_kws=ON_INTERVALS)
LARGE_DOT = so.Dot(pointsize=10, edgewidth=2, artist_kws=ON_INTERVALS)
INTERVAL = so.Range(linewidth=1.5, alpha=0.6)
THICK_INTERVAL = so.Range(linewidth=2.5)
BAND = so.Band(alpha=0.1, edgewidth=0)
PALE = so.Line(alpha=0.2, linewidth=1)

Row = tuple[str, str]  # group and name; a group's heading has no name


def take(table: DataFrame, **columns: str) -> DataFrame:
    """The columns of a table, and its intervals, as all plots here name them.

    Without a name there is one panel, one row of panels, one group.
    """
    if table.empty:  # perhaps without columns, too
        table = table.reindex(columns=list({*columns.values()}))
    points = DataFrame({"name": "", "column": "", "row": "", "group": ""}, table.index)
    intervals = {end: end for end in ("low", "high") if end in table}
    for name, source in (intervals | columns).items():
        if source:
            points[name] = table[source]
    return points.reset_index(drop=True)


def in_rows(points: DataFrame) -> tuple[DataFrame, list[Row]]:
    """The points with the index of their row in ``y``, and the rows."""
    rows = []
    for group, members in points.groupby("group", sort=False):
        if group:
            rows.append((group, ""))
        rows += [(group, name) for name in members["y"].unique()]

    heights = [float(rows.index(row)) for row in zip(points["group"], points["y"])]
    return points.assign(y=heights), rows


def tall(n_rows: int, height: float = 0.34) -> tuple[float, float]:
    """The size of a figure with rows of this height, in inches: a slide's, or higher."""
    return SIZE[0], max(SIZE[1], 1.5 + height * n_rows)


def nothing(title: str) -> Figure:
    """The figure of a table without numbers."""
    figure = Figure(title)
    figure.text(0.5, 0.5, "There are no numbers to show.", ha="center", color=GREY)
    return figure


def split_names(figure: Figure, points: DataFrame) -> DataFrame:
    """The points with a row of panels for each name, for which the figure is made high enough."""
    points = points.assign(row=points["name"].where(points["x"].notna()))
    figure.set_size_inches(tall(points["row"].nunique(), 0.8))
    return points


def panels(
    figure: Figure,
    points: DataFrame,
    *,
    xlabel: str = "",
    ylabel: str = "",
    sharey: bool | str = True,
    name_levels: bool = True,
    **options: object,
) -> Iterator[tuple[Axes, DataFrame, DataFrame]]:
    """Panels in columns and rows: each with its points, and all points of panels with its y axis.

    Levels are drawn, and named at their end if ``name_levels``. The panels with one y axis are all
    (True), or those of a ``row`` or ``col``. Names of many rows are written level. ``options`` are
    those of ``Figure.subplots``.
    """
    rows = points["row"].dropna().unique()
    columns = points["column"].dropna().unique()
    many = len(rows) > MOST_LINES
    axes = figure.subplots(len(rows), len(columns), squeeze=False, sharey=sharey, **options)
    figure.supxlabel(xlabel)
    if many:
        figure.supylabel(ylabel)

    for ax, (row, column) in zip(axes.flat, product(rows, columns)):
        if row == rows[0]:
            # With a capital; a letter of the paper stays small.
            ax.set_title(column if len(column) == 1 else column[:1].upper() + column[1:])
        if column == columns[0]:
            ax.set_ylabel(row or ylabel)

        in_row = points["row"].fillna(row) == row
        in_column = points["column"].fillna(column) == column
        members = points[in_row & in_column]
        for level in members[members["x"].isna()].itertuples():
            ax.axhline(level.y, color=GREY, linestyle=":", linewidth=1.5)
            if name_levels:
                write_beside(ax, name_of(level.name), 1.01, level.y, SMALL, GREY)

        framed = {True: points, "row": points[in_row], "col": points[in_column]}
        yield ax, members, framed[sharey]
        if sharey == "col":
            ax.tick_params(labelbottom=ax.get_subplotspec().is_last_row())
        else:
            ax.label_outer()
        if many:
            ax.yaxis.label.set(rotation=0, ha="right", va="center")


def draw(
    ax: Axes,
    points: DataFrame,
    styles: Looks,
    mark: so.Mark,
    interval: so.Mark,
    rows: bool = False,
) -> None:
    """Points in a panel, with the looks of their names: what is behind, intervals, marks.

    In ``rows``, intervals go along x.
    """
    along = "y" if rows else "x"
    # The kit's style, not seaborn's.
    theme = {key: rcParams[key] for key in so.Plot.config.theme if key in rcParams}
    plot = (
        so.Plot(
            points.dropna(subset="x"),
            x="x",
            y="y",
            color="name",
        )
        .on(ax)
        .theme(theme)
        .label(
            x=ax.get_xlabel(),
            y=ax.get_ylabel(),
            title=ax.get_title("left"),
        )
        .scale(
            color={name: style.colour for name, style in styles.items()},
            marker={name: style.marker for name, style in styles.items()},
            linestyle={name: style.dash or "-" for name, style in styles.items()},
        )
    )
    if "low" in points:
        add = partial(plot.add, interval, orient=along, legend=False)
        plot = add(xmin="low", xmax="high") if rows else add(ymin="low", ymax="high")
    if "behind" in points:
        plot = plot.add(PALE, y="behind", legend=False)
    plot.add(
        mark,
        orient=along,
        marker="name",
        linestyle="name",
        legend=False,
    ).plot()


def draw_dots(ax: Axes, points: DataFrame, rows: Sequence[Row], styles: Looks) -> None:
    """Points with their intervals in rows of these names, headings in bold."""
    draw(
        ax,
        points,
        styles,
        LARGE_DOT,
        THICK_INTERVAL,
        rows=True,
    )
    labels = [wrapped(name_of(name) or group, 34) for group, name in rows]
    ax.locator_params(axis="x", nbins=4)
    ax.set_yticks(range(len(rows)), labels)
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.grid(axis="y", visible=False)
    ax.tick_params(axis="y", length=0)
    for label, (_, name) in zip(ax.get_yticklabels(), rows):
        weight = "normal" if name else "bold"
        label.set_weight(weight)


def draw_changes(ax: Axes, points: DataFrame, rows: Sequence[Row]) -> None:
    """Differences in rows, the line of no difference, and their numbers on the right."""
    draw_dots(ax, points, rows, looks(points["name"]))
    ax.axvline(0, color=INK, linewidth=1.2, zorder=0.9)
    for point in points.itertuples():
        text = f"{point.x:+.3f} [{point.low:+.3f}, {point.high:+.3f}]"
        if "p" in points:
            text += "  p < 0.001" if point.p < 0.001 else f"  p = {point.p:.3f}"
        write_beside(ax, with_minus(text), 1.02, point.y, SMALL + 1)
    # A group of one question has no interval.
    ends = points[["x", "low", "high"]].abs().to_numpy()
    reach = 1.1 * np.nanmax([1e-3, *ends.ravel()])
    ax.set_xlim(-reach, reach)


def write_beside(
    ax: Axes, text: str, x: float, y: float, size: float, colour: str | None = None
) -> None:
    """Text beside a panel: ``x`` as a share of its width, ``y`` as a value."""
    ax.annotate(
        text,
        (x, y),
        xycoords=("axes fraction", "data"),
        va="center",
        fontsize=size,
        color=colour,
    )


def frame_axis(ax: Axes, points: DataFrame) -> None:
    """A range of fractions for the y axis.

    It goes around the intervals, and is never so narrow that noise fills it.
    """
    values = points[["y", "low", "high"]].to_numpy(float)
    low = np.nanmin(values)
    high = np.nanmax(values)
    room = max(0.08 * (high - low), (LEAST_HEIGHT - (high - low)) / 2)
    bottom = low - room
    if low >= 0:
        bottom = max(bottom, -0.02)
    top = high + room
    if high <= 1:
        top = min(top, 1.02)
    ax.set_ylim(bottom, top)


def plain_log(ax: Axes, which: str, values: pd.Series) -> None:
    """Makes the ``x`` or ``y`` axis logarithmic, with plain numbers.

    A zero has no place among logarithms: the axis is linear around it.
    """
    axis = getattr(ax, f"{which}axis")
    set_scale = getattr(ax, f"set_{which}scale")
    least = values.min()
    if least > 0:
        set_scale("log")
        axis.set_major_locator(_ticks_of(values.max() / least))
    else:
        set_scale("symlog")
    axis.set_major_formatter("{x:,g}")
    axis.set_minor_formatter("")


def _ticks_of(ratio: float) -> Locator:
    """Where a logarithmic axis has its numbers; ``ratio`` is of the largest value to the least."""
    if ratio < 4:  # less than a LogLocator can divide without crowding
        return MaxNLocator(4)
    if ratio > 60:
        return LogLocator(subs=(1,))
    return LogLocator(subs=(1, 2, 5))


def name_lines(figure: Figure, styles: Looks, joined: bool) -> None:
    """One legend for all panels, on their right; the figure grows to hold it."""
    handles = []
    for name, style in styles.items():
        handle = Line2D(
            [],
            [],
            label=wrapped(name_of(name), 20),
            marker=style.marker,
            **style.line,
        )
        if not joined:
            handle.set_linestyle("none")
        handles.append(handle)
    legend = figure.legend(handles=handles, loc="outside right center", handlelength=3)
    needed = legend.get_window_extent().height / figure.dpi + 1  # inches, with the title
    figure.set_figheight(max(needed, figure.get_figheight()))


def name_ends(ax: Axes, points: DataFrame, styles: Looks) -> None:
    """The name and the mark of each line beside its end, and the names of levels.

    Where ends are close to each other, names give way up and down.
    """
    last = points.sort_values("x", na_position="first").groupby("name").tail(1)
    last = last.sort_values("y")
    bottom, top = ax.get_ylim()
    heights = apart(last["y"].to_numpy(), LEAST_GAP * (top - bottom))
    across = ax.get_yaxis_transform()
    for name, height in zip(last["name"], heights):
        colour = GREY
        if name in styles:
            colour = styles[name].colour
            ax.plot(
                [1.025],
                [height],
                transform=across,
                marker=styles[name].marker,
                markersize=8,
                color=colour,
                clip_on=False,
            )
        write_beside(ax, wrapped(name_of(name), 24), 1.05, height, SMALL + 1, colour)


def apart(heights: ndarray, gap: float) -> ndarray:
    """Ascending heights, moved as little as it takes to be ``gap`` apart.

    What is too close becomes a block around the mean of its heights, as in isotonic regression.
    """
    steps = gap * np.arange(len(heights))
    fitted = IsotonicRegression().fit_transform(steps, heights - steps)
    return fitted + steps


def wrapped(text: str, width: int) -> str:
    """A label in lines of this width, cut after the third."""
    return textwrap.fill(text, width, max_lines=3, placeholder=" …")
