"""Grids of a retriever's settings: the means of each cell, and its paired difference to one of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from kit.errors import InputError
from kit.evaluation import statistics
from kit.values import typed


def compare_cells(
    table: pd.DataFrame,
    cells: Sequence[Mapping[str, object]],
    base: int = 0,
    metric: str = "recall@5",
    *,
    seed: int = 0,
    draws: int = statistics.DRAWS,
) -> pd.DataFrame:
    """A row a cell, as :func:`kit.views.ablation` draws them; differences are those to the cell in the place ``base``.

    ``table`` has a row a cell and question, all cells in order and each with the same questions in the same order, as
    :func:`kit.runs.sweep.sweep_retriever` returns it. Columns: the cells' settings, group (the retriever), label (the
    settings in words), mean, low, high (of ``metric``), difference, difference_low, difference_high (missing for
    ``base``), n (questions), then the means of every metric, of the seconds of a question, and seconds_to_fit.
    Intervals are 95 % bootstrap over questions, each for itself.
    """
    if missing := {"question", "retriever", metric} - set(table):
        raise InputError(f"expected the column {min(missing)!r}", field="table")
    questions = table["question"].to_numpy().reshape(len(cells), -1) if _even(len(table), len(cells)) else None
    if questions is None or (questions != questions[0]).any():
        raise InputError("expected a row a cell and question, the same questions in each cell", field="table")
    values = table[metric].to_numpy(float).reshape(len(cells), -1).T
    about = {"seed": seed, "draws": draws}
    levels = statistics.intervals(values, **about)
    gains = statistics.intervals(values - values[:, [base]], **about) + 0.0  # so that no -0.0 is left
    gains[base] = np.nan
    found = pd.DataFrame({"group": table["retriever"].iloc[0], "label": [_label(cell) for cell in cells]})
    found[["mean", "low", "high"]] = levels
    found[["difference", "difference_low", "difference_high"]] = gains
    found["n"] = len(values)
    measured = [name for name in table if "@" in name or name in ("mrr", "seconds", "seconds_to_fit")]
    for name in measured:
        found[name] = table[name].to_numpy(float).reshape(len(cells), -1).mean(axis=1)
    settings = dict.fromkeys(name for cell in cells for name in cell)
    for place, name in enumerate(settings):
        column = f"setting_{name}" if name in found else name
        found.insert(place, column, [cell.get(name) for cell in cells])
    return found


def _even(rows: int, cells: int) -> bool:
    return cells > 0 and rows > 0 and rows % cells == 0


def _label(cell: Mapping[str, object]) -> str:
    return ", ".join(f"{name} = {typed(value)}" for name, value in cell.items()) or "as it comes"
