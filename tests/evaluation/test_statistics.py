"""Intervals, tests and trends against closed forms, scipy, and their promises on simulated data."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from kit.evaluation import statistics

random = np.random.default_rng(7)
SHARES = random.choice([0, 0.5, 1], size=300, p=[0.2, 0.3, 0.5])


def test_interval_agrees_with_scipy_and_is_seeded() -> None:
    theirs = stats.bootstrap(
        (SHARES,), np.mean, method="percentile", n_resamples=10_000, rng=1
    ).confidence_interval
    mean, low, high, *_ = statistics.interval(SHARES, 3)
    assert mean == SHARES.mean()
    assert (low, high) == pytest.approx(theirs, abs=0.004)
    assert (
        statistics.interval(SHARES, 1)
        == statistics.interval(SHARES, 1)
        != statistics.interval(SHARES, 2)
    )


def test_equal_values_have_no_width_one_value_no_interval() -> None:
    for value in (0.1, 1 / 3):
        assert statistics.interval([value] * 7)[:3] == (value, value, value)
    mean, low, high, *_ = statistics.interval([0.25])
    assert mean == 0.25 and math.isnan(low) and math.isnan(high)
    assert all(math.isnan(value) for value in statistics.interval([])[:3])


def test_columns_are_drawn_together() -> None:
    table = statistics.intervals(pd.DataFrame({"a": SHARES, "b": 1 - SHARES}), seed=0)
    a, b = table[["mean", "low", "high"]].to_numpy()
    assert a == pytest.approx(1 - b[[0, 2, 1]]) and table["n"].tolist() == [300, 300]
    assert a == pytest.approx(statistics.interval(SHARES, 0)[:3])


def test_samples_are_the_same_whether_drawn_at_once_or_in_blocks() -> None:
    """Of 5,000 rows a block holds 800 of the 1,000 samples."""
    values = np.random.default_rng(1).random((5_000, 1))
    picks = np.random.default_rng(0).integers(5_000, size=(1_000, 5_000))
    sums = statistics.resampled_sums(values, seed=0, n_resamples=1_000)
    assert sums == pytest.approx(values[picks].sum(axis=1))


def test_interval_covers_the_true_mean() -> None:
    samples = np.random.default_rng(0).binomial(1, 0.3, size=(80, 400)).astype(float)
    result = statistics.intervals(pd.DataFrame(samples), seed=0, n_resamples=2000)
    assert 0.91 <= result.eval("low <= 0.3 <= high").mean() <= 0.98


def test_paired_p_is_exact_and_1_without_any_difference() -> None:
    # 5 differences of one sign: 2 of the 32 ways to sign them are as far from 0.
    # Zeros change nothing.
    ahead = [1.0] * 5 + [0.5] * 20
    behind = [0.0] * 5 + [0.5] * 20
    result = statistics.paired(ahead, behind)
    assert result.value == pytest.approx(0.2) and result.p == pytest.approx(2 / 32)
    turned = statistics.paired(behind, ahead)
    assert turned.value == -result.value and turned.p == result.p
    assert (turned.low, turned.high) == pytest.approx((-result.high, -result.low), abs=0.04)
    assert statistics.paired(SHARES, SHARES)[:5] == (0, 0, 0, 300, 1)
    assert statistics.paired([1, 1, 1], [0, 1, 0]).p == 0.5
    assert all(math.isnan(value) for value in statistics.paired([], [])[:3])


def test_seeds_are_averaged_by_question() -> None:
    trained = np.array([[1, 0], [1, 1], [0, 1]])
    theirs = np.array([0, 0.5, 0.5])
    result = statistics.paired(trained, theirs, 1)
    assert result[:4] == statistics.paired(trained.mean(axis=1), theirs, 1)[:4]
    assert result.value == pytest.approx(1 / 3) and result.rival == pytest.approx(1 / 3)
    assert (
        result.draws == pytest.approx((1 / 3, 1 / 3)) and result.differ == 2
    )  # the third is 1/2 − 1/2
    assert statistics.paired(trained, trained).differ == 0 and statistics.paired(
        theirs, trained
    ).draws == (
        -1 / 3,
        -1 / 3,
    )


def test_draws_of_the_training_widen_an_interval() -> None:
    """Three draws gain 0, 2 and 4 points: their mean has a standard error of 2 / √3 points.

    All questions are alike, so nothing comes from them; 1.96 · 2 / √3 = 2.263.
    """
    draws = np.tile([0.5, 0.52, 0.54], (9, 1))
    result = statistics.paired(draws, np.full(9, 0.5))
    assert result[:3] == pytest.approx((0.02, 0.02 - 0.02263, 0.02 + 0.02263), abs=1e-5)
    assert result.draws == pytest.approx((0, 0.02, 0.04))

    alike = statistics.paired(np.tile(SHARES[:, None], 3), 0 * SHARES)
    assert alike[1:3] == statistics.paired(SHARES, 0 * SHARES)[1:3]  # equal draws add nothing
    joined = statistics.over_draws(
        statistics.Estimate(0.0, -0.03, 0.03, 9), np.array([-0.04, 0.04])
    )
    half = np.hypot(0.03, 1.96 * 0.04)  # var(draws) / 2 = 0.04²
    assert joined[1:3] == pytest.approx((-half, half), abs=1e-5)
    groups = statistics.diff_of_means(draws, np.full(4, 0.5))
    assert groups[:3] == pytest.approx(result[:3], abs=1e-6)
    rising = statistics.slope([1, 2] * 3, np.array([[0, 0], [1, 3]] * 3))  # slopes 1 and 3
    assert rising[:3] == pytest.approx((2, 2 - 1.96, 2 + 1.96), abs=1e-3)


def test_a_rival_is_chosen_on_the_other_half() -> None:
    """a is best on the odd questions, b on the even ones: each half has the other's best."""
    a = [0, 1, 0, 1]
    b = [1, 0, 1, 0]
    values, names = statistics.best_elsewhere({"a": a, "b": b})
    assert values.ravel().tolist() == [0, 0, 0, 0] and names == ["a", "b"]
    seeds = np.array([[0.2, 0.4]] * 4)
    values, names = statistics.best_elsewhere({"low": np.zeros(4), "seeds": seeds})
    assert values.tolist() == seeds.tolist() and names == ["seeds"]


def test_a_best_of_equals_is_chosen_without_luck() -> None:
    """Ten rivals by lot: the best of the very questions is ahead by luck, that of others not."""
    generator = np.random.default_rng(0)
    lucky, fair = [], []
    for _ in range(50):
        rivals = {str(n): generator.random(60) for n in range(10)}
        lucky.append(max(values.mean() for values in rivals.values()))
        fair.append(statistics.best_elsewhere(rivals)[0].mean())
    assert np.mean(lucky) > 0.55 and abs(np.mean(fair) - 0.5) < 0.02


def test_paired_p_is_uniform_where_nothing_differs() -> None:
    generator = np.random.default_rng(0)
    p = [statistics.paired(*generator.normal(size=(2, 20)), n_resamples=500).p for _ in range(200)]
    assert 0.01 <= np.mean(np.array(p) <= 0.05) <= 0.1


def test_slope() -> None:
    x = np.array([1, 1, 2, 2, 3, 3, 4, 4])
    assert statistics.slope(x, 5 - 2 * x)[:3] == pytest.approx((-2, -2, -2))
    y = np.array([0.9, 0.7, 0.8, 0.6, 0.5, 0.5, 0.4, 0.1])
    result = statistics.slope(x, y)
    assert result.value == pytest.approx(np.polyfit(x, y, 1)[0])
    assert result.low < result.value < result.high < 0
    far = 1e6 + np.arange(20.0)
    assert statistics.slope(far, 3 * far)[:3] == pytest.approx((3, 3, 3))
    assert all(math.isnan(value) for value in statistics.slope([2, 2, 2], [0, 1, 0])[:3])


def test_rows_of_one_question_are_drawn_together() -> None:
    """Thirty copies of the rows of ten questions say no more than one of each."""
    generator = np.random.default_rng(3)
    x = np.tile([1, 2, 3], 10)
    y = generator.random(30)
    questions = np.repeat(np.arange(10), 3)
    alone = statistics.slope(x, y, questions=questions)
    copies = statistics.slope(np.tile(x, 30), np.tile(y, 30), questions=np.tile(questions, 30))
    assert copies[:4] == pytest.approx(alone[:4]) and alone.n == 10
    naive = statistics.slope(np.tile(x, 30), np.tile(y, 30))
    assert naive.high - naive.low < (alone.high - alone.low) / 3


def test_a_slope_without_any_change_is_exactly_0() -> None:
    """Two right graphs of 300: samples without either have a slope of 0, not of −4e−19."""
    x = np.random.default_rng(5).integers(2, 6, 300)
    y = np.zeros(300)
    y[[7, 40]] = 1 / 3
    result = statistics.slope(x, y)
    assert result.high == 0 or abs(result.high) > 1e-9
    assert result.differ == 2


def test_rank_correlation_by_hand() -> None:
    """Means 0, ½, 1 against 0, 1, ½: ranks 1, 2, 3 and 1, 3, 2.

    Spearman's correlation of these is 1 − 6 · 2 / (3 · 8) = ½.
    """
    x = np.array([[0, 1, 1], [0, 0, 1]])
    result = statistics.rank_correlation(x, x[:, [0, 2, 1]], n_resamples=500)
    # A sample of the first row alone has ranks that agree, one of the second alone has means
    # 0, 0, 1 against 0, 1, 0.
    assert result[:4] == (pytest.approx(0.5), pytest.approx(-0.5), pytest.approx(1), 2)
    assert statistics.rank_correlation(x, 0 * x, n_resamples=50)[:3] == (0, 0, 0)


def test_means_by_group() -> None:
    table = pd.DataFrame(
        {"step": [2, 1, 2, 1], "of": ["a", "a", "a", "b"], "x": [0.0, 1.0, 1.0, 0.5]}
    )
    result = statistics.by_group(table, ["of", "step"], "x", n_resamples=200)
    assert list(result.columns) == ["of", "step", "mean", "low", "high", "n"]
    rows = result.set_index(["of", "step"])
    assert rows.loc[("a", 2), "mean"] == 0.5 and rows.loc[("a", 2), "n"] == 2
    assert 0 <= rows.loc[("a", 2), "low"] < 0.5 < rows.loc[("a", 2), "high"] <= 1
    assert rows.loc[("b", 1), "mean"] == 0.5 and math.isnan(rows.loc[("b", 1), "low"])


def test_difference_of_means() -> None:
    """Means 3 and 1; each group resampled alone, its ends are at most those of the extremes."""
    result = statistics.diff_of_means(
        np.array([2.0, 4.0]), np.array([1.0, 1.0]), 0, n_resamples=2_000
    )
    assert result[:4] == (2, 1, 3, 4) and math.isnan(result.p)
    large = np.random.default_rng(0)
    estimate, low, high, *_ = statistics.diff_of_means(
        large.normal(1, 1, 400), large.normal(0, 1, 400)
    )
    assert low < estimate < high and high - low == pytest.approx(
        2 * 1.96 * np.sqrt(2 / 400), rel=0.15
    )
