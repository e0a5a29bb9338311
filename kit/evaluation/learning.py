"""How methods learn: what a training went through, which weights came out, what a setting is worth."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import pandas as pd
from tqdm.auto import tqdm

from kit.corpus import Benchmark, Question
from kit.errors import InputError
from kit.evaluation.experiment import Experiment
from kit.retrievers import DPR, KGPMDR, MDR, QSGNN
from kit.retrievers.dpr import pool
from kit.retrievers.gnn_ret import GNNRet
from kit.text import TfidfIndex

_SMOOTHED = 10  # steps


def histories(retrievers: Mapping[str, DPR | MDR | KGPMDR | QSGNN]) -> pd.DataFrame:
    """What trained retrievers went through: a row a step and a row a check.

    Columns: retriever, quantity (``loss`` or ``dev recall@5``), step (from 1; a check at 0 is of the encoder before
    training), value, smoothed (of a loss the mean of up to ten steps, else the value).
    """
    tables = []
    for name, retriever in retrievers.items():
        told = pd.DataFrame(retriever.history, columns=["step", "loss", "measured"])
        losses, checks = told.dropna(subset="loss"), told.dropna(subset="measured")
        smoothed = losses["loss"].rolling(_SMOOTHED, min_periods=1).mean()
        parts = (("loss", losses, losses["loss"], smoothed), ("dev recall@5", checks, *[checks["measured"]] * 2))
        for quantity, of, value, smooth in parts:
            row = {"retriever": name, "quantity": quantity, "step": of["step"], "value": value, "smoothed": smooth}
            tables.append(pd.DataFrame(row))
    return pd.concat(tables, ignore_index=True)


def along_setting(
    experiment: Experiment, lines: Mapping[str, Mapping[str, float]], setting: str, metric: str
) -> pd.DataFrame:
    """A metric along a number that retrievers are set to.

    ``lines`` maps the name of a line to the experiment's retrievers on it, each with its number. Columns: line,
    retriever, the number (named ``setting``), mean, low, high (95 % bootstrap over questions), n.
    """
    rows = [(line, name, number) for line, numbers in lines.items() for name, number in numbers.items()]
    summary = experiment.summary().query("metric == @metric")[["retriever", "mean", "low", "high", "n"]]
    return pd.DataFrame(rows, columns=["line", "retriever", setting]).merge(summary, on="retriever")


def over_pool(benchmark: Benchmark, questions: Sequence[Question]) -> Benchmark:
    """Some questions of a benchmark, to be asked over their supports and the passages nearest to each by TF-IDF.

    A new encoder has little to encode there, so that many can be compared. In the per-question setting collections are
    small, and stay as they are.
    """
    kept = benchmark.collections
    corpus = benchmark.corpus if kept else pool(questions, benchmark.corpus, TfidfIndex(benchmark.corpus))
    return Benchmark(benchmark.name, corpus, test=questions, unit=benchmark.unit, collections=kept)


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
