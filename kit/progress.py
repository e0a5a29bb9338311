"""Progress bars that say in words what is done, and vanish when it is."""

from collections.abc import Iterable
from multiprocessing import parent_process
from typing import Any
from weakref import WeakSet

from tqdm.auto import tqdm

ProgressBar = tqdm

_SHOWN: WeakSet[ProgressBar] = WeakSet()


def progress_bar(items: Iterable | None = None, *, shown: bool = True, **about: Any) -> ProgressBar:
    """A bar over ``items``, or one to update; ``about`` is as of tqdm.

    Workers show none: theirs would pile up as text. ``TQDM_DISABLE=1`` turns off all.
    """
    if not shown or parent_process():
        return tqdm(items, disable=True)
    bar = tqdm(items, leave=False, **about)
    _SHOWN.add(bar)
    return bar


def close_bars() -> None:
    """Take away what an error has left, so that its message has a line of its own."""
    for bar in list(_SHOWN):
        bar.close()
