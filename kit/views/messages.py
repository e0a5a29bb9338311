"""Figures of GNN-Ret and RGNN-Ret: what their weights do, and how their steps fare."""

from collections.abc import Mapping

import pandas as pd
from pandas import DataFrame

from kit.corpus import Benchmark
from kit.evaluation import Experiment
from kit.evaluation.statistics import Estimate, by_group, interval, paired
from kit.methods.gnn_ret.retriever import GNNRet
from kit.views import plots
from kit.views.names import metric_name
from kit.views.sentences import FEWEST, headline
from kit.views.style import Figure

LOSS = "hinge loss of training questions"
STEP_METRIC = "recall@5 of a step"
STEP_RECALL = "Recall@5 of the step's own support"


def along_alpha(
    experiment: Experiment,
    methods: Mapping[str, GNNRet],
    training: Benchmark,
    metric: str = "recall@10",
) -> Figure:
    """The hinge loss of training questions, and what is retrieved for test questions, along α.

    ``methods`` are GNN-Ret of one layer with different α, by their names in ``experiment``.
    """
    alphas = {name: round(method.alphas[0].item(), 6) for name, method in methods.items()}
    rows = []
    for name, alpha in alphas.items():
        loss = _mean_loss(methods[name], training, experiment)
        rows.append((name, alpha, LOSS, *loss[:4]))
    losses = DataFrame(rows, columns=["retriever", "alpha", "quantity", "mean", "low", "high", "n"])

    summary = experiment.only(list(alphas)).summary()
    found_share = summary[summary["metric"] == metric]
    recalls = found_share.assign(
        alpha=found_share["retriever"].map(alphas),
        quantity=f"{metric_name(metric)} of test questions",
    )
    table = pd.concat([losses, recalls.drop(columns="metric")], ignore_index=True)
    figure = plots.curves(
        table,
        _lowest_and_highest(losses, recalls, experiment, metric),
        "alpha",
        by="quantity",
        facet="quantity",
        xlabel="α, the weight of a passage's own distance",
    )
    return figure.of(table)


def _mean_loss(method: GNNRet, training: Benchmark, experiment: Experiment) -> Estimate:
    """The hinge loss (Eq. 3) over the training questions."""
    student = method.variant(corpus=training.corpus)
    losses = student.losses(training.train)()
    return interval(losses.numpy(), **experiment.draws)


def _lowest_and_highest(
    losses: DataFrame,
    recalls: DataFrame,
    experiment: Experiment,
    metric: str,
) -> str:
    """Where the loss is lowest, and whether more is retrieved elsewhere."""
    lowest = losses.loc[losses["mean"].idxmin()]
    highest = recalls.loc[recalls["mean"].idxmax()]
    words = metric_name(metric)
    start = f"The hinge loss is lowest at α = {lowest['alpha']:.1f}"
    if lowest["retriever"] == highest["retriever"]:
        return f"{start}, and {words} is highest there"

    gain = experiment.gain(highest["retriever"], over=lowest["retriever"], metric=metric)
    if gain.n >= FEWEST and gain.low > 0:
        return f"{start}, {words} is highest at α = {highest['alpha']:.1f}"
    return f"{start}, where {words} is not told apart from its best"


def by_step(recalls: DataFrame, **draws: int) -> Figure:
    """How often each step's ranking has its own support among the first five.

    ``recalls`` are those of :func:`kit.evaluation.sub_questions.step_recalls`; the first retriever
    is what the others are compared with. ``draws`` are the seed and n_resamples of the intervals.
    """
    table = by_group(recalls, ["retriever", "step"], "recall", **draws)
    title = headline(_compared(recalls, draws))
    return plots.lines(table, title, "step", xlabel="step", ylabel=STEP_RECALL).of(table)


def by_wrong_bridges(recalls: DataFrame, **draws: int) -> Figure:
    """How a step's recall falls with the share of wrong bridges before it.

    ``recalls`` are those of :func:`kit.evaluation.sub_questions.recalls_with_wrong_bridges`; the
    first retriever is what the others are compared with.
    """
    of_question = recalls.groupby(["retriever", "share", "question"], sort=False)["recall"].mean()
    means = of_question.reset_index()
    table = by_group(means, ["retriever", "share"], "recall", **draws).sort_values(
        "share", kind="stable"
    )
    half = means[means["share"] == 0.5]
    title = f"{headline(_compared(half, draws))}, with half of the bridges wrong"
    shown = table.assign(share=table["share"].map("{:.0%}".format))
    figure = plots.lines(shown, title, "share", xlabel="share of wrong bridges", ylabel=STEP_RECALL)
    return figure.of(table)


def _compared(recalls: DataFrame, draws: Mapping[str, int]) -> DataFrame:
    """The paired differences to the first retriever, with the columns of ``compare``."""
    wide = recalls.pivot_table(index="question", columns="retriever", values="recall", sort=False)
    rows = []
    for name in wide.columns[1:]:
        gain = paired(wide[name].to_numpy(), wide.iloc[:, 0].to_numpy(), **draws)
        rows.append((name, wide.columns[0], STEP_METRIC, *gain[:4]))
    columns = ["retriever", "baseline", "metric", "difference", "low", "high", "n"]
    return DataFrame(rows, columns=columns)
