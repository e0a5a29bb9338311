"""What a replay holds."""

import pytest

from kit.views import (
    Column,
    Edge,
    Frame,
    GraphCanvas,
    Node,
    NodeState,
    RankItem,
    Replay,
    Scale,
)
from kit.views.replay import clip

A = Node("a", "Ada Lund", "text", 0.1, 0.2)
B = Node("b", "Marrow", x=0.8, y=0.7, gold=True)
STATES = (NodeState("a", "seed"), NodeState("b", "reached", 0.5))


def test_a_label_is_one_short_line():
    assert (clip("a\nb  c", 9), clip("abcdefghij", 10), clip("abc efghijk", 5)) == (
        "a b c",
        "abcdefghij",
        "abc…",
    )
    assert Node("x", "The quick brown fox jumps over").label == "The quick brown fox jum…"


def test_a_scale_puts_numbers_between_far_and_near():
    scale = Scale("distance", farthest=1.0, nearest=0.2)
    values = [scale.value(measured) for measured in (1.0, 0.6, 0.0, 2.0)]
    assert values == pytest.approx([0, 0.5, 1, 0])


def test_the_table_holds_what_is_drawn():
    ranking = Column("bm25", (RankItem("b", 2.0), RankItem("a", 1.0)))
    frame = Frame("one", "", STATES, (Edge("a", "b", ("knn", "entity")),), (ranking,))
    table = Replay((A, B), (frame,), edges=(Edge("b", "a", ("graph",)),)).table()
    assert table["kind"].tolist() == ["graph", "node", "node", "knn+entity", "bm25", "bm25"]
    assert table["title"].tolist() == [
        "Marrow",
        "Ada Lund",
        "Marrow",
        "Ada Lund",
        "Marrow",
        "Ada Lund",
    ]
    assert table.loc[2, ["step", "role", "gold", "x", "y", "value"]].tolist() == [
        "one",
        "reached",
        True,
        0.8,
        0.7,
        0.5,
    ]
    assert table.loc[3, "other"] == "Marrow" and table.loc[5, "value"] == 2


def test_a_replay_of_the_same_steps_keeps_the_step_in_view():
    canvas = GraphCanvas(Replay((A, B), (Frame(states=(NodeState("a"),)),) * 5))
    assert set(canvas.looks["roles"]) == {"plain"} and canvas.looks["kinds"] == {}
    canvas.index = 4
    canvas.show(Replay((A,), (Frame(),) * 5))
    assert canvas.index == 4
    canvas.show(Replay((A,), (Frame(),) * 2))
    assert canvas.index == 0
