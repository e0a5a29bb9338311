"""Grids of settings, each cell done once and kept: of a retriever's settings, or of a notebook's parameters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from urllib.parse import quote

import msgspec
import pandas as pd
from tqdm.auto import tqdm

import kit
from kit.corpus import Benchmark
from kit.errors import InputError
from kit.evaluation import Experiment, evaluate
from kit.evaluation.claims import Finding, Record
from kit.paths import NOTEBOOKS, output
from kit.retrievers import make
from kit.runs.notebook import find_notebooks
from kit.runs.parallel import map_cells
from kit.runs.provenance import Plain, code_digest, commit
from kit.runs.runner import Job, plan, run_one
from kit.settings import Settings, Whole, check
from kit.store import Store, content_key

_KIND = "sweeps"  # in the store
_SHOWN = ("claim", "criterion", "case", "effect", "low", "high", "n", "verdict")  # of a notebook's findings

Cell = Mapping[str, Plain]


class _Seed(Settings, frozen=True):
    seed: Whole = 0


def grid(values: Mapping[str, Sequence[Plain]]) -> list[Cell]:
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
    scheduler: str = "",
) -> pd.DataFrame:
    """The retriever with the settings of each cell, asked the benchmark's test questions.

    A tidy table, a row a cell and question: the cell's settings, the columns of :class:`kit.evaluation.Experiment`, and
    seconds_to_fit, data, data_hash, training_hash, kit and commit. A setting that is named like one of these columns is
    ``setting_NAME``. Each cell is kept as soon as it is finished, and is not evaluated again for the same settings,
    data and code. The time of ``n_timed`` questions is taken; processes beside each other make it longer. ``jobs`` and
    ``scheduler`` are those of :func:`kit.runs.parallel.map_cells`. Raises :class:`InputError` for settings that the
    retriever does not take, before anything is evaluated.
    """
    for cell in cells:
        make(name, **cell)
    about = [name, sorted(ks), n_timed, benchmark.hash, training.hash if training else "", code_digest()]
    keys = [content_key(msgspec.json.encode([*about, sorted(cell.items())]).decode()) for cell in cells]
    store = Store()
    kept = store.get_many(_KIND, keys)
    missing = {key: cell for key, cell in zip(keys, cells) if key not in kept}
    evaluate_cell = partial(_evaluate, name=name, benchmark=benchmark, training=training, ks=ks, n_timed=n_timed)
    work = map_cells(evaluate_cell, list(missing.values()), jobs=jobs, scheduler=scheduler)
    with tqdm(total=len(set(keys)), initial=len(kept), desc=f"sweep of {name}", unit="cell") as bar:
        for place, columns in work:
            key = list(missing)[place]
            kept[key] = msgspec.json.encode(columns)
            store.put_many(_KIND, {key: kept[key]})
            bar.update()
    return _joined(cells, (msgspec.json.decode(kept[key]) for key in keys))


def sweep_notebook(
    which: str,
    cells: Sequence[Cell],
    *,
    data: str | Path | None = None,
    train: str | Path | None = None,
    scale: str = "class",
    jobs: int = 1,
    scheduler: str = "",
    notebooks: Path = NOTEBOOKS,
) -> pd.DataFrame:
    """The notebook whose name begins with ``which``, run with the parameters of each cell, among them ``seed``.

    A tidy table, a row a cell and finding: the cell's parameters, the fields of :class:`kit.evaluation.claims.Finding`,
    and data, data_hash, training_hash, kit and commit. Figures and executed notebook of a cell go to
    ``sweeps/NOTEBOOK/CELL/``; a cell that finished there with the same data, parameters and code is not run again, and
    one that fails stops the sweep. On a cluster, workers and caller must share the project's folder. Raises
    :class:`InputError` for bad data or parameters, before anything is run.
    """
    (notebook, *others) = find_notebooks(notebooks, [which])
    if others:
        raise InputError(f"expected one notebook, but {1 + len(others)} begin with {which!r}", field="notebook")
    planned = []
    for cell in cells:
        seed = check(_Seed, {name: value for name, value in cell.items() if name == "seed"}, which).seed
        folder = ",".join(f"{name}={quote(str(value), safe='')}" for name, value in cell.items())
        root = output().resolve() / "sweeps" / notebook.name / folder
        texts = {name: str(value) for name, value in cell.items() if name != "seed"}
        given = {"data": data, "train": train, "scale": scale, "seed": seed, "parameters": texts, "root": root}
        planned += plan([which], notebooks=notebooks, **given)
    todo = [job for job in planned if not job.finished]
    work = map_cells(_run, todo, jobs=jobs, scheduler=scheduler)
    finished = len(planned) - len(todo)
    with tqdm(total=len(planned), initial=finished, desc=f"sweep of {notebook.name}", unit="cell") as bar:
        for _ in work:
            bar.update()
    return _joined(cells, map(_findings, planned))


def experiment_of(
    table: pd.DataFrame, labels: Sequence[str], benchmark: Benchmark, *, ks: Sequence[int], seed: int, n_resamples: int
) -> Experiment:
    """A table of :func:`sweep_retriever` as an experiment, without rankings, whose retrievers are the cells."""
    n = len(benchmark.test)
    named = table.assign(retriever=[label for label in labels for _ in range(n)])
    seconds = dict(zip(labels, table["seconds_to_fit"][::n]))
    none = {label: {} for label in labels}
    return Experiment(named, none, seconds, benchmark, benchmark.test, tuple(sorted(ks)), seed, n_resamples)


def summary(table: pd.DataFrame, n_settings: int) -> pd.DataFrame:
    """A sweep's table in short (its first columns are settings): a retriever's means by cell, a notebook's verdicts."""
    settings = list(table.columns[:n_settings])
    if "question" not in table:
        return table[[*settings, *_SHOWN]]
    metrics = [name for name in table.columns[n_settings:] if "@" in name or name in ("mrr", "seconds")]
    return table.groupby(settings, sort=False, dropna=False)[metrics].mean().reset_index()


def _evaluate(
    cell: Cell, name: str, benchmark: Benchmark, training: Benchmark | None, ks: Sequence[int], n_timed: int
) -> dict[str, object]:
    """A cell's columns, as plain values; one value stands for a column that is the same in all rows."""
    about = {"ks": ks, "training": training, "n_timed": n_timed, "progress": False}
    experiment = evaluate({name: make(name, **cell)}, benchmark, **about)
    return experiment.table.to_dict("list") | {
        "seconds_to_fit": experiment.seconds_to_fit[name],
        "data": benchmark.name,
        "data_hash": benchmark.hash,
        "training_hash": training.hash if training else "",
        "kit": kit.__version__,
        "commit": commit()[0],
    }


def _run(job: Job) -> None:
    if problem := run_one(job, progress=False):
        raise InputError(problem)


def _findings(job: Job) -> dict[str, object]:
    """The columns of what a finished notebook found."""
    if not job.record.exists():
        raise InputError("expected a notebook that tells what it found by lesson.done()", file=job.notebook.path)
    record = msgspec.json.decode(job.record.read_bytes(), type=Record)
    columns = {field: [getattr(found, field) for found in record.findings] for field in Finding.__struct_fields__}
    made = {name: record.provenance[name] for name in ("data", "data_hash", "training_hash", "kit", "commit")}
    return columns | made


def _joined(cells: Sequence[Cell], found: Iterable[dict[str, object]]) -> pd.DataFrame:
    """One table, each cell's settings before its columns."""
    tables = []
    for cell, columns in zip(cells, found, strict=True):
        settings = {f"setting_{name}" if name in columns else name: value for name, value in cell.items()}
        tables.append(pd.DataFrame(settings | columns))
    return pd.concat(tables, ignore_index=True)
