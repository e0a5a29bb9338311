"""The papers' own numbers, to stand beside ours."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.resources import files

import pandas as pd

from kit.errors import InputError


@cache
def _all() -> pd.DataFrame:
    with files("kit.evaluation").joinpath("papers.csv").open(encoding="utf-8") as source:
        return pd.read_csv(source, keep_default_na=False, dtype={"value": float})


def paper_numbers(paper: str, place: str) -> pd.DataFrame:
    """The numbers of one table or figure as printed, such as ``paper_numbers("gnn-ret", "Table 5")``.

    Columns: paper, place, dataset (as the paper names it), group, row, metric, value, unit, note. Raises InputError for
    a place of which the kit holds no numbers.
    """
    table = _all()
    found = table[(table["paper"] == paper) & (table["place"] == place)]
    if found.empty:
        known = ", ".join(dict.fromkeys(f"{row.paper} {row.place}" for row in table.itertuples()))
        raise InputError(f"expected one of {known}, not {paper} {place}", field="paper, place")
    return found.reset_index(drop=True)


def paper_table(paper: str, *places: str, metrics: Sequence[str] = ()) -> pd.DataFrame:
    """Tables of a paper as they are read: a row a method (and group), a column a data set and metric.

    ``metrics`` are the ones to show, all if none is named. Raises InputError as :func:`paper_numbers`.
    """
    table = pd.concat([paper_numbers(paper, place) for place in places])
    table = table[table["metric"].isin(metrics)] if metrics else table
    table["row"] = table["row"] + table["group"].map(lambda group: f" ({group})" if group else "")
    table["column"] = table["dataset"] + " " + table["metric"]
    rows, columns = (list(dict.fromkeys(part)) for part in (zip(table["place"], table["row"]), table["column"]))
    wide = table.pivot(index=["place", "row"], columns="column", values="value")
    return wide.loc[rows, columns].rename_axis(columns=None).reset_index()


def paper_graphs() -> pd.DataFrame:
    """The passage graphs of the papers: kgp.txt Table 3 (means over a question's collection), gnn-ret.txt Table 5.

    Columns: graph (the data set), source, nodes, density as printed, mean_degree (2|E| / |V|). GNN-Ret prints edges a
    node, half the mean degree; KGP's printed densities are not those of its mean edges and passages, see the note of
    each row in ``paper_numbers``.
    """
    parts = []
    for paper, place, names in (
        ("kgp", "Table 3", {"passages": "nodes", "density": "density", "edges": "edges"}),
        ("gnn-ret", "Table 5", {"nodes": "nodes", "density": "density", "edges per node": "edges"}),
    ):
        table = paper_numbers(paper, place).pivot(index="dataset", columns="metric", values="value")
        table = table[list(names)].rename(columns=names)
        per_node = table["edges"] if paper == "gnn-ret" else table["edges"] / table["nodes"]
        parts.append(table.assign(mean_degree=2 * per_node, source=f"{paper} {place}").drop(columns="edges"))
    table = pd.concat(parts).rename_axis(columns=None).reset_index(names="graph")
    return table[["graph", "source", "nodes", "density", "mean_degree"]]
