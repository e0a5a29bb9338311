"""Which notebooks there are, what they are called, and how the names of their figures begin.

Lessons lie in ``notebooks/``, the papers' tables and claims in ``notebooks/papers/``, answers to
the exercises in ``notebooks/solutions/``. A notebook is called by its path in there without the
suffix: ``04_gnn_ret``, ``papers/kgp``, ``solutions/04_gnn_ret``.
"""

import re
from pathlib import Path

from kit import paths
from kit.corpus.types import Texts
from kit.errors import InputError

LESSONS = ""
PAPERS = "papers"
SOLUTIONS = "solutions"
_NUMBERED = "[0-9][0-9]_*.ipynb"
_PATTERNS = {LESSONS: _NUMBERED, PAPERS: "[!.]*.ipynb", SOLUTIONS: _NUMBERED}


def figure_prefix(stem: str) -> str:
    """How the names of a notebook's figures begin: a lesson's with its number, others' with all.

    ``04`` for ``04_gnn_ret`` and ``kgp`` for ``kgp``; a copy's begin like those of its original.
    """
    name = stem.rpartition("/")[2]
    digits = re.match(r"\d\d(?=_)", name)
    if digits:
        return digits[0]
    original, _, _ = name.partition("-")
    return original


def notebook_file(name: str) -> Path:
    """The file of a notebook by its name, or by its stem; a lesson comes before its solution.

    Where there is none, the file that a lesson would have.
    """
    files = [paths.NOTEBOOKS / shelf / f"{name}.ipynb" for shelf in _PATTERNS]
    return next((file for file in files if file.is_file()), files[0])


def shelf_of(notebook: Path) -> str:
    """Which folder a notebook lies in: that of the lessons, of the papers or of the solutions."""
    shelf = notebook.parent.name
    return shelf if shelf in (PAPERS, SOLUTIONS) else LESSONS


def full_name(notebook: Path) -> str:
    """What a notebook is called, with its folder."""
    return f"{shelf_of(notebook)}/{notebook.stem}".removeprefix("/")


def notebooks_in(folder: Path, shelf: str = LESSONS) -> list[Path]:
    """The notebooks of a shelf in order; a copy comes after its original."""
    return sorted((folder / shelf).glob(_PATTERNS[shelf]), key=lambda path: path.stem)


def all_notebooks(folder: Path) -> list[Path]:
    """The lessons, the papers' notebooks and the solutions."""
    notebooks = []
    for shelf in _PATTERNS:
        notebooks += notebooks_in(folder, shelf)
    return notebooks


def choose(folder: Path, which: Texts = ()) -> list[Path]:
    """The notebooks of a folder that are meant, in order: all lessons where ``which`` is empty.

    Each of ``which`` is a name or its beginning: ``04``, ``papers/bgr``, or ``papers`` for all of
    these; 3 stands for 03. Raises ``InputError`` for a name that none begins with.
    """
    if not which:
        return notebooks_in(folder)
    chosen = set()
    for name in which:
        chosen.update(_matching(folder, name))
    return [path for path in all_notebooks(folder) if path in chosen]


def _matching(folder: Path, name: str) -> list[Path]:
    """The notebooks that a name means; one that it names wholly, alone."""
    shelf, beginning = _parts(name)
    notebooks = []
    if shelf in _PATTERNS:
        notebooks = notebooks_in(folder, shelf)

    matching = [path for path in notebooks if path.stem.startswith(beginning)]
    if not matching:
        listed = ", ".join(_names(folder, shelf))
        raise InputError(
            f"expected the beginning of a notebook's name ({listed}), not {name!r}",
            field="notebook",
        )
    exact = [path for path in matching if path.stem == beginning]
    return exact or matching


def _parts(name: str) -> tuple[str, str]:
    """The shelf that a name says, and how the stem begins."""
    if name in (PAPERS, SOLUTIONS):
        return name, ""

    shelf, _, beginning = name.rpartition("/")
    if beginning.isdecimal():
        beginning = beginning.zfill(2)
    return shelf, beginning


def _names(folder: Path, shelf: str) -> list[str]:
    """What can be asked for: the notebooks of a shelf, and the other shelves that hold some."""
    meant = shelf if shelf in _PATTERNS else LESSONS
    names = [full_name(path) for path in notebooks_in(folder, meant)]
    for other in (PAPERS, SOLUTIONS):
        if notebooks_in(folder, other):
            names.append(other)
    return names
