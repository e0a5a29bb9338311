"""Which results are committed: the numbers of all figures, a picture only where a text shows it."""

import re
from collections.abc import Collection
from pathlib import Path

from kit import paths
from kit.lab.catalogue import LESSONS, PAPERS, notebooks_in

_NUMBERS = (".csv", ".json")
_PICTURE = re.compile(r"figures/published/([\w-]+/[\w-]+\.png)")


def shown_pictures() -> set[str]:
    """The published pictures that the README or a notebook names, as ``DATASET/NAME.png``."""
    texts = [paths.ROOT / "README.md", *paths.NOTEBOOKS.glob("*.md")]
    for shelf in (LESSONS, PAPERS):
        texts += notebooks_in(paths.NOTEBOOKS, shelf)
    readable = [file.read_text("utf-8") for file in texts if file.is_file()]
    return set(_PICTURE.findall("\n".join(readable)))


def is_published(file: Path, dataset: str, shown: Collection[str]) -> bool:
    """Whether a file that a run drew belongs to the committed ones."""
    return file.suffix in _NUMBERS or f"{dataset}/{file.name}" in shown
