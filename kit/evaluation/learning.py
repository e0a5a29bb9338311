"""What a method learns, over many draws of its training questions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd
from tqdm.auto import tqdm

from kit.corpus import Benchmark
from kit.errors import InputError
from kit.evaluation import statistics
from kit.evaluation.experiment import Experiment
from kit.evaluation.variants import per_question
from kit.retrievers.gnn_ret import GNNRet


def learn_weights(retrievers: Iterable[GNNRet], training: Benchmark) -> pd.DataFrame:
    """Train each of them on ``training``: the weights that come out, a row each.

    Columns: n_train, start, layers, seed (the retriever's settings), weight (``alpha1``, ``alpha2`` …, ``beta``),
    value, loss (the lowest that was met), steps (of gradient descent). Raises InputError where one of them learns from
    no question, or from more than there are.
    """
    rows = []
    retrievers = list(retrievers)
    if not all(retriever.settings.n_train for retriever in retrievers):
        raise InputError("expected at least 1 question to learn from, not 0", field="n_train")
    for retriever in tqdm(retrievers, desc="training", unit="draw"):
        retriever.fit(training)
        history = retriever.history
        settings = retriever.settings
        about = {"n_train": settings.n_train, "start": settings.init_alpha, "layers": settings.layers}
        about |= {"seed": settings.seed, "loss": min(step["loss"] for step in history), "steps": len(history)}
        rows += [{**about, "weight": weight, "value": value} for weight, value in retriever.weights.items()]
    return pd.DataFrame(rows)


def by_layers(experiment: Experiment, networks: Mapping[str, GNNRet], metric: str) -> pd.DataFrame:
    """Trained networks by their number of layers, as :func:`kit.views.recall_by_layers` draws them (Table 7).

    Columns: quantity (the metric, or α), layers, layer (of an α, from 1), mean, low, high: of the metric, averaged over
    the networks of so many layers for each question, the 95 % interval over questions; of an α the central 90 %.
    """
    values, rows = per_question(experiment, metric), []
    for layers in sorted({len(network.alphas) for network in networks.values()}):
        names = [name for name, network in networks.items() if len(network.alphas) == layers]
        means = values[names].mean(axis=1).to_numpy()
        found = statistics.interval(means, experiment.seed, draws=experiment.draws)
        row = {"quantity": metric, "layers": layers, "layer": None}
        rows.append(row | {"mean": found.estimate, "low": found.low, "high": found.high})
        for layer, drawn in enumerate(np.array([networks[name].alphas.tolist() for name in names]).T, start=1):
            low, high = np.quantile(drawn, [0.05, 0.95])
            row = {"quantity": "α", "layers": layers, "layer": layer}
            rows.append(row | {"mean": drawn.mean(), "low": low, "high": high})
    return pd.DataFrame(rows)


def over_grid(experiment: Experiment, networks: Mapping[str, GNNRet], metric: str) -> pd.DataFrame:
    """Means of a metric for each K and O, as :func:`kit.views.sender_grid` draws them (Figure 4).

    Columns: those of ``Experiment.summary``, with the method's name as ``retriever``, and senders, competitors.
    """
    summary = experiment.summary()
    of = summary[(summary["metric"] == metric) & summary["retriever"].isin(list(networks))].reset_index(drop=True)
    nets = [networks[name] for name in of["retriever"]]
    settings = {
        "senders": [net.settings.top_k for net in nets],
        "competitors": [net.settings.n_candidates for net in nets],
    }
    return of.assign(retriever=[net.name for net in nets], **settings)
