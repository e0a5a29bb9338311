"""Grids of a retriever's settings, each cell evaluated once and kept."""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any

import msgspec
import pandas as pd
from tqdm.auto import tqdm

from kit.corpus import Benchmark
from kit.evaluation import evaluate
from kit.lab.lesson import code_digest, provenance
from kit.lab.parallel import in_parallel
from kit.methods import make
from kit.settings import Value
from kit.store import Store, content_key

_KIND = "sweeps"  # in the store
_ORIGIN = ("data", "data_hash", "training_hash", "kit", "commit")

Cell = Mapping[str, Value]


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
    columns of :class:`kit.evaluation.Experiment`, seconds_to_fit, data, data_hash, training_hash, kit and commit. What
    a cell found is kept as soon as it is done, and found again with the same data and code. ``jobs`` processes share
    the cells. Raises :class:`InputError` for bad settings, before all else.
    """
    for cell in cells:
        make(name, **cell)
    about = [
        name,
        sorted(ks),
        n_timed,
        benchmark.hash,
        training.hash if training else "",
        code_digest(),
    ]
    keys = [
        content_key(msgspec.json.encode([*about, sorted(cell.items())]).decode()) for cell in cells
    ]
    store = Store()
    kept = store.get_many(_KIND, keys)
    left = {key: cell for key, cell in zip(keys, cells) if key not in kept}
    with tqdm(total=len(set(keys)), initial=len(kept), desc="sweep", unit="cell") as bar:
        work = partial(
            _evaluate, name=name, benchmark=benchmark, training=training, ks=ks, n_timed=n_timed
        )
        for key, rows in in_parallel(work, left.items(), jobs):
            kept[key] = msgspec.msgpack.encode(rows)  # has NaN, unlike JSON
            store.put_many(_KIND, {key: kept[key]})
            bar.update()
    rows = []
    for key, cell in zip(keys, cells):
        for row in msgspec.msgpack.decode(kept[key]):
            rows.append(
                {f"setting_{name}" if name in row else name: value for name, value in cell.items()}
                | row
            )
    return pd.DataFrame(rows)


def _evaluate(
    key: bytes,
    cell: Cell,
    name: str,
    benchmark: Benchmark,
    training: Benchmark | None,
    **asking: Any,
) -> tuple[bytes, list[dict[str, Any]]]:
    """The rows of a cell, with its key."""
    experiment = evaluate(
        {name: make(name, **cell)}, benchmark, training=training, progress=False, **asking
    )
    origin = provenance(benchmark) | {"training_hash": training.hash if training else ""}
    about = {
        "seconds_to_fit": experiment.seconds_to_fit[name],
        **{column: origin[column] for column in _ORIGIN},
    }
    return key, experiment.table.assign(**about).to_dict("records")
