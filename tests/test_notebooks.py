"""Every notebook keeps the conventions and runs; every committed figure is made by one."""

from __future__ import annotations

import json
import re
from pathlib import Path

import msgspec
import nbformat
import pytest
from nbformat import NotebookNode

from kit.paths import NOTEBOOKS, ROOT
from kit.runs.notebook import read_notebook
from kit.runs.provenance import Record
from kit.runs.runner import run

PATHS = sorted(NOTEBOOKS.glob("*.ipynb"))
RECORDS = sorted(
    path for path in (ROOT / "figures").glob("*/*.json") if not re.search("-(smoke|paper|trial)$", path.parent.name)
)
HEADINGS = [
    "What you will learn",
    "Parameters",
    "By hand",
    "The experiment",
    "Figures",
    "Explore",
    "Claims",
    "Exercises",
]
OWN_DATA = {"08_own_documents": "data/reports"}  # what is about documents with pages does not read the atlas
MOST_CELL_LINES = 40
notebooks = pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)


def code_cells(node: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in node.cells if cell.cell_type == "code"]


def test_there_are_notebooks_and_their_names_give_their_order() -> None:
    assert PATHS and all(re.fullmatch(r"\d\d_[a-z0-9_]+", path.stem) for path in PATHS)
    assert len({path.stem[:2] for path in PATHS}) == len(PATHS)


@notebooks
def test_no_outputs_are_committed(path: Path) -> None:
    node = nbformat.read(path, as_version=4)
    assert [cell for cell in code_cells(node) if cell.outputs or cell.execution_count is not None] == []
    assert "widgets" not in node.metadata


@notebooks
def test_one_cell_of_plain_parameters(path: Path) -> None:
    notebook = read_notebook(path)
    tagged = [cell for cell in notebook.node.cells if "parameters" in cell.metadata.get("tags", [])]
    assert len(tagged) == 1 and code_cells(notebook.node).index(tagged[0]) == 0
    assert {name: notebook.defaults[name] for name in ("data", "scale", "seed", "n_questions")} == {
        "data": OWN_DATA.get(path.stem, ""),
        "scale": "class",
        "seed": 0,
        "n_questions": None,
    }


@notebooks
def test_the_eight_parts_stand_in_their_order(path: Path) -> None:
    node = nbformat.read(path, as_version=4)
    text = "\n".join(cell.source for cell in node.cells if cell.cell_type == "markdown")
    assert re.findall(r"^## (.+?)\s*$", text, re.M) == HEADINGS


@notebooks
def test_cells_are_short(path: Path) -> None:
    for cell in code_cells(nbformat.read(path, as_version=4)):
        assert len(cell.source.splitlines()) <= MOST_CELL_LINES


@notebooks
def test_runs_alone(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KIT_OUTPUT", str(tmp_path))  # the store of embeddings stays the project's
    assert run([path.stem], scale="smoke") == 0
    name = "documents-reports-smoke" if path.stem in OWN_DATA else "atlas-smoke"
    folder = tmp_path / "figures" / name
    figures = set(json.loads((folder / f"{path.stem}.json").read_text())["figures"])
    assert {Path(name).suffix for name in figures} == {".svg", ".png", ".csv"}
    assert {file.name for file in folder.iterdir()} == figures | {f"{path.stem}.json"}
    executed = tmp_path / "notebooks" / "executed" / name
    html = (executed / f"{path.stem}.html").read_text("utf-8")
    assert "<script" not in html and "default-src 'none'" in html
    errors = [out for cell in code_cells(nbformat.read(executed / path.name, as_version=4)) for out in cell.outputs]
    assert [out.get("text") for out in errors if out.get("name") == "stderr"] == []


def test_every_committed_figure_is_made_by_a_notebook() -> None:
    assert RECORDS
    for folder in {path.parent for path in RECORDS}:
        made = {folder / path.name for path in RECORDS if path.parent == folder}
        for path in [path for path in RECORDS if path.parent == folder]:
            made |= {folder / name for name in msgspec.json.decode(path.read_bytes(), type=Record).figures}
        assert {path for path in folder.iterdir() if path.is_file()} == made


def test_no_folder_of_figures_lacks_its_records() -> None:
    folders = {path for path in (ROOT / "figures").iterdir() if path.is_dir()}
    kept = {path for path in folders if not re.search("-(smoke|paper|trial)$", path.name)}
    assert kept == {path.parent for path in RECORDS}


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_every_record_is_of_a_notebook_and_a_whole_run(path: Path) -> None:
    record = msgspec.json.decode(path.read_bytes(), type=Record)
    assert path.stem == record.notebook and NOTEBOOKS / f"{record.notebook}.ipynb" in PATHS
    assert (record.provenance.scale, record.provenance.seed) == ("class", 0)
    assert path.parent.name == record.provenance.data
