"""A storyboard: which frames, what is drawn, and that a reader can read it."""

from itertools import combinations

import networkx as nx
import pytest
from matplotlib.colors import to_hex
from matplotlib.lines import Line2D
from matplotlib.text import Text

from kit.corpus import example
from kit.views import (
    Column,
    Edge,
    Frame,
    Node,
    NodeState,
    RankItem,
    Replay,
    Scale,
    explore,
    storyboard,
)
from kit.views.layout import spring
from kit.views.replay import HALO, SHADES
from kit.views.storyboard_frames import eventful_steps
from kit.views.style import Figure, look

HAND = example()
A = Node("a", "Ada Lund", "text", 0.1, 0.2)
B = Node("b", "Marrow", x=0.8, y=0.7, gold=True)
STATES = (NodeState("a", "seed"), NodeState("b", "reached", 0.5))
EDGES = (Edge("a", "b", ("tfidf", "knn"), "both have port", emphasised=True, directed=True),)


def ranked(*items: RankItem, step: str = "", **fields) -> Frame:
    return Frame(step, columns=(Column("ranking", items),), **fields)


def words(figure: Figure) -> list[str]:
    figure.draw_without_rendering()
    texts = [text.get_text().replace("\N{NO-BREAK SPACE}", " ") for text in figure.findobj(Text)]
    return [" ".join(text.split()) for text in texts if text]


def nodes(ax) -> list[Line2D]:
    return [line for line in ax.lines if line.get_linestyle() == "None"]


# ---- which frames


def moves(*ranks: tuple[int, int]) -> Replay:
    """A support's rank after each frame, and how far it rose in it."""
    items = [RankItem("b", moved=moved, rank=rank) for rank, moved in ranks]
    return Replay((A, B), [ranked(item, step=f"{i}") for i, item in enumerate(items)])


def test_frames_are_those_in_which_supports_move_most():
    replay = moves((92, 0), (92, 0), (8, 84), (9, -1), (9, 0), (2, 7), (2, 0), (2, 90))
    assert eventful_steps(replay) == [0, 2, 5, 7]


def test_a_move_near_the_top_counts_more_than_one_far_down():
    replay = moves((900, 0), (890, 10), (880, 10), (10, 870), (2, 8), (2, 0))
    assert eventful_steps(replay) == [0, 3, 4, 5]


def test_there_are_five_frames_at_most_and_three_where_nothing_moves():
    rising = moves((64, 0), (32, 32), (16, 16), (8, 8), (4, 4), (2, 2), (1, 1), (1, 0))
    assert len(eventful_steps(rising)) == 5
    still = Replay((A, B), [ranked(RankItem("b"), edges=EDGES[: i == 2]) for i in range(6)])
    assert eventful_steps(still) == [0, 2, 5]


def test_a_support_that_is_met_is_an_event():
    first, met = (NodeState("a", "seed"),), (NodeState("a", "seed"), NodeState("b", "visited"))
    replay = Replay((A, B), [Frame(states=states) for states in (first,) * 3 + (met,) * 3])
    assert eventful_steps(replay) == [0, 3, 5]


# ---- the graph


def test_a_panel_per_frame_with_nodes_in_the_same_positions():
    frames = [Frame(f"step {i}", f"caption {i}", STATES, EDGES) for i in range(5)]
    figure = storyboard(Replay((A, B), frames), "t", [0, 1, 2, 4])
    said = words(figure)
    assert [text for text in said if text.startswith("step")] == [f"step {i}" for i in (0, 1, 2, 4)]
    positions = {tuple(line.get_xydata()[0].round(3)) for ax in figure.axes for line in nodes(ax)}
    assert len(positions) == 2
    rows = [round(ax.get_position().y0, 2) for ax in figure.axes]
    assert rows[0] == rows[1] > rows[2] == rows[3]
    legend = {"seed of the search", "tfidf edge", "knn edge", "supporting passage (gold)"}
    assert {"Ada Lund", "Marrow"} | legend <= set(said)


@pytest.fixture
def sent() -> Figure:
    """A message between two passages, with a scale."""
    message = Edge("a", "b", ("message",), "sends 0.2", emphasised=True, directed=True)
    ranking = Column("first 1", (RankItem("a"), RankItem("b", moved=12, rank=30)))
    states = (NodeState("a", "sender", 1), NodeState("b", "plain", 0))
    frame = Frame("sent", "", states, (message,), (ranking,), sub_question="Who?")
    scale = Scale("distance", farthest=0.9, nearest=0.2)
    graph = (Edge("a", "b", ("graph",)), Edge("b", "a", ("graph",)))
    return storyboard(Replay((A, B), (frame,), "Q?\nAnswer: x", graph, scale), "t")


def test_with_a_scale_fill_follows_the_value_and_a_sender_has_a_ring(sent):
    [ax] = sent.axes
    ring, *symbols = nodes(ax)
    assert [to_hex(line.get_markerfacecolor()) for line in symbols] == [SHADES[-1], SHADES[0]]
    assert ring.get_markeredgecolor() == HALO
    assert ring.get_markersize() > symbols[0].get_markersize()


def test_only_what_moved_is_strong(sent):
    [ax] = sent.axes
    [arrow] = ax.patches  # the graph's edge along which it went is not drawn again
    assert to_hex(arrow.get_edgecolor()) == look("message").colour
    legend = {"distance 0.2", "distance 0.9", "sender of messages", "message edge"}
    assert legend | {"sent", "Who?", "Marrow 42 → 30", "Q? Answer: x"} <= set(words(sent))


# ---- rankings


def test_a_ranking_has_a_row_per_passage_and_arcs_for_what_moved():
    arc = Edge("a", "b", ("message",), emphasised=True, directed=True)
    pale = Edge("a", "c", ("graph",))
    states = (NodeState("a", "sender", 1), NodeState("b", value=0.5), NodeState("c", value=0))
    before = ranked(RankItem("a"), RankItem("c"), RankItem("b", rank=30), states=states)
    after = ranked(
        RankItem("a"), RankItem("b", moved=28), RankItem("c", moved=-1), states=states, edges=(arc,)
    )
    replay = Replay(
        (A, B, Node("c", "Halle")),
        (before, after),
        edges=(pale,),
        scale=Scale("distance", 0.9, 0.2),
        by_rank=True,
    )
    figure = storyboard(replay, "t")
    assert {"Marrow 30 → 2", "38 → 5: rank before and after"} <= set(words(figure))
    heights = [{text.get_text(): text.get_position()[1] for text in ax.texts} for ax in figure.axes]
    assert heights[0]["Ada Lund"] < heights[0]["Halle"] < heights[0]["Marrow"]
    assert heights[1]["Marrow 30\N{NO-BREAK SPACE}→\N{NO-BREAK SPACE}2"] < heights[1]["Halle"]
    widths = [sorted(patch.get_linewidth() for patch in ax.patches) for ax in figure.axes]
    assert len(widths[0]) == 1  # the graph's edge
    assert widths[1][0] < 1 < widths[1][1]  # the graph's, the message, where the support was


def test_supports_that_a_ranking_lacks_come_last():
    figure = storyboard(Replay((A, B), (ranked(RankItem("a")),)), "t")
    assert words(figure)[-1] != "" and "Marrow (not found)" in words(figure)


def test_rankings_of_one_frame_are_a_panel_each():
    columns = (Column("bm25", (RankItem("b"), RankItem("a"))), Column("dense", (RankItem("a"),)))
    figure = storyboard(Replay((A, B), (Frame(columns=columns),)), "t")
    assert len(figure.axes) == 2 and {"bm25", "dense"} <= set(words(figure))


# ---- legibility


def boxes(ax) -> tuple[list, list]:
    """Where the labels and the nodes of a panel are drawn."""
    labels = [text.get_window_extent() for text in ax.texts if text.get_text().strip()]
    return labels, [line.get_window_extent() for line in nodes(ax)]


def check_legible(figure: Figure) -> None:
    figure.draw_without_rendering()
    page = figure.bbox.expanded(1.001, 1.001)
    for text in figure.findobj(Text):
        if text.get_text().strip():
            pixels = text.get_fontsize() / 72 * 1000 / figure.get_figwidth()
            assert pixels >= 11, text.get_text()
            box = text.get_window_extent()
            assert page.count_contains(box.corners()) == 4, text.get_text()
    for ax in figure.axes:
        labels, drawn = boxes(ax)
        assert labels
        for one, other in combinations(labels, 2):
            assert not one.overlaps(other)
        for label in labels:
            # A node's box has corners that its circle or star leaves free.
            assert not label.count_overlaps([box.shrunk(0.8, 0.8) for box in drawn])


@pytest.mark.parametrize("method", ["gnn-ret", "rgnn-ret", "kgp-tfidf", "bgr", "ras", "dense"])
def test_labels_of_each_method_cover_nothing(method):
    explorer = explore(method, HAND, HAND.test)
    for question in HAND.test:
        check_legible(explorer.storyboard("Title", question=question.id))


@pytest.mark.parametrize("seed", range(4))
def test_labels_of_a_crowded_graph_cover_nothing(seed):
    graph = nx.gnp_random_graph(30, 0.15, seed=seed)
    positions = spring(graph)
    drawn = [
        Node(f"{i}", f"A passage with a long title, number {i}", "", *positions[i], gold=i % 7 == 0)
        for i in graph
    ]
    edges = [Edge(f"{start}", f"{end}", ("knn",)) for start, end in graph.edges]
    frame = Frame("", "", [NodeState(node.id, value=0.5) for node in drawn], edges)
    check_legible(storyboard(Replay(drawn, (frame,)), "Title"))
    check_legible(storyboard(Replay(drawn, (frame,) * 3), "Title"))


def test_a_title_at_the_edge_of_a_panel_is_whole():
    title = "The old university of the town"
    drawn = [Node("a", "Ada Lund", x=0, y=0.5), Node("b", title, x=1, y=0.5)]
    frame = Frame("", states=[NodeState(node.id) for node in drawn])
    figure = storyboard(Replay(drawn, (frame,) * 3), "Title")
    check_legible(figure)
    assert words(figure).count(title) == 3
