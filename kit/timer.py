"""Where the time of a retrieval goes: parts of the code report to a timer, if one is running.

Code marks a part of its work with ``with timer.part("encoding"):``. While nobody measures, that
costs next to nothing. While somebody does, in ``with timer.running() as clock:``, the seconds of
each part are added up, without what other parts take within it.
"""

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class Clock:
    """The seconds of each part, and the texts that were encoded.

    ``cold`` says that nothing kept in the store counts: what a user asks for the first time must be
    encoded and generated anew. ``vectors`` then takes the store's place for encoded queries.
    """

    def __init__(self, cold: bool) -> None:
        self.cold = cold
        self.seconds: Counter[str] = Counter()
        self.texts: set[str] = set()
        self.vectors: dict[bytes, bytes] = {}


_RUNNING: ContextVar[Clock | None] = ContextVar("running clock", default=None)


@contextmanager
def running(*, cold: bool = True) -> Iterator[Clock]:
    """A clock that the parts of the code inside report to."""
    clock = Clock(cold)
    token = _RUNNING.set(clock)
    try:
        yield clock
    finally:
        _RUNNING.reset(token)


def clock() -> Clock | None:
    """The running clock, or None."""
    return _RUNNING.get()


def is_cold() -> bool:
    """Whether a clock runs for which stored results do not count."""
    running_clock = _RUNNING.get()
    return running_clock is not None and running_clock.cold


@contextmanager
def part(name: str) -> Iterator[None]:
    """Work whose time belongs to the part ``name``."""
    running_clock = _RUNNING.get()
    if running_clock is None:
        yield
        return

    seconds = running_clock.seconds
    start = time.perf_counter()
    counted_before = seconds.total()
    try:
        yield
    finally:
        counted_within = seconds.total() - counted_before
        seconds[name] += time.perf_counter() - start - counted_within
