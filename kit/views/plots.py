"""Statistical plots: each is a seaborn call on the tidy table that is saved beside the figure.

Intervals come from the table's columns ``low`` and ``high``; seaborn computes none, so that picture and numbers agree.
What is compared, a value of the column ``by``, has its colour, marker and dash from :func:`kit.views.style.looks` and
its name at the right end of its line. ``facet`` and ``row`` are columns whose values each have a panel. ``labels`` are
``xlabel`` and ``ylabel``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

import numpy as np
import pandas as pd
import seaborn
import seaborn.objects as so
from matplotlib import rcParams
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from kit.errors import InputError
from kit.views.labels import place_labels
from kit.views.style import GREY, INK, SIZE, SMALL, Figure, Look, heading, looks, plain_log, signed, style, wrapped

_DODGE = 0.09  # between the lines at one place, as a share of what places are apart
_LEAST_HEIGHT = 0.1  # of an axis of fractions: what differs by less shall not fill it
_MOST_MARKED = 40  # points of a curve that each get a mark
_POINT = {"pointsize": 9, "edgecolor": "white", "edgewidth": 0.6}
_ABOVE = {"artist_kws": {"zorder": 3}}  # points on their intervals
_LEVEL = {"color": GREY, "linestyle": ":", "linewidth": 1.5}
_MEANINGS = ("the search for seeds", "finding and comparing neighbours", "encoding what is read", "all the rest")
_PARTS = dict(zip(("seeding", "matching", "encoding", "rest"), _MEANINGS))
Levels = pd.DataFrame | Mapping[str, float] | None


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
    drawn = _take(table, x=x, y=y, name=by, column=facet, low="low", high="high")
    levels = _levels(levels, y=y, name=by, column=facet)
    places, styles = _places(drawn["x"], log), looks(drawn["name"])
    ticks, end = _ticks(table, x, places), max(places.values())
    step = _DODGE * max(1.0, end / max(1, len(places) - 1))
    beside = {name: step * (number - (len(styles) - 1) / 2) for number, name in enumerate(styles)}
    drawn = drawn.assign(x=drawn["x"].map(places), width=step * len(styles))
    dodge, mark = so.Dodge(by=["color"]), so.Line(**_POINT) if joined else so.Dot(**_POINT, **_ABOVE)
    plot = _plot(drawn, styles).add(_bar(1.5, 0.6), dodge, ymin="low", ymax="high", width="width", legend=False)
    plot = plot.add(mark, dodge, marker="name", linestyle="name", width="width", legend=False)
    drawn = drawn.assign(x=drawn["x"] + drawn["name"].map(beside))
    for ax, of, known, last in _panels(plot, Figure(title), drawn, levels, share, **{"xlabel": x} | labels):
        ax.set_xticks(list(places.values()), ticks)
        ax.set_xlim(-5 * step, end + 5 * step)
        ax.grid(axis="x", visible=False)
        _frame(ax, [drawn if share else of, known])
        if last or not share:
            _name_ends(ax, of, known, styles)
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
    drawn = _take(table, x=x, y=y, name=by, column=facet, row=row, behind=behind, notes=notes, **banded)
    levels, styles = _levels(levels, y=y, name=by, column=facet, row=row), looks(drawn["name"])
    plot, labels = _plot(drawn, styles), {"xlabel": x} | labels
    if banded:
        plot = plot.add(so.Band(alpha=0.1, edgewidth=0), ymin="low", ymax="high", legend=False)
    if behind:
        plot = plot.add(so.Line(alpha=0.2, linewidth=1), y="behind", legend=False)
    plot = plot.add(so.Line(**_POINT | {"pointsize": 7}), marker="name", linestyle="name", legend=False)
    for ax, of, known, _ in _panels(plot, Figure(title), drawn, levels, "row" if row else False, **labels):
        for line in ax.lines:
            line.set_marker(line.get_marker() if len(line.get_xdata()) <= _MOST_MARKED else "")
        if "x" in log:
            plain_log(ax, "x", of["x"], narrow=bool(row))
        if {"y", of["column"].iloc[0], of["row"].iloc[0]} & set(log):
            plain_log(ax, "y", of["y"])
            ax.set_ylim(of["y"].min() / 1.3, of["y"].max() * 1.3)
        elif banded:
            _frame(ax, [of, known])
        if notes:
            _write(ax, of.dropna(subset="notes"), "notes", styles)
        if not row:
            _name_ends(ax, of, known, styles)
    if row:  # panels too small for names
        keys = [Line2D([], [], label=name, **each.line) for name, each in styles.items()]
        keys += [Line2D([], [], label=name, **_LEVEL) for name in levels["name"].unique()]
        ax.figure.supxlabel("")
        ax.figure.legend(handles=keys, loc="outside lower center", ncols=len(keys), title=labels["xlabel"])
    return ax.figure


@style()
def scatter(table: pd.DataFrame, title: str, x: str, y: str = "mean", by: str = "retriever", **labels: str) -> Figure:
    """Points with intervals (low, high) over a measured ``x`` on a logarithmic axis, their names beside them."""
    drawn = _take(table, x=x, y=y, name=by, low="low", high="high")
    styles = looks(drawn["name"])
    plot = _plot(drawn, styles).add(_bar(1.5, 0.6), orient="x", ymin="low", ymax="high", legend=False)
    plot = plot.add(so.Dot(**_POINT | {"pointsize": 10}, **_ABOVE), marker="name", legend=False)
    [(ax, *_)] = _panels(plot, Figure(title), drawn, _levels(None), **labels)
    plain_log(ax, "x", drawn["x"])
    _frame(ax, [drawn])
    _write(ax, drawn, "name", styles, distance=9, size=11)
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
    drawn, places = _in_rows(_take(table, x=x, y=rows, name=by, column=facet, group=group, **ends).dropna(subset="x"))
    figure = Figure(title, (SIZE[0], max(SIZE[1], 1.5 + 0.34 * len(places))))
    across = figure.subplots(1, drawn["column"].nunique(), squeeze=False, sharex=share, sharey=True)[0]
    for ax, (name, of) in zip(across, drawn.groupby("column", sort=False)):
        _dots(ax, of, heading(name))
        ax.margins(x=0.12)
        if log:
            plain_log(ax, "x", of["x"])
        for value, place in zip(of["x"], of["y"]):
            ax.annotate(f"{value:.3g}", (value, place), (0, 9), textcoords="offset points", ha="center", fontsize=SMALL)
    _label_rows(across, places)
    figure.supxlabel(xlabel, fontsize=12)
    return figure


@style()
def differences(table: pd.DataFrame, title: str, baseline: str, metric: str, rows: str = "retriever") -> Figure:
    """Paired differences to a baseline with their intervals, the line of no difference, and the numbers.

    ``table`` has a row a comparison: difference, low, high (fractions) and p_holm, as ``Experiment.compare`` gives
    them. A filled mark has p below 0.05 after Holm's correction.
    """
    drawn = _take(table, x="difference", y=rows, name="retriever", low="low", high="high", p="p_holm")
    drawn, places = _in_rows(drawn.assign(sure=drawn["p"] < 0.05))
    figure = Figure(title)
    ax = figure.subplots()
    _changes(ax, drawn)
    _label_rows([ax], places)
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
    means, places = _in_rows(_take(table, x="mean", y="label", low="low", high="high", group="group"))
    gains, _ = _in_rows(_take(table, x="difference", y="label", group="group", **ends))
    figure = Figure(title)
    left, right = figure.subplots(1, 2, sharey=True, width_ratios=(3, 2))
    _dots(left, means, heading(metric))
    for first in means[gains["x"].isna()].itertuples():
        end = means.loc[means["group"] == first.group, "y"].max()
        left.vlines(first.x, first.y - 0.5, end + 0.5, color=GREY, linestyle="--", linewidth=1.5)
    gains = gains.dropna(subset="x")
    _changes(right, gains.assign(sure=(gains["low"] > 0) | (gains["high"] < 0)), "difference to the dashed line")
    _label_rows([left, right], places)
    return figure


@style()
def heatmap(table: pd.DataFrame, title: str, x: str, y: str, metric: str, **labels: str) -> Figure:
    """A metric over a grid of two settings, each square with its mean and interval (low, high).

    Numbers stand in their order, words as they come.
    """
    drawn = _take(table, x=x, y=y, mean="mean", low="low", high="high")
    drawn["text"] = [f"{of.mean:.3f}\n{of.low:.3f} to {of.high:.3f}" for of in drawn.itertuples()]
    order = {"index": list(_places(drawn["y"])), "columns": list(_places(drawn["x"]))}
    means, texts = (drawn.pivot(index="y", columns="x", values=of).reindex(**order) for of in ("mean", "text"))
    middle, reach = drawn["mean"].agg(["min", "max"]).mean(), max(np.ptp(drawn["mean"]), _LEAST_HEIGHT) / 2
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
    table = _take(table, name="retriever", x="passages", y="seconds", **{part: part for part in parts})
    means = table.groupby(["name", "x"], sort=False)[["y", *parts]].mean().mul(1000).reset_index()
    styles, figure = looks(means["name"]), Figure(title)
    left, right = figure.subplots(1, 2)
    plot = _plot(means, styles).add(so.Line(**_POINT), marker="name", linestyle="name", legend=False)
    plot.label(x="passages in the collection", title="milliseconds a question").on(left).plot()
    plain_log(left, "x", means["x"])
    plain_log(left, "y", means["y"])
    _name_ends(left, means, _levels(None), styles)
    last = means.loc[means.groupby("name")["x"].idxmax()].sort_values("y")
    last["share"] = [f"{wrapped(of.name, 20)}: {of.y:.3g} ms" for of in last.itertuples()]
    shares = last.set_index("share")[parts].div(last[parts].sum(axis=1).to_numpy(), axis=0).mul(100)
    shares = shares.rename_axis("y").reset_index().melt("y", var_name="name", value_name="x")
    colours = dict(zip(("#332288", "#882255", "#117733", "#bdbdbd"), ("", "///", "...", "xxx")))
    plot = _plot(shares, {part: Look(colour, "") for part, colour in zip(parts, colours)})
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


def _take(table: pd.DataFrame, **columns: str) -> pd.DataFrame:
    """The columns of a table under the names that all plots here draw by; no panels, groups or names by default."""
    wanted = [column for column in columns.values() if column]
    if missing := [column for column in wanted if column not in table]:
        raise InputError(f"expected the columns {', '.join(wanted)}; {', '.join(missing)} not there", field="table")
    if table.empty:
        raise InputError("expected at least one row", field="table")
    drawn = {"name": "", "column": "", "row": "", "group": ""}
    return pd.DataFrame(drawn | {new: table[old] for new, old in columns.items() if old}).reset_index(drop=True)


def _levels(levels: Levels, **columns: str) -> pd.DataFrame:
    """Levels to compare with: name, y, column, row ("" where they are the same in all)."""
    if isinstance(levels, pd.DataFrame):
        return _take(levels, **{new: old if old in levels else "" for new, old in columns.items()})
    return pd.DataFrame({"name": list(levels or {}), "y": list((levels or {}).values()), "column": "", "row": ""})


def _plot(drawn: pd.DataFrame, styles: Mapping[str, Look]) -> so.Plot:
    """An empty plot in the kit's style, in which names have their looks."""
    theme = {key: rcParams[key] for key in so.Plot.config.theme if key in rcParams}
    colours = {name: each.colour for name, each in styles.items()} | {"hollow": "white"}
    markers = {name: each.marker for name, each in styles.items()}
    dashes = {name: each.dash or "-" for name, each in styles.items()}
    plot = so.Plot(drawn, x="x", y="y", color="name").theme(theme).label(x="", y="")
    return plot.scale(color=colours, edgecolor=colours, marker=markers, linestyle=dashes)


def _bar(width: float, alpha: float = 1.0) -> so.Range:
    return so.Range(linewidth=width, alpha=alpha)


def _panels(
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
            ax.axhline(level, **_LEVEL)
        yield ax, of, known, column == columns[-1]


def _places(values: Iterable[float | str], log: bool = False) -> dict[float | str, float]:
    """Where values stand: numbers in their order, words as they come, 1 apart; by logarithm the two nearest ones."""
    values = list(dict.fromkeys(values))
    values = values if any(isinstance(value, str) for value in values) else sorted(values)
    at = np.log(values) - np.log(values[0]) if log else np.arange(len(values), dtype=float)
    return dict(zip(values, (at / min(np.diff(at), default=1.0)).tolist()))


def _ticks(table: pd.DataFrame, x: str, places: Mapping[float | str, float]) -> list[str]:
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


def _frame(ax: Axes, tables: Iterable[pd.DataFrame]) -> None:
    """A range of fractions for the y axis: around the intervals, and never so narrow that noise fills it."""
    values = pd.concat([of.reindex(columns=["y", "low", "high"]) for of in tables]).to_numpy(float)
    low, high = np.nanmin(values), np.nanmax(values)
    room = max(0.08 * (high - low), (_LEAST_HEIGHT - (high - low)) / 2)
    least, most = -0.02 if low >= 0 else -np.inf, 1.02 if high <= 1 else np.inf
    ax.set_ylim(max(low - room, least), min(high + room, most))


def _dots(ax: Axes, drawn: pd.DataFrame, title: str = "") -> None:
    """Points in rows with their intervals; hollow where ``sure`` is false."""
    drawn = drawn.assign(face=drawn["name"].where(drawn["sure"], "hollow") if "sure" in drawn else drawn["name"])
    plot = _plot(drawn, looks(drawn["name"]))
    if "low" in drawn:
        plot = plot.add(_bar(2.5), orient="y", xmin="low", xmax="high", legend=False)
    mark = so.Dot(pointsize=10, edgewidth=2, **_ABOVE)
    plot = plot.add(mark, orient="y", marker="name", color="face", edgecolor="name", legend=False)
    plot.label(title=title).on(ax).plot()
    ax.locator_params(axis="x", nbins=4)


def _changes(ax: Axes, drawn: pd.DataFrame, title: str = "") -> None:
    """Differences in rows, the line of no difference, and their numbers on the right."""
    _dots(ax, drawn, title)
    ax.axvline(0, color=INK, linewidth=1.2, zorder=0.9)
    at = {"xycoords": ("axes fraction", "data"), "va": "center", "fontsize": SMALL + 1}
    for of in drawn.itertuples():
        p = "" if "p" not in drawn else "  p < 0.001" if of.p < 0.001 else f"  p = {of.p:.3f}"
        ax.annotate(f"{signed(of.x)} [{signed(of.low)}, {signed(of.high)}]{p}", (1.02, of.y), **at)
    reach = 1.1 * max(drawn[["low", "high"]].abs().to_numpy().max(initial=0), 1e-3)
    ax.set_xlim(-reach, reach)


def _in_rows(drawn: pd.DataFrame) -> tuple[pd.DataFrame, list[tuple[str, str]]]:
    """The points with their rows' numbers in ``y``, and the rows: (group, name), a group's heading without a name."""
    rows: dict[tuple[str, str], None] = {}
    for group, of in drawn.groupby("group", sort=False):
        rows |= dict.fromkeys([(group, "")] * bool(group) + [(group, name) for name in of["y"]])
    number = {row: place for place, row in enumerate(rows)}
    return drawn.assign(y=[float(number[row]) for row in zip(drawn["group"], drawn["y"])]), list(rows)


def _label_rows(across: Iterable[Axes], rows: list[tuple[str, str]]) -> None:
    """Names of rows at the first of the axes ``across`` the page, headings in bold."""
    for number, ax in enumerate(across):
        ax.set_yticks(range(len(rows)), [wrapped(name or group, 34) for group, name in rows])
        ax.set_ylim(len(rows) - 0.4, -0.6)
        ax.grid(axis="y", visible=False)
        ax.tick_params(axis="y", length=0, labelleft=number == 0)
        for label, (_, name) in zip(ax.get_yticklabels(), rows):
            label.set_weight("normal" if name else "bold")


def _write(ax: Axes, drawn: pd.DataFrame, column: str, styles: Mapping[str, Look], **place: float) -> None:
    """Words, or numbers, beside the points."""
    texts = [wrapped(text, 24) if isinstance(text, str) else f"{text:g}" for text in drawn[column]]
    colours = [styles[name].colour for name in drawn["name"]]
    place_labels(ax, list(zip(drawn["x"], drawn["y"], texts, colours)), **place)


def _name_ends(ax: Axes, drawn: pd.DataFrame, levels: pd.DataFrame, styles: Mapping[str, Look]) -> None:
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
