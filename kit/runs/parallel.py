"""Cells done by several processes, here or on a cluster (joblib); for one that dies, another does its cell."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import nullcontext
from threading import Event, Thread
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
        return ((place, function(cell)) for place, cell in enumerate(cells))
    if not scheduler:
        return _by_workers(_Cell(function, os.getpid()), cells, jobs, BrokenProcessPool)
    try:
        from distributed import KilledWorker
    except ImportError:
        raise InputError("expected the package distributed: pip install -e '.[cluster]'", field="scheduler") from None
    client = _client(scheduler)
    return _by_workers(_Cell(function, 0), cells, -1, KilledWorker, client)


class _Cell:
    """The function as a worker calls it: with the place of its cell; it ends with the process that asked for it."""

    def __init__(self, function: Callable[[Any], Any], parent: int) -> None:
        self.function, self.parent = function, parent

    def __call__(self, place: int, cell: object) -> tuple[int, Any]:
        finished = Event()
        if self.parent:
            Thread(target=self._watch, args=[finished], daemon=True).start()
        try:
            return place, self.function(cell)
        finally:
            finished.set()

    def _watch(self, finished: Event) -> None:
        """A worker whose parent was killed would go on, and then wait for ever."""
        while not finished.wait(1):
            if self.parent not in (os.getpid(), os.getppid()):
                os._exit(1)


def _client(scheduler: str) -> Any:
    from distributed import Client

    try:
        # We knock first: a client that fails is closed when it is collected, and that can block the next one's start.
        address = urlsplit(scheduler)
        socket.create_connection((address.hostname or "", address.port or 0), PATIENCE).close()
        return Client(scheduler, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError, OverflowError) as error:
        raise InputError(f"no dask scheduler answers at {scheduler!r} ({error})", field="scheduler") from None


def _by_workers(
    work: _Cell, cells: Sequence[Any], jobs: int, death: type[Exception], client: Any = None
) -> Iterator[tuple[int, Any]]:
    left, deaths = dict(enumerate(cells)), 0
    with client or nullcontext():
        while left:
            try:
                with parallel_config(backend="dask", client=client) if client else nullcontext():
                    pool = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)
                for place, found in pool(delayed(work)(place, cell) for place, cell in list(left.items())):
                    del left[place]
                    deaths = 0
                    yield place, found
            except death:
                deaths += 1
                if deaths == DEATHS:
                    raise InputError(f"workers died {DEATHS} times in a row over the same cells") from None
