"""A failed notebook, told in one screen: which, where, what; no frames of libraries."""

from __future__ import annotations

import re

from papermill.exceptions import PapermillExecutionError, strip_color

from kit.runs.notebook import Notebook

_MOST_LINES, _MOST_LETTERS = 8, 1000  # of an error's message


def explain(notebook: Notebook, error: Exception, index: int) -> str:
    """What happened in the executed copy's cell ``index`` (None of its cells had begun: -1)."""
    if index < 0:
        return f"{notebook.name}: its kernel did not start ({error})"
    if not isinstance(error, PapermillExecutionError):
        return f"{notebook.name}: its kernel died in {_place(notebook, index)}\n  (often: not enough memory)"
    if error.ename == "InputError":
        return f"{notebook.name}: {error.evalue}"
    message = "\n".join(error.evalue.splitlines()[:_MOST_LINES])[:_MOST_LETTERS].replace("\n", "\n    ")
    return f"{notebook.name}: failed in {_place(notebook, index)}\n{_line(error)}  {error.ename}: {message}"


def _place(notebook: Notebook, index: int) -> str:
    """The cell's number and first line in the notebook as committed, which lacks the cell that papermill puts in."""
    tagged = [place for place, cell in enumerate(notebook.node.cells) if "parameters" in cell.metadata.get("tags", [])]
    index -= bool(tagged and index > tagged[0])
    lines = notebook.node.cells[index].source.strip().splitlines() or [""]
    return f"cell {index + 1}: {lines[0].strip()}"


def _line(error: PapermillExecutionError) -> str:
    """The line of the cell that was being run, where the traceback tells it."""
    found = re.search(r"Cell In\[\d+\], line (\d+)", strip_color("\n".join(error.traceback)))
    lines = error.source.splitlines()
    if not found or int(found[1]) > len(lines):
        return ""
    return f"  line {found[1]}: {lines[int(found[1]) - 1].strip()}\n"
