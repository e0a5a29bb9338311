"""The notebooks as files: which there are, and which parameters each of them takes."""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
import nbformat
from nbformat import NotebookNode
from papermill import inspect_notebook

from kit.errors import InputError
from kit.runs.provenance import Plain
from kit.values import read_value

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
    if not paths:
        raise InputError("expected notebooks NN_topic.ipynb, found none", file=folder)
    for prefix in which:
        if not any(path.stem.startswith(prefix) for path in paths):
            known = ", ".join(path.stem for path in paths)
            raise InputError(f"expected the beginning of a notebook's name ({known}), not {prefix!r}", field="notebook")
    return [read_notebook(path) for path in paths if path.stem.startswith(tuple(which) or "")]


def read_notebook(path: Path) -> Notebook:
    """Raises ``InputError`` when the file is no notebook or its parameters are not plain values."""
    try:
        node, parameters = nbformat.read(path, as_version=4), inspect_notebook(path)
    except (ValueError, TypeError, AttributeError, nbformat.ValidationError) as error:
        raise InputError(f"expected a notebook ({str(error).splitlines()[0]})", file=path) from None
    defaults = {}
    for name, parameter in parameters.items():
        try:
            defaults[name] = msgspec.convert(literal_eval(parameter["default"]), Plain)
        except (SyntaxError, ValueError, msgspec.ValidationError):
            raise InputError("expected text, a number, True, False or None", file=path, field=name) from None
    return Notebook(path, node, defaults)


def read_parameters(texts: Mapping[str, str], notebooks: Sequence[Notebook]) -> list[dict[str, Plain]]:
    """Parameters given as text on a command line, as each notebook takes them: values of its defaults' kinds.

    Raises ``InputError`` for a name that no notebook takes, or a text that is no such value.
    """
    known = {name for notebook in notebooks for name in notebook.defaults} - OPTIONS
    for name in texts:
        if name not in known:
            others = f"expected one of: {', '.join(sorted(known)) or 'none'}"
            raise InputError(f"give --{name} instead" if name in OPTIONS else others, field=f"parameter {name}")
    return [
        {name: _value(text, notebook.defaults[name], name) for name, text in texts.items() if name in notebook.defaults}
        for notebook in notebooks
    ]


def _value(text: str, default: Plain, name: str) -> Plain:
    """The text as a value of the default's kind; where the default is None, as what it reads like."""
    if text.lower() == "none":
        return None
    if isinstance(default, str):
        return text
    value = read_value(text.lower() if text.lower() in ("true", "false") else text)
    try:
        return value if default is None else msgspec.convert(value, type(default))
    except msgspec.ValidationError:
        raise InputError(f"expected a value like {default!r}, not {text!r}", field=f"parameter {name}") from None
