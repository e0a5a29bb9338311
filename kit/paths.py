"""Where the project lies, and where what it makes goes."""

import os
from pathlib import Path

#: The checkout: the folder that holds ``kit/``, ``notebooks/`` and ``data/``.
ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = ROOT / "notebooks"
#: The committed figures, which only `kit run --publish` replaces.
PUBLISHED = ROOT / "figures" / "published"
ATLAS = ROOT / "data" / "atlas"
DOWNLOADS = ROOT / "data" / "downloads"
ANSWERS = ROOT / "data" / "answers"


def output() -> Path:
    """The folder of figures and executed notebooks: ``KIT_OUTPUT``, or the checkout."""
    return Path(os.environ.get("KIT_OUTPUT") or ROOT)


def cache() -> Path:
    """The folder of the store of costly results: ``KIT_CACHE``, or ``data/cache``."""
    return Path(os.environ.get("KIT_CACHE") or ROOT / "data" / "cache")
