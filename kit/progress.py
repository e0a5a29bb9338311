"""Progress bars that say in words what is done, and vanish when it is."""

from collections.abc import Iterable
from multiprocessing import parent_process
from typing import Any

from tqdm.auto import tqdm

ProgressBar = tqdm


def progress_bar(items: Iterable | None = None, *, shown: bool = True, **about: Any) -> ProgressBar:
    """A bar over ``items``, or one to update; ``about`` is as of tqdm.

    Workers show none: theirs would pile up as text. ``TQDM_DISABLE=1`` turns off all.
    """
    if not shown or parent_process():
        return tqdm(items, disable=True)
    return tqdm(items, leave=False, **about)
