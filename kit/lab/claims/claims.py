"""The papers' claims as data (``claims.toml``).

What is claimed, how it is measured here, and which effect would bear it out are fixed before
anything is measured.
"""

from collections.abc import Collection
from math import inf, isinf
from pathlib import Path
from typing import Literal

import msgspec

from kit.corpus.types import Strings


class Criterion(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The range in which a claim wants an effect: above ``above`` and below ``below``.

    At least one of them is given. ``unit`` is ``share`` (a mean over questions from 0 to 1, or a
    difference of two) or names another quantity. What ``decides`` is the paper's own measure: where
    it is tested, the claim's other criteria only stand beside it. ``cannot_fail`` says why every
    possible result would be on the claimed side, so that nothing is tested.
    """

    name: str = ""
    unit: str = "share"
    above: float = -inf
    below: float = inf
    decides: bool = False
    cannot_fail: str = ""

    @property
    def is_share(self) -> bool:
        return self.unit == "share"

    @property
    def spans_zero(self) -> bool:
        """Whether no difference is what is claimed."""
        return self.above < 0 < self.below

    @property
    def expected(self) -> str:
        """The range in words."""
        unit = " points" if self.is_share else ""
        low = show(self.above, self.unit)
        high = show(self.below, self.unit)
        if isinf(self.below):
            return f"> {low}{unit}"
        if isinf(self.above):
            return f"< {high}{unit}"
        if self.above == -self.below:
            return f"within ±{high}{unit}"
        return f"between {low} and {high}{unit}"


class Claim(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a paper claims, where it says so and what it measured, and how the kit tests it.

    It holds by all criteria that it needs. Where cases are ``readings`` of the paper and they
    differ, nothing is decided.
    """

    id: str
    source: str
    claim: str
    measure: str
    kind: Literal["direct", "proxy"]
    paper_number: str
    needs: Strings
    criteria: tuple[Criterion, ...]
    departs: str = ""
    readings: bool = False

    @property
    def paper(self) -> str:
        return self.id.rpartition("-")[0]

    def needed(self, tested: Collection[str]) -> set[str]:
        """The criteria by which it is decided, where those with the names ``tested`` were tested.

        Those that decide if they all were, else all that can fail.
        """
        deciding = {criterion.name for criterion in self.criteria if criterion.decides}
        if deciding and deciding.issubset(tested):
            return deciding
        return {
            criterion.name
            for criterion in self.criteria
            if not criterion.decides and not criterion.cannot_fail
        }


class _Document(msgspec.Struct):
    departs: dict[str, str]
    claims: list[Claim]


_DOCUMENT = msgspec.toml.decode(
    Path(__file__).with_name("claims.toml").read_bytes(),
    type=_Document,
)
CLAIMS = {claim.id: claim for claim in _DOCUMENT.claims}
#: By the claim's id and the criterion's name.
CRITERIA = {
    (claim.id, criterion.name): criterion
    for claim in _DOCUMENT.claims
    for criterion in claim.criteria
}
DEPARTS = _DOCUMENT.departs  # of all claims of a paper: how our setting departs from its own


def show(
    value: float,
    unit: str,
    *,
    sign: bool = False,
) -> str:
    """The number of a quantity for people.

    A share is shown in points with one decimal, anything else with three digits.
    """
    form = "+" if sign else ""
    if unit == "share":
        text = f"{100 * value:{form}.1f}"
    else:
        text = f"{value:{form}.3g}"
    return text.replace("-", "−")
