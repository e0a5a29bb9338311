"""How methods learn: what a training went through, which weights came out, what a setting is worth."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import pandas as pd
from tqdm.auto import tqdm

from kit.corpus import Benchmark, Question
from kit.evaluation.experiment import Experiment
from kit.retrievers import DPR, KGPMDR, MDR, QSGNN
from kit.retrievers.dpr import pool
from kit.retrievers.gnn_ret import GNNRet
from kit.text import TfidfIndex


def histories(retrievers: Mapping[str, DPR | MDR | KGPMDR | QSGNN]) -> pd.DataFrame:
    """What trained retrievers went through: a row a step and a row a check.

    Columns: retriever, quantity (``loss`` or ``dev recall@5``), step (from 1; a check at 0 is of the encoder before
    training), value, smoothed (of a loss the mean of up to ten steps, else the value).
    """
    tables = []
    for name, retriever in retrievers.items():
        told = pd.DataFrame(retriever.history, columns=["step", "loss", "measured"])
        for column, quantity, steps in (("loss", "loss", 10), ("measured", "dev recall@5", 1)):
            of = told.dropna(subset=column).rename(columns={column: "value"})
            of = of.assign(retriever=name, quantity=quantity, smoothed=of["value"].rolling(steps, min_periods=1).mean())
            tables.append(of[["retriever", "quantity", "step", "value", "smoothed"]])
    return pd.concat(tables, ignore_index=True)


def along_setting(
    experiment: Experiment, lines: Mapping[str, Mapping[str, float]], setting: str, metric: str
) -> pd.DataFrame:
    """A metric along a number that retrievers are set to: line, retriever, the number, mean, low, high, n.

    ``lines`` maps the name of a line to the experiment's retrievers on it, each with its number.
    """
    rows = [(line, name, number) for line, numbers in lines.items() for name, number in numbers.items()]
    summary = experiment.summary().query("metric == @metric").drop(columns="metric")
    return pd.DataFrame(rows, columns=["line", "retriever", setting]).merge(summary, on="retriever")


def over_pool(benchmark: Benchmark, questions: Sequence[Question]) -> Benchmark:
    """Some questions of a benchmark, to be asked over their supports and the passages nearest to each by TF-IDF.

    A new encoder has little to encode there. In the per-question setting collections are small, and stay as they are.
    """
    kept = benchmark.collections
    corpus = benchmark.corpus if kept else pool(questions, benchmark.corpus, TfidfIndex(benchmark.corpus))
    return Benchmark(benchmark.name, corpus, test=questions, unit=benchmark.unit, collections=kept)


def learn_weights(retrievers: Iterable[GNNRet], training: Benchmark) -> pd.DataFrame:
    """Train each of them: a row a weight that comes out, the settings, loss (the lowest that was met) and steps."""
    rows = []
    for retriever in tqdm(list(retrievers), desc="training", unit="draw"):
        retriever.fit(training)
        settings, history = retriever.settings, retriever.history
        about = {"n_train": settings.n_train, "start": settings.init_alpha, "layers": settings.layers}
        about |= {"seed": settings.seed, "loss": min(step["loss"] for step in history), "steps": len(history)}
        rows += [{**about, "weight": weight, "value": value} for weight, value in retriever.weights.items()]
    return pd.DataFrame(rows)
