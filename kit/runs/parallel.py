"""Cells done by several processes, here or on a cluster (joblib); for one that dies, another does its cell."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import nullcontext
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

from joblib import Parallel, delayed, parallel_config

from kit.errors import InputError

DEATHS = 3  # of workers in a row, with nothing done in between, after which a sweep is given up
PATIENCE = 10  # seconds in which a scheduler must answer


def map_cells(
    function: Callable[[Any], Any], cells: Sequence[Any], *, jobs: int = 1, scheduler: str = ""
) -> Iterator[tuple[int, Any]]:
    """``function(cell)`` for each cell, as they are finished: the place of the cell, and what came of it.

    By this process; with more than one of ``jobs`` by so many processes; or by the workers of the dask scheduler at the
    address ``scheduler`` (one thread each: random states and the working folder are those of a whole process). What the
    function raises is raised here. Raises :class:`InputError` where workers keep dying or no scheduler answers.
    """
    if not cells or (jobs == 1 and not scheduler):
        return enumerate(map(function, cells))
    pooling, died = _cluster(scheduler) if scheduler else ({"n_jobs": jobs}, BrokenProcessPool)
    parent = None if scheduler else os.getpid()

    def work(place: int, cell: object) -> tuple[int, Any]:
        if parent:
            Thread(target=_end_with, args=[parent], daemon=True).start()
        return place, function(cell)

    def by_workers() -> Iterator[tuple[int, Any]]:
        left, deaths = dict(enumerate(cells)), 0
        with pooling.get("client") or nullcontext():
            while left:
                with parallel_config(**pooling):
                    pool = Parallel(return_as="generator_unordered", batch_size=1)
                try:
                    for place, found in pool(delayed(work)(place, cell) for place, cell in list(left.items())):
                        del left[place]
                        deaths = 0
                        yield place, found
                except died:
                    deaths += 1
                    if deaths == DEATHS:
                        raise InputError(f"workers died {DEATHS} times in a row over the same cells") from None

    return by_workers()


def _cluster(scheduler: str) -> tuple[dict[str, Any], type[Exception]]:
    """What joblib's pool is told, so that the scheduler does its work; and what is raised where workers die."""
    try:
        from distributed import Client, KilledWorker
    except ImportError:
        raise InputError("expected the package distributed: pip install -e '.[cluster]'", field="scheduler") from None
    try:
        # We knock first: a client that fails is closed when it is collected, and that can block the next one's start.
        address = urlsplit(scheduler)
        socket.create_connection((address.hostname or "", address.port or 0), PATIENCE).close()
        client = Client(scheduler, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError, OverflowError) as error:
        raise InputError(f"no dask scheduler answers at {scheduler!r} ({error})", field="scheduler") from None
    return {"n_jobs": -1, "backend": "dask", "client": client}, KilledWorker


def _end_with(parent: int) -> None:
    """End this process with its parent: a worker whose parent was killed would wait for ever."""
    while parent in (os.getpid(), os.getppid()):
        time.sleep(1)
    os._exit(1)
