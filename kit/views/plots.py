"""Statistical plots: each is a seaborn call on the tidy table that is saved beside the figure.

Intervals come from the table's columns ``low`` and ``high``; seaborn computes none, so that picture and numbers agree.
What is compared, a value of the column ``by``, has its colour, marker and dash from :func:`kit.views.style.looks` and
its name at the right end of its line. ``facet`` and ``row`` are columns whose values each have a panel.
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

from kit.views.labels import place_labels
from kit.views.style import (
    GREY,
    INK,
    PALE,
    SIZE,
    SMALL,
    Figure,
    Look,
    heading,
    looks,
    panels,
    plain_log,
    require,
    signed,
    styled,
    wrapped,
)

_DODGE = 0.09  # between the lines at one place, as a share of what places are apart
_LEAST_HEIGHT = 0.1  # of an axis of fractions: what differs by less shall not fill it
_MOST_MARKED = 40  # points of a curve that each get a mark
_POINT = {"pointsize": 9, "edgecolor": "white", "edgewidth": 0.6}
_ABOVE = {"artist_kws": {"zorder": 3}}  # points on their intervals
_LEVEL = {"color": GREY, "linestyle": ":", "linewidth": 1.5}
_HATCHES = ("", "///", "...", "xxx", "\\\\\\", "ooo")
_PARTS = {
    "seeding": "the search for seeds",
    "matching": "finding and comparing neighbours",
    "encoding": "encoding what is read",
    "rest": "search, queues, ranking",
}
_NODES = {
    "page": Look("#332288", "s"),
    "table": Look("#b36b00", "D"),
    "passage of text": Look("#56b4e9", "o"),
    "passage of table": Look("#f5c76a", "o"),
}
Levels = Mapping[str, float] | pd.DataFrame | None


@styled
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
    xlabel: str = "",
    ylabel: str = "",
) -> Figure:
    """Means with intervals at each of a few values of ``x``, a line for each value of ``by``, a little apart.

    ``table`` has a row a point: the columns named, low and high. Numbers stand one step apart or (``log``) by their
    logarithms; words stand as they come, and are not ``joined`` where they have no order. Where the number ``n`` of
    questions changes along x, it is told. Panels have one y axis if they ``share`` it. ``levels`` to compare with
    are dotted lines: values by name, or rows with the columns ``by``, ``y`` and ``facet``.
    """
    drawn = _take(table, x=x, y=y, name=by, column=facet, low="low", high="high")
    levels = _levels(levels, y=y, name=by, column=facet)
    places, ticks = _places(drawn["x"], log), _ticks(table, x, _places(drawn["x"], log))
    styles, end = looks(drawn["name"]), max(places.values())
    step = _DODGE * max(1.0, end / max(1, len(places) - 1))
    drawn = drawn.assign(x=drawn["x"].map(places), width=step * len(styles))
    moved, mark = so.Dodge(by=["color"]), so.Line(**_POINT) if joined else so.Dot(**_POINT, **_ABOVE)
    plot = _plot(drawn, styles).add(_bar(1.5, 0.6), moved, ymin="low", ymax="high", width="width", legend=False)
    plot = plot.add(mark, moved, marker="name", linestyle="name", width="width", legend=False)
    beside = {name: step * (number - (len(styles) - 1) / 2) for number, name in enumerate(styles)}
    drawn = drawn.assign(x=drawn["x"] + drawn["name"].map(beside))
    for ax, of, known, last in _facets(plot, Figure(title), drawn, levels, (True, share), xlabel or x, ylabel):
        ax.set_xticks(list(places.values()), ticks)
        ax.set_xlim(-5 * step, end + 5 * step)
        ax.grid(axis="x", visible=False)
        _frame(ax, [drawn if share else of, known])
        if last or not share:
            _name_ends(ax, of, known, styles)
    return ax.figure


@styled
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
    levels: pd.DataFrame | None = None,
    xlabel: str = "",
    ylabel: str = "",
) -> Figure:
    """``y`` along a measured quantity ``x``, a curve for each value of ``by``, with bands from low to high if given.

    ``table`` has a row a point; panels stand in columns by ``facet`` and in rows by ``row``. ``log`` names what has a
    logarithmic axis: ``x``, ``y``, or the panels whose y axis is one. The column ``behind`` is drawn pale behind the
    curve, that of ``notes`` stands beside its points. ``levels`` are rows to draw as dotted lines.
    """
    banded = {"low": "low", "high": "high"} if {"low", "high"} <= set(table) else {}
    drawn = _take(table, x=x, y=y, name=by, column=facet, row=row, behind=behind, notes=notes, **banded)
    levels, styles = _levels(levels, y=y, name=by, column=facet, row=row), looks(drawn["name"])
    plot = _plot(drawn, styles)
    if banded:
        plot = plot.add(so.Band(alpha=0.1, edgewidth=0), ymin="low", ymax="high", legend=False)
    if behind:
        plot = plot.add(so.Line(alpha=0.2, linewidth=1), y="behind", legend=False)
    plot = plot.add(so.Line(**_POINT | {"pointsize": 7}), marker="name", linestyle="name", legend=False)
    for ax, of, known, _ in _facets(
        plot, Figure(title), drawn, levels, (True, "row" if row else False), xlabel, ylabel
    ):
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
        keys += [Line2D([], [], label=name, **_LEVEL) for name in dict.fromkeys(levels["name"])]
        ax.figure.supxlabel("")
        ax.figure.legend(handles=keys, loc="outside lower center", ncols=len(keys), title=xlabel)
    return ax.figure


@styled
def scatter(table: pd.DataFrame, title: str, x: str, y: str = "mean", by: str = "retriever", **labels: str) -> Figure:
    """Points with intervals in ``y`` over a measured ``x`` on a logarithmic axis, their names beside them.

    ``table`` has a row a point: the columns named, low and high. ``labels`` are ``xlabel`` and ``ylabel``.
    """
    drawn = _take(table, x=x, y=y, name=by, low="low", high="high")
    styles = looks(drawn["name"])
    plot = _plot(drawn, styles).add(_bar(1.5, 0.6), orient="x", ymin="low", ymax="high", legend=False)
    plot = plot.add(so.Dot(**_POINT | {"pointsize": 10}, **_ABOVE), marker="name", legend=False)
    [(ax, *_)] = _facets(plot, Figure(title), drawn, _levels(None), (True, True), **labels)
    plain_log(ax, "x", drawn["x"])
    _frame(ax, [drawn])
    _write(ax, drawn, "name", styles, distance=9, size=11)
    return ax.figure


@styled
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

    ``table`` has a row a point, with an interval from low to high if it has such columns. Panels have one x axis if
    they ``share`` it.
    """
    ends = {"low": "low", "high": "high"} if {"low", "high"} <= set(table) else {}
    drawn = _take(table, x=x, y=rows, name=by, column=facet, group=group, **ends).dropna(subset="x")
    drawn, places = _in_rows(drawn)
    plot, size = _plot(drawn, looks(drawn["name"])), (SIZE[0], max(SIZE[1], 1.5 + 0.34 * len(places)))
    if ends:
        plot = plot.add(_bar(2.5), orient="y", xmin="low", xmax="high", legend=False)
    plot = plot.add(so.Dot(**_POINT | {"pointsize": 10}, **_ABOVE), orient="y", marker="name", legend=False)
    for ax, of, *_ in _facets(plot, Figure(title, size), drawn, _levels(None), (share, True), xlabel, ""):
        _label_rows(ax, places)
        ax.margins(x=0.12)
        ax.locator_params(axis="x", nbins=4)
        if log:
            plain_log(ax, "x", of["x"])
        for x, y in zip(of["x"], of["y"]):
            ax.annotate(f"{x:.3g}", (x, y), (0, 8), textcoords="offset points", ha="center", fontsize=SMALL)
    return ax.figure


@styled
def differences(table: pd.DataFrame, title: str, baseline: str, metric: str, rows: str = "retriever") -> Figure:
    """Paired differences to a baseline with their intervals, the line of no difference, and the numbers.

    ``table`` has a row a comparison: difference, low, high (fractions) and p_holm, as ``Experiment.compare`` gives
    them. A filled mark has p below 0.05 after Holm's correction.
    """
    drawn = _take(table, x="difference", y=rows, name="retriever", low="low", high="high", p="p_holm")
    drawn, places = _in_rows(drawn)
    figure = Figure(title)
    [[ax]] = panels(figure)
    _differences(ax, drawn.assign(sure=drawn["p"] < 0.05))
    _label_rows(ax, places)
    note = "with 95 % interval; filled: p < 0.05 after Holm's correction"
    ax.set_xlabel(f"difference in {heading(metric)} to {baseline}, {note}", color=GREY)
    return figure


@styled
def ablation(table: pd.DataFrame, title: str, metric: str) -> Figure:
    """Variants in groups: their means, and their paired differences to the first of the group, with intervals.

    ``table`` has a row a variant: group, label, mean, low, high, difference, difference_low, difference_high (missing
    for the first of a group, which is a dashed line). A filled mark is a difference whose interval does not hold 0.
    """
    ends = {"low": "difference_low", "high": "difference_high"}
    means, places = _in_rows(_take(table, x="mean", y="label", low="low", high="high", group="group"))
    gains, _ = _in_rows(_take(table, x="difference", y="label", group="group", **ends))
    figure = Figure(title)
    [[left, right]] = panels(figure, 1, 2, sharey=True, width_ratios=(3, 2))
    plot = _plot(means, looks([""])).add(_bar(2.5), orient="y", xmin="low", xmax="high", legend=False)
    plot = plot.add(so.Dot(**_POINT | {"pointsize": 10}, **_ABOVE), orient="y", legend=False)
    plot.label(title=heading(metric)).on(left).plot()
    for _, of in means[gains["x"].isna()].iterrows():
        height = (means["group"] == of["group"]).sum()
        left.vlines(of["x"], of["y"] - 0.5, of["y"] + height - 0.5, color=GREY, linestyle="--", linewidth=1.5)
    left.locator_params(axis="x", nbins=4)
    gains = gains.dropna(subset="x")
    _differences(right, gains.assign(sure=(gains["low"] > 0) | (gains["high"] < 0)))
    right.set_title("difference to the dashed line")
    right.locator_params(axis="x", nbins=3)
    right.tick_params(labelleft=False)
    _label_rows(left, places)
    right.grid(axis="y", visible=False)
    return figure


def _differences(ax: Axes, drawn: pd.DataFrame) -> None:
    """Differences with intervals in rows, filled where they are ``sure``, and their numbers on the right."""
    drawn = drawn.assign(face=drawn["name"].where(drawn["sure"], "hollow"))
    plot = _plot(drawn, looks(drawn["name"])).add(_bar(2.5), orient="y", xmin="low", xmax="high", legend=False)
    mark = so.Dot(pointsize=10, edgewidth=2, **_ABOVE)
    plot = plot.add(mark, orient="y", marker="name", color="face", edgecolor="name", legend=False)
    plot.on(ax).plot()
    ax.axvline(0, color=INK, linewidth=1.2, zorder=0.9)
    for row in drawn.itertuples():
        text = f"{signed(row.x)} [{signed(row.low)}, {signed(row.high)}]"
        if "p" in drawn:
            text += "  p < 0.001" if row.p < 0.001 else f"  p = {row.p:.3f}"
        at = {"xycoords": ("axes fraction", "data"), "va": "center", "fontsize": SMALL + 1}
        ax.annotate(text, (1.02, row.y), **at)
    reach = 1.1 * max(drawn[["low", "high"]].abs().to_numpy().max(initial=0), 1e-3)
    ax.set_xlim(-reach, reach)


@styled
def heatmap(table: pd.DataFrame, title: str, x: str, y: str, metric: str, **labels: str) -> Figure:
    """A metric over a grid of two settings, each square with its mean and interval.

    ``table`` has a row a square: the columns ``x`` and ``y``, mean, low, high (fractions). Numbers stand in their
    order, words as they come. ``labels`` are ``xlabel`` and ``ylabel``.
    """
    require(table, x, y, "mean", "low", "high")
    table = table.assign(text=[f"{of.mean:.3f}\n{of.low:.3f} to {of.high:.3f}" for of in table.itertuples()])
    grid = table.pivot(index=y, columns=x).reindex(index=list(_places(table[y])))
    means, texts = (grid[of].reindex(columns=list(_places(table[x]))) for of in ("mean", "text"))
    middle, reach = means.stack().quantile([0, 1]).mean(), max(np.ptp(table["mean"]), _LEAST_HEIGHT) / 2
    figure = Figure(title)
    [[ax]] = panels(figure)
    colours = {"cmap": "crest", "vmin": middle - reach, "vmax": middle + reach, "cbar_kws": {"label": heading(metric)}}
    seaborn.heatmap(means, annot=texts.fillna(""), fmt="", linewidths=2, annot_kws={"size": 11}, ax=ax, **colours)
    ax.set(**labels)
    ax.tick_params(length=0, labelrotation=0)
    return figure


@styled
def bars(table: pd.DataFrame, title: str, x: str, y: str, total: str, text: str, by: str, **labels: str) -> Figure:
    """Counts ``y`` as bars before a pale one for all that there are (``total``), a group for each word in ``x``.

    ``table`` has a row a bar; the column ``text`` is written above it. ``labels`` are ``xlabel`` and ``ylabel``.
    """
    drawn = _take(table, x=x, y=y, name=by, total=total, text=text)
    styles, figure = looks(drawn["name"]), Figure(title)
    plot, pale = _plot(drawn, styles), so.Bar(color="#f0f0f0", edgecolor=PALE, alpha=1, width=0.86)
    plot = plot.add(pale, so.Agg("max"), y="total", color=None, legend=False)
    plot = plot.add(so.Bar(alpha=1, edgewidth=0), so.Dodge(by=["color"], gap=0.08), legend=False)
    words = so.Text(valign="bottom", offset=3, fontsize=SMALL + 1, color=INK)
    plot = plot.add(words, so.Dodge(by=["color"]), text="text", legend=False)
    [(ax, *_)] = _facets(plot, figure, drawn, _levels(None), (True, True), **labels)
    ax.grid(axis="x", visible=False)
    ax.margins(y=0.1)
    _hatch(ax, {name: each.colour for name, each in styles.items()})
    return figure


@styled
def times(table: pd.DataFrame, title: str) -> Figure:
    """Milliseconds a question by the number of passages, and what they go to in the largest collection.

    ``table`` has a row a retriever, size and question: retriever, passages, seconds, and its parts in seconds: seeding,
    matching, encoding, rest.
    """
    parts = list(_PARTS)
    table = _take(table, name="retriever", x="passages", y="seconds", **{part: part for part in parts})
    means = table.groupby(["name", "x"], sort=False)[["y", *parts]].mean().mul(1000).reset_index()
    styles, figure = looks(means["name"]), Figure(title)
    [[left, right]] = panels(figure, 1, 2)
    plot = _plot(means, styles).add(so.Line(**_POINT), marker="name", linestyle="name", legend=False)
    plot.label(x="passages in the collection", title="milliseconds a question").on(left).plot()
    plain_log(left, "x", means["x"])
    plain_log(left, "y", means["y"])
    _name_ends(left, means, _levels(None), styles)
    last = means.loc[means.groupby("name")["x"].idxmax()].sort_values("y").set_index("name")
    shares = last[parts].div(last[parts].sum(axis=1), axis=0).mul(100)
    shares.index = [f"{wrapped(name, 20)}: {milliseconds:.3g} ms" for name, milliseconds in last["y"].items()]
    colours = dict(zip(parts, ("#332288", "#882255", "#117733", "#bdbdbd")))
    tidy = shares.rename_axis("y").reset_index().melt("y", var_name="part", value_name="x")
    plot = so.Plot(tidy, x="x", y="y", color="part").scale(color=colours).theme(_theme())
    plot = plot.add(so.Bar(alpha=1, edgewidth=0, width=0.7), so.Stack(), orient="y", legend=False)
    plot.label(x="per cent of the time", y="", title="what it goes to, largest collection").on(right).plot()
    right.grid(axis="y", visible=False)
    _hatch(right, {_PARTS[part]: colour for part, colour in colours.items()})
    return figure


@styled
def structure_graph(table: pd.DataFrame, title: str) -> Figure:
    """Pages above, tables below, and between them the passages that they hold, in reading order: a band a document.

    ``table`` has a row an edge: document, kind (page or table), label, position (of the passage), holds (what it is,
    text or table).
    """
    held = _take(table, row="document", kind="kind", label="label", position="position", holds="holds")
    held["x"] = held.groupby(["row", "kind", "label"])["position"].transform("mean")
    held["y"] = held["kind"].map({"page": 0, "table": 2})
    held = held.assign(edge=held.index, text=held["kind"] + " " + held["label"].astype(str))
    passages = held.assign(x=held["position"], y=1)
    shown = held.drop_duplicates(["row", "text"]).assign(name=held["kind"], edge=None)
    nodes = pd.concat([shown, passages.assign(name="passage of " + held["holds"], edge=None)])
    drawn = pd.concat([held.assign(name=None), passages.assign(name=None), nodes], ignore_index=True)
    plot = _plot(drawn, _NODES).add(so.Path(color=GREY, linewidth=1), color=None, group="edge", legend=False)
    plot = plot.add(so.Dot(pointsize=9, edgecolor=INK, edgewidth=0.8, **_ABOVE), marker="name", legend=False)
    figure = Figure(title, (SIZE[0], 1.2 + 1.6 * held["row"].nunique()))
    for ax, of, *_ in _facets(plot, figure, drawn, _levels(None), (False, True)):
        ax.set_axis_off()
        ax.set_title(wrapped(of["row"].iloc[0], 90), fontsize=SMALL + 1.5, pad=14)
        for row in shown[shown["row"] == of["row"].iloc[0]].itertuples():
            at = {"textcoords": "offset points", "ha": "center", "va": "center", "fontsize": SMALL}
            ax.annotate(row.text, (row.x, row.y), (0, 12 * (row.y - 1)), **at)
    figure.axes[0].set_ylim(2.5, -0.5)
    keys = [Line2D([], [], label=kind, **each.line | {"linestyle": ""}) for kind, each in _NODES.items()]
    figure.legend(handles=keys, loc="outside lower left", ncols=len(keys), fontsize=SMALL)
    return figure


def long(table: pd.DataFrame, metrics: Mapping[str, str]) -> pd.DataFrame:
    """A table with the columns NAME, NAME_low, NAME_high for each of ``metrics``, as rows: metric, mean, low, high.

    ``metrics`` maps each name to what the column ``metric`` shall call it.
    """
    columns = {name: [name, f"{name}_low", f"{name}_high"] for name in metrics}
    others = table.drop(columns=[column for of in columns.values() for column in of])
    return pd.concat(
        [
            others.assign(metric=meaning, **dict(zip(("mean", "low", "high"), table[columns[name]].to_numpy().T)))
            for name, meaning in metrics.items()
        ],
        ignore_index=True,
    )


def _take(table: pd.DataFrame, **columns: str) -> pd.DataFrame:
    """The columns of a table under the names that all plots here draw by; no panels, groups or names by default."""
    require(table, *(old for old in columns.values() if old))
    drawn = {"name": "", "column": "", "row": "", "group": ""}
    drawn |= {new: table[old] for new, old in columns.items() if old}
    return pd.DataFrame(drawn).reset_index(drop=True)


def _levels(levels: Levels, **columns: str) -> pd.DataFrame:
    """Levels to compare with: name, y, column, row ("" where they are the same in all)."""
    if isinstance(levels, pd.DataFrame):
        return _take(levels, **{new: old if old in levels else "" for new, old in columns.items()})
    return pd.DataFrame({"name": list(levels or {}), "y": list((levels or {}).values()), "column": "", "row": ""})


def _theme() -> dict[str, object]:
    return {key: rcParams[key] for key in so.Plot.config.theme if key in rcParams}


def _plot(drawn: pd.DataFrame, styles: Mapping[str, Look]) -> so.Plot:
    """An empty plot in the kit's style, in which names have their looks."""
    plot = so.Plot(drawn, x="x", y="y", color="name").theme(_theme()).label(x="", y="")
    colours = {name: each.colour for name, each in styles.items()} | {"hollow": "white"}
    markers = {name: each.marker for name, each in styles.items()}
    dashes = {name: each.dash or "-" for name, each in styles.items()}
    return plot.scale(color=colours, edgecolor=colours, marker=markers, linestyle=dashes)


def _bar(width: float, alpha: float = 1.0) -> so.Range:
    return so.Range(linewidth=width, alpha=alpha)


def _facets(
    plot: so.Plot,
    figure: Figure,
    drawn: pd.DataFrame,
    levels: pd.DataFrame,
    share: tuple[bool, bool | str],
    xlabel: str = "",
    ylabel: str = "",
) -> Iterator[tuple[Axes, pd.DataFrame, pd.DataFrame, bool]]:
    """Draws panels in columns and rows; gives each with its points, its levels, and whether it is the last one."""
    columns, rows = ([*dict.fromkeys(drawn[way])] for way in ("column", "row"))
    plot = plot.facet("column", "row", order={"col": columns, "row": rows}).share(x=share[0], y=share[1])
    plot.label(x="" if len(columns) > 1 else xlabel, y=ylabel).on(figure).plot()
    if len(columns) > 1:
        figure.supxlabel(xlabel, fontsize=12)
    for number, ax in enumerate(figure.axes):
        row, column = rows[number // len(columns)], columns[number % len(columns)]
        ax.set_title(heading(column) if row == rows[0] else "")
        if row and column == columns[0]:
            ax.set_ylabel(row)
        of, known = (
            points[points["column"].isin(["", column]) & points["row"].isin(["", row])] for points in (drawn, levels)
        )
        for level in known["y"]:
            ax.axhline(level, **_LEVEL)
        yield ax, of, known, column == columns[-1]


def _places(values: Iterable[float | str], log: bool = False) -> dict[float | str, float]:
    """Where values stand: numbers in their order, words as they come, 1 apart; by logarithm the two nearest ones."""
    values = list(dict.fromkeys(values))
    values = values if any(isinstance(value, str) for value in values) else sorted(values)
    logs = np.log(values) - np.log(values[0]) if log else np.arange(len(values), dtype=float)
    return dict(zip(values, (logs / min(np.diff(logs), default=1.0)).tolist()))


def _ticks(table: pd.DataFrame, x: str, places: Mapping[float | str, float]) -> list[str]:
    """Names of ticks with their number of questions, where that changes; one a line lower where it would touch."""
    counts = table.groupby(x)["n"].max() if "n" in table else pd.Series(dtype=float)
    found, before = [], -np.inf
    for value, place in places.items():
        words = (
            value.splitlines() if isinstance(value, str) else [f"{value:g}" if value < 1000 else f"{value / 1000:g}k"]
        )
        words += [f"(n = {counts[value]:,})"] if counts.nunique() > 1 else []
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


def _in_rows(drawn: pd.DataFrame) -> tuple[pd.DataFrame, list[tuple[str, str]]]:
    """The points with their rows' numbers in ``y``, and the rows: (group, name), a group's heading without a name."""
    rows: dict[tuple[str, str], None] = {}
    for group, of in drawn.groupby("group", sort=False):
        rows |= dict.fromkeys([(group, "")] * bool(group) + [(group, name) for name in of["y"]])
    number = {row: place for place, row in enumerate(rows)}
    return drawn.assign(y=[float(number[row]) for row in zip(drawn["group"], drawn["y"])]), list(rows)


def _label_rows(ax: Axes, rows: list[tuple[str, str]]) -> None:
    ax.set_yticks(range(len(rows)), [wrapped(name or group, 34) for group, name in rows])
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.grid(axis="y", visible=False)
    ax.tick_params(axis="y", length=0)
    for label, (_, name) in zip(ax.get_yticklabels(), rows):
        label.set_weight("normal" if name else "bold")


def _hatch(ax: Axes, colours: Mapping[str, str]) -> None:
    """Hatches bars by their colours, for a grey print, and explains both in a legend."""
    hatches = dict(zip(colours.values(), _HATCHES))
    for bar in ax.patches:
        if hatch := hatches.get(to_hex(bar.get_facecolor())):
            bar.set(hatch=hatch, edgecolor="white", linewidth=0)
    fills = [{"facecolor": fill, "hatch": hatches[fill], "edgecolor": "white"} for fill in colours.values()]
    keys = [Patch(label=name, **fill) for name, fill in zip(colours, fills)]
    ax.figure.legend(handles=keys, loc="outside lower center", ncols=len(keys), fontsize=SMALL)


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
    to_axes = ax.transData + ax.transAxes.inverted()
    ends["height"] = to_axes.transform(ends[["x", "y"]].to_numpy(float))[:, 1].clip(0, 1)
    ends = ends.sort_values("height", kind="stable")
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
