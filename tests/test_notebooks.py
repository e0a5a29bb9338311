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

PATHS = sorted(NOTEBOOKS.glob("*.ipynb"))
RECORDS = sorted(PUBLISHED.glob("*/*.json"))
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
#: Of a lesson in the form that all are to have.
LESSON = [
    "What you will learn",
    "Parameters",
    "The method",
    "By hand",
    "On a corpus",
    "Explore",
    "What we saw",
    "Exercises",
]
OWN_DATA = {
    "08_own_documents": "data/reports"
}  # what is about documents with pages does not read the atlas
MORE = {"14_bgr": {"n_trainings": "2"}}  # more than the default, as a verdict needs
MOST_CELL_LINES = 90
notebooks = pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)


def code_cells(node: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in node.cells if cell.cell_type == "code"]


def test_there_are_notebooks_and_their_names_give_their_order() -> None:
    assert PATHS and all(re.fullmatch(r"\d\d_[a-z0-9_]+", path.stem) for path in PATHS)
    assert len({path.stem[:2] for path in PATHS}) == len(PATHS)


@notebooks
def test_the_eight_parts_stand_in_their_order_with_short_cells_and_no_outputs(path: Path) -> None:
    node = nbformat.read(path, as_version=4)
    text = "\n".join(cell.source for cell in node.cells if cell.cell_type == "markdown")
    assert re.findall(r"^## (.+?)\s*$", text, re.M) in (HEADINGS, LESSON)
    assert max(len(cell.source.splitlines()) for cell in code_cells(node)) <= MOST_CELL_LINES
    assert [
        cell for cell in code_cells(node) if cell.outputs or cell.execution_count is not None
    ] == []
    assert "widgets" not in node.metadata
    # What displays into an Output widget can lose a kernel's last word under nbclient: then a run
    # never ends.
    assert not any(
        re.search(r"\b(interact|interactive|Output)\(", cell.source) for cell in code_cells(node)
    )


@notebooks
def test_one_cell_of_plain_parameters(path: Path) -> None:
    cells = code_cells(nbformat.read(path, as_version=4))
    assert ["parameters" in cell.metadata.get("tags", []) for cell in cells] == [True] + [False] * (
        len(cells) - 1
    )
    (defaults,) = find_notebooks(NOTEBOOKS, [path.stem]).values()
    usual = {"data": OWN_DATA.get(path.stem, ""), "scale": "class", "seed": 0, "n_questions": None}
    assert usual.items() <= defaults.items()


@notebooks
def test_runs_alone(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KIT_OUTPUT", str(tmp_path))  # the store of embeddings stays the project's
    assert run([path.stem], scale="smoke", parameters=MORE.get(path.stem, {})) == 0
    name = "documents-reports-smoke" if path.stem in OWN_DATA else "atlas-smoke"
    folder = tmp_path / "figures" / name
    figures = set(json.loads((folder / f"{path.stem}.json").read_text())["figures"])
    assert {Path(name).suffix for name in figures} == {".svg", ".png", ".csv"}
    assert {file.name for file in folder.iterdir()} == figures | {f"{path.stem}.json"}
    executed = tmp_path / "notebooks" / "executed" / name
    errors = [
        out
        for cell in code_cells(nbformat.read(executed / path.name, as_version=4))
        for out in cell.outputs
    ]
    assert [out.get("text") for out in errors if out.get("name") == "stderr"] == []


def test_the_graphs_of_a_single_passage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There are no edges, and no growth to claim."""
    monkeypatch.setenv("KIT_OUTPUT", str(tmp_path))
    corpus = Corpus([Passage("p", "Oll", "Oll is a town. It has a harbour.", "p")])
    single = Benchmark("single", corpus, test=[Question("q", "Where is Oll?", "Selby", (("p",),))])
    data = export(single, tmp_path / "single", "kit")
    assert run(["02"], data=str(data), scale="smoke") == 0
    folder = tmp_path / "figures" / "kit-single-smoke"
    record = json.loads((folder / "02_graphs.json").read_text())
    assert [finding["criterion"] for finding in record["findings"]] == ["density"]
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
