"""The claims as data, and the rule for verdicts at every one of its edges."""

from __future__ import annotations

import math
from collections import Counter

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.errors import InputError
from kit.evaluation.claims import CLAIMS, Criterion, Finding, combined, finding, verdict, verdicts
from kit.evaluation.statistics import Estimate

GAIN = Criterion(above=0)
LOSS = Criterion(below=0)
ALIKE = Criterion(above=-0.02, below=0.02)


def test_all_claims_are_there() -> None:
    papers = [claim.paper for claim in CLAIMS.values()]
    assert Counter(papers) == {"kgp": 19, "gnn-ret": 22, "qsgnn": 20, "bgr": 14, "ras": 15}
    assert list(CLAIMS) == [f"{paper}-{papers[:i].count(paper) + 1:02d}" for i, paper in enumerate(papers)]


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=lambda claim: claim.id)
def test_claim(claim) -> None:
    names = [criterion.name for criterion in claim.criteria]
    assert names and len(set(names)) == len(names)
    assert names == [""] or all(names)
    for criterion in claim.criteria:
        assert criterion.above < criterion.below and (criterion.above, criterion.below) != (-math.inf, math.inf)
    for text in (claim.place, claim.claim, claim.measure, claim.paper_number, *claim.needs):
        assert text.strip() == text != ""
    assert claim.needs and claim.claim.endswith(".") and claim.measure.endswith(".")


@pytest.mark.parametrize(
    ("criterion", "effect", "low", "high", "n", "expected"),
    [
        (GAIN, 0.05, 0.01, 0.09, 100, "reproduced"),
        (GAIN, 0.05, 0.0, 0.09, 100, "undecided"),  # 0 is not on the claimed side
        (GAIN, 0.02, -0.01, 0.05, 100, "undecided"),
        (GAIN, -0.05, -0.09, -0.01, 100, "not reproduced"),
        (GAIN, 0.0, -0.009, 0.009, 1000, "not reproduced"),  # around 0 and wholly below one point
        (GAIN, 0.0, -0.01, 0.01, 1000, "undecided"),
        (GAIN, 0.005, 0.001, 0.009, 1000, "reproduced"),  # small, but on the claimed side
        (GAIN, 0.009, 0.001, 0.02, 100, "undecided"),  # less than one question
        (GAIN, 0.01, 0.001, 0.02, 100, "reproduced"),  # one question
        (LOSS, -0.05, -0.09, -0.01, 100, "reproduced"),
        (LOSS, 0.0, -0.009, 0.009, 1000, "not reproduced"),
        (LOSS, -0.02, -0.05, 0.01, 100, "undecided"),
        (LOSS, 0.05, 0.01, 0.09, 100, "not reproduced"),
        (ALIKE, 0.0, -0.019, 0.019, 100, "reproduced"),
        (ALIKE, 0.0, 0.0, 0.0, 100, "reproduced"),
        (ALIKE, 0.0, -0.02, 0.019, 100, "undecided"),
        (ALIKE, 0.05, 0.03, 0.07, 100, "not reproduced"),
        (ALIKE, -0.05, -0.07, -0.03, 100, "not reproduced"),
        (ALIKE, 0.02, 0.01, 0.03, 100, "undecided"),
        (Criterion(above=-0.02), 0.0, -0.01, 0.05, 100, "reproduced"),
        (Criterion(above=-0.02), -0.02, -0.03, -0.01, 100, "undecided"),
        (Criterion(above=0, unit="correlation"), 0.9, 0.5, 1, 100, "reproduced"),
        (Criterion(above=0, unit="correlation"), 0.0, -0.005, 0.005, 100, "undecided"),  # points are for shares
        (Criterion(above=1, below=2, unit="exponent"), 1.5, 1.1, 1.9, 5, "reproduced"),
        (Criterion(above=1, below=2, unit="exponent"), 0.5, 0.4, 0.6, 5, "not reproduced"),
        (Criterion(below=0.05, unit="density"), 0.03, 0.03, 0.03, 5, "reproduced"),
        (GAIN, 0.05, None, None, 1, "undecided"),
    ],
)
def test_verdict(criterion: Criterion, effect: float, low: float, high: float, n: int, expected: str) -> None:
    assert verdict(criterion, effect, low, high, n) == expected


ends = st.lists(st.floats(-1, 1), min_size=3, max_size=3).map(sorted)


@given(ends, st.integers(1, 5000))
def test_gains_and_losses_are_judged_alike(interval: list[float], n: int) -> None:
    low, effect, high = interval
    assert verdict(GAIN, effect, low, high, n) == verdict(LOSS, -effect, -high, -low, n)


@given(ends, ends, st.integers(1, 5000))
def test_a_narrower_interval_never_turns_a_verdict(inner: list[float], outer: list[float], n: int) -> None:
    low, effect, high = inner
    wide = verdict(GAIN, effect, min(low, outer[0]), max(high, outer[2]), n)
    opposite = {"reproduced": "not reproduced", "not reproduced": "reproduced"}
    # A gain below one point is the one exception: sure of its sign, it is small and yet there.
    if not 0 < low < high < 0.01:
        assert verdict(GAIN, effect, low, high, n) != opposite.get(wide)


@pytest.mark.parametrize(
    ("criterion", "words"),
    [
        (GAIN, "> 0.0 points"),
        (Criterion(above=-0.01), "> −1.0 points"),
        (ALIKE, "within ±2.0 points"),
        (Criterion(below=0.5, unit="weight"), "< 0.5"),
        (Criterion(above=1, below=2, unit="exponent"), "between 1 and 2"),
    ],
)
def test_expected_in_words(criterion: Criterion, words: str) -> None:
    assert criterion.expected == words


def test_finding() -> None:
    measured = Estimate(np.float64(0.9), np.float32(0.75), 1, np.int64(81))
    found = finding("kgp-01", measured, criterion="SF-EM", case="tfidf", seed=3)
    assert (found.verdict, found.unit, found.expected) == ("reproduced", "correlation", "> 0")
    assert found.paper_number == CLAIMS["kgp-01"].paper_number and found.how == CLAIMS["kgp-01"].measure
    assert found.key == ("kgp-01", "SF-EM", "tfidf")
    assert msgspec.json.decode(msgspec.json.encode(found), type=Finding) == found


def test_finding_of_a_proxy_and_without_interval() -> None:
    assert finding("kgp-08", Estimate(0.1, 0.05, 0.2, 100)).verdict == "mechanism reproduced"
    assert finding("kgp-08", Estimate(-0.1, -0.2, -0.05, 100)).verdict == "not reproduced"
    found = finding("kgp-08", Estimate(0.1, math.nan, math.nan, 1))
    assert (found.low, found.high, found.verdict) == (None, None, "undecided")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"claim": "kgp-99"}, "field claim: expected the id of a claim, such as kgp-01, not 'kgp-99'"),
        ({"criterion": "recall"}, "record kgp-01, field criterion: expected one of 'SF-EM', 'precision', not 'recall'"),
        ({"criterion": ""}, "expected one of 'SF-EM', 'precision', not ''"),
        ({"effect": math.nan}, "record kgp-01, field effect: expected a number, not nan"),
        ({"low": 0.3}, r"record kgp-01, field low, high: expected an interval, not \[0.3, 0.2\]"),
        ({"low": math.nan}, "expected an interval"),
    ],
)
def test_bad_findings(settings, message) -> None:
    good = {"claim": "kgp-01", "criterion": "SF-EM", "effect": 0.1, "low": 0.0, "high": 0.2} | settings
    measured = Estimate(good["effect"], good["low"], good["high"], 9)
    with pytest.raises(InputError, match=message):
        finding(good["claim"], measured, criterion=good["criterion"])


@pytest.mark.parametrize(
    "change", [{"verdict": "reproduced"}, {"unit": "points"}, {"criterion": "x"}, {"expected": ""}]
)
def test_a_finding_under_another_rule_is_stale(change: dict) -> None:
    found = finding("kgp-08", Estimate(0.1, -0.05, 0.2, 100))
    assert not found.stale
    assert msgspec.structs.replace(found, **change).stale


def sf_em(case: str, low: float) -> Finding:
    return finding("kgp-01", Estimate(0.5, low, 0.9, 50), criterion="SF-EM", case=case)


def precision(case: str, high: float) -> Finding:
    return finding("kgp-01", Estimate(-0.5, -0.9, high, 50), criterion="precision", case=case)


def test_combined() -> None:
    claim = CLAIMS["kgp-01"]
    against = finding("kgp-01", Estimate(0.5, 0.2, 0.8, 50), criterion="precision", case="b")
    for findings, expected in [
        ([], "not tested"),
        ([sf_em("a", 0.1)], "undecided"),  # precision was not measured
        ([sf_em("a", 0.1), precision("a", -0.1)], "reproduced"),
        ([sf_em("a", 0.1), sf_em("b", -0.1), precision("a", -0.1)], "undecided"),
        ([sf_em("a", 0.1), precision("a", -0.1), against], "not reproduced"),
        ([against], "not reproduced"),
    ]:
        assert combined(claim, findings) == expected


def test_verdicts_table() -> None:
    table = verdicts([sf_em("tfidf", 0.1), finding("kgp-08", Estimate(0.032, -0.01, 0.054, 100))])
    assert table["what"].tolist() == ["SF-EM, tfidf", ""]
    assert table["effect"].tolist() == ["+0.5 [+0.1, +0.9] correlation", "+3.2 [−1.0, +5.4] points"]
    assert table["verdict"].tolist() == ["reproduced", "undecided"]
    assert table["the paper's number"].iloc[0] == "curves only"
    assert list(verdicts([]).columns) == list(table.columns)
