"""Figures of GNN-Ret and RGNN-Ret: what their weights do, and how their steps fare."""

from collections.abc import Mapping

import pandas as pd
from pandas import DataFrame

from kit.corpus import Benchmark
from kit.evaluation import Experiment
from kit.evaluation.statistics import Estimate, interval
from kit.methods.gnn_ret.retriever import GNNRet
from kit.views import plots
from kit.views.names import metric_name
from kit.views.sentences import FEWEST
from kit.views.style import Figure

LOSS = "hinge loss of training questions"


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
