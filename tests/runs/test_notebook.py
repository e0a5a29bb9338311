from __future__ import annotations

from pathlib import Path

import pytest

from kit.errors import InputError
from kit.runs.notebook import find_notebooks, read_notebook, read_parameters


def test_notebooks_are_found_in_order_by_the_beginning_of_their_names(project) -> None:
    for name in ("03_c", "01_a", "02_b", "notes"):
        project.write(name)
    assert [notebook.name for notebook in find_notebooks(project.notebooks)] == ["01_a", "02_b", "03_c"]
    assert [notebook.name for notebook in find_notebooks(project.notebooks, ["03", "01_a"])] == ["01_a", "03_c"]


def test_a_folder_without_notebooks(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="found none"):
        find_notebooks(tmp_path)


def test_defaults_are_those_of_the_tagged_cell(project) -> None:
    path = project.write(
        "01_a", "other = 1", parameters='name = "x"\nk: int = 5\nrate = -0.5\nlimit = None\nfast = True'
    )
    assert read_notebook(path).defaults == {"name": "x", "k": 5, "rate": -0.5, "limit": None, "fast": True}


@pytest.mark.parametrize("source", ["k = 1 + 1", "k = [1]", "k = ("])
def test_parameters_that_are_no_plain_values(project, source: str) -> None:
    path = project.write("01_a", parameters=source)
    with pytest.raises(InputError, match=r"01_a.ipynb, field k: expected text, a number, True, False or None"):
        read_notebook(path)


@pytest.mark.parametrize(
    "content", [b"", b"{}", b"[1]", b"\xff\xfe", b'{"cells": 3, "nbformat": 4, "nbformat_minor": 5}']
)
def test_a_file_that_is_no_notebook(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "01_a.ipynb"
    path.write_bytes(content)
    with pytest.raises(InputError, match="expected a notebook"):
        read_notebook(path)


def test_texts_become_values_of_the_defaults_kinds(project) -> None:
    first = project.write("01_a", parameters='text = "x"\nk = 5\nrate = 0.5\nfast = False')
    second = project.write("02_b", parameters="k = None\nother = None")
    notebooks = [read_notebook(first), read_notebook(second)]
    texts = {"text": "12", "k": "7", "rate": "1", "fast": "True", "other": "abc"}
    assert read_parameters(texts, notebooks) == [
        {"text": "12", "k": 7, "rate": 1.0, "fast": True},
        {"k": 7, "other": "abc"},
    ]
    assert read_parameters({"k": "None"}, notebooks) == [{"k": None}, {"k": None}]
    assert [read_parameters({"other": text}, notebooks)[1]["other"] for text in ("false", "3", "0.25")] == [
        False,
        3,
        0.25,
    ]


@pytest.mark.parametrize("texts", [{"k": "many"}, {"k": "1.5"}, {"fast": "1"}, {"rate": "x"}])
def test_a_text_that_is_no_such_value(project, texts: dict[str, str]) -> None:
    notebook = read_notebook(project.write("01_a", parameters="k = 5\nrate = 0.5\nfast = False"))
    with pytest.raises(InputError, match="expected a value like"):
        read_parameters(texts, [notebook])
