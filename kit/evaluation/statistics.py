"""How sure a number is: bootstrap intervals over questions, paired tests, and trends.

Questions are resampled whole, so what was measured on the same question stays together: the differences between
methods are paired, and so are the points of a sweep. An interval needs two observations, or is (nan, nan).
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

LEVEL, N_RESAMPLES = 0.95, 10_000
_BLOCK = 4_000_000  # cells of a block of resampling counts: 32 MB, whatever the number of questions


class Estimate(NamedTuple):
    """A mean, difference, slope or correlation over ``n`` observations, with the ends of its confidence interval.

    ``p`` is two-sided, of a paired test; nan where none was made. ``differ``: how many observations tell something (of
    differences those that are not 0); None where they are not counted. ``rival``: the mean that a difference is taken
    to, which says how much room there was; ``draws``: the value with each training seed.
    """

    value: float
    low: float
    high: float
    n: int
    p: float = np.nan
    differ: int | None = None
    rival: float = np.nan
    draws: tuple[float, ...] = ()


def estimate(value: float, sample: np.ndarray, n: int) -> Estimate:
    """An estimate over n observations with the ends of what resampling them made of it."""
    low, high = (
        np.quantile(sample, [(1 - LEVEL) / 2, (1 + LEVEL) / 2]) if n > 1 else (np.nan, np.nan)
    )
    return Estimate(float(value), float(low), float(high), n)


def resampled_sums(values: np.ndarray, *, seed: int, n_resamples: int = N_RESAMPLES) -> np.ndarray:
    """Sums of the columns of ``values`` (n, columns) over bootstrap samples of its rows: (n_resamples, columns)."""
    return np.concatenate([block @ values for block in _counts(len(values), seed, n_resamples)])


@lru_cache(maxsize=4)
def _counts(n: int, seed: int, n_resamples: int) -> list[np.ndarray]:
    """How often each of n rows is in each bootstrap sample, in blocks of samples; most intervals share them."""
    generator, blocks, size = np.random.default_rng(seed), [], max(1, _BLOCK // n)
    for start in range(0, n_resamples, size):
        rows = np.arange(min(size, n_resamples - start))[:, None]
        picks = generator.integers(n, size=(len(rows), n)) + n * rows
        blocks.append(
            np.bincount(picks.ravel(), minlength=n * len(rows)).reshape(-1, n).astype(np.uint8)
        )
    return blocks


def intervals(
    values: pd.DataFrame, seed: int = 0, *, n_resamples: int = N_RESAMPLES
) -> pd.DataFrame:
    """Each column of a table by question, a row each: mean, low, high (percentile bootstrap over rows), n."""
    x, n = values.to_numpy(float), len(values)
    means = x.mean(axis=0) if n else np.full(x.shape[1], np.nan)
    low = high = np.full(x.shape[1], np.nan)
    if n > 1:
        sampled = resampled_sums(x, seed=seed, n_resamples=n_resamples) / n
        # Rounding of sums would otherwise give equal values an interval of some 1e-17.
        equal, ends = (
            np.ptp(x, axis=0) == 0,
            np.quantile(sampled, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0),
        )
        means, low, high = (np.where(equal, x[0], found) for found in (means, *ends))
    return pd.DataFrame({"mean": means, "low": low, "high": high, "n": n}, index=values.columns)


def interval(values: np.ndarray, seed: int = 0, *, n_resamples: int = N_RESAMPLES) -> Estimate:
    """The mean of ``values`` (n,) with its percentile bootstrap interval."""
    table = intervals(pd.DataFrame(np.asarray(values, float)), seed, n_resamples=n_resamples)
    return Estimate(*next(table.itertuples(index=False)))


def by_group(
    table: pd.DataFrame,
    by: Sequence[str],
    value: str,
    seed: int = 0,
    *,
    n_resamples: int = N_RESAMPLES,
) -> pd.DataFrame:
    """The mean of a column in each group with its interval: the columns of ``by``, mean, low, high, n (rows)."""
    groups = table.groupby(list(by), sort=False)[value]
    rows = [(*key, *interval(of, seed, n_resamples=n_resamples)[:4]) for key, of in groups]
    return pd.DataFrame(rows, columns=[*by, "mean", "low", "high", "n"])


def diff_of_means(
    a: np.ndarray, b: np.ndarray, seed: int = 0, *, n_resamples: int = N_RESAMPLES
) -> Estimate:
    """The mean of ``a`` minus the mean of ``b``, of two groups of different questions, each resampled by itself."""
    a, b = np.asarray(a, float), np.asarray(b, float)
    sums = [
        resampled_sums(of[:, None], seed=seed + i, n_resamples=n_resamples)[:, 0]
        for i, of in enumerate((a, b))
    ]
    found = estimate(a.mean() - b.mean(), sums[0] / len(a) - sums[1] / len(b), len(a) + len(b))
    return found._replace(differ=int(np.count_nonzero(a) + np.count_nonzero(b)))


def paired(
    a: np.ndarray, b: np.ndarray, seed: int = 0, *, n_resamples: int = N_RESAMPLES
) -> Estimate:
    """The mean of a − b (n,) over the same questions, its interval, and p of a permutation test that swaps a and b.

    Where training is random, a, b or both are (n, seeds): a question's value is its mean over the seeds.
    The test flips the sign of differences. Zero differences don't change under a flip, so they are left out, which
    makes the test exact where at most 13 questions differ. With one or none, p is 1.
    """
    a, b = (np.atleast_2d(np.asarray(of, float).T).T for of in (a, b))
    difference, n = (a - b).mean(axis=1).round(12), max(len(a), 1)
    changed = difference[difference != 0]
    p = 1.0 if len(difference) else np.nan
    if len(changed) > 1:
        batch = max(
            1, _BLOCK // len(changed)
        )  # all flips at once would hold n_resamples × n numbers
        drawn = {"n_resamples": n_resamples - 1, "batch": batch, "rng": np.random.default_rng(seed)}
        p = stats.permutation_test(
            (changed,), np.mean, permutation_type="samples", vectorized=True, **drawn
        ).pvalue
    draws, rival = ((a - b).sum(axis=0) / n).tolist(), float(b.mean(axis=1).sum() / n)
    told = {
        "p": float(p),
        "differ": len(changed),
        "rival": rival,
        "draws": tuple(draws) if len(draws) > 1 else (),
    }
    return interval(difference, seed, n_resamples=n_resamples)._replace(**told)


def slope(
    x: np.ndarray, y: np.ndarray, seed: int = 0, *, n_resamples: int = N_RESAMPLES
) -> Estimate:
    """The least-squares slope of y on x (n,), its interval by resampling the pairs.

    nan where x has one value only; samples that happen to hold one value of x have no slope and are left out.
    """
    x, y = np.asarray(x, float), np.asarray(y, float)
    if len(x) < 2 or np.ptp(x) == 0:
        return Estimate(np.nan, np.nan, np.nan, len(x))
    # Centred: the closed form below would otherwise lose digits where x is far from 0.
    x, y = x - x.mean(), y - y.mean()
    n, sums = (
        len(x),
        resampled_sums(np.column_stack([x, y, x * x, x * y]), seed=seed, n_resamples=n_resamples).T,
    )
    spread = n * sums[2] - sums[0] ** 2
    has_slope = spread > 1e-9 * n * (x @ x)
    slopes = (n * sums[3] - sums[0] * sums[1])[has_slope] / spread[has_slope]
    alike = np.unique(y, return_counts=True)[1].max()  # of the commonest value
    return estimate(x @ y / (x @ x), slopes, n)._replace(differ=int(n - alike if alike > 1 else n))


def rank_correlation(
    x: np.ndarray, y: np.ndarray, seed: int = 0, *, n_resamples: int = N_RESAMPLES
) -> Estimate:
    """Spearman's correlation of the columns' means of x and y (n, columns): of methods, or along a sweep.

    The interval resamples rows. 0 where all means of one side are equal.
    """
    both = np.hstack([x, y])
    means = np.vstack(
        [both.mean(axis=0), resampled_sums(both, seed=seed, n_resamples=n_resamples) / len(both)]
    )
    # Rounded, since equal means may differ in their last bits after summing in another order.
    ranks = stats.rankdata(means.round(12).reshape(len(means), 2, -1), axis=2)
    ranks -= ranks.mean(axis=2, keepdims=True)
    spread = np.sqrt((ranks**2).sum(axis=2).prod(axis=1))
    found = np.divide(
        ranks.prod(axis=1).sum(axis=1), spread, out=np.zeros(len(means)), where=spread > 0
    )
    return estimate(found[0], found[1:], len(both))
