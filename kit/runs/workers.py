"""Cells of a grid done by several processes, here or on a cluster; for one that dies, another does its cell."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from concurrent.futures.process import BrokenProcessPool
from threading import Event, Thread
from typing import Any

from joblib import Parallel, delayed

from kit.errors import InputError

DEATHS = 3  # of workers in a row, with nothing done in between, after which a sweep is given up
PATIENCE = 10  # seconds in which a scheduler must answer


def done_by_workers(
    function: Callable[..., Any], cells: Sequence[Any], *shared: Any, jobs: int = 1, scheduler: str = ""
) -> Iterator[tuple[int, Any]]:
    """``function(cell, *shared)`` for each cell, as they are finished: the place of the cell, and what came of it.

    By this process; with more than one of ``jobs`` by so many processes, which share the machine's cores; or by the
    workers of the dask scheduler at the address ``scheduler``. What the function raises is raised here, and the cells
    that are left are given up. Raises :class:`InputError` where workers keep dying, and where no scheduler answers.
    """
    if scheduler and cells:
        return _on_a_cluster(function, cells, shared, scheduler)
    if jobs > 1 and len(cells) > 1:
        return _by_processes(function, cells, shared, jobs)
    return ((place, function(cell, *shared)) for place, cell in enumerate(cells))


def _by_processes(
    function: Callable[..., Any], cells: Sequence[Any], shared: tuple, jobs: int
) -> Iterator[tuple[int, Any]]:
    parent = os.getpid()

    def work(place: int, cell: object) -> tuple[int, Any]:
        finished = Event()

        def watch() -> None:  # a worker whose parent was killed would go on, and then wait for ever
            while not finished.wait(1):
                if parent not in (os.getpid(), os.getppid()):
                    os._exit(1)

        Thread(target=watch, daemon=True).start()
        try:
            return place, function(cell, *shared)
        finally:
            finished.set()

    left, deaths = dict(enumerate(cells)), 0
    while left:
        try:
            pool = Parallel(jobs, return_as="generator_unordered", batch_size=1)
            for place, found in pool(delayed(work)(place, cell) for place, cell in list(left.items())):
                del left[place]
                deaths = 0
                yield place, found
        except BrokenProcessPool:
            deaths += 1
            if deaths == DEATHS:
                raise InputError(f"workers died {DEATHS} times in a row over the same cells") from None


def _on_a_cluster(
    function: Callable[..., Any], cells: Sequence[Any], shared: tuple, scheduler: str
) -> Iterator[tuple[int, Any]]:
    try:
        from dask.utils import SerializableLock
        from distributed import Client, as_completed
        from distributed.comm import get_address_host_port
        from distributed.protocol.pickle import dumps, loads
        from distributed.scheduler import KilledWorker
    except ImportError:
        raise InputError("expected the package distributed: pip install -e '.[cluster]'", field="scheduler") from None
    # A worker may have several threads, but its random states and its working folder are those of the whole process.
    alone = SerializableLock("a cell of kit sweep")

    def work(cell: object, common: tuple) -> object:
        function, shared = common
        with alone:
            return function(cell, *shared)

    try:
        # We knock first: a client that fails is closed when it is collected, and that can block the next one's start.
        socket.create_connection(get_address_host_port(scheduler), PATIENCE).close()
        client = Client(scheduler, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError, OverflowError) as error:
        raise InputError(f"no dask scheduler answers at {scheduler!r} ({error})", field="scheduler") from None

    def finished() -> Iterator[tuple[int, Any]]:
        with client:
            # Bytes on their way, sent once: the scheduler needs no kit, and if their worker dies, another reads them.
            common = client.submit(loads, dumps((function, shared)))
            futures = {client.submit(work, cell, common, pure=False): place for place, cell in enumerate(cells)}
            try:
                for future in as_completed(futures, loop=client.loop):
                    place, found = futures.pop(future), future.result()
                    future.release()  # else it would be done again if the worker that did it dies
                    yield place, found
            except KilledWorker:
                raise InputError(f"workers at {scheduler!r} died several times over the same cell") from None
            except CancelledError:
                raise InputError(f"the dask scheduler at {scheduler!r} is gone") from None

    return finished()
