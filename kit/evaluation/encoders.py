"""The same methods with several encoders: does what a graph adds shrink with a better one?"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy import ndarray
from pandas import DataFrame

from kit.corpus import Benchmark
from kit.corpus.types import Texts
from kit.errors import InputError, note
from kit.evaluation.experiment import evaluate
from kit.evaluation.results import Experiment, per_question
from kit.evaluation.statistics import Estimate, paired
from kit.methods import accepted, make
from kit.text.e5 import E5_SMALL
from kit.text.encoder import Encoder

#: What training questions of the three real sets chose with an encoder, by Recall at 2, 5 and 10;
#: the defaults were chosen with MiniLM.
CHOSEN = {E5_SMALL.name: {"alpha": 0.6}}


def with_encoders(
    names: Texts, encoders: Sequence[str], benchmark: Benchmark, **choices: Any
) -> dict[str, Experiment]:
    """An experiment of these methods with each encoder that is at hand; a note names the others.

    What learned with an encoder of its own, such as DPR, keeps it. Settings are :data:`CHOSEN` for
    an encoder. ``choices`` are arguments of :func:`kit.evaluation.evaluate`.
    """
    experiments = {}
    for encoder in encoders:
        try:
            Encoder(encoder).expect_model()
        except InputError as error:
            note(f"left out: {error}")
            continue
        settings = {"encoder": encoder, **CHOSEN.get(encoder, {})}
        methods = {name: make(name, **accepted(name, settings)) for name in names}
        experiments[encoder] = evaluate(methods, benchmark, **choices)
    return experiments


def means_by_encoder(experiments: Mapping[str, Experiment], metrics: Texts) -> DataFrame:
    """The mean of each metric, a row per method and a column per metric and encoder."""
    columns = {}
    for encoder, experiment in experiments.items():
        means = experiment.table.groupby("retriever", sort=False)[list(metrics)].mean()
        columns |= {f"{metric}, {encoder}": means[metric] for metric in metrics}
    return DataFrame(columns)[[f"{m}, {encoder}" for m in metrics for encoder in experiments]]


def gains_by_encoder(
    experiments: Mapping[str, Experiment], baseline: str, metric: str, by: str = "hops"
) -> DataFrame:
    """The paired differences to a baseline in groups of questions, as ``compare`` has them.

    There is a column ``encoder``.
    """
    parts = []
    for encoder, experiment in experiments.items():
        parts.append(experiment.compare(baseline, metric, by).assign(encoder=encoder))
    return pd.concat(parts, ignore_index=True)


def mean_gain(experiment: Experiment, names: Texts, baseline: str, metric: str) -> Estimate:
    """What these methods gain over a baseline on average, question by question."""
    gains = _gains(experiment, names, baseline, metric)
    return paired(gains, np.zeros_like(gains), **experiment.draws)


def change_of_gain(
    experiments: Mapping[str, Experiment], names: Texts, baseline: str, metric: str
) -> Estimate:
    """By how much that gain is higher with the last encoder than with the first."""
    first, *_, last = experiments.values()
    gains = [_gains(experiment, names, baseline, metric) for experiment in (last, first)]
    return paired(*gains, **first.draws)


def _gains(experiment: Experiment, names: Texts, baseline: str, metric: str) -> ndarray:
    values = per_question(experiment, metric)
    return (values[list(names)].mean(axis=1) - values[baseline]).to_numpy()
