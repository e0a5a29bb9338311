"""A finding: what a run measured for one criterion of a claim, with its verdict."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import ceil, inf, isfinite, isinf, isnan
from types import MappingProxyType

import msgspec
from msgspec.structs import asdict, replace
from numpy import ndarray
from pandas import DataFrame

from kit.corpus.types import Texts
from kit.errors import InputError
from kit.evaluation.statistics import LEVEL, Estimate, paired
from kit.lab.claims.claims import CLAIMS, CRITERIA, Criterion, show
from kit.methods import Retriever

REPRODUCED = "reproduced"
#: By a proxy that succeeds: the cause that the paper names holds, not the paper's number.
MECHANISM = "mechanism reproduced"
NOT_REPRODUCED = "not reproduced"
UNDECIDED = "undecided"
NOT_TESTED = "not tested"  # whatever the numbers are, they say nothing of the claim

#: A claimed gain is not reproduced if its interval lies wholly below this, even if it spans 0.
SMALLEST_GAIN = 0.01
FLOOR = 0.05  # a share below it is too low to tell methods apart
FEW = 6  # differing questions: if five differ, all to one side, the exact p is 1 / 16
N_SEEDS = 3  # of training, at least, for a verdict on what is trained

#: A method with the same settings, whatever the seed.
Cell = tuple[object, ...]


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """What one run measured for one criterion of a claim, on one data set; made by :func:`finding`.

    ``case`` names what the claim was tried on where it speaks of several (a builder, a baseline, a
    context size). ``low`` and ``high`` end the 95 % interval over ``n`` questions, None where there
    is none; p, differ, rival and draws are those of the estimate. ``learned`` and ``seeds`` are of
    what was trained for it. ``untestable`` says why the numbers say nothing of the claim, ``why``
    why no verdict was possible.
    """

    claim: str
    criterion: str
    case: str
    effect: float
    low: float | None
    high: float | None
    unit: str
    expected: str
    n: int
    seed: int
    verdict: str
    how: str
    paper_number: str
    p: float | None = None
    differ: int | None = None
    rival: float | None = None
    draws: tuple[float, ...] = ()
    learned: bool | None = None
    seeds: int = 0
    untestable: str = ""
    why: str = ""


def finding(
    claim: str,
    estimate: Estimate,
    trained: Sequence[Retriever] | None = None,
    criterion: str = "",
    *,
    case: str = "",
    how: str = "",
    seed: int = 0,
    learned: Mapping[Cell, bool] = MappingProxyType({}),
    untestable: str = "",
) -> Finding:
    """What was measured for a claim, with its verdict.

    Args:
        claim: its id.
        estimate: the effect. Those in the unit ``share`` are fractions: 0.032 is shown as +3.2
            points. nan for both ends of the interval says that there is none.
        trained: every fitted retriever that the effect rests on. Each must have three seeds and
            have ``learned``, or it is undecided. () says that nothing was trained. If nothing is
            said, that holds of claims that need no trained retriever, and of quantities that are
            no share.
        criterion: its name, where the claim has several. ``case``: what it was tried on.
        how: the measure, by default the claim's own. ``seed``: of the run.
        learned: whether what was trained is better than its start, by :func:`cell_of`.
        untestable: why the numbers say nothing of the claim, if so (:func:`is_a_bound`,
            :func:`cannot_read`, :func:`too_low`).

    Raises :class:`InputError` for an unknown claim or criterion, and an effect that is no number.
    """
    _expect_known(claim, criterion, estimate)
    rule = CRITERIA[claim, criterion]
    measured = Finding(
        claim=claim,
        criterion=criterion,
        case=case,
        effect=float(estimate.value),
        low=_none_if_nan(estimate.low),
        high=_none_if_nan(estimate.high),
        unit=rule.unit,
        expected=rule.expected,
        n=int(estimate.n),
        seed=seed,
        verdict="",
        how=how or CLAIMS[claim].measure,
        paper_number=CLAIMS[claim].paper_number,
        p=_none_if_nan(estimate.p),
        differ=estimate.differ,
        rival=_none_if_nan(estimate.rival),
        draws=estimate.draws,
        learned=_have_learned(CLAIMS[claim].needs, rule, trained, learned),
        seeds=_n_seeds(trained or ()),
        untestable=untestable,
    )
    state, why = verdict(measured, rule)
    return replace(measured, verdict=state, why=why)


def _expect_known(claim: str, criterion: str, estimate: Estimate) -> None:
    if (claim, criterion) not in CRITERIA:
        raise InputError(
            f"expected a claim and a criterion of claims.toml, not {criterion!r}",
            record=claim,
        )
    if not isfinite(estimate.value):
        raise InputError(f"expected a number, not {estimate.value}", record=claim, field="effect")


def _none_if_nan(value: float) -> float | None:
    return None if isnan(value) else float(value)


def cell_of(retriever: Retriever) -> Cell:
    """Which method with which settings, but for the seed."""
    settings = asdict(retriever.settings) | {"seed": 0}
    return retriever.name, *sorted(settings.items())


def _n_seeds(trained: Sequence[Retriever]) -> int:
    """How many seeds there are of each cell, at least."""
    return min(Counter(map(cell_of, trained)).values(), default=0)


def has_learned(gain: Estimate) -> bool:
    """Whether a network is better than the one that its training began with.

    ``gain`` is the paired difference of the two on questions that chose nothing.
    """
    return gain.low > 0


def _have_learned(
    needs: Texts,
    rule: Criterion,
    trained: Sequence[Retriever] | None,
    learned: Mapping[Cell, bool],
) -> bool | None:
    """Whether all that was trained has learned; None where nothing was trained."""
    if trained:
        return all(learned.get(cell_of(retriever), False) for retriever in trained)
    is_unsaid = trained is None and "trained retriever" in needs
    return False if is_unsaid and rule.unit in ("share", "slope") else None


# ---- what is no test


def is_a_bound(better: Retriever, other: Retriever) -> str:
    """Why the difference of two is a bound: one of them alone sees gold fields; or empty."""
    if better.sees_gold == other.sees_gold:
        return ""
    seeing = better if better.sees_gold else other
    return f"a bound: {seeing.name} sees gold fields"


def cannot_read(golden: ndarray, nothing: ndarray, seed: int = 0, **draws: int) -> str:
    """Why no finding of a reader counts, or empty.

    It must answer better (n,) from the gold passages than from nothing.
    """
    gain = paired(golden, nothing, seed, **draws)
    if gain.low > 0:
        return ""
    low, value, high = (show(100 * end, "", sign=True) for end in (gain.low, gain.value, gain.high))
    return f"the reader can't read: golden over nothing {value} [{low}, {high}]"


def too_low(*levels: float) -> str:
    """Why shares can't be told apart: all are below 5 %; or empty."""
    if max(levels) >= FLOOR:
        return ""
    return f"a floor: none has more than {show(max(levels), 'share')} %"


# ---- the verdict


def verdict(finding: Finding, criterion: Criterion) -> tuple[str, str]:
    """What a finding says of a criterion of its claim, and why where it can say nothing.

    Reproduced (by a proxy: its mechanism): the interval lies wholly inside the claimed range, and
    of a sign the exact test is as sure. Not reproduced: it lies wholly outside; or, for a gain (or
    loss) in a share, stays wholly short of one point. Undecided is the rest. Not tested is what
    could not have come out otherwise.
    """
    if why := _is_no_test(finding, criterion):
        return NOT_TESTED, why
    if why := _says_too_little(finding, criterion):
        return UNDECIDED, why
    state = _by_interval(finding, criterion)
    why = _doubt(state, finding, criterion)
    return (UNDECIDED, why) if why else (state, "")


def _is_no_test(finding: Finding, criterion: Criterion) -> str:
    """Why the numbers could not have come out otherwise; or empty."""
    if finding.untestable or criterion.cannot_fail:
        return finding.untestable or criterion.cannot_fail
    return "both sides have the same numbers" if finding.differ == 0 else ""


def _says_too_little(finding: Finding, criterion: Criterion) -> str:
    """Why nothing can be decided, whatever the effect; empty where something can."""
    if finding.low is None or finding.high is None:
        return "no interval"
    if finding.learned is False and not finding.seeds:
        return "it is not said what was trained"
    if finding.learned is not None and finding.seeds < N_SEEDS:
        return f"{finding.seeds} of {N_SEEDS} training seeds"
    if finding.learned is False:
        return "a network is not shown to be better than its start"
    if finding.differ == 1 and not criterion.spans_zero:
        return "1 question differs"
    return ""


def _by_interval(finding: Finding, criterion: Criterion) -> str:
    """The verdict by where the interval lies."""
    # The rule of three widens an interval that few questions tell of.
    slack = 3 / finding.n if _few_differ(finding) else 0
    low = finding.low - slack
    high = finding.high + slack
    if criterion.above < low and high < criterion.below:
        return MECHANISM if CLAIMS[finding.claim].kind == "proxy" else REPRODUCED
    return NOT_REPRODUCED if _is_outside(low, high, criterion) else UNDECIDED


def _doubt(state: str, finding: Finding, criterion: Criterion) -> str:
    """What speaks against the verdict by the interval, or why that is none; or empty."""
    if state == UNDECIDED:
        return _lacks_power(finding, criterion)
    if state != NOT_REPRODUCED and _may_be_chance(finding, criterion):
        return f"{finding.differ} questions differ, exact p {finding.p:.2g}"

    # Where equality is claimed, a difference shows that there was room for it.
    needs_room = not (criterion.spans_zero and state == NOT_REPRODUCED)
    if needs_room and _has_no_room(finding, criterion):
        return f"no room: the other has {show(finding.rival, 'share')} %"
    return ""


def _few_differ(finding: Finding) -> bool:
    """Whether too few questions differ for resampling to tell what the next would do."""
    return finding.differ is not None and finding.differ < FEW


def _may_be_chance(finding: Finding, criterion: Criterion) -> bool:
    """Whether a sign is claimed, of which the exact test is less sure than the interval."""
    claims_sign = 0 in (criterion.above, criterion.below)
    return claims_sign and finding.p is not None and finding.p >= 1 - LEVEL


def _lacks_power(finding: Finding, criterion: Criterion) -> str:
    """How many questions an interval as narrow as the claimed range would need; or empty."""
    width = finding.high - finding.low
    claimed = criterion.below - criterion.above
    if isinf(claimed) or width < claimed:
        return ""
    n_needed = ceil(finding.n * (width / claimed) ** 2)
    return f"the interval is wider than the claimed range: some {n_needed:,} questions are needed"


def _is_outside(low: float, high: float, criterion: Criterion) -> bool:
    """Whether the interval lies beside the claimed range, or of gains holds only tiny ones."""
    claimed = (criterion.above, criterion.below)
    is_gain = criterion.is_share and claimed in ((0, inf), (-inf, 0))  # or a loss
    smallest = SMALLEST_GAIN if is_gain else 0
    return high < criterion.above + smallest or low > criterion.below - smallest


def _has_no_room(finding: Finding, criterion: Criterion) -> bool:
    """Whether the rival's share is at an end that the claimed range reaches beyond.

    At the floor, a gain must lead off it.
    """
    if finding.rival is None or not criterion.is_share:
        return False
    at_ceiling = finding.rival > 1 - SMALLEST_GAIN and criterion.below > 0
    lowest = finding.rival
    if criterion.above >= 0:
        lowest = max(lowest, lowest + finding.effect)
    return at_ceiling or lowest < FLOOR


# ---- for people


def verdicts(findings: Iterable[Finding]) -> DataFrame:
    """Findings as a table to read, a row each.

    Columns: claim, place (in the paper), what (criterion and case), effect with interval, what was
    expected, n, verdict, the paper's number.
    """
    rows = []
    for finding in findings:
        claim = CLAIMS[finding.claim]
        rows.append(
            [
                claim.id,
                f"{claim.paper} {claim.source}",
                ", ".join(filter(None, [finding.criterion, finding.case])),
                show_effect(finding),
                finding.expected,
                finding.n,
                " ".join(filter(None, [finding.verdict, in_brackets(finding.why)])),
                finding.paper_number,
            ]
        )
    return DataFrame(
        rows,
        columns=[
            "claim",
            "place",
            "what",
            "effect",
            "expected",
            "n",
            "verdict",
            "the paper's number",
        ],
    )


def show_effect(finding: Finding) -> str:
    """An effect with its interval for people, and its range over training seeds.

    ``+3.2 [+1.0, +5.4] points (seeds +2.9 to +3.4)``
    """

    def signed(value: float) -> str:
        return show(value, finding.unit, sign=True)

    parts = [signed(finding.effect)]
    if finding.low is not None and finding.high is not None:
        parts.append(f"[{signed(finding.low)}, {signed(finding.high)}]")
    parts.append("points" if finding.unit == "share" else finding.unit)
    if finding.draws:
        parts.append(f"(seeds {signed(min(finding.draws))} to {signed(max(finding.draws))})")
    return " ".join(parts)


def in_brackets(text: str) -> str:
    """``(text)``; nothing of nothing."""
    return f"({text})" if text else ""
