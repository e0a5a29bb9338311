from __future__ import annotations

import pandas as pd
import pytest

from kit.corpus import Corpus, Passage
from kit.errors import InputError
from kit.evaluation import held_passages
from kit.views.document_plots import structure_graph, structure_points


def plan(document: str) -> list[Passage]:
    text = "Table A1: $x$\n\n| x | y |\n| --- | --- |\n| 1 | 2 |"
    table = Passage(f"{document}2", "Plan", text, document, 2, 2, "table")
    return [*(Passage(f"{document}{n}", "Plan", "x", document, n, n + 1) for n in (0, 1)), table]


def test_each_edge_is_drawn_and_each_node_is_named():
    table = held_passages(Corpus(plan("one$") + plan("two")))
    figure = structure_graph(table, "Two plans")
    assert [ax.get_title(loc="left") for ax in figure.axes] == ["one$", "two"]
    for ax in figure.axes:
        assert [text.get_text() for text in ax.texts] == ["page 1", "page 2", "table A1"]
        edges = [line.get_xydata().tolist() for line in ax.lines if len(line.get_xydata()) == 2]
        assert edges == [[[0, 0], [0, 1]], [[1.5, 0], [1, 1]], [[1.5, 0], [2, 1]], [[2, 2], [2, 1]]]
    figure.draw_without_rendering()


def test_a_panel_a_measure_and_a_row_a_retriever_and_context():
    columns = ["measure", "retriever", "context", "type", "mean", "low", "high", "n"]
    rows = [
        ("Struct-EM", "kgp", "what it fetches", "page", 1.0, 1.0, 1.0, 9),
        ("Struct-EM", "kgp", "what it fetches", "table", 0.5, 0.2, 0.8, 4),
        ("Struct-EM", "bm25", "30 passages", "page", 0.0, 0.0, 0.0, 9),
        ("all among", "bm25", "", "page", 0.25, 0.0, 0.5, 9),
    ]
    figure = structure_points(pd.DataFrame(rows, columns=columns), "Pages")
    names = [[label.get_text() for label in ax.get_yticklabels()] for ax in figure.axes]
    assert names == [["kgp, what it fetches", "bm25, 30 passages"], ["bm25"]]
    points = [[bar.lines[0].get_xdata().tolist() for bar in ax.containers] for ax in figure.axes]
    assert points == [[[1.0], [0.5], [0.0]], [[0.25]]]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["page (n = 9)", "table (n = 4)"]
    figure.draw_without_rendering()


def test_without_pages_there_is_nothing_to_draw():
    with pytest.raises(InputError, match="expected at least one row"):
        structure_graph(held_passages(Corpus([Passage("a", "A", "a", "a")])), "Nothing")
