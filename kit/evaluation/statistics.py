"""How sure a number is: bootstrap intervals over questions, paired tests, and trends.

Questions are resampled whole, so what was measured on the same question stays together: the
differences between methods are paired, and so are the points of a sweep. An interval needs two
observations, or is (nan, nan).

Where training is random, values are (n, seeds): a column per draw of the training. A question's
value is then its mean over the draws, and the interval is over questions and draws
(:func:`over_draws`).
"""

from collections.abc import Iterable, Mapping
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
_Z = stats.norm.ppf(_ENDS[1])
_CELLS = 4_000_000  # of a block of resampling counts: 32 MB, whatever the number of questions


class Estimate(NamedTuple):
    """A mean, difference, slope or correlation over ``n`` observations, with its interval.

    ``p`` is two-sided, of the paired test that flips signs; nan where none was made. ``differ``
    says how many observations tell something (of differences those that are not 0), or None where
    they are not counted. ``rival`` is the mean that a difference is taken to, which says how much
    room there was. ``draws`` has the value with each draw of the training.
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


def over_draws(measured: Estimate, draws: ndarray) -> Estimate:
    """An estimate with an interval over draws of the training, beside that over questions.

    ``draws`` (seeds,) are its values with each. The variance of their mean, var(draws) / seeds, is
    added to that of the interval: the square of each half grows by 1.96² times as much.
    """
    if len(draws) < 2:
        return measured
    spread = _Z * np.std(draws, ddof=1) / np.sqrt(len(draws))
    measured = measured._replace(draws=tuple(map(float, draws)))
    if spread < 1e-12:  # equal draws, up to rounding
        return measured
    value, low, high = measured[:3]
    below = np.hypot(value - low, spread)
    above = np.hypot(high - value, spread)
    return measured._replace(
        low=float(value - below),
        high=float(value + above),
    )


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
    """The mean of ``values`` (n,) or (n, seeds) with its percentile bootstrap interval."""
    values = _with_seeds(values)
    column = DataFrame(values.mean(axis=1))
    [row] = intervals(column, seed, n_resamples=n_resamples).itertuples(index=False)
    return over_draws(Estimate(*row), _means(values))


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

    Each is resampled by itself. Both are (n,) or (n, seeds), with the same seeds.
    """
    a = _with_seeds(a)
    b = _with_seeds(b)
    by_seed = _means(a) - _means(b)
    a = a.mean(axis=1).round(12)
    b = b.mean(axis=1).round(12)
    sums_a = resampled_sums(a[:, None], seed=seed, n_resamples=n_resamples)
    sums_b = resampled_sums(b[:, None], seed=seed + 1, n_resamples=n_resamples)
    sample = sums_a / len(a) - sums_b / len(b)  # (resamples, 1)

    difference = estimate(a.mean() - b.mean(), sample, len(a) + len(b))
    n_telling = np.count_nonzero(a) + np.count_nonzero(b)
    return over_draws(difference._replace(differ=int(n_telling)), by_seed)


def paired(
    a: ndarray,
    b: ndarray,
    seed: int = 0,
    *,
    n_resamples: int = N_RESAMPLES,
) -> Estimate:
    """The mean of a − b (n,) over the same questions, its interval, and p of a permutation test.

    a, b or both may be (n, seeds). The test swaps a and b, which flips the sign of differences.
    Zero differences don't change under a flip, so they are left out, which makes the test exact
    where at most 13 questions differ. With one or none, p is 1.
    """
    a = _with_seeds(a)
    b = _with_seeds(b)
    difference = (a - b).mean(axis=1).round(12)
    measured = interval(difference, seed, n_resamples=n_resamples)._replace(
        p=_p_of_flips(difference, seed, n_resamples),
        differ=int(np.count_nonzero(difference)),
        rival=float(_means(b).mean()),
    )
    return over_draws(measured, _means(a - b))


def best_elsewhere(rivals: Mapping[str, ndarray]) -> tuple[ndarray, list[str]]:
    """Of several rivals the best, never chosen on the questions that it is compared on.

    Each half of the questions (every second one) has the rival with the higher mean on the other
    half. ``rivals`` are by name (n,) or (n, seeds). Returns the values (n, seeds) and the names of
    the chosen, which are one or two. A rival that is the best of the very questions would have the
    luck of these questions, too.
    """
    names = list(rivals)
    every = side_by_side(rivals.values())
    chosen = np.empty(every.shape[1:])
    best = []
    for half in (0, 1):
        elsewhere = every[:, 1 - half :: 2]
        row = int(elsewhere.sum(axis=(1, 2)).argmax())
        chosen[half::2] = every[row, half::2]
        best.append(names[row])
    return chosen, list(dict.fromkeys(best))


def side_by_side(methods: Iterable[ndarray]) -> ndarray:
    """Values (n,) or (n, seeds) of several methods as one array: (methods, n, seeds)."""
    columns = list(map(_with_seeds, methods))
    return np.stack(np.broadcast_arrays(*columns))


def _with_seeds(values: ndarray) -> ndarray:
    """Values as (n, seeds), where (n,) are of a single seed."""
    return np.atleast_2d(np.asarray(values, float).T).T


def _means(values: ndarray) -> ndarray:
    """The mean of each seed (seeds,) over the questions of (n, seeds); 0 without questions."""
    return values.sum(axis=0) / max(len(values), 1)


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
    questions: ndarray | None = None,
    n_resamples: int = N_RESAMPLES,
) -> Estimate:
    """The least-squares slope of y (n,) or (n, seeds) on x (n,), its interval by resampling.

    ``questions`` (n,) says which rows are of the same question: these are drawn together, and ``n``
    of the estimate counts questions. Without it each row is one of its own. nan where x has one
    value only; samples that happen to hold one value of x have no slope and are left out.
    """
    x = np.asarray(x, float)
    by_seed = _with_seeds(y)
    y = by_seed.mean(axis=1)
    owner = np.arange(len(x))  # the question of each row
    if questions is not None:
        _, owner = np.unique(np.asarray(questions), return_inverse=True)
    n = len(set(owner))
    if n < 2 or np.ptp(x) == 0:
        return Estimate(nan, nan, nan, n)

    # Centred: the closed form below would otherwise lose digits where x is far from 0.
    x = x - x.mean()
    y = y - y.mean()
    squares = x @ x
    terms = np.column_stack([np.ones_like(x), x, y, x * x, x * y])
    by_question = np.zeros((n, 5))
    np.add.at(by_question, owner, terms)
    sums = resampled_sums(by_question, seed=seed, n_resamples=n_resamples)
    n_rows, sum_x, sum_y, sum_xx, sum_xy = sums.T  # (resamples,)

    spread = n_rows * sum_xx - sum_x**2
    has_slope = spread > 1e-9 * n_rows * squares
    slopes = (n_rows * sum_xy - sum_x * sum_y)[has_slope]
    slopes = slopes / spread[has_slope]

    # Rounded as differences are: a sample without any slope has 0, not −4e−19.
    result = estimate(round(x @ y / squares, 12), slopes.round(12), n)
    result = result._replace(differ=_n_telling(y, owner))
    return over_draws(result, x @ by_seed / squares)


def _n_telling(y: ndarray, owner: ndarray) -> int:
    """How many questions have a value (n,) other than the commonest, which tells nothing."""
    values, counts = np.unique(y.round(12), return_counts=True)
    if counts.max() == 1:
        return len(set(owner))
    commonest = values[counts.argmax()]
    return len(set(owner[y.round(12) != commonest]))


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
