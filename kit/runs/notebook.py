"""The notebooks as files: which there are, and which parameters each of them takes."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
import nbformat
from nbformat import NotebookNode

from kit.errors import InputError
from kit.runs.provenance import Plain

#: Parameters that `kit run` has options for.
OPTIONS = {"data", "train", "scale", "seed"}


class Notebook(msgspec.Struct, frozen=True):
    """A notebook as committed. ``defaults`` are what its cell tagged ``parameters`` assigns."""

    path: Path
    node: NotebookNode
    defaults: dict[str, Plain]

    @property
    def name(self) -> str:
        return self.path.stem


def find_notebooks(folder: Path, which: Sequence[str] = ()) -> list[Notebook]:
    """The folder's notebooks NN_topic.ipynb in order, or those of them whose names begin with one of ``which``."""
    paths = sorted(folder.glob("[0-9][0-9]_*.ipynb"))
    known = ", ".join(path.stem for path in paths) or "none in this folder"
    for prefix in which:
        if not any(path.stem.startswith(prefix) for path in paths):
            raise InputError(f"expected the beginning of a notebook's name ({known}), not {prefix!r}", field="notebook")
    chosen = [path for path in paths if not which or path.stem.startswith(tuple(which))]
    if not chosen:
        raise InputError("expected notebooks NN_topic.ipynb, found none", file=folder)
    return [read_notebook(path) for path in chosen]


def read_notebook(path: Path) -> Notebook:
    """Raises ``InputError`` when the file is no notebook or its parameters are not plain values."""
    try:
        node = nbformat.read(path, as_version=4)
    except (ValueError, TypeError, AttributeError, nbformat.ValidationError) as error:
        raise InputError(f"expected a notebook ({str(error).splitlines()[0]})", file=path) from None
    return Notebook(path, node, _defaults(node, path))


def _defaults(node: NotebookNode, path: Path) -> dict[str, Plain]:
    """What the cell tagged ``parameters`` assigns. Nothing may be derived in it: papermill's own cell comes after."""
    defaults: dict[str, Plain] = {}
    for number, cell in enumerate(node.cells, 1):
        if "parameters" not in cell.metadata.get("tags", []):
            continue
        try:
            for statement in ast.parse(cell.source).body:
                match statement:
                    case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                        defaults[name] = ast.literal_eval(statement.value)
                    case _:
                        raise ValueError
                if not isinstance(defaults[name], Plain):
                    raise ValueError
        except (SyntaxError, ValueError, TypeError):
            raise InputError(
                "expected lines NAME = VALUE with text, numbers, True, False or None",
                file=path,
                record=f"cell {number}",
                field="parameters",
            ) from None
    return defaults


def read_parameters(texts: Mapping[str, str], notebooks: Sequence[Notebook]) -> list[dict[str, Plain]]:
    """Parameters given as text on a command line, as each notebook takes them: values of its defaults' kinds.

    Raises ``InputError`` for a name that no notebook takes, or a text that is no such value.
    """
    known = {name for notebook in notebooks for name in notebook.defaults} - OPTIONS
    for name in texts:
        if name not in known:
            hint = (
                f"give --{name} instead"
                if name in OPTIONS
                else f"expected one of: {', '.join(sorted(known)) or 'none'}"
            )
            raise InputError(hint, field=f"parameter {name}")
    return [
        {name: _value(text, notebook.defaults[name], name) for name, text in texts.items() if name in notebook.defaults}
        for notebook in notebooks
    ]


def _value(text: str, default: Plain, name: str) -> Plain:
    """The text as a value of the default's kind; where the default is None, as the first kind that it can be."""
    named: dict[str, Plain] = {"true": True, "false": False}
    if text.lower() == "none":
        return None
    kinds = {bool: [named.__getitem__], int: [int], float: [float], str: [str]}
    for kind in kinds.get(type(default), [named.__getitem__, int, float, str]):
        try:
            return kind(text.lower() if kind == named.__getitem__ else text)
        except (KeyError, ValueError):
            continue
    raise InputError(f"expected a value like {default!r}, not {text!r}", field=f"parameter {name}")
