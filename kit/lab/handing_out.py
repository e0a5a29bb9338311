"""Copies of the notebooks to work in, with what they show beside them."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import nbformat

from kit import paths
from kit.corpus.types import Texts
from kit.errors import InputError
from kit.files import atomic_write
from kit.lab.catalogue import LESSONS, PAPERS, all_notebooks, choose, full_name, shelf_of
from kit.lab.parameters import read_notebook
from kit.lab.student import without_solutions

_BESIDE = ("*.md", "drawings/*.svg")  # what is read beside the notebooks, and what they show
_FOR_TEACHERS = "TEACHING.md"


class Written(NamedTuple):
    """What was written into a folder, and what was there before and is left; names in order."""

    names: list[str]
    kept: list[str]

    @property
    def notebooks(self) -> list[str]:
        """Those of the notebooks that were written."""
        return [name for name in self.names if name.endswith(".ipynb")]


def write_lessons(folder: Path) -> Written:
    """Write lessons, papers' notebooks, solutions and all that they show; none is replaced."""
    contents = {}
    for file in [*all_notebooks(paths.NOTEBOOKS), *_beside()]:
        contents[_name(file)] = file.read_bytes()
    return _write(folder, contents)


def write_student_lessons(folder: Path, which: Texts = ()) -> Written:
    """Write the lessons, or ``which`` of them, with stubs for solutions; none is replaced.

    The papers' notebooks, which lessons link to, come with them as they are.

    Raises ``InputError``, before anything is written, for a marker that lacks its other one, and
    for what is no lesson.
    """
    contents = {}
    for file in choose(paths.NOTEBOOKS, which):
        if shelf_of(file) != LESSONS:
            raise InputError(f"expected lessons, not {full_name(file)!r}", field="notebook")
        student = without_solutions(read_notebook(file), file.name)
        contents[_name(file)] = (nbformat.writes(student) + "\n").encode()
    papers = [file for file in all_notebooks(paths.NOTEBOOKS) if shelf_of(file) == PAPERS]
    for file in [*papers, *_beside()]:
        if file.name != _FOR_TEACHERS:
            contents[_name(file)] = file.read_bytes()
    return _write(folder, contents)


def _beside() -> list[Path]:
    return [file for pattern in _BESIDE for file in sorted(paths.NOTEBOOKS.glob(pattern))]


def _name(file: Path) -> str:
    return file.relative_to(paths.NOTEBOOKS).as_posix()


def _write(folder: Path, contents: Mapping[str, bytes]) -> Written:
    kept = [name for name in contents if (folder / name).exists()]
    names = [name for name in contents if name not in kept]
    for name in names:
        atomic_write(folder / name, contents[name])
    return Written(names, kept)
