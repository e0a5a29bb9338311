"""The notebooks, run one after another or side by side; a run that was stopped goes on there."""

import json
import os
from ast import literal_eval
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from multiprocessing import current_process
from pathlib import Path
from time import monotonic
from typing import Any

import msgspec
import papermill
from nbformat import NotebookNode
from papermill.exceptions import PapermillExecutionError

from kit import paths
from kit.corpus.formats.pdf_folder import pdfs
from kit.corpus.types import Texts, digest
from kit.errors import InputError
from kit.lab.environment import environment
from kit.lab.parallel import in_parallel
from kit.lab.provenance import code_digest, write_json
from kit.lab.reading import Run, find_data
from kit.lab.recording import store_recorded
from kit.settings import Value, check, read_value
from kit.store import file_digest

_OPTIONS = ("data", "train", "scale", "seed")  # parameters that `kit run` has options for
_MORE_OF_THE_SAME = {"n_trainings"}  # parameters that make no trial of a run
_MOST_LINES = 8  # of an error's message
_MOST_LETTERS = 1000  # … and its letters

Parameters = dict[str, Value | None]
GivenParameters = Mapping[str, str] | Sequence[tuple[str, str]]  # as on a command line


class Job(msgspec.Struct, frozen=True):
    """A notebook to run, its parameters, the key of its content, and where its results go."""

    notebook: Path
    parameters: Parameters
    key: str
    figures: Path
    executed: Path

    def file(self, suffix: str) -> Path:
        """The executed copy (.ipynb) and the account of the run (.json)."""
        return self.executed / f"{self.notebook.stem}{suffix}"

    @property
    def finished(self) -> bool:
        """Whether it was run with the same content, and all that it left is there, unchanged."""
        with suppress(OSError, ValueError):
            return json.loads(self.file(".json").read_bytes()) == self.account()
        return False

    @property
    def provenance(self) -> dict[str, Any]:
        """Of its last run, by its record; nothing where there is none."""
        with suppress(OSError, ValueError):
            record = json.loads((self.figures / f"{self.notebook.stem}.json").read_bytes())
            return record["provenance"]
        return {}

    def account(self) -> dict[str, Any]:
        """The key of its content, and digests of its copy, its record and its figures."""
        files = [self.file(".ipynb"), *sorted(self.figures.glob(f"{self.notebook.stem[:2]}_*"))]
        return {"key": self.key, "files": {file.name: file_digest(file) for file in files}}


def run(
    which: Texts = (),
    *,
    data: object = None,
    train: object = None,
    scale: str = "class",
    seed: int = 0,
    parameters: GivenParameters = (),
    notebooks: Path | None = None,
    again: bool = False,
    at_once: int = 1,
) -> int:
    """Run the notebooks whose names begin with one of ``which`` (all when empty).

    A notebook that finished with the same source, parameters, data and code, and whose files are
    still what it left, is skipped unless ``again``. ``at_once`` are run at the same time, each on
    its share of the cores; the other arguments are those of :func:`plan`. Recorded answers go into
    the store.

    Returns the exit status; 1: a notebook failed (the others ran). Raises ``InputError``, before
    anything is run, for bad options, data or parameters.
    """
    jobs = plan(
        which,
        data=data,
        train=train,
        scale=scale,
        seed=seed,
        parameters=parameters,
        notebooks=notebooks,
    )
    waiting = [job for job in jobs if again or not job.finished]
    for job in jobs:
        if job not in waiting:
            print(f"{job.notebook.stem}: finished earlier, skipped")

    store_recorded()
    # The longest first, lest it runs alone at the end.
    waiting.sort(key=lambda job: -job.provenance.get("seconds", 0))
    status = 0
    for outcome in in_parallel(run_one, zip(waiting), max(1, min(at_once, len(waiting)))):
        print(outcome.message, flush=True)
        status |= outcome.failed
    return status


def plan(
    which: Texts = (),
    *,
    data: object = None,
    train: object = None,
    scale: str = "class",
    seed: int = 0,
    parameters: GivenParameters = (),
    notebooks: Path | None = None,
) -> list[Job]:
    """The notebooks that :func:`run` would run, with all that they are given.

    ``data``, ``train``, ``scale`` and ``seed`` are as in :class:`kit.lab.reading.Run`; a notebook
    that names data of its own, since it is about documents with pages, reads these unless PDFs are
    given. ``parameters`` are texts by name, or such pairs, as on a command line. Nothing is
    written. Raises ``InputError`` for bad ones.
    """
    chosen = find_notebooks(notebooks or paths.NOTEBOOKS, which)
    given = dict(parameters)
    options = {
        "data": _absolute(data),
        "train": _absolute(train),
        "scale": scale,
        "seed": seed,
    }
    read = cache(Run.read)
    is_trial = bool(given.keys() - _MORE_OF_THE_SAME)

    jobs = []
    for notebook, values in zip(chosen, read_parameters(given, chosen.values())):
        defaults = chosen[notebook]
        run_options = _options_of(notebook, defaults, options, values)
        jobs.append(_job(notebook, defaults, run_options, values, read, is_trial))
    return jobs


def _absolute(file: object) -> str:
    """The path of a file wherever the kernel works; empty for none."""
    return str(Path(file).resolve()) if file else ""


def _options_of(
    notebook: Path, defaults: Parameters, options: Mapping[str, Any], values: Parameters
) -> Run:
    """What a notebook's run is told."""
    chosen = dict(options)
    for name in values.keys() & Run.__struct_fields__:
        chosen[name] = values[name]

    named_by_notebook = find_data(defaults.get("data"))
    gives_pdfs = chosen["data"] and pdfs(Path(chosen["data"]))
    if named_by_notebook and not gives_pdfs:
        chosen["data"] = str(named_by_notebook.resolve())
    return check(Run, chosen, notebook.stem)


def _job(
    notebook: Path,
    defaults: Parameters,
    options: Run,
    values: Parameters,
    read: Callable,
    is_trial: bool,
) -> Job:
    """A notebook with what it is given, under a key of all that its results depend on."""
    benchmark, training = read(options)
    content = [
        notebook.read_text("utf-8"),
        values,
        options.scale,
        options.seed,
        benchmark.name,
        benchmark.hash,
        code_digest(),
    ]
    if "train" in defaults and training:
        content.append(training.hash)

    parameters = {name: getattr(options, name) for name in _OPTIONS if name in defaults}
    folder = options.folder(benchmark, trial=is_trial)
    return Job(
        notebook,
        parameters | values,
        digest(content),
        figures=paths.output() / "figures" / folder,
        executed=paths.output() / "notebooks" / "executed" / folder,
    )


def find_notebooks(folder: Path, which: Texts = ()) -> dict[Path, Parameters]:
    """The notebooks NN_topic.ipynb of a folder in order, with their parameters.

    The parameters are what the cell tagged ``parameters`` assigns. Those notebooks count whose
    names begin with one of ``which``, or all. Raises ``InputError`` for a name that none begins
    with.
    """
    notebooks = sorted(folder.glob("[0-9][0-9]_*.ipynb"))
    for prefix in which:
        if not any(path.stem.startswith(prefix) for path in notebooks):
            listed = ", ".join(path.stem for path in notebooks)
            raise InputError(
                f"expected the beginning of a notebook's name ({listed}), not {prefix!r}",
                field="notebook",
            )

    prefixes = tuple(which) or ""
    return {path: _parameters_of(path) for path in notebooks if path.stem.startswith(prefixes)}


def _parameters_of(notebook: Path) -> Parameters:
    return {
        name: literal_eval(about["default"])
        for name, about in papermill.inspect_notebook(notebook).items()
    }


def read_parameters(texts: Mapping[str, str], notebooks: Iterable[Parameters]) -> list[Parameters]:
    """Parameters given as text on a command line, as each notebook takes them.

    They become values of its defaults' kinds. Raises ``InputError`` for a name that no notebook
    takes, or a text that is no such value.
    """
    taken = sorted(set().union(*notebooks).difference(_OPTIONS))
    for name in texts:
        if name in _OPTIONS:
            raise InputError(f"give --{name} instead", field=f"parameter {name}")
        if name not in taken:
            raise InputError(f"expected one of: {', '.join(taken)}", field=f"parameter {name}")

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


# ---- one notebook


class Outcome(msgspec.Struct, frozen=True):
    """What came of running a notebook, in words."""

    message: str
    failed: bool = False


def run_one(job: Job) -> Outcome:
    """Run a notebook."""
    name = job.notebook.stem
    start = monotonic()
    job.file(".json").unlink(missing_ok=True)  # while it runs, nothing says that it finished
    job.executed.mkdir(parents=True, exist_ok=True)

    cells = []  # those that were begun
    try:
        with environment(_kernel_environment(job)):
            try:
                _execute(job, cells)
            except RuntimeError:
                if cells:
                    raise
                # Another process may have taken a port between its choice and its use.
                _execute(job, cells)
    except (PapermillExecutionError, RuntimeError) as error:
        return Outcome(
            f"{name}: {_explain(error, cells)}\n  executed so far: {job.file('.ipynb')}",
            failed=True,
        )

    write_json(job.file(".json"), job.account())
    seconds = monotonic() - start
    message = (
        f"{name}: done in {seconds:.0f} s, figures in {job.figures}, "
        f"executed copy {job.file('.ipynb')}"
    )
    if "language_models" in job.provenance:
        message += f"\n  {job.provenance['language_models']}"
    return Outcome(message)


def _execute(job: Job, cells: list[NotebookNode]) -> None:
    """Execute the notebook; each cell that is begun is added to ``cells``."""
    # Of the process "LokyProcess-2" the bar stands below the first one's.
    row = int(current_process().name.partition("-")[2] or 1) - 1
    papermill.execute_notebook(
        job.notebook,
        job.file(".ipynb"),
        job.parameters,
        kernel_name="python3",
        cwd=job.notebook.parent,
        shutdown_kernel="immediate",
        progress_bar={
            "desc": job.notebook.stem,
            "disable": None,
            "leave": False,
            "position": row,
        },
        on_cell_start=lambda cell, cell_index: cells.append(cell),
    )


def _kernel_environment(job: Job) -> dict[str, str]:
    """The same folders whatever a kernel's working folder, and what makes runs alike and quiet."""
    return {
        "KIT_CACHE": str(paths.cache().resolve()),
        "KIT_FIGURES": str(job.figures.resolve()),
        "PYTHONHASHSEED": "0",
        "TOKENIZERS_PARALLELISM": "false",
        # The default encoder lies in a package.
        "HF_HUB_OFFLINE": os.environ.get("HF_HUB_OFFLINE", "1"),
    }


def _explain(error: Exception, cells: Sequence[NotebookNode]) -> str:
    """What went wrong in the last cell, on one screen, without lines of libraries."""
    if not cells:
        return f"its kernel did not start ({error})"
    first_line = cells[-1].source.strip().splitlines()[0]
    if not isinstance(error, PapermillExecutionError):
        return f"its kernel died in the cell: {first_line}\n  (often: not enough memory)"
    if error.ename == "InputError":
        return error.evalue
    message = "\n    ".join(error.evalue[:_MOST_LETTERS].splitlines()[:_MOST_LINES])
    return f"failed in the cell: {first_line}\n  {error.ename}: {message}"
