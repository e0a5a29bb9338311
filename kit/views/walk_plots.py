"""What guides a walk, how far it branches, in which graph it goes, and what it costs (kgp.txt §5)."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from kit.views.labels import label_lines, place_labels
from kit.views.series import evenly, frame, heading, interval_lines, looks, wrapped
from kit.views.style import GREY, INK, SMALL, Figure, Look, look, panels, plain_log, require, styled

_PARTS = {
    "seeding": ("#332288", ""),
    "matching": ("#882255", "///"),
    "encoding": ("#117733", "..."),
    "rest": ("#bdbdbd", ""),
}
_MEANING = {
    "seeding": "the search for seeds",
    "matching": "finding and comparing neighbours",
    "encoding": "encoding what the agent reads",
    "rest": "search, queues, ranking",
}


def _looks(names: Iterable[str]) -> dict[str, Look]:
    return {name: look(name) for name in dict.fromkeys(names)}


@styled
def agents(table: pd.DataFrame, title: str) -> Figure:
    """Methods on the same questions, a panel a metric: dots with 95 % intervals, the best at the top (Tables 1 and 2).

    ``table`` has a row a method and metric: retriever, metric, mean, low, high (fractions). The last metric decides the
    order.
    """
    require(table, "retriever", "metric", "mean", "low", "high")
    metrics = list(dict.fromkeys(table["metric"]))
    names = table[table["metric"] == metrics[-1]].sort_values("mean", kind="stable")["retriever"].tolist()
    styles, figure = _looks(table["retriever"]), Figure(title)
    [axes] = panels(figure, 1, len(metrics), sharey=True)
    for ax, metric in zip(axes, metrics):
        ax.set_title(heading(metric), parse_math=False)
        for row in table[table["metric"] == metric].itertuples():
            drawn, height = styles[row.retriever], names.index(row.retriever)
            ax.plot([row.low, row.high], [height, height], color=drawn.colour, linewidth=2.5, solid_capstyle="butt")
            ax.plot(row.mean, height, drawn.marker, color=drawn.colour, markeredgecolor="white", markersize=11)
            at = {"textcoords": "offset points", "ha": "center", "fontsize": SMALL}
            ax.annotate(f"{row.mean:.3f}", (row.mean, height), (0, 8), **at)
        ax.grid(axis="y", visible=False)
        ax.margins(x=0.12)
        ax.locator_params(axis="x", nbins=4)
    axes[0].set_yticks(range(len(names)), [wrapped(name, 24) for name in names], parse_math=False)
    axes[0].set_ylim(-0.6, len(names) - 0.3)
    return figure


@styled
def branching_curve(table: pd.DataFrame, title: str, metric: str) -> Figure:
    """A metric against the branching factor, with the number of seeds that it leaves on top (Figure 7a–b).

    ``table`` has a row a line and branching: retriever, branching, seeds, mean, low, high (fractions).
    """
    require(table, "retriever", "branching", "seeds", "mean", "low", "high")
    figure = Figure(title)
    [[ax]] = panels(figure)
    places, seeds = evenly(table["branching"]), dict(zip(table["branching"], table["seeds"]))
    ends = interval_lines(ax, table, "retriever", "branching", places, _looks(table["retriever"]))
    ax.set_xlabel("branching factor: neighbours that a path goes on to")
    ax.set_ylabel(heading(metric), parse_math=False)
    frame([ax], table)
    top = ax.secondary_xaxis("top")
    top.set_xticks(list(places.values()), [f"{seeds[value]:g}" for value in places])
    top.set_xlabel("seeds that the budget leaves")
    label_lines(ax, ends)
    return figure


@styled
def density_curves(table: pd.DataFrame, title: str, metric: str) -> Figure:
    """Quality beside time while the graph grows denser, a curve a builder, with 95 % intervals (Figures 6 and 10).

    ``table`` has a row a graph: builder, value,
    mean_degree, and the metric and ``seconds`` (of matching neighbours, a question), each with _low and _high.
    """
    drawn = [name + end for name in (metric, "seconds") for end in ("", "_low", "_high")]
    require(table, "builder", "value", "mean_degree", *drawn)
    styles, figure = looks(table["builder"]), Figure(title)
    [[quality, times]] = panels(figure, 1, 2, sharex=True)
    quality.set_title(f"{heading(metric)} of the walk", parse_math=False)
    times.set_title("milliseconds a question to match neighbours")
    scaled = table.assign(**{f"seconds{end}": 1000 * table[f"seconds{end}"] for end in ("", "_low", "_high")})
    for ax, column in ((quality, metric), (times, "seconds")):
        plain_log(ax, "x", table["mean_degree"])
        ends = [_curve(ax, of, "mean_degree", column, styles[name]) for name, of in scaled.groupby("builder")]
    plain_log(times, "y", scaled["seconds"])
    frame([quality], table[drawn[:3]].set_axis(["mean", "low", "high"], axis=1))
    figure.supxlabel("neighbours of a passage, mean (log scale)", fontsize=12)
    label_lines(times, ends)
    return figure


@styled
def quality_to_retrieval(table: pd.DataFrame, title: str, metric: str) -> Figure:
    """What a walk finds against the quality of its graph: a mark a graph, joined from sparse to dense.

    ``table`` is that of :func:`density_curves` with sf_em more. The numbers beside the marks are settings.
    """
    require(table, "builder", "value", "mean_degree", "sf_em", metric, f"{metric}_low", f"{metric}_high")
    styles, figure = looks(table["builder"]), Figure(title)
    [[ax]] = panels(figure)
    ends = [_curve(ax, of, "sf_em", metric, styles[name]) for name, of in table.groupby("builder")]
    ax.set_xlabel("SF-EM: questions whose supports are all among five seeds and their neighbours")
    ax.set_ylabel(f"{heading(metric)} of the walk", parse_math=False)
    frame([ax], table[[metric, f"{metric}_low", f"{metric}_high"]].set_axis(["mean", "low", "high"], axis=1))
    label_lines(ax, ends)
    marks = zip(table["sf_em"], table[metric], table["value"], table["builder"])
    place_labels(ax, [(x, y, f"{value:g}", styles[builder].colour) for x, y, value, builder in marks])
    return figure


def _curve(ax: Axes, table: pd.DataFrame, x: str, y: str, drawn: Look) -> tuple[float, float, str, str]:
    """A line with the band of its interval, from sparse to dense; its end as ``label_lines`` takes it."""
    table = table.sort_values("mean_degree")
    ax.fill_between(table[x], table[f"{y}_low"], table[f"{y}_high"], color=drawn.colour, alpha=0.12, linewidth=0)
    ax.plot(table[x], table[y], **drawn.line)
    return float(table[x].iloc[-1]), float(table[y].iloc[-1]), wrapped(table["builder"].iloc[0], 20), drawn.colour


@styled
def time_by_size(table: pd.DataFrame, title: str) -> Figure:
    """Milliseconds a question by the number of passages, and what they go to in the largest collection (Figure 7c).

    ``table`` has a row a retriever, size and question, as :func:`kit.evaluation.walks.by_size` gives them:
    retriever, passages, seconds, and its parts seeding, matching, encoding, rest.
    """
    require(table, "retriever", "passages", "seconds", *_PARTS)
    milliseconds = table.assign(**{name: 1000 * table[name] for name in ("seconds", *_PARTS)})
    means = milliseconds.groupby(["retriever", "passages"], sort=False)[["seconds", *_PARTS]].mean().reset_index()
    styles, figure = _looks(means["retriever"]), Figure(title)
    [[lines, bars]] = panels(figure, 1, 2)
    plain_log(lines, "x", means["passages"])
    plain_log(lines, "y", means["seconds"])
    for name, drawn in styles.items():
        of = means[means["retriever"] == name].sort_values("passages")
        lines.plot(of["passages"], of["seconds"], **drawn.line)
    lines.set(title="milliseconds a question", xlabel="passages in the collection")
    last = means.loc[means.groupby("retriever", sort=False)["passages"].idxmax()]
    for height, row in enumerate(last.itertuples()):
        left = 0.0
        for part, (colour, hatch) in _PARTS.items():
            width = getattr(row, part)
            fill = {"facecolor": colour, "hatch": hatch, "edgecolor": "white", "linewidth": 0}
            bars.barh(height, width, 0.6, left=left, **fill)
            left += width
        # The line of the other panel before the name, which takes the place of a legend that would lie on lines.
        key = {"transform": bars.get_yaxis_transform(), "clip_on": False, "markevery": [1]}
        bars.plot([-0.07, -0.04, -0.01], [height] * 3, **styles[row.retriever].line, **key)
        at = {"textcoords": "offset points", "va": "center", "fontsize": SMALL, "color": INK}
        bars.annotate(f"{left:,.0f}" if left >= 100 else f"{left:.3g}", (left, height), (4, 0), **at)
    names = [f"{wrapped(row.retriever, 20)}\n{row.passages:,.0f} passages" for row in last.itertuples()]
    bars.set_yticks(range(len(last)), names, parse_math=False, fontsize=SMALL)
    bars.set_ylim(len(last) - 0.4, -0.6)
    bars.tick_params(axis="y", length=0, pad=28)
    bars.set_title("what they go to, largest collection", color=GREY)
    bars.margins(x=0.14)
    bars.grid(axis="y", visible=False)
    handles = [Patch(facecolor=c, hatch=h, edgecolor="white", label=_MEANING[name]) for name, (c, h) in _PARTS.items()]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), fontsize=SMALL)
    return figure
