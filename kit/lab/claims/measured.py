"""What a function of a claim gives: an effect, and what it was measured for and on."""

from collections.abc import Sequence
from typing import NamedTuple

from kit.evaluation.statistics import Estimate
from kit.methods import Retriever


class Measured(NamedTuple):
    """One effect for a claim, of which :func:`kit.lab.claims.findings.finding` makes a finding.

    ``criterion`` is its name, where the claim has several. ``case`` says what it was tried on.
    ``trained`` are all fitted retrievers that it rests on; () says that nothing was trained.
    ``untestable`` says why the numbers say nothing of the claim, if so.
    """

    effect: Estimate
    criterion: str = ""
    case: str = ""
    trained: Sequence[Retriever] | None = None
    how: str = ""
    untestable: str = ""
