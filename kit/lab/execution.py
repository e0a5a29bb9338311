"""A notebook, executed in a kernel of its own."""

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from copy import deepcopy
from multiprocessing import current_process
from pathlib import Path
from threading import Event, Thread
from time import monotonic
from typing import Any, Self

import msgspec
import nbformat
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode
from nbformat.sign import NotebookNotary
from tqdm import tqdm
from traitlets import default

from kit import paths
from kit.files import atomic_write
from kit.lab.catalogue import figure_prefix, full_name
from kit.lab.environment import environment
from kit.lab.parameters import Parameters, read_notebook, with_parameters
from kit.lab.provenance import write_json
from kit.lab.publishing import is_published, shown_pictures
from kit.store import file_digest

_MOST_LINES = 8  # of an error's message
_MOST_LETTERS = 1000  # … and its letters
_WIDGET = "application/vnd.jupyter.widget-view+json"


class Job(msgspec.Struct, frozen=True):
    """A notebook to run, its parameters, the key of its content, and where its results go.

    ``published`` is the committed folder that its figures may replace; None for a run that is no
    whole one.
    """

    notebook: Path
    parameters: Parameters
    key: str
    figures: Path
    executed: Path
    published: Path | None = None

    @property
    def name(self) -> str:
        """What the notebook is called."""
        return full_name(self.notebook)

    def file(self, suffix: str) -> Path:
        """The executed copy (.ipynb) and the account of the run (.json)."""
        return self.executed / f"{self.notebook.stem}{suffix}"

    def drawn(self, folder: Path) -> list[Path]:
        """Its record and its figures in a folder."""
        prefix = figure_prefix(self.notebook.stem)
        return sorted([*folder.glob(f"{prefix}_*"), *folder.glob(f"{prefix}.json")])

    @property
    def finished(self) -> bool:
        """Whether it was run with the same content, and all that it left is there, unchanged."""
        with suppress(OSError, ValueError):
            return json.loads(self.file(".json").read_bytes()) == self.account()
        return False

    @property
    def provenance(self) -> dict[str, Any]:
        """Of its last run here, or else of the published one, by the record."""
        for folder in (self.figures, paths.PUBLISHED / self.figures.name):
            with suppress(OSError, ValueError):
                record = json.loads((folder / f"{self.notebook.stem}.json").read_bytes())
                return record["provenance"]
        return {}

    @property
    def seconds(self) -> float:
        """What its last run took; 0 where nobody knows."""
        return self.provenance.get("seconds", 0.0)

    def account(self) -> dict[str, Any]:
        """The key of its content, and digests of its copy, its record and its figures."""
        files = [self.file(".ipynb"), *self.drawn(self.figures)]
        return {"key": self.key, "files": {file.name: file_digest(file) for file in files}}

    def publish(self) -> None:
        """Put its numbers, and the pictures that are shown, in the place of the committed ones."""
        shown = shown_pictures()
        dataset = self.published.name
        drawn = self.drawn(self.figures)
        files = [file for file in drawn if is_published(file, dataset, shown)]
        for file in files:
            atomic_write(self.published / file.name, file.read_bytes())
        names = {file.name for file in files}
        for file in self.drawn(self.published):
            if file.name not in names:
                file.unlink()


class Outcome(msgspec.Struct, frozen=True):
    """What came of running a notebook, in words."""

    message: str
    failed: bool = False


def run_one(job: Job) -> Outcome:
    """Run a notebook."""
    name = job.name
    start = monotonic()
    job.file(".json").unlink(missing_ok=True)  # while it runs, nothing says that it finished
    notebook = with_parameters(read_notebook(job.notebook), job.parameters)

    cells = []  # those that were begun
    try:
        with environment(_kernel_environment(job)), StepLine(job, len(notebook.cells)) as line:
            try:
                _execute(job, notebook, cells, line)
            except RuntimeError:
                if cells:
                    raise
                # Another process may have taken a port between its choice and its use.
                _execute(job, notebook, cells, line)
    except (CellExecutionError, RuntimeError) as error:
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


class ThisPython(AsyncKernelManager):
    """Kernels of the Python that runs this, whatever others are installed."""

    @default("kernel_spec_manager")
    def _of_this_python(self) -> KernelSpecManager:
        return KernelSpecManager(kernel_dirs=[])


def _execute(job: Job, notebook: NotebookNode, cells: list[NotebookNode], line: "StepLine") -> None:
    """Execute the notebook and keep its copy; each cell that is begun is added to ``cells``."""
    client = NotebookClient(
        notebook,
        kernel_manager_class=ThisPython,
        kernel_name="python3",
        extra_arguments=["--log-level=ERROR"],  # not that it runs over TCP, on this machine alone
        resources={"metadata": {"path": str(job.notebook.parent)}},
        timeout=None,
        shutdown_kernel="immediate",
    )
    client.reset_execution_trackers()
    try:
        with client.setup_kernel():
            for index, cell in enumerate(notebook.cells):
                cells.append(cell)
                line.begin(cell)
                client.execute_cell(cell, index)
    finally:
        _save(notebook, job.file(".ipynb"))


def _save(notebook: NotebookNode, file: Path) -> None:
    """Write the copy without what only a live kernel can show: controls, and bars that are done.

    It is signed, so that Jupyter shows its pages when it is opened again.
    """
    copy = deepcopy(notebook)
    copy.metadata.pop("widgets", None)
    for cell in copy.cells:
        if cell.cell_type == "code":
            cell.outputs = [
                output for output in cell.outputs if _WIDGET not in output.get("data", ())
            ]
    atomic_write(file, nbformat.writes(copy).encode())
    with suppress(OSError):  # in a home that can't be written, Jupyter asks whether to trust it
        NotebookNotary().sign(copy)


def _kernel_environment(job: Job) -> dict[str, str]:
    """The same folders whatever a kernel's working folder, and what makes runs alike and quiet."""
    return {
        "KIT_CACHE": str(paths.cache().resolve()),
        "KIT_FIGURES": str(job.figures.resolve()),
        "PYTHONHASHSEED": "0",
        "TOKENIZERS_PARALLELISM": "false",
        "TQDM_DISABLE": "1",
        # The default encoder lies in a package.
        "HF_HUB_OFFLINE": os.environ.get("HF_HUB_OFFLINE", "1"),
    }


def _explain(error: Exception, cells: Sequence[NotebookNode]) -> str:
    """What went wrong in the last cell, on one screen, without lines of libraries."""
    if not cells:
        return f"its kernel did not start ({error})"
    first_line = cells[-1].source.strip().splitlines()[0]
    if not isinstance(error, CellExecutionError):
        return f"its kernel died in the cell: {first_line}\n  (often: not enough memory)"
    if error.ename == "InputError":
        return error.evalue
    message = "\n    ".join(error.evalue[:_MOST_LETTERS].splitlines()[:_MOST_LINES])
    return f"failed in the cell: {first_line}\n  {error.ename}: {message}"


class StepLine:
    """A line of a terminal for a notebook that runs: which, at which step, how long still.

    It is drawn anew every second, and vanishes at the end.
    """

    def __init__(self, job: Job, n_cells: int) -> None:
        self._name = job.name
        self._n_cells = n_cells
        self._n_begun = 0
        self._step = "its kernel starts"
        self._usual = job.seconds
        self._start = monotonic()
        self._ended = Event()
        self._clock = Thread(target=self._draw_every_second, daemon=True)
        # Of the process "LokyProcess-2" the line stands below the first one's.
        row = int(current_process().name.partition("-")[2] or 1) - 1
        self._line = tqdm(
            disable=None,  # where there is no terminal
            leave=False,
            position=row,
            bar_format="{desc}",
        )

    def __enter__(self) -> Self:
        self._clock.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._clock.join()
        self._line.close()

    def begin(self, cell: NotebookNode) -> None:
        """Say that a cell begins; the step is the last heading."""
        self._n_begun += 1
        if cell.cell_type == "markdown" and cell.source.startswith("#"):
            self._step = cell.source.splitlines()[0].strip("# ")

    def _draw_every_second(self) -> None:
        while not self._line.disable:
            text = self.text(monotonic() - self._start)
            self._line.set_description_str(f"{self._name}: {text}")
            if self._ended.wait(1):
                return

    def text(self, elapsed: float) -> str:
        """The step, and how long still after so many seconds: by the last run, or by the cells."""
        step = f"{self._step} (cell {self._n_begun} of {self._n_cells})"
        if self._usual:
            left = max(self._usual - elapsed, 0)
        elif self._n_begun:
            left = elapsed * (self._n_cells - self._n_begun) / self._n_begun
        else:
            return step
        return f"{step}, about {tqdm.format_interval(left)} left"
