"""The parameters of notebooks: their defaults, and what is given in their place."""

import ast
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec
import nbformat
from nbformat import NotebookNode

from kit.errors import InputError, known_names
from kit.lab.catalogue import notebook_file
from kit.lab.provenance import committed
from kit.settings import Value, read_value

OPTIONS = ("data", "train", "scale", "seed")  # parameters that `kit run` has options for
MORE_OF_THE_SAME = {"n_trainings"}  # parameters that make no trial of a run
_TAG = "parameters"

Parameters = dict[str, Value | None]


def read_notebook(path: Path) -> NotebookNode:
    """Raises ``InputError`` for a file that is no notebook."""
    try:
        content = path.read_text("utf-8")
        return nbformat.reads(content, as_version=4)
    except Exception as error:  # whatever nbformat makes of what is no notebook
        raise InputError(f"expected a notebook ({type(error).__name__})", file=path) from None


def _tagged(notebook: NotebookNode) -> int | None:
    """The index of the cell with the parameters."""
    for index, cell in enumerate(notebook.cells):
        if cell.cell_type == "code" and _TAG in cell.metadata.get("tags", ()):
            return index
    return None


def defaults_of(notebook: NotebookNode, name: str) -> Parameters:
    """What the cell tagged ``parameters`` assigns, by its syntax tree.

    Raises ``InputError`` for anything in it that is no name and plain value: it could not be
    replaced.
    """
    index = _tagged(notebook)
    if index is None:
        return {}
    try:
        statements = ast.parse(notebook.cells[index].source).body
    except SyntaxError as error:
        line = (error.text or "").strip()
        raise InputError(f"expected NAME = VALUE, not {line!r}", file=name, field=_TAG) from None

    defaults = {}
    for statement in statements:
        match statement:
            case ast.Assign([ast.Name(parameter)], expression) | ast.AnnAssign(
                ast.Name(parameter), _, ast.expr() as expression
            ):
                defaults[parameter] = _plain_value(expression, name, parameter)
            case ast.Expr(ast.Constant(str())):
                pass  # words about the parameters
            case _:
                line = ast.unparse(statement)
                raise InputError(f"expected NAME = VALUE, not {line!r}", file=name, field=_TAG)
    return defaults


def _plain_value(expression: ast.expr, file: str, parameter: str) -> Value | None:
    """The value that an expression writes down; ``float("nan")`` and ``float("inf")`` are such."""
    try:
        match expression:
            case ast.Call(ast.Name("float"), [ast.Constant(str() as text)], []):
                return float(text)
        return ast.literal_eval(expression)
    except (ValueError, TypeError):
        raise InputError(
            "expected a plain value such as 5, 0.5, 'text', True or None, not "
            f"the expression {ast.unparse(expression)}",
            file=file,
            field=f"parameter {parameter}",
        ) from None


def with_parameters(notebook: NotebookNode, values: Parameters) -> NotebookNode:
    """The notebook with a cell after its defaults that assigns other values (papermill's)."""
    if not values or _tagged(notebook) is None:
        return notebook

    from papermill.parameterize import parameterize_notebook  # takes half a second to load

    notebook.metadata["papermill"] = {}  # where papermill notes the values
    for cell in notebook.cells:
        cell.metadata.setdefault("tags", [])
    given = parameterize_notebook(
        notebook,
        values,
        comment="Given by kit run.",
        kernel_name="python3",
        language="python",
    )
    del given.metadata["papermill"]  # JSON has no NaN
    return given


def read_parameters(texts: Mapping[str, str], notebooks: Iterable[Parameters]) -> list[Parameters]:
    """Parameters given as text on a command line, as each notebook takes them.

    They become values of its defaults' kinds. Raises ``InputError`` for a name that no notebook
    takes, or a text that is no such value.
    """
    taken = sorted(set().union(*notebooks).difference(OPTIONS))
    for name in texts:
        if name in OPTIONS:
            raise InputError(f"expected the option --{name} instead", field=f"parameter {name}")
        if name not in taken:
            expected = f"expected one of: {known_names(taken, name)}"
            raise InputError(expected, field=f"parameter {name}")

    values = []
    for defaults in notebooks:
        names = [name for name in texts if name in defaults]
        values.append({name: _typed(name, texts[name], defaults[name]) for name in names})
    return values


def _typed(name: str, text: str, default: Value | None) -> Value:
    """The text as a value of the default's kind; where that is None, as what it reads like."""
    if default is None:
        return read_value(text)
    try:
        return msgspec.convert(text, type(default), strict=False)
    except msgspec.ValidationError:
        raise InputError(
            f"expected a value like {default!r}, not {text!r}",
            field=f"parameter {name}",
        ) from None


def is_trial(notebook: str, values: Parameters, defaults: Parameters | None = None) -> bool:
    """Whether a notebook's parameters, by whatever way, are others than the committed ones.

    Where there is no commit, ``defaults`` stand for these. The options of `kit run` don't count:
    their folders tell them apart.
    """
    source = committed(notebook_file(notebook))
    usual = defaults or {}
    if source is not None:
        usual = defaults_of(nbformat.reads(source, as_version=4), notebook)
    others = {name for name in values.keys() & usual.keys() if values[name] != usual[name]}
    return bool(others.difference(OPTIONS, MORE_OF_THE_SAME))
