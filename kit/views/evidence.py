"""Figures of evidence graphs: how many are right, and which of their edges are found."""

import pandas as pd
from pandas import DataFrame

from kit.corpus.types import Texts
from kit.evaluation import Experiment, statistics
from kit.evaluation.evidence_edges import edge_recalls
from kit.views import plots
from kit.views.names import capital, metric_name, name_of
from kit.views.sentences import FEWEST, best_sentence, headline
from kit.views.style import Figure

MEASURES = ("gm", "evidence_f1", "evidence_em")


def measures(
    experiment: Experiment,
    metrics: Texts = MEASURES,
    only: Texts = (),
) -> Figure:
    """The means of several measures of graphs beside each other, a panel per measure."""
    chosen = experiment.only(only) if only else experiment
    summary = chosen.summary()
    table = summary[summary["metric"].isin(metrics)]
    table = table.set_index("metric").loc[list(metrics)].reset_index()
    title = capital(best_sentence(table, metrics[0]))
    panels = table.assign(metric=table["metric"].map(metric_name))
    return plots.points(panels, title, facet="metric").of(table)


def edges_by_depth(experiment: Experiment, only: Texts = ()) -> Figure:
    """The share of the questions' own edges that each method finds, by their depth."""
    chosen = experiment.only(only) if only else experiment
    recalls = edge_recalls(chosen.questions, chosen.rankings)
    return edges_by_depth_of(recalls, **chosen.draws)


def edges_by_depth_of(recalls: DataFrame, **draws: int) -> Figure:
    """As :func:`edges_by_depth`, of the rows of :func:`kit.evaluation.evidence_edges`."""
    table = statistics.by_group(recalls, ["retriever", "depth"], "recall", **draws)
    title = _depth_sentence(table)
    figure = plots.lines(
        table,
        title,
        "depth",
        xlabel="steps from the question",
        ylabel="share of the edges found",
    )
    return figure.of(table)


def _depth_sentence(table: DataFrame) -> str:
    """What the first method finds at the first depth and at the deepest with enough edges."""
    first = table[table["retriever"] == table["retriever"].iloc[0]]
    first = first[first["n"] >= FEWEST].sort_values("depth")
    if len(first) < 2:
        return "Too few edges lie deep enough to compare depths"
    start = first.iloc[0]
    end = first.iloc[-1]
    name = capital(name_of(start["retriever"]))
    shares = f"{start['mean']:.0%} of the edges at depth {start['depth']}"
    return f"{name} finds {shares} and {end['mean']:.0%} at depth {end['depth']}"


def by_gamma(
    table: DataFrame,
    metrics: Texts = ("gm", "evidence_f1"),
    **draws: int,
) -> Figure:
    """Measures along γ, a curve per reading of Eq. 3.

    A row of ``table`` is a question under a reading (``rule``) and a ``gamma``.
    """
    parts = []
    for metric in metrics:
        means = statistics.by_group(table, ["rule", "gamma"], metric, **draws)
        parts.append(means.assign(metric=metric_name(metric)))
    along = pd.concat(parts, ignore_index=True)
    first = along[along["metric"] == metric_name(metrics[0])]
    best = first.loc[first["mean"].idxmax()]
    title = (
        f"{capital(metric_name(metrics[0]))} is {first['mean'].min():.2f} to {best['mean']:.2f} "
        f"over all γ and readings of Eq. 3"
    )
    return plots.curves(
        along,
        title,
        "gamma",
        by="rule",
        facet="metric",
        xlabel="γ",
    ).of(along)


def by_type(
    experiment: Experiment,
    name: str,
    metrics: Texts = ("gm", "evidence_f1"),
) -> Figure:
    """The measures of one method by the type of the question, the best type first."""
    summary = experiment.only([name]).summary("type")
    rows = summary.set_index(["metric", "type"])
    first = summary[summary["metric"] == metrics[0]].sort_values("mean", ascending=False)
    in_order = pd.MultiIndex.from_product([metrics, first["type"]], names=["metric", "type"])
    table = rows.loc[in_order].reset_index()
    title = capital(best_sentence(first, metrics[0], by="type"))
    panels = table.assign(metric=table["metric"].map(metric_name))
    return plots.points(panels, title, rows="type", by="metric", facet="metric").of(table)


def by_structure(
    experiment: Experiment,
    baseline: str,
    metrics: Texts = ("gm", "evidence_f1"),
) -> Figure:
    """The means of measures by the structure of the evidence, a panel per measure."""
    summary = experiment.summary("structure")
    table = summary[summary["metric"].isin(metrics)]
    title = headline(
        experiment.compare(baseline, metrics[0], "structure"),
        "structure",
    )
    panels = table.assign(metric=table["metric"].map(metric_name))
    figure = plots.lines(
        panels,
        title,
        "structure",
        facet="metric",
        joined=False,
        xlabel="structure of the evidence",
    )
    return figure.of(table)
