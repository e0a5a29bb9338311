"""What the language models of a process cost, and the caps that servers keep to."""

import os
from collections import Counter
from threading import Lock

from kit.arguments import whole
from kit.errors import InputError
from kit.settings import read_value

#: Requests to servers and their tokens count against the caps, the others are only told.
COUNTS: Counter[str] = Counter()
_LOCK = Lock()  # requests are made by several threads
_LINE = (
    "language models: requests to servers {calls:,}; "
    "new answers {answers:,} (tokens: {read:,} read, {written:,} written); "
    "stored answers {stored:,}; cut at the longest length {cut:,}; not understood {unread:,}"
)
_CAPS = {"calls": 10_000, "tokens": 10_000_000}


def count(**amounts: int) -> None:
    """Add to what was spent.

    ``calls`` and ``tokens`` are those of servers, tries that failed included. Of all models there
    are ``answers`` with their ``read`` and ``written`` tokens, ``stored`` answers that were not
    asked for again, answers that were ``cut`` at the longest length, and ``unread`` ones, which
    whoever asked could make nothing of.
    """
    with _LOCK:
        COUNTS.update(amounts)


def spend_call() -> None:
    """Count a request to a server. Raises :class:`InputError` where a cap is reached."""
    with _LOCK:
        for unit, most in caps().items():
            if COUNTS[unit] >= most:
                raise InputError(f"the cap of {most:,} {unit} is reached (KIT_MOST_{unit.upper()})")
        COUNTS["calls"] += 1


def caps() -> dict[str, int]:
    """How many calls and tokens the environment allows a process."""
    return {unit: whole_number(f"KIT_MOST_{unit.upper()}", usual) for unit, usual in _CAPS.items()}


def whole_number(variable: str, usual: int, least: int = 0) -> int:
    """A number in the environment. Raises :class:`InputError` for another text."""
    text = os.environ.get(variable) or str(usual)
    return whole(read_value(text), variable, least=least)


def cost_line() -> str:
    """What was spent, in one line; empty where no language model was used."""
    return _LINE.format_map(COUNTS) if any(COUNTS.values()) else ""
