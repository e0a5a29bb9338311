"""The papers' numbers that stand beside ours, at cells read from the papers."""

import pytest

from kit.evaluation import paper_numbers, paper_table

ACCURACY = "additional exact-match test samples over SBERT"


@pytest.mark.parametrize(
    ("paper", "label", "dataset", "row", "metric", "group", "value", "n"),
    [
        (
            "kgp",
            "Table 3",
            "HotpotQA",
            "document collection / KG",
            "density",
            "average per question",
            0.23,
            24,
        ),
        ("kgp", "Figure 5", "HotpotQA", "TAGME", "SF-EM at the sparsest graph", "", 0.95, 2),
        ("gnn-ret", "Table 1", "IIRC", "RGNN-Ret", "Acc", "Multi-hop Retrieval", 48.1, 76),
        (
            "gnn-ret",
            "Table 6",
            "MuSiQue",
            "GNN-Ret",
            "Acc",
            "Qwen2-7B-Instruct, 10k tokens",
            26.7,
            10,
        ),
        (
            "gnn-ret",
            "Table 7",
            "2WikiMQA",
            "GNN-Ret",
            "learned alpha, layer 3",
            "3 layers",
            0.802,
            30,
        ),
        (
            "gnn-ret",
            "Figure 5",
            "2WikiMQA",
            "GNN-Ret",
            ACCURACY,
            "questions with 2 supporting passages",
            43,
            2,
        ),
        ("qsgnn", "Table 4", "MuSiQue", "NV-Embed-v2", "Recall@5", "4-hop", 39.67, 3),
        (
            "ras",
            "Table 1",
            "2WikiMultihopQA",
            "RPG 7B",
            "F1",
            "Baselines with self-reflective retrieval",
            33.6,
            190,
        ),
    ],
)
def test_cell(paper, label, dataset, row, metric, group, value, n) -> None:
    table = paper_numbers(paper, label)
    assert list(table) == [
        "paper",
        "place",
        "dataset",
        "group",
        "row",
        "metric",
        "value",
        "unit",
        "note",
    ]
    cell = table.query(
        "dataset == @dataset and row == @row and metric == @metric and group == @group"
    )
    assert cell["value"].tolist() == [value] and len(table) == n


def test_a_table_as_it_is_read() -> None:
    table = paper_table("gnn-ret", "Table 3", "Table 7", metrics=["Acc"])
    assert list(table.columns[:4]) == ["place", "row", "2WikiMQA Acc", "Quality Acc"]
    assert table.iloc[1, :4].tolist() == ["Table 3", "graph w. SI (graph construction)", 42.7, 55.5]
    assert table["place"].tolist() == ["Table 3"] * 4 + ["Table 7"] * 3
