"""The papers' own numbers (``papers.csv``), as printed."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

_NUMBERS = pd.read_csv(
    Path(__file__).with_name("papers.csv"), keep_default_na=False, dtype={"value": float}
)


def paper_numbers(paper: str, place: str) -> pd.DataFrame:
    """The numbers of one table or figure as printed, such as ``paper_numbers("gnn-ret", "Table 5")``.

    Columns: paper, place, dataset (as the paper names it), group, row, metric, value, unit, note.
    """
    return _NUMBERS[(_NUMBERS["paper"] == paper) & (_NUMBERS["place"] == place)].reset_index(
        drop=True
    )


def paper_table(paper: str, *places: str, metrics: Sequence[str] = ()) -> pd.DataFrame:
    """Tables of a paper as they are read: a row a method (and group), a column a data set and metric (or all)."""
    table = pd.concat([paper_numbers(paper, place) for place in places])
    table = table[table["metric"].isin(metrics)] if metrics else table
    table["row"] = table["row"] + table["group"].map(lambda group: f" ({group})" if group else "")
    table["column"] = table["dataset"] + " " + table["metric"]
    wide = table.set_index(["place", "row", "column"])["value"].unstack(sort=False)
    return wide.rename_axis(columns=None).reset_index()
