"""How encoders learn: their losses and recalls while they train, and what their training questions are worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from kit.corpus import Benchmark, Question
from kit.evaluation import statistics
from kit.evaluation.experiment import Experiment
from kit.evaluation.variants import per_question
from kit.retrievers.qsgnn import QSGNN
from kit.retrievers.training import TrainedRetriever, pool
from kit.text import TfidfIndex

LOSS, DEV_RECALL = "loss", "dev recall@5"  # in the column ``quantity``
_SMOOTHED = 10  # steps


def histories(retrievers: Mapping[str, TrainedRetriever | QSGNN]) -> pd.DataFrame:
    """What trained retrievers went through, as :func:`kit.views.training_curves` draws it.

    A row a step and a row a check: retriever, quantity (``loss`` or ``dev recall@5``), step (from 1; a check at 0 is
    of the encoder before training), value, smoothed (of a loss the mean of up to ten steps, else the value).
    """
    rows = []
    for name, retriever in retrievers.items():
        losses = [row["loss"] for row in retriever.history if "loss" in row]
        means = pd.Series(losses, dtype=float).rolling(_SMOOTHED, min_periods=1).mean()
        own = {"retriever": name, "quantity": LOSS}
        rows += [
            {**own, "step": step, "value": loss, "smoothed": mean}
            for step, (loss, mean) in enumerate(zip(losses, means), start=1)
        ]
        own = {"retriever": name, "quantity": DEV_RECALL}
        rows += [
            {**own, "step": int(row["step"]), "value": row["measured"], "smoothed": row["measured"]}
            for row in retriever.history
            if "measured" in row
        ]
    return pd.DataFrame(rows, columns=["retriever", "quantity", "step", "value", "smoothed"])


def by_setting(
    experiment: Experiment, lines: Mapping[str, Mapping[str, float]], setting: str, metric: str
) -> pd.DataFrame:
    """A metric along a number that retrievers are set to, as :func:`kit.views.recall_along` draws it.

    ``lines`` maps the name of a line to the experiment's retrievers on it, each with its number. Columns: line,
    retriever, the number (named ``setting``), mean, low, high (95 % bootstrap over questions), n.
    """
    values = per_question(experiment, metric)
    rows = []
    for line, numbers in lines.items():
        for name, number in numbers.items():
            mean, low, high = statistics.interval(values[name].to_numpy(), experiment.seed, draws=experiment.draws)
            row = {"line": line, "retriever": name, setting: number}
            rows.append(row | {"mean": mean, "low": low, "high": high, "n": len(values)})
    return pd.DataFrame(rows)


def over_pool(benchmark: Benchmark, questions: Sequence[Question]) -> Benchmark:
    """Some questions of a benchmark over their supports and the passages nearest to each by TF-IDF.

    A new encoder has little to encode there, so that many can be compared. In the per-question setting collections are
    small, and stay as they are.
    """
    kept = benchmark.collections
    corpus = benchmark.corpus if kept else pool(questions, benchmark.corpus, TfidfIndex(benchmark.corpus))
    return Benchmark(benchmark.name, corpus, test=questions, unit=benchmark.unit, collections=kept)
