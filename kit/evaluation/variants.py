"""Ablations: variants of a method beside the one that they differ from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from kit.errors import InputError
from kit.evaluation import statistics
from kit.evaluation.experiment import Experiment


def per_question(experiment: Experiment, metric: str) -> pd.DataFrame:
    """A metric, or the seconds, of each question (index, in the order asked) for each retriever (columns).

    Raises InputError for a metric that was not measured.
    """
    if metric not in (known := [*experiment.metrics, "seconds"]):
        raise InputError(f"expected one of {', '.join(known)}, not {metric!r}", field="metric")
    table = experiment.table.pivot(index="question", columns="retriever", values=metric)
    return table.loc[[question.id for question in experiment.questions], list(experiment.rankings)]


def variants(experiment: Experiment, groups: Mapping[str, Sequence[str]], metric: str) -> pd.DataFrame:
    """Groups of retrievers, each beside the first of its group, as :func:`kit.views.ablation` draws them.

    Columns: group, label (the retriever), mean, low, high, and the paired difference to the first of the group:
    difference, difference_low, difference_high (missing for the first itself), n. Intervals are 95 % bootstrap over
    questions. Raises InputError for a retriever that was not evaluated or a metric that was not measured.
    """
    values = per_question(experiment, metric)
    if strange := {name for names in groups.values() for name in names} - set(values):
        raise InputError(f"expected one of {', '.join(values)}, not {min(strange)!r}", field="groups")
    rows = []
    for group, names in groups.items():
        for name in names:
            found = statistics.interval(values[name].to_numpy(), experiment.seed, draws=experiment.draws)
            row = {"group": group, "label": name, "mean": found.estimate, "low": found.low, "high": found.high}
            if name != names[0]:
                gain = difference(experiment, values[name], values[names[0]])
                row |= {"difference": gain.difference, "difference_low": gain.low, "difference_high": gain.high}
            rows.append(row | {"n": len(values)})
    columns = ["group", "label", "mean", "low", "high", "difference", "difference_low", "difference_high", "n"]
    return pd.DataFrame(rows, columns=columns)


def difference(experiment: Experiment, a: pd.Series, b: pd.Series) -> statistics.Difference:
    """The paired difference of two columns (or means of columns) of :func:`per_question`."""
    return statistics.paired(a.to_numpy(), b.to_numpy(), experiment.seed, draws=experiment.draws)
