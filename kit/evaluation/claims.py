"""Claims of the papers, what a run found for them, and the rule that turns an effect and its interval into a verdict.

The claims are data (``claims.toml``): what is claimed, how it is measured here, and which effect would bear it out are
fixed before anything is measured. A finding is one measurement of one criterion of a claim, on one data set.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from importlib.resources import files
from typing import Literal

import msgspec
import pandas as pd

from kit.errors import InputError
from kit.evaluation.statistics import Estimate

REPRODUCED = "reproduced"
#: The verdict of a proxy that succeeds: it supports the cause that the paper names, not the paper's number.
MECHANISM = "mechanism reproduced"
NOT_REPRODUCED = "not reproduced"
UNDECIDED = "undecided"
NOT_TESTED = "not tested"
#: What the ledger says where claim, code or data have changed since a verdict was found.
STALE = "stale"

#: A claimed gain whose interval lies wholly below this is not reproduced, even if it reaches across 0.
SMALLEST_GAIN = 0.01


class Criterion(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The range in which a claim wants an effect: above ``above`` and below ``below``, at least one of them given.

    ``unit`` is ``share`` (a mean over questions from 0 to 1, or a difference of two) or names another quantity.
    ``name`` tells the criteria of one claim apart.
    """

    name: str = ""
    unit: str = "share"
    above: float = -math.inf
    below: float = math.inf

    @property
    def expected(self) -> str:
        """The range in words."""
        unit = " points" if self.unit == "share" else ""
        low, high = show(self.above, self.unit), show(self.below, self.unit)
        if math.isinf(self.below):
            return f"> {low}{unit}"
        if math.isinf(self.above):
            return f"< {high}{unit}"
        return f"within ±{high}{unit}" if self.above == -self.below else f"between {low} and {high}{unit}"


class Claim(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a paper claims and how the kit tests it.

    ``place`` is where the paper says it, ``paper_number`` what the paper measured (in the paper's setting, never a
    target), ``needs`` what a test takes. A claim is borne out if each criterion is.
    """

    id: str
    place: str
    claim: str
    measure: str
    kind: Literal["direct", "proxy"]
    paper_number: str
    needs: tuple[str, ...]
    criteria: tuple[Criterion, ...]
    caveat: str = ""

    @property
    def paper(self) -> str:
        return self.id.rpartition("-")[0]

    def criterion(self, name: str) -> Criterion:
        """The criterion of this name. Raises InputError that lists those that there are."""
        for criterion in self.criteria:
            if criterion.name == name:
                return criterion
        names = ", ".join(repr(criterion.name) for criterion in self.criteria)
        raise InputError(f"expected one of {names}, not {name!r}", record=self.id, field="criterion")

    def judged(self, rule: Criterion, effect: float, low: float | None, high: float | None, n: int) -> str:
        """The verdict on one of its criteria: a proxy that succeeds supports the mechanism only."""
        found = verdict(rule, effect, low, high, n)
        return MECHANISM if found == REPRODUCED and self.kind == "proxy" else found


_FILE = files("kit.evaluation").joinpath("claims.toml")
CLAIMS = {claim.id: claim for claim in msgspec.toml.decode(_FILE.read_bytes(), type=dict[str, list[Claim]])["claims"]}


def verdict(criterion: Criterion, effect: float, low: float | None, high: float | None, n: int) -> str:
    """What an effect with the interval [low, high], from n questions, says of a criterion.

    Reproduced: the interval lies wholly inside the claimed range. Not reproduced: it lies wholly outside; or, for a
    claimed gain (or loss) in a share, it stays wholly short of one point. Undecided: everything else, also an effect
    without an interval and a gain of less than one question.
    """
    if low is None or high is None:
        return UNDECIDED
    above, below = criterion.above, criterion.below
    is_gain = criterion.unit == "share" and (above, below) in ((0, math.inf), (-math.inf, 0))  # or a loss
    smallest = SMALLEST_GAIN if is_gain else 0
    if above < low and high < below:
        return UNDECIDED if is_gain and abs(effect) * n < 1 - 1e-9 else REPRODUCED
    return NOT_REPRODUCED if high < above + smallest or low > below - smallest else UNDECIDED


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """What one run measured for one criterion of a claim; made by ``finding``.

    ``case`` names what the claim was tried on where it speaks of several (a builder, a baseline, a context size).
    ``low`` and ``high`` end the 95 % interval over ``n`` questions, None where there is none. ``how`` says in plain
    words how it was measured, ``paper_number`` what stands in the paper.
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

    @property
    def key(self) -> tuple[str, str, str]:
        """What a later finding of the same run replaces."""
        return self.claim, self.criterion, self.case

    @property
    def stale(self) -> bool:
        """Whether the claim's rule has changed since: it has another criterion, or gives another verdict."""
        for rule in CLAIMS[self.claim].criteria:
            if rule.name == self.criterion:
                now = CLAIMS[self.claim].judged(rule, self.effect, self.low, self.high, self.n)
                return (self.unit, self.expected, self.verdict) != (rule.unit, rule.expected, now)
        return True


def finding(
    claim: str, found: Estimate, *, criterion: str = "", case: str = "", how: str = "", seed: int = 0
) -> Finding:
    """What was measured for a claim, with its verdict. ``how`` is the claim's own measure if nothing is said.

    Effects in the unit ``share`` are fractions: 0.032 is shown as +3.2 points. Raises InputError for an unknown claim
    or criterion, an effect that is no number, and an interval whose ends are in the wrong order; nan for both ends
    says that there is none.
    """
    if claim not in CLAIMS:
        raise InputError(f"expected the id of a claim, such as {next(iter(CLAIMS))}, not {claim!r}", field="claim")
    known = CLAIMS[claim]
    rule = known.criterion(criterion)
    effect, low, high, n = float(found.value), float(found.low), float(found.high), int(found.n)
    if not math.isfinite(effect):
        raise InputError(f"expected a number, not {effect}", record=claim, field="effect")
    if low > high or math.isnan(low) != math.isnan(high):
        raise InputError(f"expected an interval, not [{low}, {high}]", record=claim, field="low, high")
    ends = (None, None) if math.isnan(low) else (low, high)
    told = {"unit": rule.unit, "expected": rule.expected, "how": how or known.measure, "n": n, "seed": int(seed)}
    measured = {"effect": effect, "low": ends[0], "high": ends[1], "verdict": known.judged(rule, effect, *ends, n)}
    paper_number = known.paper_number
    return Finding(claim=claim, criterion=criterion, case=case, paper_number=paper_number, **measured, **told)


def combined(claim: Claim, findings: Iterable[Finding]) -> str:
    """The verdict of a claim on one data set from all its findings there.

    Not reproduced if one of them is; reproduced if all are and no criterion is left out; not tested without any.
    """
    findings = list(findings)
    verdicts = {found.verdict for found in findings}
    if not findings:
        return NOT_TESTED
    if NOT_REPRODUCED in verdicts:
        return NOT_REPRODUCED
    whole = {found.criterion for found in findings} == {criterion.name for criterion in claim.criteria}
    return verdicts.pop() if whole and len(verdicts) == 1 else UNDECIDED


def verdicts(findings: Iterable[Finding]) -> pd.DataFrame:
    """Findings as a table to read, a row each: claim, case, effect with interval, what was expected, verdict, paper."""
    columns = ["claim", "place", "what", "effect", "expected", "n", "verdict", "the paper's number"]
    rows = []
    for of in findings:
        place, what = (
            f"{CLAIMS[of.claim].paper} {CLAIMS[of.claim].place}",
            ", ".join(filter(None, [of.criterion, of.case])),
        )
        rows.append((of.claim, place, what, show_effect(of), of.expected, of.n, of.verdict, of.paper_number))
    return pd.DataFrame(rows, columns=columns)


def show(value: float, unit: str, *, sign: bool = False) -> str:
    """The number of a quantity for people: a share in points with one decimal, anything else with three digits."""
    form = "+" if sign else ""
    return (f"{100 * value:{form}.1f}" if unit == "share" else f"{value:{form}.3g}").replace("-", "−")


def show_effect(found: Finding) -> str:
    """An effect with its interval for people: ``+3.2 [+1.0, +5.4] points``."""
    effect, *ends = [show(x, found.unit, sign=True) for x in (found.effect, found.low, found.high) if x is not None]
    interval = f" [{', '.join(ends)}]" if ends else ""
    return f"{effect}{interval} {'points' if found.unit == 'share' else found.unit}"
