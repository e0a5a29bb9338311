"""Figures of walks and beams: what they find themselves, and what their settings change."""

from collections.abc import Mapping

import pandas as pd
from pandas import DataFrame

from kit.corpus.types import Texts
from kit.evaluation import SEED, Experiment, statistics
from kit.views import plots
from kit.views.graphs import graph_name
from kit.views.names import capital, metric_name, name_of, with_minus
from kit.views.sentences import headline
from kit.views.style import Figure


def walked(experiment: Experiment, only: Texts = ()) -> Figure:
    """How many passages of each ranking lie on the paths of a walk or of a beam.

    The others fill the ranking up. Methods without paths are left out.
    """
    rows = []
    for name, rankings in experiment.rankings.items():
        if only and name not in only:
            continue
        counts = pd.Series([rankings[question.id].n_walked for question in experiment.questions])
        if counts.any():
            mean = statistics.interval(counts.to_numpy(float), **experiment.draws)
            rows.append((name, *mean[:4]))
    table = DataFrame(rows, columns=["retriever", "mean", "low", "high", "n"])
    title = "No method walks"
    if len(table):
        least = table.loc[table["mean"].idxmin()]
        most = table.loc[table["mean"].idxmax()]
        title = capital(
            f"{name_of(least['retriever'])} finds {least['mean']:.1f} passages by its own steps, "
            f"{name_of(most['retriever'])} {most['mean']:.1f}"
        )
    return plots.points(table, title, xlabel="passages on the paths, mean per question").of(table)


def along(
    experiment: Experiment,
    setting: str,
    values: Mapping[str, float],
    metrics: Texts,
    xlabel: str = "",
) -> Figure:
    """Metrics along the values of a setting, each of which a retriever of the experiment has.

    ``values`` maps names to values. By the first metric the title compares the first of them with
    the others.
    """
    variants = experiment.only(list(values))
    summary = variants.summary()
    table = summary[summary["metric"].isin(metrics)]
    table = table.assign(line=table["metric"].map(metric_name))
    table[setting] = table["retriever"].map(values)
    title = headline(variants.compare(next(iter(values)), metrics[0]))
    figure = plots.lines(
        table,
        title,
        setting,
        "line",
        xlabel=xlabel or setting,
        ylabel="mean over questions",
    )
    return figure.of(table)


def branching(sweep: DataFrame, metric: str = "full@30", **draws: int) -> Figure:
    """What walks find with more neighbours of fewer seeds (KGP Figure 7 a and b).

    ``sweep`` is the table of :func:`kit.evaluation.walks.branching_sweep`.
    """
    keys = ["question", "retriever", "branching", "seeds"]
    values = sweep.groupby(keys, sort=False)[metric].mean().reset_index()
    table = statistics.by_group(
        values,
        ["retriever", "branching", "seeds"],
        metric,
        **draws,
    )
    table = table.sort_values("branching", kind="stable")

    compared = []
    for name, walks in values.groupby("retriever", sort=False):
        wide = walks.pivot(index="question", columns="branching", values=metric)
        best = wide.mean().idxmax()
        gain = statistics.paired(
            wide[best],
            wide[wide.columns[-1]],
            **draws,
        )
        compared.append(
            _difference(
                f"{name}, branching {best}",
                "a single seed",
                metric,
                gain,
            )
        )

    ticks = [f"{row.branching} ({_counted(row.seeds, 'seed')})" for row in table.itertuples()]
    figure = plots.lines(
        table.assign(tick=ticks),
        headline(DataFrame(compared)),
        "tick",
        xlabel="branching: neighbours that a path goes on to, and seeds that the budget leaves",
        ylabel=metric_name(metric),
    )
    return figure.of(table)


def density(walks: DataFrame, metric: str = "full@30", **draws: int) -> Figure:
    """What one agent finds in graphs from sparse to dense, and the time of matching (Figure 6).

    ``walks`` is the table of :func:`kit.evaluation.walks.walks_along_density`.
    """
    table = _along_density(walks, {metric: metric, "matching": "seconds"}, **draws)
    compared = []
    for builder, swept in walks.groupby("builder", sort=False):
        wide = swept.pivot(index="question", columns="value", values=metric)
        degrees = swept.groupby("value")["mean_degree"].mean()
        gain = statistics.paired(
            wide[degrees.idxmax()],
            wide[degrees.idxmin()],
            **draws,
        )
        name = f"{graph_name(str(builder))} at its densest"
        compared.append(_difference(name, "its sparsest graph", metric, gain))

    matching = "milliseconds per question to match neighbours"
    rows = plots.long(table, {metric: f"{metric_name(metric)} of the walk", "seconds": matching})
    rows.loc[rows["metric"] == matching, ["mean", "low", "high"]] *= 1000
    figure = plots.curves(
        rows,
        headline(DataFrame(compared)),
        "mean_degree",
        facet="metric",
        log=["x", matching],
        xlabel="neighbours of a passage, mean (log scale)",
    )
    return figure.of(table)


def reach_and_retrieval(walks: DataFrame, metric: str = "full@30", **draws: int) -> Figure:
    """Whether what is within reach of the seeds is found by the walk: a point per graph."""
    table = _along_density(walks, {"sf_em": "sf_em", metric: metric}, **draws)
    correlation = table[["sf_em", metric]].corr("spearman").iloc[0, 1]
    title = f"SF-EM or {metric_name(metric)} of the walk is the same in all {len(table)} graphs"
    if pd.notna(correlation):
        written = with_minus(f"{correlation:.2f}")
        title = (
            f"Over {len(table)} graphs SF-EM and {metric_name(metric)} of the walk have a rank "
            f"correlation of {written}"
        )
    figure = plots.curves(
        plots.long(table, {metric: metric_name(metric)}),
        title,
        "sf_em",
        notes="value",
        xlabel="SF-EM: questions whose supports are all among five seeds and their neighbours",
        ylabel=f"{metric_name(metric)} of the walk",
    )
    return figure.of(table)


def growth(costs: DataFrame, walker: str, rival: str, **draws: int) -> Figure:
    """Milliseconds per question while the collection grows (KGP Figure 7 c).

    ``costs`` is the table of :func:`kit.evaluation.walks.costs_of_growth`. The title compares two
    methods in the largest collection that both have searched.
    """
    seconds = costs.pivot(index=["passages", "question"], columns="retriever", values="seconds")
    compared = seconds[[walker, rival]].dropna()
    size = compared.index.get_level_values("passages").max()
    largest = compared.loc[size]
    gain = statistics.paired(
        largest[walker],
        largest[rival],
        **draws,
    )
    ratio = largest[walker].mean() / largest[rival].mean()
    title = f"{name_of(walker)} and {name_of(rival)} take about as long per question"
    if gain.low > 0 or gain.high < 0:
        title = (
            f"{name_of(walker)} takes {ratio:.2g} times as long per question as {name_of(rival)}, "
            f"among {size:,} passages"
        )
    return plots.times(costs, capital(title)).of(costs)


def _along_density(walks: DataFrame, columns: Mapping[str, str], **draws: int) -> DataFrame:
    """Means of columns, with intervals, of each graph; further seeds of a training left out."""
    walks = walks[~walks["builder"].str.contains(SEED)]
    keys = ["builder", "value", "mean_degree"]
    table = walks[keys].drop_duplicates()
    for column, name in columns.items():
        means = statistics.by_group(
            walks.dropna(subset=column),
            keys,
            column,
            **draws,
        )
        ends = {"mean": name, "low": f"{name}_low", "high": f"{name}_high"}
        table = table.merge(means.drop(columns="n").rename(columns=ends), on=keys)
    return table


def _difference(
    name: str,
    baseline: str,
    metric: str,
    gain: statistics.Estimate,
) -> dict[str, object]:
    """A row as :func:`kit.views.sentences.headline` reads it."""
    ends = {"difference": gain.value, "low": gain.low, "high": gain.high, "n": gain.n}
    return {"retriever": name, "baseline": baseline, "metric": metric, **ends}


def _counted(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"
