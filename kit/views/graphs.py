"""Figures of passage graphs: how dense they are, what they join, how good they are.

Graphs come as a mapping of names to graphs, quality as the table of
:func:`kit.evaluation.graph_quality.density_sweep`.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from pandas import DataFrame

from kit.corpus.types import Questions
from kit.evaluation import statistics
from kit.evaluation.graph_quality import SEEDS, at_equal_size, describe_graph, graph_quality
from kit.graphs import PassageGraph
from kit.views import plots
from kit.views.names import capital
from kit.views.sentences import FEWEST, headline, points
from kit.views.style import Figure

Graphs = Mapping[str, PassageGraph]
_SIZE = "passages that the seeds reach, themselves included; mean over questions"
_NAMES = {"tfidf": "TF-IDF", "knn": "KNN"}


def graph_name(builder: str) -> str:
    """The graph of a builder in words: "the KNN graph"."""
    words = _NAMES.get(builder, builder).replace("+", "-and-")
    return f"the {words} graph"


def densities(graphs: Graphs) -> Figure:
    """The density and the mean degree of each graph that has edges."""
    rows = [{"graph": name, **describe_graph(graph)} for name, graph in graphs.items()]
    table = DataFrame(rows)
    joined = table[table["edges"] > 0].sort_values("mean_degree", kind="stable")
    title = "No graph has an edge"
    if len(joined):
        first, last = joined.iloc[0], joined.iloc[-1]
        sparsest = f"{graph_name(first['graph'])} gives a passage {first['mean_degree']:.3g}"
        title = capital(
            f"{sparsest} neighbours on average, {graph_name(last['graph'])} "
            f"{last['mean_degree']:.3g}"
        )

    measures = {
        "density: percent of all pairs": 100 * joined["density"],
        "mean degree: neighbours of a passage": joined["mean_degree"],
    }
    long = joined[["graph"]].assign(**measures).melt("graph", var_name="measure", value_name="mean")
    figure = plots.points(long, title, "graph", by="graph", facet="measure", log=True)
    return figure.of(table)


def degrees(graphs: Graphs) -> Figure:
    """The share of passages that have so many neighbours or more."""
    parts = []
    for name, graph in graphs.items():
        degree, count = np.unique(graph.degrees, return_counts=True)
        at_least = count[::-1].cumsum()[::-1] / count.sum()
        part = DataFrame({"graph": name, "degree": degree, "count": count, "share": at_least})
        parts.append(part)
    table = pd.concat(parts, ignore_index=True)

    return plots.curves(
        table[table["degree"] > 0],
        _most_uneven(graphs),
        "degree",
        "share",
        "graph",
        log=["x", "y"],
        xlabel="neighbours of a passage (log scale)",
        ylabel="share of passages with at least so many",
    ).of(table)


def _most_uneven(graphs: Graphs) -> str:
    """The graph whose busiest passage is farthest above the middle one, in a sentence."""
    spreads = {}
    for name, graph in graphs.items():
        middle = float(np.median(graph.degrees))
        if middle:
            spreads[name] = graph.degrees.max() / middle
    if not spreads:
        return "In no graph have most passages a neighbour"
    name = max(spreads, key=spreads.get)
    degree = graphs[name].degrees
    return (
        f"In {graph_name(name)} the middle passage has {np.median(degree):g} neighbours, "
        f"the busiest one {degree.max():,}"
    )


def joined_supports(graphs: Graphs, questions: Questions, **draws: int) -> Figure:
    """The share of pairs of supports that each graph joins, beside that of any two passages."""
    several = [question for question in questions if question.hops > 1]
    rows = []
    for name, graph in graphs.items():
        shares = [np.nan]
        if several:
            shares = graph_quality(graph, several, [[]] * len(several))["joined"]
        mean = statistics.interval(np.array(shares), **draws)
        pairs = {"graph": name, "pairs": "two supports of a question", "n": len(several)}
        rows.append(pairs | {"mean": mean.value, "low": mean.low, "high": mean.high})
        rows.append({"graph": name, "pairs": "any two passages", "mean": graph.density})
    table = DataFrame(rows)
    supports = table[table["n"] > 0]
    labels = {"xlabel": "share of the pairs that an edge joins", "share": True}
    title = _most_joined(supports)
    return plots.points(table, title, "graph", by="graph", facet="pairs", **labels).of(table)


def _most_joined(table: DataFrame) -> str:
    """Which graph joins most supports, where its interval is apart from the next one's."""
    if table.empty:
        return "No question has two supports to join"
    ranked = table.sort_values("mean", ascending=False)
    first, second = ranked.iloc[0], ranked.iloc[1]
    if first["low"] > second["high"] and first["n"] >= FEWEST:
        return capital(
            f"{graph_name(first['graph'])} joins most pairs of supports, {first['mean']:.0%}; "
            f"{graph_name(second['graph'])} follows with {second['mean']:.0%}"
        )
    least = ranked["mean"].iloc[-1]
    return f"The graphs join {least:.0%} to {first['mean']:.0%} of the pairs of supports"


# ---- quality


def quality_curves(quality: DataFrame, **draws: int) -> Figure:
    """SF-EM and precision along the size of the neighbourhood (kgp.txt Figure 5)."""
    table = _means(quality, **draws)
    names = {"sf_em": "SF-EM: all supports reached", "precision": "precision (log scale)"}
    rows = plots.long(table, names)
    rows["neighbourhood"] = rows["neighbourhood"].mask(rows["builder"] == SEEDS)
    figure = plots.curves(
        rows,
        _gain_of_density(quality, **draws),
        "neighbourhood",
        facet="metric",
        log=["x", names["precision"]],
        xlabel=f"{_SIZE} (log scale); dotted: the seeds alone",
        ylabel="share",
        name_levels=False,
    )
    return figure.of(table)


def _means(quality: DataFrame, **draws: int) -> DataFrame:
    """A row per builder and value: size, and SF-EM and precision with their intervals."""
    rows = []
    for (builder, value), group in quality.groupby(["builder", "value"], sort=False):
        row = {"builder": builder, "value": value, "neighbourhood": group["neighbourhood"].mean()}
        for metric in ("sf_em", "precision"):
            mean = statistics.interval(group[metric].to_numpy(), **draws)
            row[metric] = mean.value
            row[f"{metric}_low"] = mean.low
            row[f"{metric}_high"] = mean.high
        rows.append(row | {"n": len(group)})
    return DataFrame(rows)


def _gain_of_density(quality: DataFrame, **draws: int) -> str:
    """What the densest graph of a builder reaches more than its sparsest, and what it wastes."""
    gains = {}
    for builder, swept in quality[quality["builder"] != SEEDS].groupby("builder", sort=False):
        sparse, dense = _ends(swept, "sf_em")
        gains[builder] = statistics.paired(dense, sparse, **draws)
    name = max(gains, key=lambda builder: gains[builder].value)
    gain = gains[name]
    if gain.n < FEWEST or not gain.low > 0:
        return "No graph surely covers more questions where it is denser"

    sparse, dense = _ends(quality[quality["builder"] == name], "precision")
    return capital(
        f"{graph_name(name)} gains {points(gain.value)} of SF-EM from sparse to dense; "
        f"its precision goes from {sparse.mean():.1%} to {dense.mean():.1%}"
    )


def _ends(swept: DataFrame, metric: str) -> tuple[np.ndarray, np.ndarray]:
    """A metric of all questions with the first and with the last value of a sweep."""
    values = swept.pivot(index="question", columns="value", values=metric)
    order = swept["value"].unique()
    return values[order[0]].to_numpy(), values[order[-1]].to_numpy()


def quality_by_hops(quality: DataFrame, size: float = 50, **draws: int) -> Figure:
    """SF-EM of neighbourhoods of one mean size, by the hops of the questions.

    Between two values of a builder SF-EM is interpolated; builders that never reach so many
    passages are left out.
    """
    sizes = _means(quality[quality["builder"] != SEEDS], **draws)
    reached = at_equal_size(quality, sizes, "sf_em", size, by="neighbourhood")
    questions = quality.drop_duplicates("question").set_index("question")
    alone = quality[quality["builder"] == SEEDS].set_index("question")["sf_em"]
    reached = reached.assign(**{SEEDS: alone})

    rows = []
    compared = []
    for hops, ids in questions.groupby("hops").groups.items():
        for builder, values in reached.loc[ids].items():
            mean = statistics.interval(values.to_numpy(), **draws)
            row = {"builder": builder, "hops": hops, "n": mean.n}
            rows.append(row | {"mean": mean.value, "low": mean.low, "high": mean.high})
            gain = statistics.paired(values.to_numpy(), reached.loc[ids, SEEDS], **draws)
            difference = {"difference": gain.value, "low": gain.low, "high": gain.high}
            compared.append(row | {"retriever": graph_name(builder)} | difference)

    table = DataFrame(rows)
    differences = DataFrame(compared).assign(baseline=SEEDS, metric="SF-EM")
    title = headline(differences[differences["builder"] != SEEDS], "hops")
    title = title.replace(" for questions", f" within {size:g} passages, for questions")
    labels = {"xlabel": "hops of the question", "ylabel": f"SF-EM within {size:g} passages"}
    return plots.lines(table, title, "hops", "builder", **labels).of(table)
