"""Where the project lies, and where what it makes goes."""

import os
from pathlib import Path

import platformdirs

from kit.errors import InputError

PACKAGE = Path(__file__).resolve().parent
CHECKOUT = PACKAGE.parent
#: What a wheel brings of the checkout's folders.
CARRIED = PACKAGE / "carried"

#: The folder that holds ``notebooks/`` and ``data/``: the checkout, or what the wheel brought.
ROOT = CARRIED if CARRIED.is_dir() else CHECKOUT
NOTEBOOKS = ROOT / "notebooks"
#: The committed figures, which only `kit run --publish` replaces.
PUBLISHED = ROOT / "figures" / "published"
ATLAS = ROOT / "data" / "atlas"
ANSWERS = ROOT / "data" / "answers"
#: Networks that learned on worlds, a folder each by the name of its method.
NETWORKS = ROOT / "data" / "networks"
#: What makes a language model fit for a role, a folder each by the role.
ADAPTERS = ROOT / "data" / "adapters"


def output() -> Path:
    """The folder of figures and executed notebooks: ``KIT_OUTPUT``, or :func:`writable`."""
    return Path(os.environ.get("KIT_OUTPUT") or writable())


def cache() -> Path:
    """The folder of the store of costly results: ``KIT_CACHE``, or ``data/cache``."""
    return Path(os.environ.get("KIT_CACHE") or writable() / "data" / "cache")


def downloads() -> Path:
    """The folder of what `kit data fetch` fetches."""
    return writable() / "data" / "downloads"


def models() -> Path:
    """The folder of language models that `kit data fetch` fetches."""
    return writable() / "data" / "models"


def writable() -> Path:
    """The checkout; without one, or where it can't be written, the user's cache folder."""
    if ROOT == CHECKOUT and os.access(CHECKOUT, os.W_OK):
        return CHECKOUT

    return platformdirs.user_cache_path("graph-retrieval-kit")


def expect_checkout(command: str) -> None:
    """Raise :class:`InputError` where a command that changes committed files has none."""
    if writable() != CHECKOUT:
        raise InputError(f"{command} changes the project's files: expected a clone of it")
