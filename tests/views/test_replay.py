"""What a replay holds, and how it is printed."""

import pytest
from matplotlib.colors import to_hex

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
    storyboard,
)
from kit.views.replay import HALO, SHADES, clip
from kit.views.style import Figure, look

A = Node("a", "Ada Lund", "text", 0.1, 0.2)
B = Node("b", "Marrow", x=0.8, y=0.7, gold=True)
STATES = (NodeState("a", "seed"), NodeState("b", "reached", 0.5))
EDGES = (Edge("a", "b", ("tfidf", "knn"), "both have port", emphasised=True, directed=True),)
EIGHT = Replay((A, B), tuple(Frame(f"step {i}", f"caption {i}", STATES, EDGES) for i in range(8)))


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


def words(figure) -> list[str]:
    figure.draw_without_rendering()
    return [
        text.get_text()
        for text in figure.findobj(lambda artist: hasattr(artist, "get_text"))
        if text.get_text()
    ]


def test_up_to_six_panels_with_nodes_at_their_places():
    figure = storyboard(EIGHT, "t")
    titles = [title.split("\n")[0] for title in words(figure) if title.startswith("step")]
    assert titles == ["step 0", "step 1", "step 3", "step 4", "step 6", "step 7"]
    for ax in figure.axes:
        symbols = [line for line in ax.lines if line.get_linestyle() == "None"]
        assert [(line.get_xdata()[0], line.get_ydata()[0]) for line in symbols] == [
            (0.1, 0.2),
            (0.8, 0.7),
        ]
        assert ax.get_ylim()[0] > ax.get_ylim()[1]  # y downwards, as on the canvas
    legend = {"seed of the search", "tfidf edge", "knn edge", "supporting passage (gold)"}
    assert {"Ada Lund", "Marrow"} | legend <= set(words(figure))


def test_panels_stand_in_rows_of_three():
    rows = [round(ax.get_position().y0, 2) for ax in storyboard(EIGHT, "t", [0, 1, 2, 3]).axes]
    assert rows[0] == rows[2] > rows[3]


def test_rankings_are_drawn_with_stars_and_moves_and_ties():
    items = (RankItem("c"), RankItem("b", moved=-1), RankItem("a", moved=2))
    columns = (Column("bm25", (RankItem("b"), RankItem("a"))), Column("dense", items))
    figure = storyboard(Replay((A, B, Node("c", "Halle")), (Frame(columns=columns),)), "t")
    assert {"bm25", "dense", "1  ★ Marrow", "2  ★ Marrow ▼1", "3  Ada Lund ▲2", "1  Halle"} <= set(
        words(figure)
    )
    assert len(figure.axes[0].lines) == 2  # two passages stand in both


@pytest.fixture
def sent() -> Figure:
    """A message between two passages, with a scale."""
    message = Edge("a", "b", ("message",), "sends 0.2", emphasised=True, directed=True)
    ranking = Column("first 1", (RankItem("a"), RankItem("b", moved=12, rank=30)))
    states = (NodeState("a", "sender", 1), NodeState("b", "plain", 0))
    frame = Frame("sent", "", states, (message,), (ranking,), sub_question="Who?")
    scale = Scale("distance", farthest=0.9, nearest=0.2)
    return storyboard(Replay((A, B), (frame,), "", (Edge("a", "b", ("graph",)),), scale), "t")


def test_with_a_scale_fill_follows_the_value_and_a_sender_has_a_ring(sent):
    [ax] = sent.axes
    ring, *symbols = (line for line in ax.lines if line.get_linestyle() == "None")
    assert [to_hex(line.get_markerfacecolor()) for line in symbols] == [SHADES[-1], SHADES[0]]
    assert ring.get_markeredgecolor() == HALO
    assert ring.get_markersize() > symbols[0].get_markersize()


def test_with_a_scale_arrows_are_strong_and_the_legend_tells_the_scale(sent):
    [ax] = sent.axes
    faint, strong = (text.arrow_patch for text in ax.texts if getattr(text, "arrow_patch", None))
    assert [to_hex(line.get_edgecolor()) for line in (faint, strong)] == [
        look("graph").colour,
        look("message").colour,
    ]
    assert faint.get_linewidth() < strong.get_linewidth()
    legend = {"distance 0.2", "distance 0.55", "distance 0.9", "sender of messages", "graph edge"}
    assert legend | {"message edge", "sent\nWho?", "Marrow (30 ▲12)"} <= set(words(sent))
