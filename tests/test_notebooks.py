"""Every notebook keeps the conventions and runs; every committed figure is made by one."""

import json
import re
from pathlib import Path

import nbformat
import pandas as pd
import pytest
from nbformat import NotebookNode

from kit.corpus import Benchmark, Corpus, Passage, Question, export
from kit.lab.publishing import is_published, shown_pictures
from kit.lab.runner import find_notebooks, run
from kit.paths import NOTEBOOKS, PUBLISHED

LESSONS = sorted(NOTEBOOKS.glob("[0-9][0-9]_*.ipynb"))
PAPERS = sorted((NOTEBOOKS / "papers").glob("*.ipynb"))
SOLUTIONS = sorted((NOTEBOOKS / "solutions").glob("*.ipynb"))
RECORDS = sorted(PUBLISHED.glob("*/*.json"))
OWN_DATA = {
    "08_own_documents": "data/reports"
}  # what is about documents with pages does not read the atlas
#: Two trainings, as a verdict needs; one encoder, as the other is large.
MORE = {"bgr": {"n_trainings": "2"}, "peers": {"encoder": ""}}
MOST_CELL_LINES = 40  # of a paper's notebook; test_lessons has those of a lesson
notebooks = pytest.mark.parametrize("path", [*LESSONS, *PAPERS], ids=lambda path: path.stem)


def code_cells(node: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in node.cells if cell.cell_type == "code"]


def test_there_are_notebooks_and_their_names_give_their_order() -> None:
    assert LESSONS and all(re.fullmatch(r"\d\d_[a-z0-9_]+", path.stem) for path in LESSONS)
    assert [path.stem[:2] for path in LESSONS] == [f"{n:02}" for n in range(1, len(LESSONS) + 1)]
    assert [path.stem for path in PAPERS] == ["bgr", "gnn_ret", "kgp", "peers", "qsgnn", "ras"]


@pytest.mark.parametrize("path", [*LESSONS, *PAPERS, *SOLUTIONS], ids=lambda path: path.stem)
def test_a_notebook_is_committed_without_outputs(path: Path) -> None:
    node = nbformat.read(path, as_version=4)
    assert "widgets" not in node.metadata
    for cell in code_cells(node):
        assert not cell.outputs and cell.execution_count is None
        # What displays into an Output widget can lose a kernel's last word under nbclient: then a
        # run never ends.
        assert not re.search(r"\b(interact|interactive|Output)\(", cell.source)


@pytest.mark.parametrize("path", PAPERS, ids=lambda path: path.stem)
def test_a_papers_notebook_ends_with_its_claims_and_has_short_cells(path: Path) -> None:
    node = nbformat.read(path, as_version=4)
    text = "\n".join(cell.source for cell in node.cells if cell.cell_type == "markdown")
    headings = re.findall(r"^## (.+?)\s*$", text, re.M)
    assert headings[0] == "Parameters" and headings[-1] == "Claims"
    assert any(heading.startswith(("Table", "Figure")) for heading in headings)
    assert max(len(cell.source.splitlines()) for cell in code_cells(node)) <= MOST_CELL_LINES


def name_of(path: Path) -> str:
    """As it is asked for: "04_gnn_ret", "papers/kgp"."""
    return str(path.relative_to(NOTEBOOKS).with_suffix(""))


@notebooks
def test_one_cell_of_plain_parameters(path: Path) -> None:
    cells = code_cells(nbformat.read(path, as_version=4))
    assert ["parameters" in cell.metadata.get("tags", []) for cell in cells] == [True] + [False] * (
        len(cells) - 1
    )
    (defaults,) = find_notebooks(NOTEBOOKS, [name_of(path)]).values()
    usual = {"data": OWN_DATA.get(path.stem, ""), "scale": "class", "seed": 0, "n_questions": None}
    assert usual.items() <= defaults.items()


@notebooks
def test_runs_alone(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KIT_OUTPUT", str(tmp_path))  # the store of embeddings stays the project's
    assert run([name_of(path)], scale="smoke", parameters=MORE.get(path.stem, {})) == 0
    name = "documents-reports-smoke" if path.stem in OWN_DATA else "atlas-smoke"
    folder = tmp_path / "figures" / name
    figures = set(json.loads((folder / f"{path.stem}.json").read_text())["figures"])
    assert {Path(name).suffix for name in figures} == {".svg", ".png", ".csv"}
    assert {file.name for file in folder.iterdir()} == figures | {f"{path.stem}.json"}
    executed = tmp_path / "notebooks" / "executed" / name / path.parent.relative_to(NOTEBOOKS)
    errors = [
        out
        for cell in code_cells(nbformat.read(executed / path.name, as_version=4))
        for out in cell.outputs
    ]
    assert [out.get("text") for out in errors if out.get("name") == "stderr"] == []


def test_the_graphs_of_a_single_passage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There are no edges to draw, and the lesson says so."""
    monkeypatch.setenv("KIT_OUTPUT", str(tmp_path))
    corpus = Corpus([Passage("p", "Oll", "Oll is a town. It has a harbour.", "p")])
    single = Benchmark("single", corpus, test=[Question("q", "Where is Oll?", "Selby", (("p",),))])
    data = export(single, tmp_path / "single", "kit")
    assert run(["02"], data=str(data), scale="smoke") == 0
    folder = tmp_path / "figures" / "kit-single-smoke"
    record = json.loads((folder / "02_graphs.json").read_text())
    assert record["findings"] == []
    assert pd.read_csv(folder / "02_degrees.csv")["degree"].tolist() == [0] * 5


def test_every_committed_figure_is_made_by_a_notebook_in_a_whole_run() -> None:
    kept = {path for path in PUBLISHED.iterdir() if path.is_dir()}
    assert RECORDS and kept == {path.parent for path in RECORDS}
    made = set(RECORDS)
    shown = shown_pictures()
    for path in RECORDS:
        record = json.loads(path.read_bytes())
        source = record["provenance"]
        assert path.stem == record["notebook"]
        assert (source["scale"], source["seed"], source["data"]) == ("class", 0, path.parent.name)
        drawn = [path.parent / name for name in record["figures"]]
        made |= {file for file in drawn if is_published(file, path.parent.name, shown)}
    assert {path for folder in kept for path in folder.iterdir() if path.is_file()} == made
