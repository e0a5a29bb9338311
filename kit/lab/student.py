"""A lesson for students: the methods' bodies are taken out, the tests that follow them stay.

What is between the lines ``### BEGIN SOLUTION`` and ``### END SOLUTION`` gives way to a stub, and
cells carry the metadata that nbgrader reads: both are its defaults, which need no nbgrader here.
"""

import ast
import re
from copy import deepcopy
from typing import Any

from nbformat import NotebookNode

from kit.errors import InputError

BEGIN = "### BEGIN SOLUTION"
END = "### END SOLUTION"
STUB = ("# YOUR CODE HERE", "raise NotImplementedError()")
_POINTS = 1  # per cell with tests


def without_solutions(notebook: NotebookNode, name: str) -> NotebookNode:
    """The notebook with a stub in the place of each solution; others are left as they are.

    A cell with a solution becomes one to fill in, and each later cell with an ``assert`` one that
    gives a point. Raises ``InputError`` with the cell (the first of the notebook is 1) where a
    marker lacks its other one.
    """
    student = deepcopy(notebook)
    has_solution = False
    for position, cell in enumerate(student.cells, start=1):
        if cell.cell_type != "code":
            continue
        source = _with_stubs(cell.source, f"{name}, cell {position}")
        if source != cell.source:
            has_solution = True
            cell.source = source
            cell.metadata["nbgrader"] = _metadata(f"solution-{position}", solution=True)
        elif has_solution and _tests(source):
            cell.metadata["nbgrader"] = _metadata(f"test-{position}", solution=False)
    return student


def _with_stubs(source: str, cell: str) -> str:
    lines = []
    in_solution = False
    for line in source.split("\n"):
        if BEGIN in line:
            if in_solution:
                raise InputError(f"expected {END!r} before another {BEGIN!r}", file=cell)
            in_solution = True
            indent = re.match(r"\s*", line)[0]
            lines += [indent + stub for stub in STUB]
        elif END in line:
            if not in_solution:
                raise InputError(f"expected {BEGIN!r} before {END!r}", file=cell)
            in_solution = False
        elif not in_solution:
            lines.append(line)
    if in_solution:
        raise InputError(f"expected {END!r} after {BEGIN!r}", file=cell)
    return "\n".join(lines)


def _tests(source: str) -> bool:
    """Whether code asserts anything when it is run."""
    try:
        statements = ast.parse(source).body
    except SyntaxError:  # a command of IPython's
        return False
    return any(
        isinstance(node, ast.Assert) for statement in statements for node in ast.walk(statement)
    )


def _metadata(grade_id: str, *, solution: bool) -> dict[str, Any]:
    """What nbgrader (schema 3) keeps of a cell: one to fill in, or one that is graded."""
    metadata = {"grade_id": grade_id, "schema_version": 3, "task": False}
    metadata |= {"solution": solution, "grade": not solution, "locked": not solution}
    if not solution:
        metadata["points"] = _POINTS
    return metadata
