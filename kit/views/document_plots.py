"""Documents as graphs of pages, tables and passages, and how questions about them are answered."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from kit.views.replay import clip
from kit.views.style import GREY, INK, SIZE, SMALL, Figure, look, panels, require, styled

#: Nodes of structure at their heights in a document's band, and between them passages: marker, fill, height, meaning.
_NODES = {
    "page": ("s", "#332288", 0.0, "page"),
    "table": ("D", "#b36b00", 2.0, "table"),
    "passage of text": ("o", "#56b4e9", 1.0, "passage of text"),
    "passage of table": ("o", "#f5c76a", 1.0, "passage with a table"),
}
_TYPES = {"page": ("s", "#332288"), "table": ("D", "#b36b00"), "page and table": ("o", "#117733")}

_MEANINGS = {"Struct-EM": "Struct-EM: exactly what is asked for is fetched, and nothing else"}


@styled
def structure_graph(table: pd.DataFrame, title: str) -> Figure:
    """Pages above, tables below, and between them what they hold, in reading order: a band a document.

    ``table`` has a row an edge, as :func:`kit.evaluation.held_passages` gives it.
    """
    require(table, "document", "kind", "label", "passage", "position", "holds")
    documents = list(dict.fromkeys(table["document"]))
    figure = Figure(title, (SIZE[0], 1.2 + 1.6 * len(documents)))
    rows = panels(figure, len(documents))
    for [ax], (name, of) in zip(rows, table.groupby("document", sort=False)):
        _band(ax, of)
        ax.set_title(clip(name, 90), fontsize=SMALL + 1.5, parse_math=False, pad=14)
    handles = [Line2D([], [], label=_NODES[kind][3], **_node(kind)) for kind in _NODES]
    handles.append(Line2D([], [], label="holds", color=look("holds").colour))
    figure.legend(handles=handles, loc="outside lower left", ncols=5, fontsize=SMALL)
    return figure


def _band(ax: Axes, table: pd.DataFrame) -> None:
    ax.set_axis_off()
    ax.set(xlim=(-1, table["position"].max() + 1), ylim=(2.5, -0.5))
    for (kind, label), held in table.groupby(["kind", "label"], sort=False):
        x, y = held["position"].mean(), _NODES[kind][2]
        for position in held["position"]:
            ax.plot([x, position], [y, 1], color=look("holds").colour, linewidth=1, zorder=1)
        ax.plot(x, y, zorder=3, **_node(kind))
        side = -1 if kind == "table" else 1
        where = {"textcoords": "offset points", "ha": "center", "va": "center"}
        ax.annotate(f"{kind} {label}", (x, y), (0, 12 * side), fontsize=SMALL, color=INK, **where)
    for row in table[table["kind"] == "page"].itertuples():
        ax.plot(row.position, 1, zorder=3, **_node(f"passage of {row.holds}"))


def _node(kind: str) -> dict[str, object]:
    marker, fill, *_ = _NODES[kind]
    return {
        "marker": marker,
        "markersize": 9,
        "markerfacecolor": fill,
        "markeredgecolor": INK,
        "markeredgewidth": 0.8,
        "linestyle": "none",
    }


@styled
def structure_points(table: pd.DataFrame, title: str) -> Figure:
    """How often what was asked for was fetched, a row a retriever and context, a panel a measure, with 95 % intervals.

    ``table`` has a row a measure, retriever, context and type of question: measure, retriever, context, type, mean,
    low, high (fractions) and n, as :func:`kit.evaluation.structure_scores` gives it.
    """
    require(table, "measure", "retriever", "context", "type", "mean", "low", "high", "n")
    counts = table.groupby("type", sort=False)["n"].max()
    measures = list(dict.fromkeys(table["measure"]))
    lines = [table[table["measure"] == measure][["retriever", "context"]].drop_duplicates() for measure in measures]
    figure = Figure(title, (SIZE[0], 1.9 + 0.5 * sum(map(len, lines))))
    axes = figure.subplots(len(measures), 1, squeeze=False, sharex=True, height_ratios=[len(of) for of in lines])
    for ax, measure, names in zip(axes[:, 0], measures, lines):
        rows = list(names.itertuples(index=False, name=None))
        ax.set_title(_MEANINGS.get(measure, measure), parse_math=False)
        for row in table[table["measure"] == measure].itertuples():
            marker, colour = _TYPES[row.type]
            height = rows.index((row.retriever, row.context)) + 0.26 * (list(counts.index).index(row.type) - 1)
            reach = [[row.mean - row.low], [row.high - row.mean]]
            ax.errorbar(row.mean, height, xerr=reach, fmt=marker, color=colour, markersize=8, capsize=3, clip_on=False)
        ax.set_yticks(range(len(rows)), [", ".join(filter(None, row)) for row in rows], parse_math=False)
        ax.set(ylim=(len(rows) - 0.5, -0.5), xlim=(-0.02, 1.02))
        ax.grid(axis="y", visible=False)
    axes[-1, 0].set_xlabel("share of questions, with 95 % interval", color=GREY)
    handles = [
        Line2D([], [], label=f"{kind} (n = {n})", marker=_TYPES[kind][0], color=_TYPES[kind][1], linestyle="none")
        for kind, n in counts.items()
    ]
    figure.legend(handles=handles, title="questions about", loc="outside lower left", ncols=3, fontsize=SMALL + 1)
    return figure
