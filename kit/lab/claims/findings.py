"""A finding: what a run measured for one criterion of a claim, with its verdict."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import inf, isfinite, isnan

import msgspec
from msgspec.structs import asdict, replace
from pandas import DataFrame

from kit.corpus.types import Texts
from kit.errors import InputError
from kit.evaluation.statistics import Estimate
from kit.lab.claims.claims import CLAIMS, CRITERIA, Criterion, show
from kit.methods import Retriever

REPRODUCED = "reproduced"
#: By a proxy that succeeds: the cause that the paper names holds, not the paper's number.
MECHANISM = "mechanism reproduced"
NOT_REPRODUCED = "not reproduced"
UNDECIDED = "undecided"

#: A claimed gain is not reproduced if its interval lies wholly below this, even if it spans 0.
SMALLEST_GAIN = 0.01
N_SEEDS = 3  # of training, at least, for a verdict on what is trained


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """What one run measured for one criterion of a claim, on one data set; made by :func:`finding`.

    ``case`` names what the claim was tried on where it speaks of several (a builder, a baseline, a
    context size). ``low`` and ``high`` end the 95 % interval over ``n`` questions, None where there
    is none; differ, rival and draws are those of the estimate. ``learned`` and ``seeds`` are of
    what was trained for it. ``why`` says why no verdict was possible.
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
    differ: int | None = None
    rival: float | None = None
    draws: tuple[float, ...] = ()
    learned: bool | None = None
    seeds: int = 0
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
) -> Finding:
    """What was measured for a claim, with its verdict.

    Args:
        claim: its id.
        estimate: the effect. Those in the unit ``share`` are fractions: 0.032 is shown as +3.2
            points. nan for both ends of the interval says that there is none.
        trained: every fitted retriever that the effect rests on. Each must have three seeds and be
            better on dev questions than at its start, or the finding is undecided. () says that
            nothing was trained. If nothing is said, that holds of claims that need no trained
            retriever, and of quantities that are no share.
        criterion: its name, where the claim has several.
        case: what the claim was tried on.
        how: the measure, by default the claim's own.
        seed: of the run.

    Raises :class:`InputError` for an unknown claim or criterion, and an effect that is no number.
    """
    if (claim, criterion) not in CRITERIA:
        raise InputError(
            f"expected a claim and a criterion of claims.toml, not {criterion!r}",
            record=claim,
        )
    if not isfinite(estimate.value):
        raise InputError(f"expected a number, not {estimate.value}", record=claim, field="effect")

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
        differ=estimate.differ,
        rival=_none_if_nan(estimate.rival),
        draws=estimate.draws,
        learned=_learned(CLAIMS[claim].needs, rule, trained),
        seeds=_n_seeds(trained or ()),
    )
    state, why = verdict(measured, rule)
    return replace(measured, verdict=state, why=why)


def _none_if_nan(value: float) -> float | None:
    return None if isnan(value) else float(value)


def _learned(
    needs: Texts,
    rule: Criterion,
    trained: Sequence[Retriever] | None,
) -> bool | None:
    """Whether all that was trained has learned; None where nothing was trained."""
    if trained:
        return all(has_learned(retriever.history) for retriever in trained)
    is_unsaid = trained is None and "trained retriever" in needs
    return False if is_unsaid and rule.unit in ("share", "slope") else None


def _n_seeds(trained: Sequence[Retriever]) -> int:
    """How many seeds there are of each method with the same settings, at least."""
    cells = Counter()
    for retriever in trained:
        settings = asdict(retriever.settings) | {"seed": 0}
        cells[retriever.name, *sorted(settings.items())] += 1
    return min(cells.values(), default=0)


def has_learned(history: Sequence[Mapping[str, float]]) -> bool:
    """Whether training brought the best check on dev questions above its start.

    Without checks: whether it brought the loss over all questions down.
    """
    scores = [row["measured"] for row in history if "measured" in row]
    if not scores:
        scores = [-row["loss"] for row in history if "step" not in row]
    return bool(scores) and max(scores) > scores[0]


# ---- the verdict


def verdict(finding: Finding, criterion: Criterion) -> tuple[str, str]:
    """What a finding says of a criterion of its claim, and why where it can say nothing.

    Reproduced (by a proxy: its mechanism): the interval lies wholly inside the claimed range. Not
    reproduced: it lies wholly outside; or, for a gain (or loss) in a share, stays wholly short of
    one point. Undecided is the rest.
    """
    why = _says_too_little(finding, criterion)
    if why:
        return UNDECIDED, why

    # The rule of three widens an interval that hardly any question tells of.
    slack = 3 / finding.n if _hardly_differs(finding) else 0
    low = finding.low - slack
    high = finding.high + slack
    if criterion.above < low and high < criterion.below:
        state = MECHANISM if CLAIMS[finding.claim].kind == "proxy" else REPRODUCED
    elif _is_outside(low, high, criterion):
        state = NOT_REPRODUCED
    else:
        state = UNDECIDED

    # Where equality is claimed, a difference shows that there was room for it.
    needs_room = not (criterion.spans_zero and state == NOT_REPRODUCED)
    if needs_room and _has_no_room(finding.rival, criterion):
        return UNDECIDED, f"no room: the other has {show(finding.rival, 'share')} %"
    return state, ""


def _says_too_little(finding: Finding, criterion: Criterion) -> str:
    """Why nothing can be decided, whatever the effect; empty where something can."""
    if finding.low is None or finding.high is None:
        return "no interval"
    if finding.learned is False and not finding.seeds:
        return "it is not said what was trained"
    if finding.learned is False:
        return "a network did not demonstrably learn"
    if finding.learned and finding.seeds < N_SEEDS:
        return f"{finding.seeds} of {N_SEEDS} training seeds"
    if _hardly_differs(finding) and not criterion.spans_zero:
        return f"{finding.differ or 'no'} question differs"
    return ""


def _hardly_differs(finding: Finding) -> bool:
    """Whether no resampling tells what the next question would do, as one or none differs."""
    return finding.differ is not None and finding.differ < 2


def _is_outside(low: float, high: float, criterion: Criterion) -> bool:
    """Whether the interval lies beside the claimed range, or of gains holds only tiny ones."""
    claimed = (criterion.above, criterion.below)
    is_gain = criterion.is_share and claimed in ((0, inf), (-inf, 0))  # or a loss
    smallest = SMALLEST_GAIN if is_gain else 0
    return high < criterion.above + smallest or low > criterion.below - smallest


def _has_no_room(rival: float | None, criterion: Criterion) -> bool:
    """Whether the rival's share is at an end that the claimed range reaches beyond."""
    if rival is None or not criterion.is_share:
        return False
    at_ceiling = rival > 1 - SMALLEST_GAIN and criterion.below > 0
    at_floor = rival < SMALLEST_GAIN and criterion.above < 0
    return at_ceiling or at_floor


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
