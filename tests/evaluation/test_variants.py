"""Variants beside the one that they differ from, on rankings that are plain to see."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from kit.corpus import Benchmark, Corpus, Passage, Question
from kit.errors import InputError
from kit.evaluation import Experiment, difference, evaluate, per_question, statistics, variants

COLUMNS = ["group", "label", "mean", "low", "high", "difference", "difference_low", "difference_high", "n"]


@pytest.fixture
def found(alphabetical, reverse, benchmark) -> Experiment:
    """Names and questions against their alphabetical order: a table that sorts them would be seen."""
    backwards = Benchmark("small", benchmark.corpus, test=benchmark.test[::-1])
    named = {"z to a": reverse, "a to z": alphabetical}
    return evaluate(named, backwards, ks=(2, 5), seed=7, draws=500, progress=False)


def test_a_metric_of_each_question_as_asked(found) -> None:
    # By hand: q3 needs a c e f, q2 needs c or d, and e, q1 needs a b; the first two are f e, or a b.
    values = per_question(found, "recall@2")
    assert values.index.tolist() == ["q3", "q2", "q1"] and values.columns.tolist() == ["z to a", "a to z"]
    assert values.to_numpy().tolist() == [[1 / 2, 1 / 4], [1 / 2, 0], [0, 1]]


def test_seconds_are_a_metric_too(found) -> None:
    seconds = found.table.set_index(["retriever", "question"])["seconds"]
    assert per_question(found, "seconds").loc["q2", "a to z"] == seconds["a to z", "q2"]


def test_each_variant_beside_the_first_of_its_group(found) -> None:
    table = variants(found, {"order": ["a to z", "z to a"], "alone": ["z to a"]}, "recall@2")
    assert list(table.columns) == COLUMNS
    assert table[["group", "label", "n"]].to_numpy().tolist() == [
        ["order", "a to z", 3],
        ["order", "z to a", 3],
        ["alone", "z to a", 3],
    ]
    assert table["mean"].tolist() == pytest.approx([5 / 12, 1 / 3, 1 / 3])
    # (1/2 − 1/4 + 1/2 − 0 + 0 − 1) / 3; the first of a group has nothing to differ from.
    assert table["difference"].tolist() == pytest.approx([np.nan, -1 / 12, np.nan], nan_ok=True)
    assert table[["difference_low", "difference_high"]].isna().any(axis=1).tolist() == [True, False, True]


def test_intervals_have_the_seed_and_the_draws_of_the_experiment(alphabetical, reverse) -> None:
    """Forty questions with supports here and there, so that other draws of them have other quantiles."""
    corpus = Corpus(Passage(id, id, "", id) for id in "abcdef")
    asked = [Question(f"q{i}", "?", "", tuple((id,) for id in "abcdef"[i % 5 : i % 5 + 1 + i % 4])) for i in range(40)]
    named = {"a to z": alphabetical, "z to a": reverse}
    found = evaluate(named, Benchmark("forty", corpus, test=asked), ks=(2,), k=6, seed=7, draws=500, progress=False)
    row = variants(found, {"order": ["a to z", "z to a"]}, "mrr").iloc[1]
    values = per_question(found, "mrr")

    def expected(seed: int, draws: int) -> tuple[float, ...]:
        own = statistics.interval(values["z to a"], seed, draws=draws)
        return (*own, *statistics.paired(values["z to a"], values["a to z"], seed, draws=draws)[:3])

    assert tuple(row.iloc[2:8]) == expected(7, 500)
    for others in (expected(0, 500), expected(7, 1000)):
        assert (row["low"], row["difference_low"]) != (others[1], others[4])


def test_a_difference_is_that_of_the_comparison(found) -> None:
    values = per_question(found, "recall@5")
    row = found.compare("a to z", "recall@5").iloc[0]
    gain = difference(found, values["z to a"], values["a to z"])
    assert tuple(gain) == (row["difference"], row["low"], row["high"], row["p"])
    assert gain.difference == pytest.approx(-1 / 6)  # q1 alone: z to a has one of its two supports among five


def test_a_difference_of_means_of_columns(found) -> None:
    values = per_question(found, "recall@2")
    gain = difference(found, values[["a to z", "z to a"]].mean(axis=1), values["z to a"])
    assert gain.difference == pytest.approx(1 / 24)


def test_no_groups_are_an_empty_table(found) -> None:
    pd.testing.assert_frame_equal(variants(found, {}, "mrr"), pd.DataFrame(columns=COLUMNS))


@pytest.mark.parametrize(
    ("groups", "metric", "line"),
    [
        ({"order": ["a to z", "b to y"]}, "mrr", "field groups: expected one of z to a, a to z, not 'b to y'"),
        ({"order": ["a to z"]}, "recall@7", "field metric: expected one of recall@2, recall@5, .*, not 'recall@7'"),
    ],
)
def test_what_was_not_evaluated_is_told(found, groups: dict, metric: str, line: str) -> None:
    with pytest.raises(InputError, match=line):
        variants(found, groups, metric)
