"""Notebooks as they are handed out: to work in, and with the solutions taken out."""

import re
from pathlib import Path

import nbformat
import pytest
from click.testing import CliRunner
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from kit.errors import InputError
from kit.lab.catalogue import notebooks_in
from kit.lab.cli import cli
from kit.lab.handing_out import write_lessons, write_student_lessons
from kit.lab.student import BEGIN, END, STUB, without_solutions
from kit.paths import NOTEBOOKS

METHOD = f"""def area(a, b):
    total = 0
    {BEGIN}
    for _ in range(b):
        total += a
    {END}
    return total"""
STUBBED = """def area(a, b):
    total = 0
    # YOUR CODE HERE
    raise NotImplementedError()
    return total"""
SOLUTION = re.compile(rf"^([ \t]*){BEGIN}\n(.*?)^[ \t]*{END}$", re.M | re.S)


def lesson(*sources: str) -> nbformat.NotebookNode:
    return new_notebook(cells=[new_markdown_cell("# Areas"), *map(new_code_cell, sources)])


def test_a_solution_gives_way_to_a_stub_and_its_tests_give_a_point() -> None:
    cells = without_solutions(
        lesson("assert 1", METHOD, "%time area(1, 2)", "assert area(2, 3) == 6"), ""
    ).cells
    assert [cell.source for cell in cells[1:]] == [
        "assert 1",
        STUBBED,
        "%time area(1, 2)",
        "assert area(2, 3) == 6",
    ]
    graded = [cell.metadata.get("nbgrader") for cell in cells]
    common = {"schema_version": 3, "task": False}
    method = {"grade_id": "solution-3", "solution": True, "grade": False, "locked": False}
    test = {"grade_id": "test-5", "solution": False, "grade": True, "locked": True, "points": 1}
    assert graded == [None, None, common | method, None, common | test]


def test_the_lesson_itself_keeps_its_solutions() -> None:
    notebook = lesson(METHOD)
    without_solutions(notebook, "")
    assert notebook.cells[1].source == METHOD
    assert "nbgrader" not in notebook.cells[1].metadata


@pytest.mark.parametrize(
    ("source", "line"),
    [
        (f"x = 1\n{BEGIN}\nx = 2", f"expected '{END}' after '{BEGIN}'"),
        (f"x = 1\n{END}", f"expected '{BEGIN}' before '{END}'"),
        (f"{BEGIN}\n{BEGIN}\n{END}", f"expected '{END}' before another '{BEGIN}'"),
    ],
)
def test_a_marker_alone_is_refused_before_anything_is_written(
    project, tmp_path: Path, monkeypatch, source: str, line: str
) -> None:
    monkeypatch.setattr("kit.paths.NOTEBOOKS", project.notebooks)
    project.write("01_fine", METHOD)
    project.write("02_odd", source)
    with pytest.raises(InputError) as caught:
        write_student_lessons(tmp_path / "class")
    assert str(caught.value) == f"02_odd.ipynb, cell 3: {line}"
    assert not (tmp_path / "class").exists()


def test_what_students_have_written_is_left_as_it_is(project, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("kit.paths.NOTEBOOKS", project.notebooks)
    project.write("01_first", METHOD)
    project.write("02_second", METHOD)
    project.write("papers/kgp")
    for name in ("GLOSSARY.md", "TEACHING.md"):
        (project.notebooks / name).write_text("Words.")
    folder = tmp_path / "class"
    brought = ["papers/kgp.ipynb", "GLOSSARY.md"]
    assert write_student_lessons(folder, ["1"]).names == ["01_first.ipynb", *brought]
    mine = folder / "01_first.ipynb"
    mine.write_text("my notes")
    written = write_student_lessons(folder)
    assert written.names == ["02_second.ipynb"]
    assert written.kept == ["01_first.ipynb", *brought]
    assert mine.read_text() == "my notes"
    cells = nbformat.read(folder / "02_second.ipynb", as_version=4).cells
    assert cells[-1].source == STUBBED
    with pytest.raises(InputError, match="expected lessons, not 'papers/kgp'"):
        write_student_lessons(folder, ["papers"])


def test_on_the_command_line(project, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("kit.paths.NOTEBOOKS", project.notebooks)
    project.write("01_first", METHOD)
    folder = tmp_path / "class"
    done = CliRunner().invoke(cli, ["run", "1", "--student", str(folder)])
    assert done.output == f"notebooks written into {folder}: 1; open with: jupyter lab\n"
    done = CliRunner().invoke(cli, ["lessons", str(folder)])
    assert done.output.endswith("left as they are: 01_first.ipynb\n")
    assert not project.output.exists()


@pytest.mark.parametrize("path", notebooks_in(NOTEBOOKS), ids=lambda path: path.stem)
def test_a_lesson_with_its_solutions_put_back_is_the_lesson(path: Path) -> None:
    original = nbformat.read(path, as_version=4)
    student = without_solutions(original, path.name)
    for cell, filled in zip(student.cells, original.cells):
        solutions = list(SOLUTION.finditer(filled.source))
        assert BEGIN not in cell.source and END not in cell.source
        for solution in solutions:
            indent, body = solution.groups()
            stub = "\n".join(indent + line for line in STUB)
            assert body.strip() and body not in cell.source
            assert stub in cell.source
            cell.source = cell.source.replace(stub, solution[0], 1)
        cell.metadata.pop("nbgrader", None)
    assert student == original


def test_lessons_papers_solutions_and_what_they_show_are_written(
    project, tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.setattr("kit.paths.NOTEBOOKS", project.notebooks)
    for name in ("01_first", "papers/kgp", "solutions/01_first", "executed/01_first"):
        project.write(name)
    (project.notebooks / "TEACHING.md").write_text("A plan.")
    (project.notebooks / "drawings").mkdir()
    (project.notebooks / "drawings" / "kgp.svg").write_text("<svg/>")
    names = [
        "01_first.ipynb",
        "papers/kgp.ipynb",
        "solutions/01_first.ipynb",
        "TEACHING.md",
        "drawings/kgp.svg",
    ]
    written = write_lessons(tmp_path / "mine")
    assert written.names == names and written.notebooks == names[:3]
    files = {
        path.relative_to(tmp_path / "mine").as_posix() for path in (tmp_path / "mine").rglob("*.*")
    }
    assert files == set(names)
    assert write_lessons(tmp_path / "mine").kept == names
