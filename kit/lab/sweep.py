"""Grids of a retriever's settings, each cell evaluated once and kept."""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any

import msgspec
from pandas import DataFrame

from kit.corpus import Benchmark
from kit.evaluation import evaluate
from kit.fingerprint import package_digest
from kit.lab.parallel import in_parallel
from kit.lab.provenance import provenance
from kit.methods import make
from kit.progress import progress_bar
from kit.settings import Value
from kit.store import Store, content_key

_KIND = "sweeps"  # in the store
_ORIGIN = ("data", "data_hash", "training_hash", "kit", "commit")

Cell = Mapping[str, Value]
Row = dict[str, Any]


def combinations(values: Mapping[str, Sequence[Value]]) -> list[Cell]:
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
) -> DataFrame:
    """The retriever with the settings of each cell, asked the benchmark's test questions.

    A tidy table, a row per cell and question: the cell's settings (``setting_NAME`` where a column
    has that name), the columns of :class:`kit.evaluation.Experiment`, seconds_to_fit, data,
    data_hash, training_hash, kit and commit. A cell's rows are kept as soon as they are there, and
    found again with the same data and code. ``jobs`` processes share the cells. Raises
    :class:`InputError` for bad settings, before all else.
    """
    for cell in cells:
        make(name, **cell)
    origin = [
        name,
        sorted(ks),
        n_timed,
        benchmark.hash,
        training.hash if training else "",
        package_digest(),
    ]
    keys = [
        content_key(msgspec.json.encode([*origin, sorted(cell.items())]).decode()) for cell in cells
    ]

    store = Store()
    kept = store.get_many(_KIND, keys)
    missing = {key: cell for key, cell in zip(keys, cells) if key not in kept}
    if missing:
        store.expect_writable()
    work = partial(
        _evaluate,
        name=name,
        benchmark=benchmark,
        training=training,
        ks=ks,
        n_timed=n_timed,
    )
    with progress_bar(total=len(set(keys)), initial=len(kept), desc="sweep", unit="cell") as bar:
        for key, rows in in_parallel(work, missing.items(), jobs):
            kept[key] = msgspec.msgpack.encode(rows)  # has NaN, unlike JSON
            store.put_many(_KIND, {key: kept[key]})
            bar.update()

    table = []
    for key, cell in zip(keys, cells):
        rows = msgspec.msgpack.decode(kept[key])
        table += [_with_settings(row, cell) for row in rows]
    return DataFrame(table)


def _with_settings(row: Row, cell: Cell) -> Row:
    """The row with its cell's settings before it."""
    named = {}
    for name, value in cell.items():
        column = f"setting_{name}" if name in row else name
        named[column] = value
    return named | row


def _evaluate(
    key: bytes,
    cell: Cell,
    name: str,
    benchmark: Benchmark,
    training: Benchmark | None,
    **options: Any,
) -> tuple[bytes, list[Row]]:
    """The rows of a cell, with its key; ``options`` are those of :func:`evaluate`."""
    experiment = evaluate(
        {name: make(name, **cell)},
        benchmark,
        training=training,
        progress=False,
        **options,
    )
    origin = provenance(benchmark)
    origin["training_hash"] = training.hash if training else ""
    columns = {column: origin[column] for column in _ORIGIN}
    table = experiment.table.assign(seconds_to_fit=experiment.seconds_to_fit[name], **columns)
    return key, table.to_dict("records")
