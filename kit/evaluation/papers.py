"""The papers' own numbers (``papers.csv``): every table and figure with numbers, as printed.

A method or data set has one spelling in all papers. A note says where a number was not legible,
or where the paper contradicts itself.
"""

from pathlib import Path
from typing import Literal

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

    Columns: paper, place, dataset, group, row, metric, value, unit, note.
    """
    of_paper = _NUMBERS[_NUMBERS["paper"] == paper]
    return of_paper[of_paper["place"] == label].reset_index(drop=True)


def paper_table(
    paper: str,
    *labels: str,
    metrics: Texts = (),
    groups: Literal["rows", "columns"] = "rows",
) -> DataFrame:
    """Tables of a paper as they are read, with all metrics or some.

    A row is a method, a column is a data set and metric. A group (a section of the table, a number
    of hops) is named with its row, or with its column, which suits methods in several groups.
    """
    table = pd.concat([paper_numbers(paper, label) for label in labels])
    if metrics:
        table = table[table["metric"].isin(metrics)]

    named = {"rows": "row", "columns": "column"}[groups]
    table["column"] = (table["dataset"] + " " + table["metric"]).str.strip()
    group = table["group"]
    table[named] += (" (" + group + ")").where(group != "", "")

    wide = table.set_index(["place", "row", "column"])["value"].unstack(sort=False)
    return wide.rename_axis(columns=None).reset_index()
