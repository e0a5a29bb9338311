"""Quantities that claims of KGP speak of, where they are more than one difference."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy import ndarray
from pandas import DataFrame
from scipy.stats import rankdata

from kit.evaluation.statistics import (
    N_RESAMPLES,
    Estimate,
    estimate,
    over_draws,
    paired,
    resampled_sums,
    side_by_side,
)


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
    return paired(by_question, 0 * by_question, **draws)._replace(rival=np.nan)


def all_are_drawn(wanted: ndarray, drawn: ndarray, n: ndarray) -> ndarray:
    """The probability that all ``wanted`` are among ``drawn`` of n passages; each is an array.

    The product of (drawn − i) / (n − i) for i below wanted.
    """
    probability = np.ones(len(wanted))
    for i in range(int(wanted.max(initial=0))):
        next_one = np.clip((drawn - i) / np.maximum(n - i, 1), 0, 1)
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
    return paired(slopes, 0 * slopes, **draws)._replace(rival=np.nan)
