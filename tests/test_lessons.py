"""A lesson keeps its form: short cells, words after every figure, hints and solutions."""

import re
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

from kit.paths import NOTEBOOKS

FORM = [
    "Why",
    "Parameters",
    "By hand",
    "On a corpus",
    "What it shows",
    "Explore",
    "What we saw",
    "Exercises",
]
MOST_LINES = 150  # of code
MOST_CELLS = 16
MOST_CELL_LINES = 20
LEAST_WORDS = 25  # after a figure
LINK = re.compile(r"\]\((?!http|#)([^)#]+)")


class Lesson:
    """A notebook as a test reads it."""

    def __init__(self, path: Path) -> None:
        self.name = path.stem
        self.cells: list[NotebookNode] = nbformat.read(path, as_version=4).cells
        self.code = [cell.source for cell in self.cells if cell.cell_type == "code"]
        self.words = "\n\n".join(cell.source for cell in self.cells if cell.cell_type == "markdown")

    @property
    def headings(self) -> list[str]:
        return re.findall(r"^## (.+?)\s*$", self.words, re.M)

    @property
    def exercises(self) -> list[str]:
        return re.findall(r"^\d+\. ", self.words.partition("## Exercises")[2], re.M)

    def __repr__(self) -> str:
        return self.name


LESSONS = [Lesson(path) for path in sorted(NOTEBOOKS.glob("[0-9][0-9]_*.ipynb"))]
lessons = pytest.mark.parametrize("lesson", LESSONS, ids=repr)


@lessons
def test_the_parts_are_in_their_order(lesson: Lesson) -> None:
    assert lesson.headings == FORM
    assert lesson.cells[0].source.startswith(f"# {int(lesson.name[:2])} · ")


@lessons
def test_code_is_short(lesson: Lesson) -> None:
    cells = [code.splitlines() for code in lesson.code]
    assert len(cells) <= MOST_CELLS
    assert max(map(len, cells)) <= MOST_CELL_LINES
    assert sum(bool(line.strip()) for cell in cells for line in cell) <= MOST_LINES


@lessons
def test_every_figure_has_its_paragraph(lesson: Lesson) -> None:
    figures = [n for n, cell in enumerate(lesson.cells) if "lesson.figure(" in cell.source]
    assert figures
    for n in figures:
        following = lesson.cells[n + 1]
        assert following.cell_type == "markdown", lesson.cells[n].source
        words = re.split(r"^#", following.source, maxsplit=1, flags=re.M)[0].split()
        assert len(words) >= LEAST_WORDS, following.source


@lessons
def test_every_exercise_has_a_hint_and_a_solution(lesson: Lesson) -> None:
    hints = lesson.words.count("<details><summary>Hint</summary>")
    assert len(lesson.exercises) >= 5
    assert hints == len(lesson.exercises)
    solutions = Lesson(NOTEBOOKS / "solutions" / f"{lesson.name}.ipynb")
    numbers = re.findall(r"^#+ (\d+)\b|^\*\*(\d+)\b|^(\d+)\. ", solutions.words, re.M)
    solved = {int(digits) for group in numbers for digits in group if digits}
    assert set(range(1, len(lesson.exercises) + 1)) <= solved


@lessons
def test_what_a_lesson_links_to_is_there(lesson: Lesson) -> None:
    links = LINK.findall(lesson.words)
    assert any(link.endswith("GLOSSARY.md") for link in links)
    assert any(link.startswith("drawings/") for link in links)
    for link in links:
        assert (NOTEBOOKS / link).exists(), link


@lessons
def test_a_lesson_judges_nothing(lesson: Lesson) -> None:
    code = "\n".join(lesson.code)
    assert "lesson.claim(" not in code and "lesson.judge(" not in code
    assert lesson.code[-1].rstrip().endswith("lesson.done();")
