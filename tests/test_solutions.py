"""The answers to the exercises run, and what they assert is true."""

from pathlib import Path

import nbformat
import pytest
from IPython.display import display

from kit.paths import NOTEBOOKS

SOLUTIONS = sorted((NOTEBOOKS / "solutions").glob("*.ipynb"))


def test_every_lesson_has_its_solutions() -> None:
    lessons = {path.name for path in NOTEBOOKS.glob("[0-9][0-9]_*.ipynb")}
    assert {path.name for path in SOLUTIONS} == lessons


@pytest.mark.parametrize("path", SOLUTIONS, ids=lambda path: path.stem)
def test_solutions_run(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In this process, which has opened what they need; a kernel for each would take minutes."""
    monkeypatch.setenv("KIT_OUTPUT", str(tmp_path))
    monkeypatch.chdir(path.parent)
    names = {"__name__": "__main__", "display": display}
    cells = nbformat.read(path, as_version=4).cells
    code_cells = [cell for cell in cells if cell.cell_type == "code"]
    assert code_cells
    for n, cell in enumerate(code_cells):
        assert not cell.outputs and cell.execution_count is None
        exec(compile(cell.source, f"{path.stem}[{n}]", "exec"), names)
