"""Work beside the kernel, stopped and told of."""

from __future__ import annotations

from threading import Event
from time import sleep

import ipywidgets as widgets

from kit.views.background import Work


def finished(act, *, stop: bool = False) -> list[BaseException | None]:
    """What the work's end was told, stopped once it has begun where that is wanted."""
    told: list[BaseException | None] = []
    begun = Event()

    def run() -> None:
        begun.set()
        act()

    work = Work(run, told.append, widgets.Output())
    work.start()
    assert begun.wait(60)
    if stop:
        work.stop()
    work.join(60)
    work.stop()  # one that comes too late
    return told


def wait() -> None:
    for _ in range(6000):
        sleep(0.01)


def test_its_end_is_told_once() -> None:
    assert finished(lambda: None) == [None]
    [error] = finished(lambda: 1 / 0)
    assert isinstance(error, ZeroDivisionError)


def test_it_is_stopped_as_by_an_interrupt() -> None:
    cleaned = []

    def act() -> None:
        try:
            wait()
        finally:
            cleaned.append(True)

    [error] = finished(act, stop=True)
    assert isinstance(error, KeyboardInterrupt) and cleaned == [True]
