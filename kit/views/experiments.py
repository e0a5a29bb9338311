"""Figures of an experiment: one call each, with a sentence as title and the numbers behind it.

``only`` names some of the retrievers, in the order in which they are drawn; the first is what the
others are compared with, where no ``baseline`` is named.
"""

from collections.abc import Mapping

from pandas import DataFrame

from kit.corpus.types import Texts
from kit.evaluation import Experiment, variants
from kit.views import plots
from kit.views.names import metric_name
from kit.views.panels import nothing
from kit.views.sentences import FEWEST, best_sentence, headline
from kit.views.style import Figure

_GROUPS = {"hops": "hops of the question", "shape": "structure of the evidence"}


def means(experiment: Experiment, metric: str = "recall@5", only: Texts = ()) -> Figure:
    """The mean of each retriever with its interval."""
    summary = _chosen(experiment, only).summary()
    table = summary[summary["metric"] == metric]
    title = best_sentence(table, metric)
    return plots.points(table, title, xlabel=metric_name(metric)).of(table)


def by_cut_off(experiment: Experiment, metric: str = "recall", only: Texts = ()) -> Figure:
    """Recall@k or Full@k of each retriever along the cut-offs k."""
    chosen = _chosen(experiment, only)
    summary = chosen.summary()
    parts = summary["metric"].str.extract(r"(\w+)@(\d+)")
    table = summary.assign(k=parts[1])[parts[0] == metric].astype({"k": int})

    baseline = next(iter(chosen.rankings))
    middle = chosen.ks[len(chosen.ks) // 2]
    title = headline(chosen.compare(baseline, f"{metric}@{middle}"))
    words = metric_name(metric)
    figure = plots.lines(table, title, "k", xlabel="k, passages retrieved", ylabel=f"{words}@k")
    return figure.of(table)


def by_group(
    experiment: Experiment,
    by: str = "hops",
    metric: str = "recall@5",
    only: Texts = (),
) -> Figure:
    """The mean of each retriever in groups of questions, such as those of 1, 2, 3 or 4 hops.

    Questions of which the data set does not say the group are left out.
    """
    chosen = _chosen(experiment, only)
    title = headline(chosen.compare(next(iter(chosen.rankings)), metric, by), by)
    return _lines_by_group(_means_by_group(chosen, by, metric), title, by, metric)


def along_hops(experiment: Experiment, metric: str = "recall@5") -> Figure:
    """As :func:`by_group` by hops; the title tells how all retrievers fall, if that is sure."""
    table = _means_by_group(experiment, "hops", metric)
    first = table[table["hops"] == table["hops"].min()]
    last = table[table["hops"] == table["hops"].max()]
    words = metric_name(metric)
    title = f"That {words} falls for all with more hops is not sure here"
    if table["hops"].nunique() == 1:
        title = f"All questions have {_hops(table)}"
    if first["low"].min() > last["high"].max() and last["n"].min() >= FEWEST:
        title = (
            f"{words} falls for all: from {first['mean'].min():.2f} or more with {_hops(first)} "
            f"to {last['mean'].max():.2f} or less with {_hops(last)}"
        )
    return _lines_by_group(table, title, "hops", metric)


def _hops(rows: DataFrame) -> str:
    n = rows["hops"].iloc[0]
    return "one hop" if n == 1 else f"{n} hops"


def _means_by_group(experiment: Experiment, by: str, metric: str) -> DataFrame:
    summary = experiment.summary(by)
    return summary[(summary["metric"] == metric) & (summary[by] != "")]


def _lines_by_group(table: DataFrame, title: str, by: str, metric: str) -> Figure:
    figure = plots.lines(
        table,
        title,
        by,
        joined=by == "hops",
        xlabel=_GROUPS.get(by, by),
        ylabel=metric_name(metric),
    )
    return figure.of(table)


def gains(
    experiment: Experiment,
    baseline: str,
    metric: str = "recall@5",
    only: Texts = (),
) -> Figure:
    """The paired difference of each retriever to a baseline, with interval and p."""
    table = _chosen(experiment, [baseline, *only] if only else ()).compare(baseline, metric)
    return plots.differences(table, headline(table), baseline, metric).of(table)


def gains_by(
    experiment: Experiment,
    baseline: str,
    by: str = "hops",
    metric: str = "recall@5",
    only: Texts = (),
) -> Figure:
    """The paired differences to a baseline in groups of questions.

    Questions of which the data set does not say the group are left out.
    """
    if experiment.table.empty:
        return nothing(headline(experiment.table)).of(experiment.table)

    chosen = _chosen(experiment, [baseline, *only] if only else ())
    compared = chosen.compare(baseline, metric, by)
    table = compared[compared[by] != ""]
    figure = plots.lines(
        table,
        headline(table, by),
        by,
        y="difference",
        joined=by == "hops",
        levels={baseline: 0},
        xlabel=_GROUPS.get(by, by),
        ylabel=f"difference in {metric_name(metric)}",
    )
    return figure.of(table)


def parts(
    experiment: Experiment,
    groups: Mapping[str, Texts] | Texts,
    metric: str = "recall@5",
) -> Figure:
    """Variants in groups, each beside the first of its group: what a part of a method is worth."""
    if not isinstance(groups, Mapping):
        groups = {"": groups}
    return parts_of_table(variants(experiment, groups, metric), metric)


def parts_of_table(table: DataFrame, metric: str = "recall@5") -> Figure:
    """As :func:`parts`, of the rows of :func:`kit.evaluation.variants` of several experiments."""
    first = table.groupby("group", sort=False)["label"].transform("first")
    changed = table.assign(
        retriever=table["label"],
        baseline=first,
        metric=metric,
        low=table["difference_low"],
        high=table["difference_high"],
    )
    in_first_group = changed["group"] == changed["group"].iloc[0]
    title = headline(changed[in_first_group & (changed["label"] != first)])
    return plots.ablation(table, title, metric).of(table)


def _chosen(experiment: Experiment, only: Texts) -> Experiment:
    return experiment.only(only) if only else experiment
