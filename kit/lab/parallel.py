"""Work that several processes share."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

from joblib import Parallel, delayed

from kit.errors import InputError

Found = TypeVar("Found")


def in_parallel(
    work: Callable[..., Found], each: Iterable[tuple[Any, ...]], jobs: int
) -> Iterator[Found]:
    """What ``work`` finds for the arguments of each, as soon as it is found; one job alone stays in this process.

    Each process computes on its share of the cores. Raises :class:`InputError` where one dies.
    """
    try:
        yield from Parallel(jobs, return_as="generator_unordered", batch_size=1)(
            delayed(work)(*of) for of in each
        )
    except BrokenProcessPool:
        raise InputError(
            "a worker died (out of memory?); the same command goes on where it stopped"
        ) from None
