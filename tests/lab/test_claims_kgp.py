"""What is measured for claims of KGP, by hand."""

import numpy as np
import pandas as pd
import pytest

from kit.lab.claims.kgp import all_are_drawn, kgp_01, kgp_04, kgp_10

FEW = {"seed": 0, "n_resamples": 200}


def test_the_chance_that_all_wanted_passages_are_among_those_drawn() -> None:
    """Of 4 passages 2 are drawn: one wanted is among them in 1/2, both of two in 1/6."""
    wanted = np.array([0, 1, 2, 2])
    drawn = np.array([2, 2, 2, 1])
    assert all_are_drawn(wanted, drawn, np.full(4, 4)) == pytest.approx([1, 1 / 2, 1 / 6, 0])


def test_kgp_01_is_what_a_graph_reaches_beyond_as_many_passages_by_lot() -> None:
    """Two questions, 5 passages, one seed each; at both settings one more passage is reached.

    q misses one support, which the graph reaches at the second setting only: 1/2 − 1/4 = 1/4 on
    average. Of r the seed is the support: 1 − 1 = 0.
    """
    seeds = pd.DataFrame(
        {"question": ["q", "r"], "neighbourhood": 1, "covered": [0.5, 1.0], "hops": [2, 1]}
    )
    reached = pd.DataFrame(
        {"question": ["q", "r"] * 2, "neighbourhood": 2, "sf_em": [0.0, 1.0, 1.0, 1.0]}
    )
    measured = kgp_01(reached, seeds, 5, **FEW)
    assert measured.value == pytest.approx(0.25 / 2) and measured.n == 2


def test_kgp_04_ranks_the_methods_by_each_metric() -> None:
    """By the first metric the walk is best of three, by the second it is second: rank 1.5.

    The better other is second and first: 1.5, too.
    """
    walk = [np.array([1.0, 1.0]), np.array([0.5, 0.5])]
    others = [
        {"a": np.array([0.5, 0.5]), "b": np.array([0.0, 0.0])},
        {"a": np.array([1.0, 1.0]), "b": np.array([0.0, 0.0])},
    ]
    assert kgp_04(walk, others, **FEW)[:4] == (0, 0, 0, 2)
    seeds = [np.array([[1.0, 0.2]] * 2)] * 2  # by the second seed behind a: 2 − 1
    only_a = [{"a": np.array([0.5, 0.5])}] * 2
    ranked = kgp_04(seeds, only_a, **FEW)
    assert ranked.value == -1 and ranked.draws == (-1, 1)


def test_kgp_10_is_a_slope_on_the_doublings_of_the_degree() -> None:
    """From degree 1 to 2 to 4 the first question gains ¼ per doubling, the second nothing."""
    values = pd.DataFrame({8: [0.0, 0.5], 16: [0.25, 0.5], 32: [0.5, 0.5], 0: [9, 9]})
    measured = kgp_10(values, {8: 1, 16: 2, 32: 4, 0: 0}, **FEW)
    assert measured.value == pytest.approx(0.125) and measured.differ == 1
