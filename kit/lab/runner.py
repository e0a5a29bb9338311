"""The notebooks, run one after another or side by side; an interrupted run goes on where it stopped."""

import json
import os
import time
from ast import literal_eval
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from multiprocessing import current_process
from pathlib import Path
from typing import Any
from unittest import mock

import msgspec
import papermill
from nbformat import NotebookNode
from papermill.exceptions import PapermillExecutionError

from kit import paths
from kit.corpus.formats.pdf_folder import pdfs
from kit.corpus.types import digest
from kit.errors import InputError
from kit.lab.lesson import Run, code_digest, find_data, write_json
from kit.lab.parallel import in_parallel
from kit.lab.recording import store_recorded
from kit.settings import Value, check, read_value
from kit.store import file_digest

_OPTIONS = ("data", "train", "scale", "seed")  # parameters that `kit run` has options for
_MOST_LINES, _MOST_LETTERS = 8, 1000  # of an error's message

Parameters = dict[str, Value | None]


class Job(msgspec.Struct, frozen=True):
    """A notebook to run, its parameters, the key of its content, and the folders that its figures and copy go to."""

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
    def seconds(self) -> float:
        """What its last run took, by its record; 0 where there is none."""
        with suppress(OSError, ValueError):
            return json.loads((self.figures / f"{self.notebook.stem}.json").read_bytes())[
                "provenance"
            ]["seconds"]
        return 0.0

    def account(self) -> dict[str, Any]:
        """The key of its content, and digests of its copy, its record and its figures."""
        files = [self.file(".ipynb"), *sorted(self.figures.glob(f"{self.notebook.stem[:2]}_*"))]
        return {"key": self.key, "files": {file.name: file_digest(file) for file in files}}


def run(which: Sequence[str] = (), *, again: bool = False, at_once: int = 1, **options: Any) -> int:
    """Run the notebooks whose names begin with one of ``which`` (all when empty) and return the exit status.

    ``options`` are those of :func:`plan`. A notebook that finished with the same source, parameters, data and code, and
    whose files are still what it left, is skipped unless ``again``. ``at_once`` are run at the same time, each on its
    share of the cores. Status 1: a notebook failed (the others ran). Recorded answers go into the store. Raises
    ``InputError``, before anything is run, for bad ones, data or parameters.
    """
    jobs, status = plan(which, **options), 0
    left = [job for job in jobs if again or not job.finished]
    left.sort(key=lambda job: -job.seconds)  # the longest first, lest it runs alone at the end
    for job in jobs:
        if job not in left:
            print(f"{job.notebook.stem}: finished earlier, skipped")
    store_recorded()
    for problem, told in in_parallel(run_one, zip(left), max(1, min(at_once, len(left)))):
        print(problem or told, flush=True)
        status |= bool(problem)
    return status


def plan(
    which: Sequence[str] = (),
    *,
    parameters: Mapping[str, str] | None = None,
    notebooks: Path = paths.NOTEBOOKS,
    **options: Any,
) -> list[Job]:
    """The notebooks that :func:`run` would run, with all that they are given; nothing is written.

    ``options`` are data, train, scale and seed, as in :class:`kit.lab.lesson.Run`; a notebook that names data of its
    own, since it is about documents with pages, reads these unless PDFs are given. ``parameters`` are texts by name, as
    on a command line. Raises ``InputError`` for bad ones.
    """
    chosen, root = find_notebooks(notebooks, which), paths.output()
    for name in ("data", "train"):
        options[name] = str(Path(options[name]).resolve()) if options.get(name) else ""
    read, code, jobs = cache(Run.read), code_digest(), []
    for (notebook, defaults), values in zip(
        chosen.items(), read_parameters(parameters or {}, chosen.values())
    ):
        told = options | {
            name: value for name, value in values.items() if name in Run.__struct_fields__
        }
        if (own := find_data(defaults.get("data"))) and not (
            told["data"] and pdfs(Path(told["data"]))
        ):
            told["data"] = str(own.resolve())
        of = check(Run, told, notebook.stem)
        benchmark, training = read(of)
        folder = of.folder(
            benchmark, trial=bool(set(parameters or ()) - {"n_trainings"})
        )  # more answer the same
        content = [
            notebook.read_text("utf-8"),
            values,
            of.scale,
            of.seed,
            benchmark.name,
            benchmark.hash,
            code,
        ]
        content += [training.hash] if "train" in defaults and training else []
        values = {name: getattr(of, name) for name in _OPTIONS if name in defaults} | values
        places = [root / "figures" / folder, root / "notebooks" / "executed" / folder]
        jobs.append(Job(notebook, values, digest(content), *places))
    return jobs


def find_notebooks(folder: Path, which: Sequence[str] = ()) -> dict[Path, Parameters]:
    """The folder's notebooks NN_topic.ipynb in order, with what their cells tagged ``parameters`` assign.

    Those whose names begin with one of ``which``, or all. Raises ``InputError`` for a name that none begins with.
    """
    found = sorted(folder.glob("[0-9][0-9]_*.ipynb"))
    for prefix in which:
        if not any(path.stem.startswith(prefix) for path in found):
            known = ", ".join(path.stem for path in found)
            raise InputError(
                f"expected the beginning of a notebook's name ({known}), not {prefix!r}",
                field="notebook",
            )
    found = [path for path in found if path.stem.startswith(tuple(which) or "")]
    assigned = {path: papermill.inspect_notebook(path) for path in found}
    return {
        path: {name: literal_eval(of[name]["default"]) for name in of}
        for path, of in assigned.items()
    }


def read_parameters(texts: Mapping[str, str], notebooks: Iterable[Parameters]) -> list[Parameters]:
    """Parameters given as text on a command line, as each notebook takes them: values of its defaults' kinds.

    Raises ``InputError`` for a name that no notebook takes, or a text that is no such value.
    """
    known = sorted({name for defaults in notebooks for name in defaults} - set(_OPTIONS))
    for name in texts:
        if name not in known:
            expected = (
                f"give --{name} instead"
                if name in _OPTIONS
                else f"expected one of: {', '.join(known)}"
            )
            raise InputError(expected, field=f"parameter {name}")
    return [
        {name: _typed(name, texts[name], own[name]) for name in texts if name in own}
        for own in notebooks
    ]


def _typed(name: str, text: str, default: Value | None) -> Value:
    """The text as a value of the default's kind; where the default is None, as what it reads like."""
    try:
        return (
            read_value(text)
            if default is None
            else msgspec.convert(text, type(default), strict=False)
        )
    except msgspec.ValidationError:
        raise InputError(
            f"expected a value like {default!r}, not {text!r}", field=f"parameter {name}"
        ) from None


def run_one(job: Job) -> tuple[str, str]:
    """Run a notebook; what went wrong, told in a few lines, or nothing, and what was done."""
    name, clock = job.notebook.stem, time.monotonic()
    job.file(".json").unlink(missing_ok=True)  # while it runs, nothing says that it finished
    job.executed.mkdir(parents=True, exist_ok=True)
    begun: list[NotebookNode] = []  # cells
    told = {"kernel_name": "python3", "cwd": job.notebook.parent, "shutdown_kernel": "immediate"}
    row = (
        int(current_process().name.partition("-")[2] or 1) - 1
    )  # of "LokyProcess-2" the bar stands below the first
    told["progress_bar"] = {"desc": name, "disable": None, "leave": False, "position": row}
    told["on_cell_start"] = lambda cell, cell_index: begun.append(cell)
    execute = partial(
        papermill.execute_notebook, job.notebook, job.file(".ipynb"), job.parameters, **told
    )
    # What the kernel finds: the same folders whatever its working folder, and what makes runs alike and quiet.
    found = {"KIT_CACHE": str(paths.cache().resolve()), "KIT_FIGURES": str(job.figures.resolve())}
    found |= {"PYTHONHASHSEED": "0", "TOKENIZERS_PARALLELISM": "false"}
    found["HF_HUB_OFFLINE"] = os.environ.get(
        "HF_HUB_OFFLINE", "1"
    )  # the default encoder lies in a package
    try:
        with mock.patch.dict(os.environ, found):
            try:
                execute()
            except RuntimeError:
                if begun:
                    raise
                execute()  # another process may have taken a port between its choice and its use
    except (PapermillExecutionError, RuntimeError) as error:
        return f"{name}: {_explain(error, begun)}\n  executed so far: {job.file('.ipynb')}", ""
    write_json(job.file(".json"), job.account())
    done = f"{name}: done in {time.monotonic() - clock:.0f} s, figures in {job.figures}"
    return "", f"{done}, executed copy {job.file('.ipynb')}"


def _explain(error: Exception, begun: Sequence[NotebookNode]) -> str:
    """What went wrong in the last of the cells that were begun, on one screen, without lines of libraries."""
    if not begun:
        return f"its kernel did not start ({error})"
    cell = begun[-1].source.strip().splitlines()[0]
    if not isinstance(error, PapermillExecutionError):
        return f"its kernel died in the cell: {cell}\n  (often: not enough memory)"
    if error.ename == "InputError":
        return error.evalue
    message = "\n    ".join(error.evalue[:_MOST_LETTERS].splitlines()[:_MOST_LINES])
    return f"failed in the cell: {cell}\n  {error.ename}: {message}"
