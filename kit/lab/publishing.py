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
    files = [paths.ROOT / "README.md"]
    files += paths.NOTEBOOKS.glob("*.md")
    files += notebooks_in(paths.NOTEBOOKS, LESSONS)
    files += notebooks_in(paths.NOTEBOOKS, PAPERS)

    shown = set()
    for file in files:
        if file.is_file():
            shown.update(_PICTURE.findall(file.read_text("utf-8")))
    return shown


def is_published(file: Path, dataset: str, shown: Collection[str]) -> bool:
    """Whether a file that a run drew belongs to the committed ones."""
    if file.suffix in _NUMBERS:
        return True
    return f"{dataset}/{file.name}" in shown
