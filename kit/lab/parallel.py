"""Work that several processes share, on this machine or on a Dask cluster."""

import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any, TypeVar

from joblib import Parallel, delayed, parallel_config

from kit.errors import InputError

ALL = -1  # as many processes as there are, or workers of a cluster
SECONDS_TO_ANSWER = 10  # of a cluster

Result = TypeVar("Result")


@contextmanager
def on_cluster(address: str) -> Iterator[None]:
    """Have :func:`in_parallel` share its work among the workers of a Dask cluster.

    ``address`` is that of its scheduler, such as ``tcp://10.0.0.1:8786``. Each worker needs this
    version of the kit, and keeps what it encodes and trains in a store of its own. Raises
    :class:`InputError` where no scheduler answers.
    """
    from distributed import Client  # rarely needed

    try:
        client = Client(address, timeout=SECONDS_TO_ANSWER)
    except (OSError, ValueError):
        raise InputError(
            f"expected the address of a Dask scheduler that answers, not {address}", field="cluster"
        ) from None
    with client, parallel_config(backend="dask"):
        yield


def in_parallel(
    work: Callable[..., Result], arguments: Iterable[tuple[Any, ...]], jobs: int
) -> Iterator[Result]:
    """What ``work`` returns for each tuple of arguments, as soon as it is there.

    One job alone stays in this process; each process computes on its share of the cores. On a
    cluster (:func:`on_cluster`) ``jobs`` is :data:`ALL`. What a process warns of is told here.
    Raises :class:`InputError` where one dies.
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
