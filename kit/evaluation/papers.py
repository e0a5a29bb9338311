"""The papers' own numbers (``papers.csv``), as printed."""

from pathlib import Path

import pandas as pd
from pandas import DataFrame

from kit.corpus.types import Texts

_NUMBERS = pd.read_csv(
    Path(__file__).with_name("papers.csv"),
    keep_default_na=False,
    dtype={"value": float},
)


def paper_numbers(paper: str, label: str) -> DataFrame:
    """The numbers of one table or figure as printed: ``paper_numbers("gnn-ret", "Table 5")``.

    Columns: paper, place, dataset (as the paper names it), group, row, metric, value, unit, note.
    """
    of_paper = _NUMBERS[_NUMBERS["paper"] == paper]
    return of_paper[of_paper["place"] == label].reset_index(drop=True)


def paper_table(paper: str, *labels: str, metrics: Texts = ()) -> DataFrame:
    """Tables of a paper as they are read, with all metrics or some.

    A row is a method (and group), a column is a data set and metric.
    """
    table = pd.concat([paper_numbers(paper, label) for label in labels])
    if metrics:
        table = table[table["metric"].isin(metrics)]

    groups = table["group"]
    table["row"] += (" (" + groups + ")").where(groups != "", "")
    table["column"] = table["dataset"] + " " + table["metric"]
    wide = table.set_index(["place", "row", "column"])["value"].unstack(sort=False)
    return wide.rename_axis(columns=None).reset_index()
