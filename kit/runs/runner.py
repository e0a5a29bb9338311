"""The notebooks, run in order; an interrupted run goes on where it stopped."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import papermill
from ipykernel.kernelspec import get_kernel_dict
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from nbformat import NotebookNode
from papermill.exceptions import PapermillExecutionError, strip_color

from kit.corpus.types import digest
from kit.paths import NOTEBOOKS, cache, output
from kit.runs.notebook import Notebook, find_notebooks, read_parameters
from kit.runs.page import page
from kit.runs.provenance import Plain, code_digest, read_figures, write_json
from kit.runs.scales import find_scale
from kit.runs.sources import data_for, folder_name, read_benchmark, read_training
from kit.store import atomic_write, file_digest

_MOST_LINES, _MOST_LETTERS = 8, 1000  # of an error's message


class Job(msgspec.Struct, frozen=True):
    """A notebook to run, its parameters, and the key of its content.

    Its figures and its executed copy go to two folders under ``root``.
    """

    notebook: Notebook
    parameters: dict[str, Plain]
    root: Path
    figures: Path
    executed: Path
    key: str

    def file(self, suffix: str) -> Path:
        return self.executed / f"{self.notebook.name}{suffix}"

    @property
    def record(self) -> Path:
        """The file in which the notebook tells what it found."""
        return self.figures / f"{self.notebook.name}.json"

    @property
    def finished(self) -> bool:
        """Whether it was run with the same content, and all that it left is there, unchanged."""
        try:
            account = msgspec.json.decode(self.file(".json").read_bytes(), type=_Account)
            found = {path: file_digest(self.root / path) for path in account.outputs}
        except (OSError, msgspec.MsgspecError):
            return False
        return account == _Account(self.key, found)

    def finish(self, files: Iterable[Path]) -> None:
        """Write down that it was run, and which files it left."""
        outputs = {file.relative_to(self.root).as_posix(): file_digest(file) for file in files}
        write_json(self.file(".json"), _Account(self.key, outputs))


class _Account(msgspec.Struct, frozen=True):
    """What is kept of a finished run: the key of its content, and digests of its files by their paths."""

    key: str
    outputs: dict[str, str]


def run(which: Sequence[str] = (), *, again: bool = False, **options: Any) -> int:
    """Run the notebooks whose names begin with one of ``which`` (all when empty) and return the exit status.

    ``options`` are those of :func:`plan`. A notebook that finished with the same source, parameters, data and code, and
    whose files are still what it left, is skipped unless ``again``. Status 1: a notebook failed (the others ran); 130:
    interrupted. Raises ``InputError``, before anything is written, for bad data or parameters.
    """
    jobs, failed = plan(which, **options), False
    try:
        for job in jobs:
            if job.finished and not again:
                print(f"{job.notebook.name}: finished earlier, skipped")
                continue
            begun = time.monotonic()
            problem = run_one(job)
            failed |= problem is not None
            done = f"done in {time.monotonic() - begun:.0f} s, figures in {_shown(job.figures)}"
            print(problem or f"{job.notebook.name}: {done}, page {_shown(job.file('.html'))}")
    except KeyboardInterrupt:
        print("interrupted; the same command goes on where it stopped")
        return 130
    return int(failed)


def plan(
    which: Sequence[str] = (),
    *,
    data: str | Path | None = None,
    train: str | Path | None = None,
    scale: str = "class",
    seed: int = 0,
    parameters: Mapping[str, str] | None = None,
    notebooks: Path = NOTEBOOKS,
    root: Path | None = None,
) -> list[Job]:
    """The notebooks that :func:`run` would run, with all that they are given; nothing is written.

    ``data`` is a published file, None for the atlas (a notebook may name other data that it is about, see
    :func:`kit.runs.sources.data_for`), and ``train`` one to learn from, None for the data's own training
    questions, if it has any. ``parameters`` are texts by name, as on a command line. ``root`` is the folder under which
    figures and executed notebooks go, by default that of :func:`kit.paths.output`. Raises ``InputError`` for bad data
    or parameters.
    """
    root, texts = root or output(), parameters or {}
    chosen = find_notebooks(notebooks, which)
    given = read_parameters(texts, chosen)
    settings = find_scale(scale)
    path, learned = (Path(file).resolve() if file else None for file in (data, train))
    form = {name: text for name, text in texts.items() if name in {"setting", "unit"}}
    sources = [data_for(str(notebook.defaults.get("data", "")), path) for notebook in chosen]
    benchmarks = {path: read_benchmark(path, settings, **form)}
    benchmarks |= {own: read_benchmark(own, settings) for own in sources if own != path}
    training = read_training(learned, benchmarks[path], **form)
    code = code_digest()
    jobs = []
    for notebook, values, source in zip(chosen, given, sources):
        benchmark = benchmarks[source]
        other = train is not None and bool(benchmark.train)  # other training questions than the data's own
        folder = folder_name(benchmark.name, scale, trial=bool(texts) or seed != 0 or other)
        content = [notebook.path.read_text("utf-8"), values, scale, seed, benchmark.name, benchmark.hash, code]
        content += [training.hash] if "train" in notebook.defaults and training else []
        options = {"data": str(source or ""), "train": str(learned or ""), "scale": scale, "seed": seed}
        values = {name: value for name, value in options.items() if name in notebook.defaults} | values
        figures, executed = root / "figures" / folder, root / "notebooks" / "executed" / folder
        jobs.append(Job(notebook, values, root, figures, executed, digest(content)))
    return jobs


def run_one(job: Job, *, progress: bool = True) -> str | None:
    """Run a notebook; what went wrong, told in a few lines, or None."""
    # While it runs, nothing says that it finished; its copy so far lies beside the one of the run before.
    job.file(".json").unlink(missing_ok=True)
    running = job.file(".running.ipynb")
    running.parent.mkdir(parents=True, exist_ok=True)
    before = _stamp(job.record)
    begun: list[NotebookNode] = []  # cells

    def execute() -> NotebookNode:
        return papermill.execute_notebook(
            job.notebook.path,
            running,
            job.parameters,
            kernel_name="python3",
            language="python",
            progress_bar=progress and {"desc": job.notebook.name, "disable": None, "leave": False},
            cwd=job.notebook.path.parent,
            kernel_manager_class=_kernel_manager(_environment(job)),
            shutdown_kernel="immediate",
            on_cell_start=lambda cell, cell_index: begun.append(cell),
        )

    problem = None
    try:
        try:
            node = execute()
        except RuntimeError:
            if begun:
                raise
            node = execute()  # another process may have taken a port between its choice and its use
    except (PapermillExecutionError, RuntimeError) as error:
        problem = _explain(job.notebook.name, error, begun)
    os.replace(running, job.file(".ipynb"))
    if problem:
        job.file(".html").unlink(missing_ok=True)  # that of an earlier run would pass for this one's
        return f"{problem}\n  executed so far: {_shown(job.file('.ipynb'))}"
    atomic_write(job.file(".html"), page(node, job.notebook.name).encode())
    made = [job.file(".ipynb"), job.file(".html")]
    if _stamp(job.record) != before:
        made += [job.record, *(job.figures / name for name in read_figures(job.record))]
    job.finish(made)
    return None


def _environment(job: Job) -> dict[str, str]:
    """What a kernel finds: the same folders whatever its working folder, and what makes runs alike and quiet."""
    offline = {} if "encoder" in job.parameters else {"HF_HUB_OFFLINE": "1"}  # the default encoder lies in a package
    return offline | {
        "KIT_OUTPUT": str(job.root.resolve()),
        "KIT_CACHE": str(cache().resolve()),
        "KIT_FIGURES": str(job.figures.resolve()),
        "PYTHONHASHSEED": "0",
        "TOKENIZERS_PARALLELISM": "false",
    }


def _stamp(path: Path) -> int | None:
    return path.stat().st_mtime_ns if path.exists() else None


def _shown(path: Path) -> str:
    """A path as short as it can be given from here."""
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)


def _kernel_manager(environment: Mapping[str, str]) -> type[AsyncKernelManager]:
    """A kernel manager whose kernels have these variables and the Python that runs the kit.

    A kernel named ``python3`` may be registered for another Python, or for none. What passes between runner and kernel
    is encrypted, for other users of the machine can reach its ports.
    """
    spec = KernelSpec(**get_kernel_dict(), env=dict(environment))

    class Manager(AsyncKernelManager):
        def __init__(self, **settings: object) -> None:
            super().__init__(transport_encryption="auto", **settings)

        @property
        def kernel_spec(self) -> KernelSpec:
            return spec

    return Manager


def _explain(name: str, error: Exception, begun: Sequence[NotebookNode]) -> str:
    """What went wrong in the last of the cells that were begun, on one screen, without lines of libraries."""
    if not begun:
        return f"{name}: its kernel did not start ({error})"
    lines = begun[-1].source.strip().splitlines()
    if not isinstance(error, PapermillExecutionError):
        return f"{name}: its kernel died in the cell: {lines[0]}\n  (often: not enough memory)"
    if error.ename == "InputError":
        return f"{name}: {error.evalue}"
    at = re.search(r"Cell In\[\d+\], line (\d+)", strip_color("\n".join(error.traceback)))
    line = f"  line {at[1]}: {lines[int(at[1]) - 1].strip()}\n" if at and int(at[1]) <= len(lines) else ""
    message = "\n    ".join(error.evalue[:_MOST_LETTERS].splitlines()[:_MOST_LINES])
    return f"{name}: failed in the cell: {lines[0]}\n{line}  {error.ename}: {message}"
