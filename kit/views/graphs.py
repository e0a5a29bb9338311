"""Figures of passage graphs: how dense they are, what they join, how good they are.

Graphs come as a mapping of names to graphs, quality as the table of
:func:`kit.evaluation.graph_quality.density_sweep`.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from numpy import ndarray
from pandas import DataFrame, Series

from kit.corpus.types import Questions
from kit.evaluation import statistics
from kit.evaluation.graph_quality import SEEDS, at_equal_size, describe_graph, graph_quality
from kit.graphs import PassageGraph
from kit.views import plots
from kit.views.names import capital
from kit.views.sentences import FEWEST, headline, points
from kit.views.style import Figure

Graphs = Mapping[str, PassageGraph]
_NAMES = {"tfidf": "TF-IDF", "knn": "KNN", "knn-mdr": "MDR-KNN"}
_METRICS = {
    "sf_em": "SF-EM: all supports reached",
    "precision": "precision (log scale)",
}


def graph_name(builder: str) -> str:
    """The graph of a builder in words: "the KNN graph"."""
    words = _NAMES.get(builder, builder)
    words = words.replace("+", "-and-")
    return f"the {words} graph"


# ---- what there is


def densities(graphs: Graphs) -> Figure:
    """The density and the mean degree of each graph that has edges."""
    rows = []
    for name, graph in graphs.items():
        row = {"graph": name}
        row.update(describe_graph(graph))
        rows.append(row)
    table = DataFrame(rows)

    joined = table[table["edges"] > 0]
    joined = joined.sort_values("mean_degree", kind="stable")
    density = joined[["graph"]].assign(
        measure="density: percent of all pairs",
        mean=100 * joined["density"],
    )
    degree = joined[["graph"]].assign(
        measure="mean degree: neighbours of a passage",
        mean=joined["mean_degree"],
    )
    figure = plots.points(
        pd.concat([density, degree]),
        _from_sparse_to_dense(joined),
        "graph",
        by="graph",
        facet="measure",
        log=True,
    )
    return figure.of(table)


def _from_sparse_to_dense(joined: DataFrame) -> str:
    """The mean degrees of the sparsest and the densest graph in a sentence."""
    if joined.empty:
        return "No graph has an edge"
    sparse = joined.iloc[0]
    dense = joined.iloc[-1]
    return capital(
        f"{graph_name(sparse['graph'])} gives a passage {sparse['mean_degree']:.3g} neighbours "
        f"on average, {graph_name(dense['graph'])} {dense['mean_degree']:.3g}"
    )


def degrees(graphs: Graphs) -> Figure:
    """The share of passages that have so many neighbours or more."""
    parts = []
    for name, graph in graphs.items():
        degree, count = np.unique(graph.degrees, return_counts=True)
        from_above = count[::-1].cumsum()
        part = DataFrame({"degree": degree, "count": count})
        part["share"] = from_above[::-1] / count.sum()
        part.insert(0, "graph", name)
        parts.append(part)
    table = pd.concat(parts, ignore_index=True)

    figure = plots.curves(
        table[table["degree"] > 0],
        _most_uneven(graphs),
        "degree",
        "share",
        "graph",
        log=["x", "y"],
        xlabel="neighbours of a passage (log scale)",
        ylabel="share of passages with at least so many",
    )
    return figure.of(table)


def _most_uneven(graphs: Graphs) -> str:
    """The graph whose busiest passage is farthest above the middle one, in a sentence."""
    spreads = {}
    for name, graph in graphs.items():
        middle = np.median(graph.degrees)
        if middle > 0:
            spreads[name] = graph.degrees.max() / middle
    if not spreads:
        return "In no graph have most passages a neighbour"

    name = max(spreads, key=spreads.get)
    degree = graphs[name].degrees
    middle = int(np.ceil(np.median(degree)))
    return (
        f"In {graph_name(name)} half of the passages have {middle:,} neighbours or more, "
        f"the busiest one {degree.max():,}"
    )


# ---- what is joined


def joined_supports(graphs: Graphs, questions: Questions, **draws: int) -> Figure:
    """The share of pairs of supports that each graph joins, beside that of any two passages."""
    several = [question for question in questions if question.hops > 1]
    rows = []
    for name, graph in graphs.items():
        row = {"graph": name, "pairs": "two supports of a question"}
        row.update(_interval(_joined(graph, several), **draws))
        rows.append(row)
        row = {"graph": name, "pairs": "any two passages"}
        row["mean"] = graph.density
        rows.append(row)
    table = DataFrame(rows)

    figure = plots.points(
        table,
        _most_joined(table[table["n"] > 0], len(several)),
        "graph",
        by="graph",
        facet="pairs",
        share=True,
        xlabel="share of the pairs that an edge joins",
    )
    return figure.of(table)


def _joined(graph: PassageGraph, questions: Questions) -> ndarray:
    """The share of pairs of supports that an edge joins, per question."""
    if not questions:
        return np.array([np.nan])
    no_seeds = [[] for _ in questions]
    quality = graph_quality(graph, questions, no_seeds)
    return quality["joined"].to_numpy()


def _interval(values: ndarray, **draws: int) -> dict[str, float]:
    """The mean with its interval, as columns of a table."""
    mean = statistics.interval(values, **draws)
    return {
        "mean": mean.value,
        "low": mean.low,
        "high": mean.high,
        "n": mean.n,
    }


def _most_joined(table: DataFrame, n_questions: int) -> str:
    """Which graph joins most supports, where its interval is apart from the next one's."""
    if not n_questions:
        return "No question has two supports to join"
    ranked = table.sort_values("mean", ascending=False)
    first = ranked.iloc[0]
    second = ranked.iloc[1]
    if first["low"] > second["high"] and n_questions >= FEWEST:
        return capital(
            f"{graph_name(first['graph'])} joins most pairs of supports, {first['mean']:.0%}; "
            f"{graph_name(second['graph'])} follows with {second['mean']:.0%}"
        )
    least = ranked["mean"].iloc[-1]
    return f"The graphs join {least:.0%} to {first['mean']:.0%} of the pairs of supports"


# ---- quality


def quality_curves(quality: DataFrame, **draws: int) -> Figure:
    """SF-EM and precision along the size of the neighbourhood (KGP Figure 5)."""
    table = _means(quality, **draws)
    rows = plots.long(table, _METRICS)
    is_level = rows["builder"] == SEEDS  # to compare with
    rows["neighbourhood"] = rows["neighbourhood"].mask(is_level)
    figure = plots.curves(
        rows,
        _best_at(quality, 50, **draws) or _gain_of_density(quality, **draws),
        "neighbourhood",
        facet="metric",
        log=["x", _METRICS["precision"]],
        xlabel="passages that the seeds reach, mean over questions (log scale); "
        "dotted: the seeds alone",
        ylabel="share",
        name_levels=False,
    )
    return figure.of(table)


def _means(quality: DataFrame, **draws: int) -> DataFrame:
    """A row per builder and value: size, and SF-EM and precision with their intervals."""
    rows = []
    for (builder, value), group in quality.groupby(["builder", "value"], sort=False):
        row = {"builder": builder, "value": value}
        row["neighbourhood"] = group["neighbourhood"].mean()
        for metric in _METRICS:
            mean = statistics.interval(group[metric].to_numpy(), **draws)
            row[metric] = mean.value
            row[f"{metric}_low"] = mean.low
            row[f"{metric}_high"] = mean.high
        row["n"] = len(group)
        rows.append(row)
    return DataFrame(rows)


def _best_at(quality: DataFrame, size: float, **draws: int) -> str:
    """Which graph covers most questions at one size; nothing where it is no more than chance."""
    reached = _reached_at(quality, size).drop(columns=SEEDS)
    if reached.shape[1] < 2:
        return ""
    first, second, *_ = reached.mean().sort_values(ascending=False).index
    gain = statistics.paired(reached[first].to_numpy(), reached[second].to_numpy(), **draws)
    if gain.n < FEWEST or not gain.low > 0:
        return ""
    return capital(
        f"{graph_name(first)} covers {reached[first].mean():.0%} of the questions with {size:g} "
        f"passages, {graph_name(second)} {reached[second].mean():.0%}"
    )


def _gain_of_density(quality: DataFrame, **draws: int) -> str:
    """What the densest graph of a builder reaches more than its sparsest, and what it wastes."""
    swept = quality[quality["builder"] != SEEDS]
    gains = {}
    for builder, rows in swept.groupby("builder", sort=False):
        sparse, dense = _ends(rows, "sf_em")
        gains[builder] = statistics.paired(dense, sparse, **draws)

    name = max(gains, key=lambda builder: gains[builder].value)
    gain = gains[name]
    if gain.n < FEWEST or not gain.low > 0:
        return "No graph surely covers more questions where it is denser"
    sparse, dense = _ends(swept[swept["builder"] == name], "precision")
    return capital(
        f"{graph_name(name)} gains {points(gain.value)} of SF-EM from sparse to dense; "
        f"its precision goes from {sparse.mean():.1%} to {dense.mean():.1%}"
    )


def _ends(swept: DataFrame, metric: str) -> tuple[ndarray, ndarray]:
    """A metric of all questions with the first and with the last value of a sweep."""
    values = swept.pivot(index="question", columns="value", values=metric)
    order = swept["value"].unique()
    sparse = values[order[0]]
    dense = values[order[-1]]
    return sparse.to_numpy(), dense.to_numpy()


def quality_by_hops(quality: DataFrame, size: float = 50, **draws: int) -> Figure:
    """SF-EM of neighbourhoods of one mean size, by the hops of the questions.

    Between two values of a builder SF-EM is interpolated; builders that never reach so many
    passages are left out.
    """
    reached = _reached_at(quality, size)
    rows = []
    differences = []
    for hops, ids in _ids_by_hops(quality).items():
        alone = reached.loc[ids, SEEDS]
        for builder in reached:
            values = reached.loc[ids, builder].to_numpy()
            row = {"builder": builder, "hops": hops}
            row.update(_interval(values, **draws))
            rows.append(row)

            gain = statistics.paired(values, alone.to_numpy(), **draws)
            difference = {"retriever": graph_name(builder), "hops": hops}
            difference["difference"] = gain.value
            difference["low"] = gain.low
            difference["high"] = gain.high
            difference["n"] = gain.n
            differences.append(difference)

    compared = DataFrame(differences)
    compared = compared[compared["retriever"] != graph_name(SEEDS)]
    title = headline(compared.assign(baseline=SEEDS, metric="SF-EM"), "hops")
    table = DataFrame(rows)
    figure = plots.lines(
        table,
        title.replace(" for questions", f" within {size:g} passages, for questions"),
        "hops",
        "builder",
        xlabel="hops of the question",
        ylabel=f"SF-EM within {size:g} passages",
    )
    return figure.of(table)


def _reached_at(quality: DataFrame, size: float) -> DataFrame:
    """SF-EM per question (index) and builder (columns) at one size, and of the seeds alone."""
    is_alone = quality["builder"] == SEEDS
    groups = quality[~is_alone].groupby(["builder", "value"], sort=False)
    sizes = groups["neighbourhood"].mean().reset_index()
    reached = at_equal_size(quality, sizes, "sf_em", size, by="neighbourhood")
    alone = quality[is_alone].set_index("question")
    reached[SEEDS] = alone["sf_em"]
    return reached


def _ids_by_hops(quality: DataFrame) -> dict[int, Series]:
    """The ids of the questions of each number of hops."""
    questions = quality.drop_duplicates("question")
    return dict(iter(questions.groupby("hops")["question"]))
