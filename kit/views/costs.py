"""Figures of what a query costs: its parts, what is found for them, and how they grow.

``costs`` are the rows of :func:`kit.evaluation.costs.costs_of`.
"""

import pandas as pd
from pandas import DataFrame

from kit.corpus.types import Texts
from kit.evaluation import Experiment
from kit.evaluation.costs import in_largest, typical
from kit.evaluation.timing import PARTS
from kit.views import plots
from kit.views.names import capital, metric_name, name_of
from kit.views.panels import name_ends, plain_log, take
from kit.views.sentences import best_sentence
from kit.views.style import SMALL, Figure, looks, style

MEANINGS = {
    "encoding": "reading texts",
    "seeding": "finding candidates",
    "matching": "comparing neighbours",
    "messages": "messages in a graph",
    "rest": "all else: vectors, edges, sorting",
}
COLOURS = ("#332288", "#88ccee", "#44aa99", "#ddcc77", "#cc6677")
MUCH_LONGER = 1.5  # times as long, from which on a growth is announced


@style()
def parts(costs: DataFrame) -> Figure:
    """The milliseconds of a query with each method, in its parts, among the most passages."""
    means = 1000 * in_largest(costs)[["seconds", *PARTS]]
    means = means.sort_values("seconds")
    dearest = means.iloc[-1]
    share = dearest["encoding"] / dearest["seconds"]
    title = (
        f"{capital(name_of(means.index[-1]))} takes most time per query, "
        f"{dearest['seconds']:.0f} ms; {share:.0%} of it is reading texts"
    )
    figure = Figure(title)
    ax = figure.subplots()
    begin = pd.Series(0.0, index=means.index)
    for (part, meaning), colour in zip(MEANINGS.items(), COLOURS, strict=True):
        ax.barh(
            range(len(means)),
            means[part],
            left=begin,
            color=colour,
            label=meaning,
        )
        begin += means[part]
    for height, total in enumerate(means["seconds"]):
        ax.annotate(
            f"{total:.1f}",
            (total, height),
            (5, 0),
            textcoords="offset points",
            va="center",
        )
    ax.set_yticks(range(len(means)), map(name_of, means.index))
    ax.set_xlabel("milliseconds per query, on one thread")
    ax.margins(x=0.12)
    ax.legend(loc="lower right", fontsize=SMALL + 1)
    return figure.of(means.reset_index())


@style()
def found_for_time(
    experiment: Experiment,
    costs: DataFrame,
    metric: str = "recall@5",
) -> Figure:
    """What each method finds against the milliseconds of a query; up and to the left is better."""
    summary = experiment.summary()
    seconds = in_largest(costs)["seconds"]
    table = summary[summary["metric"] == metric]
    table = table.assign(milliseconds=1000 * table["retriever"].map(seconds))
    table = table.dropna(subset="milliseconds").sort_values("milliseconds", ignore_index=True)

    figure = Figure(_bargain(table, metric))
    ax = figure.subplots()
    styles = looks(table["retriever"])
    for row in table.itertuples():
        look = styles[row.retriever]
        ax.vlines(
            row.milliseconds,
            row.low,
            row.high,
            color=look.colour,
            alpha=0.6,
            linewidth=2,
        )
        ax.plot(
            row.milliseconds,
            row.mean,
            look.marker,
            color=look.colour,
            markersize=10,
        )

    plain_log(ax, "x", table["milliseconds"])
    ax.set_xlim(
        table["milliseconds"].min() / 1.5,
        table["milliseconds"].max() * 1.5,
    )
    ax.set_xlabel("milliseconds per query, on one thread (log scale)")
    ax.set_ylabel(metric_name(metric))
    name_ends(
        ax,
        take(table, x="milliseconds", y="mean", name="retriever"),
        styles,
    )
    return figure.of(table)


def _bargain(table: DataFrame, metric: str) -> str:
    """Who finds most, if anybody, and how far the times are apart."""
    fastest = table["milliseconds"].min()
    slowest = table["milliseconds"].max()
    best = capital(best_sentence(table, metric))
    return f"{best}; a query takes {fastest:,.1f} to {slowest:,.0f} ms"


def growth(costs: DataFrame, only: Texts = ()) -> Figure:
    """The milliseconds of a query along the number of passages, reading apart."""
    rows = costs[costs["retriever"].isin(list(only))] if only else costs
    seconds = typical(rows, ["retriever", "passages"])
    searching = 1000 * (seconds["seconds"] - seconds["encoding"])
    panels = {
        "all but reading": searching,
        "reading texts": 1000 * seconds["encoding"],
    }
    parts_of_time = [
        times.rename("mean").to_frame().assign(metric=n) for n, times in panels.items()
    ]
    table = pd.concat(parts_of_time).reset_index()

    wide = searching.unstack()
    factors = wide.iloc[:, -1] / wide.iloc[:, 0]
    title = _growth_sentence(factors, wide.columns[-1] / wide.columns[0])
    drawn = table[table["mean"] > 0]
    figure = plots.curves(
        drawn,
        title,
        "passages",
        by="retriever",
        facet="metric",
        log="xy",
        xlabel="passages in the collection",
        ylabel="milliseconds per query",
    )
    return figure.of(table)


def _growth_sentence(factors: pd.Series, more: float) -> str:
    if len(factors) == 0 or factors.max() < MUCH_LONGER:
        return f"Among {more:.1f} times the passages no method searches much longer"
    name = capital(name_of(factors.idxmax()))
    return f"{name} searches {factors.max():.1f} times as long among {more:.1f} times the passages"
