"""The papers' numbers that stand beside ours, at cells read from the papers."""

from __future__ import annotations

import pytest

from kit.errors import InputError
from kit.evaluation import paper_numbers, paper_table


@pytest.mark.parametrize(
    ("paper", "place", "dataset", "row", "metric", "group", "value"),
    [
        ("kgp", "Table 3", "HotpotQA", "document collection / KG", "density", "average per question", 0.23),
        ("kgp", "Table 3", "MuSiQue", "document collection / KG", "edges", "average per question", 97931.28),
        ("kgp", "Figure 5", "HotpotQA", "TAGME", "SF-EM at the sparsest graph", "", 0.95),
        ("gnn-ret", "Table 5", "2WikiMQA", "graph of passages", "density", "", 0.018),
        ("gnn-ret", "Table 5", "MuSiQue", "graph of passages", "edges per node", "", 335.77),
        ("gnn-ret", "Table 1", "2WikiMQA", "GNN-Ret (w. train)", "Acc", "One-hop Retrieval", 46.9),
        ("gnn-ret", "Table 1", "IIRC", "RGNN-Ret", "Acc", "Multi-hop Retrieval", 48.1),
        ("gnn-ret", "Table 2", "MuSiQue", "GNN-Ret (mean)", "Acc", "components of GNN-Ret", 26.3),
        ("gnn-ret", "Table 3", "Quality", "graph w. SI", "Acc", "graph construction", 55.5),
        ("gnn-ret", "Table 6", "MuSiQue", "GNN-Ret", "Acc", "Qwen2-7B-Instruct, 10k tokens", 26.7),
        ("gnn-ret", "Table 7", "2WikiMQA", "GNN-Ret", "learned alpha, layer 3", "3 layers", 0.802),
        (
            "gnn-ret",
            "Figure 5",
            "2WikiMQA",
            "GNN-Ret",
            "additional exact-match test samples over SBERT",
            "questions with 2 supporting passages",
            43,
        ),
        ("qsgnn", "Table 2", "2Wiki", "BM25", "Recall@5", "", 65.31),
        ("qsgnn", "Table 4", "MuSiQue", "NV-Embed-v2", "Recall@5", "4-hop", 39.67),
        ("qsgnn", "Table 9", "2Wiki", "NV-Embed-v2", "Recall@5", "4-hop", 63.52),
    ],
)
def test_cell(paper, place, dataset, row, metric, group, value) -> None:
    table = paper_numbers(paper, place)
    cell = table.query("dataset == @dataset and row == @row and metric == @metric and group == @group")
    assert cell["value"].tolist() == [value]


def test_a_table_as_it_is_read() -> None:
    table = paper_table("gnn-ret", "Table 3", metrics=["Acc"])
    assert list(table.columns) == ["place", "row", "2WikiMQA Acc", "Quality Acc"]
    assert table.iloc[1].tolist() == ["Table 3", "graph w. SI (graph construction)", 42.7, 55.5]
    both = paper_table("gnn-ret", "Table 3", "Table 7", metrics=["Acc"])
    assert both["place"].tolist() == ["Table 3"] * 4 + ["Table 7"] * 3
    with pytest.raises(InputError, match="expected one of"):
        paper_table("gnn-ret", "Table 99")


def test_rows_and_columns() -> None:
    columns = ["paper", "place", "dataset", "group", "row", "metric", "value", "unit", "note"]
    assert list(paper_numbers("kgp", "Table 3").columns) == columns
    sizes = {("kgp", "Table 3"): 24, ("kgp", "Figure 5"): 2, ("gnn-ret", "Table 5"): 12}
    sizes |= {("gnn-ret", "Table 1"): 76, ("gnn-ret", "Table 2"): 34, ("gnn-ret", "Table 3"): 14}
    sizes |= {("gnn-ret", "Table 6"): 10, ("gnn-ret", "Table 7"): 30, ("gnn-ret", "Figure 5"): 2}
    sizes |= {("qsgnn", "Table 2"): 18, ("qsgnn", "Table 4"): 3, ("qsgnn", "Table 9"): 2}
    assert {place: len(paper_numbers(*place)) for place in sizes} == sizes


def test_a_table_is_the_callers_own() -> None:
    table = paper_numbers("kgp", "Table 3")
    table["value"] = 0
    assert (paper_numbers("kgp", "Table 3")["value"] > 0).all()


def test_unknown_place() -> None:
    with pytest.raises(InputError, match=r"expected one of kgp Table 3, kgp Figure 5, .*, not kgp Table 9$"):
        paper_numbers("kgp", "Table 9")
