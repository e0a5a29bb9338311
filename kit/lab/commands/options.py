"""Options that several commands share, each defined once, and groups of them."""

from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click
from click import Context, Parameter

from kit.corpus.formats import FORMATS
from kit.corpus.loading import SETTINGS
from kit.corpus.types import Texts
from kit.errors import InputError
from kit.files import expect_writable
from kit.settings import Value, read_value, read_values

if TYPE_CHECKING:
    from kit.corpus import Benchmark

FILE = click.Path(path_type=Path)
INPUT = click.Path(path_type=Path, exists=True)  # a wrong name is told before anything is loaded
AT_LEAST_ONE = click.IntRange(min=1)

Function = Callable[..., Any]
Decorator = Callable[[Function], Function]


def options(*decorators: Decorator) -> Decorator:
    """Several options as one decorator, shown by ``--help`` in this order."""

    def decorate(command: Function) -> Function:
        for decorator in reversed(decorators):
            command = decorator(command)
        return command

    return decorate


def grouped(argument: str, kind: type, *decorators: Decorator) -> Decorator:
    """Options that come to a command as one ``argument``, a named tuple of their values."""

    def decorate(command: Function) -> Function:
        @wraps(command)
        def call(**values: Any) -> Any:
            group = kind(*(values.pop(field) for field in kind._fields))
            return command(**values, **{argument: group})

        return options(*decorators)(call)

    return decorate


# ---- how values are read


def read_cutoffs(_: Context, parameter: Parameter, text: str) -> list[int]:
    """``2,5,10`` as whole numbers from 1."""
    cutoffs = read_values(text)
    if not all(type(cutoff) is int and cutoff > 0 for cutoff in cutoffs):
        raise InputError(
            f"expected whole numbers from 1 with commas between, not {text!r}",
            field=parameter.name,
        )
    return cutoffs


def read_settings(_: Context, __: Parameter, texts: Texts) -> dict[str, Value]:
    """Each ``NAME=VALUE`` with its value."""
    return {name: read_value(value) for name, value in _pairs(texts)}


def read_grid(_: Context, __: Parameter, texts: Texts) -> dict[str, list[Value]]:
    """Each ``NAME=VALUE,VALUE`` with its values."""
    return {name: read_values(values) for name, values in _pairs(texts)}


def _pairs(texts: Texts) -> list[tuple[str, str]]:
    pairs = []
    for text in texts:
        name, _, value = text.partition("=")
        if not name or not value:
            raise InputError(f"expected NAME=VALUE, not {text!r}")
        pairs.append((name, value))
    return pairs


def read_one_file(_: Context, parameter: Parameter, files: Sequence[Path]) -> Path | None:
    """The training file of a notebook, which takes one."""
    if len(files) > 1:
        raise InputError(
            f"expected one file, not {len(files)}: a notebook learns from one", field=parameter.name
        )
    return next(iter(files), None)


def expect_output(_: Context, __: Parameter, file: Path | None) -> Path | None:
    """A file that can be written, known before any work is done."""
    if file:
        expect_writable(file)
    return file


def output_file(name: str, description: str) -> Decorator:
    """An option that names a file to write."""
    return click.option(name, type=FILE, callback=expect_output, help=description)


# ---- what is searched, and what is learned from

DATA = "A published file or folder; without it, the embedded atlas."
data_option = click.option("--data", type=INPUT, help=DATA)
format_option = click.option(
    "--format",
    "data_format",
    type=click.Choice(list(FORMATS)),
    metavar="NAME",
    help=f"The format of the data: {', '.join(FORMATS)}; without it, told from the content.",
)


class Source(NamedTuple):
    """What a command searches: the arguments of :func:`kit.corpus.load`."""

    data: Path | None
    data_format: str | None
    corpus: Sequence[Path]
    setting: str

    def load(self) -> "Benchmark":
        from kit.corpus import load

        return load(**self._asdict())


source_options = grouped(
    "source",
    Source,
    data_option,
    format_option,
    click.option(
        "--corpus",
        type=INPUT,
        multiple=True,
        help="Passages to add as distractors, or pages (--setting pages); may be repeated.",
    ),
    click.option(
        "--setting",
        type=click.Choice(SETTINGS),
        default="pooled",
        show_default=True,
        help="Which passages a question is asked of: all in one pool, its own, its own single "
        "facts, or whole pages (of --corpus).",
    ),
)
train_option = click.option(
    "--train",
    type=INPUT,
    multiple=True,
    help="A file with questions to learn from; may be repeated.",
)
also_option = click.option(
    "--also",
    type=INPUT,
    multiple=True,
    help="More passages to learn from; questions in the file are left out.",
)

# ---- how a method is asked

settings_option = click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    callback=read_settings,
    help="A setting, for all that have it; may be repeated.",
)
grid_option = click.option(
    "-g",
    "grid",
    multiple=True,
    required=True,
    metavar="NAME=VALUE,VALUE",
    callback=read_grid,
    help="Values of a setting to combine; may be repeated.",
)
cutoffs_option = click.option(
    "--k",
    default="2,5,10",
    show_default=True,
    callback=read_cutoffs,
    help="Cut-offs of Recall@k and Full@k, with commas between.",
)
seed_option = click.option(
    "--seed", default=0, show_default=True, help="The number that random choices start from."
)

# ---- how notebooks are run


class Given(NamedTuple):
    """What notebooks are run with: arguments of :func:`kit.lab.runner.run`."""

    data: Path | None
    train: Path | None
    scale: str
    seed: int
    parameters: Sequence[tuple[str, str]]


notebook_options = grouped(
    "given",
    Given,
    click.option("--data", type=FILE, help=f"{DATA} Also looked for in the project's folder."),
    click.option(
        "--train",
        type=FILE,
        multiple=True,
        callback=read_one_file,
        help="A file with questions to learn from.",
    ),
    click.option(
        "--scale",
        type=click.Choice(["smoke", "class", "paper"]),
        default="class",
        show_default=True,
        help="The size of the experiments: a trial in seconds, a lesson, or as in the papers.",
    ),
    seed_option,
    click.option(
        "-p",
        "parameters",
        nargs=2,
        multiple=True,
        metavar="NAME VALUE",
        help="A parameter of the notebooks; may be repeated.",
    ),
)
