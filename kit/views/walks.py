"""Figures of walks and beams: what they find themselves, and what their settings change."""

from collections.abc import Mapping

import pandas as pd
from pandas import DataFrame

from kit.corpus.types import Texts
from kit.evaluation import Experiment, statistics
from kit.views import plots
from kit.views.names import capital, metric_name, name_of
from kit.views.sentences import headline
from kit.views.style import Figure


def walked(experiment: Experiment, only: Texts = ()) -> Figure:
    """How many passages of each ranking lie on the paths of a walk or of a beam.

    The others fill the ranking up. Methods without paths are left out.
    """
    rows = []
    for name, rankings in experiment.rankings.items():
        if only and name not in only:
            continue
        counts = pd.Series([rankings[question.id].n_walked for question in experiment.questions])
        if counts.any():
            mean = statistics.interval(counts.to_numpy(float), **experiment.draws)
            rows.append((name, *mean[:4]))
    table = DataFrame(rows, columns=["retriever", "mean", "low", "high", "n"])
    title = "No method walks"
    if len(table):
        least = table.loc[table["mean"].idxmin()]
        most = table.loc[table["mean"].idxmax()]
        title = capital(
            f"{name_of(least['retriever'])} finds {least['mean']:.1f} passages by its own steps, "
            f"{name_of(most['retriever'])} {most['mean']:.1f}"
        )
    return plots.points(table, title, xlabel="passages on the paths, mean per question").of(table)


def along(
    experiment: Experiment,
    setting: str,
    values: Mapping[str, float],
    metrics: Texts,
    xlabel: str = "",
) -> Figure:
    """Metrics along the values of a setting, each of which a retriever of the experiment has.

    ``values`` maps names to values. By the first metric the title compares the first of them with
    the others.
    """
    variants = experiment.only(list(values))
    summary = variants.summary()
    table = summary[summary["metric"].isin(metrics)]
    table = table.assign(line=table["metric"].map(metric_name))
    table[setting] = table["retriever"].map(values)
    title = headline(variants.compare(next(iter(values)), metrics[0]))
    labels = {"xlabel": xlabel or setting, "ylabel": "mean over questions"}
    return plots.lines(table, title, setting, "line", **labels).of(table)
