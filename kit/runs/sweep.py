"""Grids of settings, each cell done once and kept: of a retriever's settings, or of a notebook's parameters."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec
import pandas as pd
from joblib import Parallel, delayed
from tqdm.auto import tqdm

from kit.corpus import Benchmark
from kit.errors import InputError
from kit.evaluation import evaluate
from kit.paths import NOTEBOOKS, output
from kit.retrievers import make
from kit.runs.lesson import code_digest, provenance
from kit.runs.runner import Job, find_notebooks, plan, run_one
from kit.settings import Value
from kit.store import Store, content_key

_KIND = "sweeps"  # in the store
_ORIGIN = ("data", "data_hash", "training_hash", "kit", "commit")
_SHOWN = ("claim", "criterion", "case", "effect", "low", "high", "n", "verdict")  # of a notebook's findings

Cell = Mapping[str, Value]
Rows = list[dict[str, Any]]
Task = Callable[[], Rows]


def grid(values: Mapping[str, Sequence[Value]]) -> list[Cell]:
    """Every combination of the values, the last name's changing fastest."""
    return [dict(zip(values, cell)) for cell in product(*values.values())]


def sweep_retriever(
    name: str,
    cells: Sequence[Cell],
    benchmark: Benchmark,
    training: Benchmark | None = None,
    *,
    ks: Sequence[int] = (2, 5, 10),
    n_timed: int = 0,
    jobs: int = 1,
) -> pd.DataFrame:
    """The retriever with the settings of each cell, asked the benchmark's test questions.

    A tidy table, a row a cell and question: the cell's settings (``setting_NAME`` where a column is named alike), the
    columns of :class:`kit.evaluation.Experiment`, seconds_to_fit, data, data_hash, training_hash, kit and commit. A
    cell that finished with the same data and code is found again. ``jobs`` processes share the cells. Raises
    :class:`InputError` for bad settings, before all else.
    """
    for cell in cells:
        make(name, **cell)
    about = [name, sorted(ks), n_timed, benchmark.hash, training.hash if training else "", code_digest()]
    keys = [content_key(msgspec.json.encode([*about, sorted(cell.items())]).decode()) for cell in cells]
    asking = {"benchmark": benchmark, "ks": ks, "training": training, "n_timed": n_timed}
    return _table(cells, keys, [partial(_evaluate, name, cell, **asking) for cell in cells], jobs)


def _evaluate(name: str, cell: Cell, benchmark: Benchmark, training: Benchmark | None, **asking: Any) -> Rows:
    experiment = evaluate({name: make(name, **cell)}, benchmark, training=training, progress=False, **asking)
    origin = provenance(benchmark) | {"training_hash": training.hash if training else ""}
    about = {"seconds_to_fit": experiment.seconds_to_fit[name], **{column: origin[column] for column in _ORIGIN}}
    return experiment.table.assign(**about).to_dict("records")


def sweep_notebook(
    which: str, cells: Sequence[Cell], options: Mapping[str, Any], notebooks: Path = NOTEBOOKS, jobs: int = 1
) -> pd.DataFrame:
    """The notebook whose name begins with ``which``, run with the parameters of each cell, among them ``seed``.

    A row a cell and finding (:class:`kit.evaluation.claims.Finding`); else as :func:`sweep_retriever`. ``options`` are
    data, train and scale. Figures and executed notebook of a cell go to ``sweeps/NOTEBOOK/CELL/``; one that fails stops
    the sweep.
    """
    (notebook, *others) = find_notebooks(notebooks, [which])
    if others:
        raise InputError(f"expected one notebook, but {1 + len(others)} begin with {which!r}", field="notebook")
    runs: list[Job] = []
    for cell in cells:
        folder = ",".join(f"{name}={quote(str(value), safe='')}" for name, value in cell.items())
        told = {"seed": cell.get("seed", 0), "root": output().resolve() / "sweeps" / notebook.stem / folder, **options}
        texts = {name: str(value) for name, value in cell.items() if name != "seed"}
        runs += plan([which], notebooks=notebooks, parameters=texts, **told)
    return _table(cells, [content_key(job.key) for job in runs], [partial(_run, job) for job in runs], jobs)


def _run(job: Job) -> Rows:
    if not job.finished and (problem := run_one(job, progress=False)):
        raise InputError(problem)
    if not job.record.exists():
        raise InputError("expected a notebook that tells what it found by lesson.done()", file=job.notebook)
    record = msgspec.json.decode(job.record.read_bytes())
    origin = {name: record["provenance"][name] for name in _ORIGIN}
    return [found | origin for found in record["findings"]]


def _table(cells: Sequence[Cell], keys: Sequence[bytes], tasks: Sequence[Task], jobs: int = 1) -> pd.DataFrame:
    """The rows of all cells, each after its settings; what a task found is kept in the store as soon as it is done."""
    store = Store()
    kept = store.get_many(_KIND, keys)
    left = {key: task for key, task in zip(keys, tasks) if key not in kept}
    with tqdm(total=len(set(keys)), initial=len(kept), desc="sweep", unit="cell") as bar:
        done = Parallel(jobs, return_as="generator_unordered", batch_size=1)
        try:
            for key, rows in done(delayed(lambda key, task: (key, task()))(*item) for item in left.items()):
                kept[key] = msgspec.json.encode(rows)
                store.put_many(_KIND, {key: kept[key]})
                bar.update()
        except BrokenProcessPool:
            raise InputError("a worker died (out of memory?); the same command goes on where it stopped") from None
    rows = []
    for key, cell in zip(keys, cells):
        for row in msgspec.json.decode(kept[key]):
            rows.append({f"setting_{name}" if name in row else name: value for name, value in cell.items()} | row)
    return pd.DataFrame(rows)


def summary(table: pd.DataFrame, n_settings: int) -> pd.DataFrame:
    """A sweep's table in short (its first columns are settings): a retriever's means by cell, a notebook's verdicts."""
    settings = list(table.columns[:n_settings])
    if "question" not in table:
        return table[[*settings, *_SHOWN]]
    metrics = [name for name in table if "@" in name or name in ("mrr", "seconds")]
    return table.groupby(settings, sort=False, dropna=False)[metrics].mean().reset_index()
