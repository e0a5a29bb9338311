"""Quantities that claims of KGP speak of, where they are more than one difference."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd
from numpy import ndarray
from pandas import DataFrame
from scipy.stats import rankdata

from kit.evaluation import SEED
from kit.evaluation.graph_quality import SEEDS, at_equal_size
from kit.evaluation.statistics import (
    N_RESAMPLES,
    Estimate,
    estimate,
    over_draws,
    paired,
    resampled_sums,
    side_by_side,
)
from kit.evaluation.walks import METRICS


def reach_beyond_chance(
    reached: DataFrame,
    seeds: DataFrame,
    n_passages: int,
    **draws: int,
) -> Estimate:
    """SF-EM, the mean over a sweep, minus that of as many passages drawn by lot.

    A larger neighbourhood must cover more, as it loses none. ``reached`` has a row per question and
    setting with its ``sf_em`` and ``neighbourhood``
    (:func:`kit.evaluation.graph_quality.graph_quality`), ``seeds`` a row per question of the seeds
    alone, with ``covered`` and ``hops``, too.
    """
    start = seeds.set_index("question").loc[reached["question"]]
    missing = ((1 - start["covered"]) * start["hops"]).round().to_numpy(int)
    n_seeds = start["neighbourhood"].to_numpy()
    drawn = reached["neighbourhood"].to_numpy() - n_seeds
    chance = all_are_drawn(missing, drawn, n_passages - n_seeds)

    beyond = reached.assign(beyond=reached["sf_em"] - chance)
    by_question = beyond.groupby("question", sort=False)["beyond"].mean()
    return paired(
        by_question,
        0 * by_question,
        **draws,
    )._replace(rival=np.nan)


def all_are_drawn(wanted: ndarray, drawn: ndarray, n: ndarray) -> ndarray:
    """The probability that all ``wanted`` are among ``drawn`` of n passages; each is an array.

    The product of (drawn − i) / (n − i) for i below wanted.
    """
    probability = np.ones(len(wanted))
    for i in range(int(wanted.max(initial=0))):
        next_one = np.clip(
            (drawn - i) / np.maximum(n - i, 1),
            0,
            1,
        )
        probability *= np.where(i < wanted, next_one, 1)
    return probability


def rank_below_best(
    walk: Sequence[ndarray],
    others: Sequence[Mapping[str, ndarray]],
    seed: int = 0,
    n_resamples: int = N_RESAMPLES,
) -> Estimate:
    """The walk's mean rank over several metrics minus the best other's, below 0 if it is best.

    Of each metric ``walk`` has the values of the questions (n,) or (n, seeds), and ``others`` those
    of each other method. Ranks are taken anew on each sample of the questions, and with each seed.
    """
    of_metrics = [side_by_side([a, *b.values()]) for a, b in zip(walk, others)]
    table = np.stack(of_metrics)  # metrics, methods, n, seeds
    n_metrics, n_methods, n, n_seeds = table.shape
    rows = table.mean(axis=3).reshape(-1, n).T  # questions × (metrics · methods)
    means = resampled_sums(rows, seed=seed, n_resamples=n_resamples) / n
    samples = _ranks_below(means.reshape(-1, n_metrics, n_methods))
    by_seed = table.mean(axis=2).transpose(2, 0, 1)  # seeds, metrics, methods
    whole = _ranks_below(by_seed.mean(axis=0)[None])
    draws = _ranks_below(by_seed) if n_seeds > 1 else np.zeros(0)
    return over_draws(estimate(whole[0], samples, n), draws)


def _ranks_below(means: ndarray) -> ndarray:
    """Of means (samples, metrics, methods): the first method's mean rank minus the best other's."""
    ranks = rankdata(-means.round(12), axis=2).mean(axis=1)  # (samples, methods)
    return ranks[:, 0] - ranks[:, 1:].min(axis=1)


def slope_on_degree(values: DataFrame, degrees: Mapping[float, float], **draws: int) -> Estimate:
    """The slope of a quantity on the doublings of the mean degree.

    ``values`` has a row per question
    and a column per setting of a builder, ``degrees`` the mean degree of each; settings without
    edges are left out.
    """
    settings = [setting for setting, degree in degrees.items() if degree > 0]
    x = np.log2([degrees[setting] for setting in settings])
    x = x - x.mean()
    slopes = values[settings].to_numpy(float) @ x / (x @ x)
    return paired(
        slopes,
        0 * slopes,
        **draws,
    )._replace(rival=np.nan)


# ---- tables of sweeps


def middle_of_sweep(walks: DataFrame) -> float:
    """The value in the middle of the sweep of KNN graphs."""
    values = walks.loc[walks["builder"] == "knn", "value"].unique()
    return values[len(values) // 2]


def middle_degree(walks: DataFrame) -> float:
    """The mean degree of the KNN graph in the middle of its sweep."""
    degrees = degrees_of(walks)
    chosen = (degrees["builder"] == "knn") & (degrees["value"] == middle_of_sweep(walks))
    return degrees.loc[chosen, "mean_degree"].item()


def at_middle_degree(walks: DataFrame) -> DataFrame:
    """SF-EM, Full@30 and milliseconds of matching of all graphs at one mean degree."""
    columns = {}
    for metric in ("sf_em", METRICS[-1], "matching"):
        rows = walks.dropna(subset=metric)
        equal = at_equal_size(
            rows,
            degrees_of(walks),
            metric,
            middle_degree(walks),
        )
        columns[metric] = equal.mean()
    table = pd.DataFrame(columns).rename_axis("builder").reset_index()
    return table.assign(matching=1000 * table["matching"])


def degrees_of(walks: DataFrame) -> DataFrame:
    return walks.groupby(["builder", "value"], sort=False)["mean_degree"].mean().reset_index()


def untrained_builders(table: DataFrame) -> Iterable[tuple[str, DataFrame]]:
    """The rows of each builder that needs no training, without the seeds alone."""
    is_graph = (table["builder"] != SEEDS) & ~table["builder"].str.startswith("knn-")
    return table[is_graph].groupby("builder", sort=False)


def by_value(swept: DataFrame, metric: str) -> DataFrame:
    """A metric of one builder: questions × values of its setting, in their order."""
    return swept.set_index(["question", "value"])[metric].unstack(sort=False)


def seeds_of(name: str, columns: Iterable[str]) -> list[str]:
    """Those of the columns that are seeds of one trained builder."""
    return [column for column in columns if column.split(SEED)[0] == name]


def relevant_edges(quality: DataFrame, keywords: DataFrame) -> DataFrame:
    """The share of the edges at supports that lead to another support: questions × builders.

    All graphs have the mean degree of that of ``keywords``.
    """
    graphs = quality[quality["builder"] != SEEDS]
    sizes = graphs.groupby(["builder", "value"], sort=False)["mean_degree"].mean().reset_index()
    degree = keywords["mean_degree"].mean()
    joined = at_equal_size(graphs, sizes, "relevant", degree)
    return joined.assign(tfidf=keywords.set_index("question")["relevant"])
