"""How sure a number is: bootstrap intervals over questions, paired tests, and trends.

Questions are resampled whole, so what was measured on the same question stays together: the
differences between methods are paired, and so are the points of a sweep. An interval needs two
observations, or is (nan, nan).
"""

from functools import lru_cache
from math import nan
from typing import NamedTuple

import numpy as np
from numpy import ndarray
from numpy.random import default_rng
from pandas import DataFrame
from scipy import stats

from kit.corpus.types import Texts

LEVEL = 0.95
N_RESAMPLES = 10_000
_ENDS = [(1 - LEVEL) / 2, (1 + LEVEL) / 2]  # of an interval, as quantiles
_CELLS = 4_000_000  # of a block of resampling counts: 32 MB, whatever the number of questions


class Estimate(NamedTuple):
    """A mean, difference, slope or correlation over ``n`` observations, with its interval.

    ``p`` is two-sided, of a paired test; nan where none was made. ``differ`` says how many
    observations tell something (of differences those that are not 0), or None where they are not
    counted. ``rival`` is the mean that a difference is taken to, which says how much room there
    was. ``draws`` has the value with each training seed.
    """

    value: float
    low: float
    high: float
    n: int
    p: float = nan
    differ: int | None = None
    rival: float = nan
    draws: tuple[float, ...] = ()


def estimate(value: float, sample: ndarray, n: int) -> Estimate:
    """An estimate over n observations; ``sample`` has its values on resampled observations."""
    low = high = nan
    if n > 1:
        low, high = np.quantile(sample, _ENDS)
    return Estimate(float(value), float(low), float(high), n)


def resampled_sums(
    values: ndarray,
    *,
    seed: int,
    n_resamples: int = N_RESAMPLES,
) -> ndarray:
    """Sums of the columns of ``values`` (n, columns) over bootstrap samples of its rows.

    Their shape is (n_resamples, columns).
    """
    return np.concatenate([block @ values for block in _counts(len(values), seed, n_resamples)])


@lru_cache(maxsize=4)
def _counts(n: int, seed: int, n_resamples: int) -> list[ndarray]:
    """How often each of n rows is in each bootstrap sample, in blocks of samples.

    Most intervals share them.
    """
    generator = default_rng(seed)
    blocks = []
    size = max(1, _CELLS // n)
    for start in range(0, n_resamples, size):
        n_samples = min(size, n_resamples - start)
        picks = generator.integers(n, size=(n_samples, n))  # (samples, n)
        cells = picks + n * np.arange(n_samples)[:, None]
        counts = np.bincount(cells.ravel(), minlength=n * n_samples)
        blocks.append(counts.reshape(-1, n).astype(np.uint8))
    return blocks


def intervals(
    values: DataFrame,
    seed: int = 0,
    *,
    n_resamples: int = N_RESAMPLES,
) -> DataFrame:
    """Each column of a table by question, a row each: mean, low, high, n.

    The ends are those of a percentile bootstrap over the rows.
    """
    x = values.to_numpy(float)  # (questions, columns)
    n, n_columns = x.shape
    results = np.full((3, n_columns), nan)  # mean, low, high
    if n:
        results[0] = x.mean(axis=0)
    if n > 1:
        means = resampled_sums(x, seed=seed, n_resamples=n_resamples) / n
        results[1:] = np.quantile(means, _ENDS, axis=0)
        # Rounding of sums would otherwise give equal values an interval of some 1e-17.
        are_equal = np.ptp(x, axis=0) == 0
        results = np.where(are_equal, x[0], results)

    return DataFrame(
        results.T,
        index=values.columns,
        columns=["mean", "low", "high"],
    ).assign(n=n)


def interval(
    values: ndarray,
    seed: int = 0,
    *,
    n_resamples: int = N_RESAMPLES,
) -> Estimate:
    """The mean of ``values`` (n,) with its percentile bootstrap interval."""
    column = DataFrame(np.asarray(values, float))
    [row] = intervals(column, seed, n_resamples=n_resamples).itertuples(index=False)
    return Estimate(*row)


def by_group(
    table: DataFrame,
    by: Texts,
    value: str,
    seed: int = 0,
    *,
    n_resamples: int = N_RESAMPLES,
) -> DataFrame:
    """The mean of a column in each group with its interval.

    Columns: those of ``by``, mean, low, high, n (rows of the table).
    """
    rows = []
    for key, values in table.groupby(list(by), sort=False)[value]:
        mean = interval(values, seed, n_resamples=n_resamples)
        rows.append((*key, *mean[:4]))
    return DataFrame(rows, columns=[*by, "mean", "low", "high", "n"])


def diff_of_means(
    a: ndarray,
    b: ndarray,
    seed: int = 0,
    *,
    n_resamples: int = N_RESAMPLES,
) -> Estimate:
    """The mean of ``a`` minus the mean of ``b``, of two groups of different questions.

    Each is resampled by itself.
    """
    a = np.asarray(a, float)
    b = np.asarray(b, float)
    sums_a = resampled_sums(a[:, None], seed=seed, n_resamples=n_resamples)
    sums_b = resampled_sums(b[:, None], seed=seed + 1, n_resamples=n_resamples)
    sample = sums_a / len(a) - sums_b / len(b)  # (resamples, 1)

    difference = estimate(a.mean() - b.mean(), sample, len(a) + len(b))
    n_telling = np.count_nonzero(a) + np.count_nonzero(b)
    return difference._replace(differ=int(n_telling))


def paired(
    a: ndarray,
    b: ndarray,
    seed: int = 0,
    *,
    n_resamples: int = N_RESAMPLES,
) -> Estimate:
    """The mean of a − b (n,) over the same questions, its interval, and p of a permutation test.

    Where training is random, a, b or both are (n, seeds): a question's value is its mean over the
    seeds. The test swaps a and b, which flips the sign of differences. Zero differences don't
    change under a flip, so they are left out, which makes the test exact where at most 13 questions
    differ. With one or none, p is 1.
    """
    a = _with_seeds(a)
    b = _with_seeds(b)
    difference = (a - b).mean(axis=1).round(12)
    n = max(len(a), 1)
    draws = (a - b).sum(axis=0) / n  # (seeds,)
    if len(draws) == 1:
        draws = draws[:0]

    return interval(difference, seed, n_resamples=n_resamples)._replace(
        p=_p_of_flips(difference, seed, n_resamples),
        differ=int(np.count_nonzero(difference)),
        rival=float(b.mean(axis=1).sum() / n),
        draws=tuple(draws.tolist()),
    )


def _with_seeds(values: ndarray) -> ndarray:
    """Values as (n, seeds), where (n,) are of a single seed."""
    return np.atleast_2d(np.asarray(values, float).T).T


def _p_of_flips(difference: ndarray, seed: int, n_resamples: int) -> float:
    """How often a mean is as far from 0 if the signs of the differences are drawn by lot."""
    if not len(difference):
        return nan
    changed = difference[difference != 0]
    if len(changed) < 2:
        return 1.0

    test = stats.permutation_test(
        (changed,),
        np.mean,
        permutation_type="samples",
        vectorized=True,
        n_resamples=n_resamples - 1,
        batch=max(1, _CELLS // len(changed)),  # all flips at once would not fit into memory
        rng=default_rng(seed),
    )
    return float(test.pvalue)


def slope(
    x: ndarray,
    y: ndarray,
    seed: int = 0,
    *,
    n_resamples: int = N_RESAMPLES,
) -> Estimate:
    """The least-squares slope of y on x (n,), its interval by resampling the pairs.

    nan where x has one value only; samples that happen to hold one value of x have no slope and are
    left out.
    """
    x = np.asarray(x, float)
    y = np.asarray(y, float)
    n = len(x)
    if n < 2 or np.ptp(x) == 0:
        return Estimate(nan, nan, nan, n)

    # Centred: the closed form below would otherwise lose digits where x is far from 0.
    x = x - x.mean()
    y = y - y.mean()
    terms = np.column_stack([x, y, x * x, x * y])
    sums = resampled_sums(terms, seed=seed, n_resamples=n_resamples)
    sum_x, sum_y, sum_xx, sum_xy = sums.T  # (resamples,)

    spread = n * sum_xx - sum_x**2
    has_slope = spread > 1e-9 * n * (x @ x)
    slopes = (n * sum_xy - sum_x * sum_y)[has_slope] / spread[has_slope]
    result = estimate(x @ y / (x @ x), slopes, n)

    # Observations that have the commonest value tell nothing.
    _, counts = np.unique(y, return_counts=True)
    commonest = counts.max()
    n_alike = commonest if commonest > 1 else 0
    return result._replace(differ=int(n - n_alike))


def rank_correlation(
    x: ndarray,
    y: ndarray,
    seed: int = 0,
    *,
    n_resamples: int = N_RESAMPLES,
) -> Estimate:
    """Spearman's correlation of the columns' means of x and y (n, columns).

    The columns are methods, or the points of a sweep. The interval resamples rows. 0 where all
    means of one side are equal.
    """
    values = np.hstack([x, y])
    n = len(values)
    sampled = resampled_sums(values, seed=seed, n_resamples=n_resamples) / n
    means = np.vstack([values.mean(axis=0), sampled])  # (1 + resamples, 2 · columns)

    # Rounded, since equal means may differ in their last bits after summing in another order.
    sides = means.round(12).reshape(len(means), 2, -1)
    ranks = stats.rankdata(sides, axis=2)
    ranks -= ranks.mean(axis=2, keepdims=True)

    covariances = ranks.prod(axis=1).sum(axis=1)
    spread = np.sqrt((ranks**2).sum(axis=2).prod(axis=1))
    correlations = np.divide(
        covariances,
        spread,
        out=np.zeros(len(means)),
        where=spread > 0,
    )
    return estimate(correlations[0], correlations[1:], n)
