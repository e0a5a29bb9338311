"""Work that several processes share."""

import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

from joblib import Parallel, delayed

from kit.errors import InputError

Result = TypeVar("Result")


def in_parallel(
    work: Callable[..., Result], arguments: Iterable[tuple[Any, ...]], jobs: int
) -> Iterator[Result]:
    """What ``work`` returns for each tuple of arguments, as soon as it is there.

    One job alone stays in this process; each process computes on its share of the cores. What a
    process warns of is told here. Raises :class:`InputError` where one dies.
    """
    calls = (delayed(_with_warnings)(work, call_arguments) for call_arguments in arguments)
    try:
        with warnings.catch_warnings():
            # A process whose memory has grown is replaced by a fresh one, and nothing is lost.
            warnings.filterwarnings("ignore", "A worker stopped while some jobs were given")
            done = Parallel(jobs, return_as="generator_unordered", batch_size=1)(calls)
            for result, messages in done:
                for message in messages:
                    warnings.warn(message, stacklevel=2)
                yield result
    except BrokenProcessPool:
        raise InputError(
            "a worker died (out of memory?); the same command goes on where it stopped"
        ) from None


def _with_warnings(
    work: Callable[..., Result], call_arguments: tuple[Any, ...]
) -> tuple[Result, list[Warning]]:
    """The result, and what was warned of meanwhile, which another process has no place to tell."""
    with warnings.catch_warnings(record=True) as caught:
        result = work(*call_arguments)
    return result, [warning.message for warning in caught]
