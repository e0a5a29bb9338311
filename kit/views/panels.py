"""What the statistical plots are put together from: tables made ready, panels, axes, marks and names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np
import pandas as pd
import seaborn.objects as so
from matplotlib import rcParams
from matplotlib.axes import Axes

from kit.errors import InputError
from kit.views.labels import place_labels
from kit.views.style import GREY, INK, SMALL, Figure, Look, heading, looks, signed, wrapped

LEAST_HEIGHT = 0.1  # of an axis of fractions: what differs by less shall not fill it
ABOVE = {"artist_kws": {"zorder": 3}}  # points on their intervals
LEVEL = {"color": GREY, "linestyle": ":", "linewidth": 1.5}
Levels = pd.DataFrame | Mapping[str, float] | None


def take(table: pd.DataFrame, **columns: str) -> pd.DataFrame:
    """The columns of a table under the names that all plots here draw by; no panels, groups or names by default."""
    wanted = [column for column in columns.values() if column]
    if missing := [column for column in wanted if column not in table]:
        raise InputError(f"expected the columns {', '.join(wanted)}; {', '.join(missing)} not there", field="table")
    if table.empty:
        raise InputError("expected at least one row", field="table")
    drawn = {"name": "", "column": "", "row": "", "group": ""}
    return pd.DataFrame(drawn | {new: table[old] for new, old in columns.items() if old}).reset_index(drop=True)


def level_rows(levels: Levels, **columns: str) -> pd.DataFrame:
    """Levels to compare with: name, y, column, row ("" where they are the same in all)."""
    if isinstance(levels, pd.DataFrame):
        return take(levels, **{new: old if old in levels else "" for new, old in columns.items()})
    return pd.DataFrame({"name": list(levels or {}), "y": list((levels or {}).values()), "column": "", "row": ""})


def base_plot(drawn: pd.DataFrame, styles: Mapping[str, Look]) -> so.Plot:
    """An empty plot in the kit's style, in which names have their looks."""
    theme = {key: rcParams[key] for key in so.Plot.config.theme if key in rcParams}
    colours = {name: each.colour for name, each in styles.items()} | {"hollow": "white"}
    markers = {name: each.marker for name, each in styles.items()}
    dashes = {name: each.dash or "-" for name, each in styles.items()}
    plot = so.Plot(drawn, x="x", y="y", color="name").theme(theme).label(x="", y="")
    return plot.scale(color=colours, edgecolor=colours, marker=markers, linestyle=dashes)


def interval_bar(width: float, alpha: float = 1.0) -> so.Range:
    return so.Range(linewidth=width, alpha=alpha)


def each_panel(
    plot: so.Plot,
    figure: Figure,
    drawn: pd.DataFrame,
    levels: pd.DataFrame,
    sharey: bool | str = True,
    *,
    sharex: bool = True,
    xlabel: str = "",
    ylabel: str = "",
) -> Iterator[tuple[Axes, pd.DataFrame, pd.DataFrame, bool]]:
    """Draws panels in columns and rows; gives each with its points, its levels, and whether it is the last one."""
    columns, rows = ([*drawn[way].unique()] for way in ("column", "row"))
    plot = plot.facet("column", "row", order={"col": columns, "row": rows}).share(x=sharex, y=sharey)
    plot.label(x="" if len(columns) > 1 else xlabel, y=ylabel).on(figure).plot()
    if len(columns) > 1:
        figure.supxlabel(xlabel, fontsize=12)
    for number, ax in enumerate(figure.axes):
        row, column = rows[number // len(columns)], columns[number % len(columns)]
        ax.set_title(heading(column) if row == rows[0] else "")
        if row and column == columns[0]:
            ax.set_ylabel(row)
        of, known = (all_[all_["column"].isin(["", column]) & all_["row"].isin(["", row])] for all_ in (drawn, levels))
        for level in known["y"]:
            ax.axhline(level, **LEVEL)
        yield ax, of, known, column == columns[-1]


def places_along(values: Iterable[float | str], log: bool = False) -> dict[float | str, float]:
    """Where values stand: numbers in their order, words as they come, 1 apart; by logarithm the two nearest ones."""
    values = list(dict.fromkeys(values))
    values = values if any(isinstance(value, str) for value in values) else sorted(values)
    at = np.log(values) - np.log(values[0]) if log else np.arange(len(values), dtype=float)
    return dict(zip(values, (at / min(np.diff(at), default=1.0)).tolist()))


def tick_labels(table: pd.DataFrame, x: str, places: Mapping[float | str, float]) -> list[str]:
    """Names of ticks with their number of questions, where that changes; one a line lower where it would touch."""
    counts = table.groupby(x)["n"].max() if "n" in table else pd.Series(dtype=float)
    found, before = [], -np.inf
    for value, place in places.items():
        name = value if isinstance(value, str) else f"{value:g}" if value < 1000 else f"{value / 1000:g}k"
        words = [*name.splitlines(), *([f"(n = {counts[value]:,})"] if counts.nunique() > 1 else [])]
        low = place - before < 0.09 * max(places.values()) and not found[-1].startswith("\n")
        found.append("\n" * low + "\n".join(wrapped(line, 16) for line in words))
        before = place
    return found


def frame_axis(ax: Axes, tables: Iterable[pd.DataFrame]) -> None:
    """A range of fractions for the y axis: around the intervals, and never so narrow that noise fills it."""
    values = pd.concat([of.reindex(columns=["y", "low", "high"]) for of in tables]).to_numpy(float)
    low, high = np.nanmin(values), np.nanmax(values)
    room = max(0.08 * (high - low), (LEAST_HEIGHT - (high - low)) / 2)
    least, most = -0.02 if low >= 0 else -np.inf, 1.02 if high <= 1 else np.inf
    ax.set_ylim(max(low - room, least), min(high + room, most))


def draw_dots(ax: Axes, drawn: pd.DataFrame, title: str = "") -> None:
    """Points in rows with their intervals; hollow where ``sure`` is false."""
    drawn = drawn.assign(face=drawn["name"].where(drawn["sure"], "hollow") if "sure" in drawn else drawn["name"])
    plot = base_plot(drawn, looks(drawn["name"]))
    if "low" in drawn:
        plot = plot.add(interval_bar(2.5), orient="y", xmin="low", xmax="high", legend=False)
    mark = so.Dot(pointsize=10, edgewidth=2, **ABOVE)
    plot = plot.add(mark, orient="y", marker="name", color="face", edgecolor="name", legend=False)
    plot.label(title=title).on(ax).plot()
    ax.locator_params(axis="x", nbins=4)


def draw_changes(ax: Axes, drawn: pd.DataFrame, title: str = "") -> None:
    """Differences in rows, the line of no difference, and their numbers on the right."""
    draw_dots(ax, drawn, title)
    ax.axvline(0, color=INK, linewidth=1.2, zorder=0.9)
    at = {"xycoords": ("axes fraction", "data"), "va": "center", "fontsize": SMALL + 1}
    for of in drawn.itertuples():
        p = "" if "p" not in drawn else "  p < 0.001" if of.p < 0.001 else f"  p = {of.p:.3f}"
        ax.annotate(f"{signed(of.x)} [{signed(of.low)}, {signed(of.high)}]{p}", (1.02, of.y), **at)
    # A group of one question has no interval.
    reach = 1.1 * np.nanmax([1e-3, *drawn[["x", "low", "high"]].abs().to_numpy().ravel()])
    ax.set_xlim(-reach, reach)


def in_rows(drawn: pd.DataFrame) -> tuple[pd.DataFrame, list[tuple[str, str]]]:
    """The points with their rows' numbers in ``y``, and the rows: (group, name), a group's heading without a name."""
    rows: dict[tuple[str, str], None] = {}
    for group, of in drawn.groupby("group", sort=False):
        rows |= dict.fromkeys([(group, "")] * bool(group) + [(group, name) for name in of["y"]])
    number = {row: place for place, row in enumerate(rows)}
    return drawn.assign(y=[float(number[row]) for row in zip(drawn["group"], drawn["y"])]), list(rows)


def label_rows(across: Iterable[Axes], rows: list[tuple[str, str]]) -> None:
    """Names of rows at the first of the axes ``across`` the page, headings in bold."""
    for number, ax in enumerate(across):
        ax.set_yticks(range(len(rows)), [wrapped(name or group, 34) for group, name in rows])
        ax.set_ylim(len(rows) - 0.4, -0.6)
        ax.grid(axis="y", visible=False)
        ax.tick_params(axis="y", length=0, labelleft=number == 0)
        for label, (_, name) in zip(ax.get_yticklabels(), rows):
            label.set_weight("normal" if name else "bold")


def write_names(ax: Axes, drawn: pd.DataFrame, column: str, styles: Mapping[str, Look], **place: float) -> None:
    """Words, or numbers, beside the points."""
    texts = [wrapped(text, 24) if isinstance(text, str) else f"{text:g}" for text in drawn[column]]
    colours = [styles[name].colour for name in drawn["name"]]
    place_labels(ax, list(zip(drawn["x"], drawn["y"], texts, colours)), **place)


def name_ends(ax: Axes, drawn: pd.DataFrame, levels: pd.DataFrame, styles: Mapping[str, Look]) -> None:
    """Names lines at their right ends, and levels, in the margin, moved apart where they would touch."""
    ax.figure.draw_without_rendering()
    line = 1.3 * rcParams["font.size"] * ax.figure.dpi / 72 / ax.get_window_extent().height  # as a share of the axes
    ends = drawn.sort_values("x", kind="stable").groupby("name", sort=False).tail(1)
    ends = pd.concat([ends, levels.assign(x=ax.get_xlim()[1])])
    on_axes = (ax.transData + ax.transAxes.inverted()).transform(ends[["x", "y"]].to_numpy(float))
    ends = ends.assign(height=on_axes[:, 1].clip(0, 1)).sort_values("height", kind="stable")
    texts = [wrapped(name, 20) for name in ends["name"]]
    heights, half = ends["height"].tolist(), [line * (1 + text.count("\n")) / 2 for text in texts]
    for _ in range(200):  # neighbours push each other apart until all have room
        for i in range(len(heights) - 1):
            lack = max(0.0, half[i] + half[i + 1] - (heights[i + 1] - heights[i]))
            heights[i], heights[i + 1] = heights[i] - lack / 2, heights[i + 1] + lack / 2
    for name, x, y, text, height in zip(ends["name"], ends["x"], ends["y"], texts, heights):
        colour = styles[name].colour if name in styles else GREY
        leader = {"arrowstyle": "-", "color": colour, "alpha": 0.45, "linewidth": 0.6, "shrinkA": 1, "shrinkB": 5}
        at = {"xytext": (1.03, height), "textcoords": "axes fraction", "va": "center", "annotation_clip": False}
        ax.annotate(text, (x, y), color=colour, arrowprops=leader, **at)
