"""Parameters of notebooks: read by the syntax tree, never lost; and which make a trial."""

import json
import math
import subprocess
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from kit.errors import InputError
from kit.lab.parameters import defaults_of, is_trial, with_parameters
from kit.lab.runner import plan, run


def notebook(source: str) -> nbformat.NotebookNode:
    tagged = new_code_cell(source, metadata={"tags": ["parameters"]})
    return new_notebook(cells=[tagged, new_code_cell("print(k)")])


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("k = 5  # k=4 in the paper", 5),
        ('k = "a=b"', "a=b"),
        ("k: int = 5", 5),
        ("k: dict[str, int] | None = None  # a = b", None),
        ("k = (\n    5\n)", 5),
        ("k = -0.5", -0.5),
        ("k = [1, 2]", [1, 2]),
        ('k = float("inf")', math.inf),
        ('k = float("-inf")', -math.inf),
        ('"""What is asked."""\n# k = 3\nk = 5', 5),
        ("k = 4; k = 5", 5),
    ],
)
def test_defaults(source: str, value: object) -> None:
    assert defaults_of(notebook(source), "01.ipynb") == {"k": value}


def test_nan_as_a_default() -> None:
    assert math.isnan(defaults_of(notebook('k = float("nan")'), "01.ipynb")["k"])


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("k = 2 * 5", "field parameter k: expected a plain value such as .* expression 2 \\* 5"),
        ("j = 1\nk = j", "field parameter k: expected a plain value such as .* expression j"),
        ('k = float("many")', "field parameter k: expected a plain value"),
        ("import os", "field parameters: expected NAME = VALUE, not 'import os'"),
        ("a, b = 1, 2", "field parameters: expected NAME = VALUE"),
        ("a = b = 1", "field parameters: expected NAME = VALUE"),
        ("k += 1", "field parameters: expected NAME = VALUE"),
        ("k: int", "field parameters: expected NAME = VALUE"),
        ("%matplotlib inline", "field parameters: expected NAME = VALUE, not '%matplotlib"),
        ("k = (", "field parameters: expected NAME = VALUE, not 'k = \\('"),
    ],
)
def test_what_could_not_be_replaced_is_told_in_one_line(source: str, line: str) -> None:
    with pytest.raises(InputError, match=f"^01.ipynb, {line}"):
        defaults_of(notebook(source), "01.ipynb")


def test_no_notebook_is_told(project) -> None:
    for content in ("", "[1]", "{}", "\ufeff{", '{"cells": 5}'):
        (project.notebooks / "01_odd.ipynb").write_text(content, "utf-8")
        with pytest.raises(InputError, match=r"01_odd.ipynb: expected a notebook"):
            plan(notebooks=project.notebooks)


def test_given_values_stand_after_the_defaults() -> None:
    given = {"k": math.nan, "limit": -math.inf, "name": "a'b\n", "seed": 7}
    cells = with_parameters(notebook("k = 5"), given).cells
    assert [cell.metadata.get("tags") for cell in cells[:2]] == [
        ["parameters"],
        ["injected-parameters"],
    ]
    scope = {}
    exec(cells[1].source, scope)
    assert math.isnan(scope.pop("k"))
    assert {name: scope[name] for name in given if name in scope} == {
        name: value for name, value in given.items() if name != "k"
    }
    assert len(with_parameters(notebook("k = 5"), {}).cells) == 2


def test_an_option_reaches_a_cell_with_equals_signs_in_comments(project) -> None:
    parameters = "data = ''  # an = in words\nseed = 0  # seed=1 is another draw\nlog = '='"
    project.write("01_first", "open(log, 'a').write(f'{seed}')", parameters=parameters)
    options = {"parameters": {"log": str(project.log)}, "data": project.data}
    assert run(seed=5, notebooks=project.notebooks, **options) == 0
    assert project.logged == ["5"]


def no_such_number(text: str) -> None:
    raise AssertionError(f"{text} is no JSON")


def test_nan_is_passed_on_and_the_copy_is_json(project) -> None:
    project.write("01_first", "rate", parameters="data = ''\nrate = 0.5")
    options = {"parameters": {"rate": "nan"}, "data": project.data}
    assert run(notebooks=project.notebooks, **options) == 0
    (copy,) = project.output.rglob("01_first.ipynb")
    content = json.loads(copy.read_text("utf-8"), parse_constant=no_such_number)
    assert content["cells"][-1]["outputs"][0]["data"]["text/plain"] == ["nan"]


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with one committed notebook; its file."""
    path = tmp_path / "notebooks" / "03_odd.ipynb"
    path.parent.mkdir()
    nbformat.write(notebook("k = 5\nseed = 0\nn_trainings = 1"), path)
    monkeypatch.setattr("kit.lab.provenance.ROOT", tmp_path)
    monkeypatch.setattr("kit.paths.NOTEBOOKS", path.parent)
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "A notebook"]):
        identity = ["-c", "user.name=A", "-c", "user.email=a@b.c"]
        subprocess.run(["git", *identity, *command], cwd=tmp_path, check=True)
    return path


def test_other_values_than_the_committed_make_a_trial(checkout: Path) -> None:
    nbformat.write(notebook("k = 6\nseed = 0\nn_trainings = 3"), checkout)  # edited in JupyterLab
    edited = defaults_of(nbformat.read(checkout, as_version=4), "03_odd")
    assert is_trial("03_odd", edited, edited)
    usual = {"k": 5, "n_trainings": 3, "seed": 4}  # more of the same; a seed has its own folder
    assert not is_trial("03_odd", usual, edited)
    assert is_trial("03_odd", {"k": 6})  # by hand, cell by cell
    assert not is_trial("03_odd", {"k": 5, "costly": True})
    assert not is_trial("04_uncommitted", {"k": 6})  # nothing to compare with
    assert is_trial("04_uncommitted", {"k": 6}, {"k": 5})
