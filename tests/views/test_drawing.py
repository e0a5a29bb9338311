from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pandas as pd
import pytest
from matplotlib.colors import to_hex

from kit.errors import InputError
from kit.views.drawing import storyboard
from kit.views.figures import save_figure
from kit.views.story import HALO, SHADES, Column, Edge, Entry, Mark, Node, Scale, Scene, Story
from kit.views.style import look


def story(title: str = "Marrow", scenes: int = 8) -> Story:
    nodes = (Node("a", "Ada Lund", x=0.1, y=0.2), Node("b", title, x=0.8, y=0.7, gold=True))
    edges = (Edge("a", "b", ("tfidf", "knn"), "both have port", emphasised=True, directed=True),)
    return Story(
        nodes,
        tuple(
            Scene(f"step {i}", f"caption {i} {title}", (Mark("a", "seed"), Mark("b", "reached", 0.5)), edges)
            for i in range(scenes)
        ),
    )


def words(figure) -> list[str]:
    figure.draw_without_rendering()
    return [text.get_text() for text in figure.findobj(lambda artist: hasattr(artist, "get_text")) if text.get_text()]


def test_up_to_six_panels_from_the_first_scene_to_the_last():
    titles = [title for title in words(storyboard(story(), "t")) if title.startswith("step")]
    assert [title.split("\n")[0] for title in titles] == ["step 0", "step 1", "step 3", "step 4", "step 6", "step 7"]


def test_nodes_stand_at_their_places_in_every_panel():
    figure = storyboard(story(), "t", steps=[2, 5])
    assert len(figure.axes) == 2
    for ax in figure.axes:
        symbols = [line for line in ax.lines if line.get_linestyle() == "None"]
        assert [(line.get_xdata()[0], line.get_ydata()[0]) for line in symbols] == [(0.1, 0.2), (0.8, 0.7)]
        assert ax.get_ylim()[0] > ax.get_ylim()[1]  # y downwards, as in the widget
    assert {"Ada Lund", "Marrow", "seed of the search", "tfidf edge", "knn edge", "supporting passage (gold)"} <= set(
        words(figure)
    )


def test_rankings_are_drawn_with_stars_and_moves_and_ties():
    nodes = (Node("a", "Ada Lund", gold=True), Node("b", "Marrow"), Node("c", "Halle"))
    columns = (
        Column("bm25", (Entry("a"), Entry("b"))),
        Column("dense", (Entry("c"), Entry("a", moved=-1), Entry("b", moved=2))),
    )
    figure = storyboard(Story(nodes, (Scene("", "A question?", columns=columns),)), "t")
    assert {"bm25", "dense", "1  ★ Ada Lund", "2  ★ Ada Lund ▼1", "3  Marrow ▲2", "1  Halle"} <= set(words(figure))
    assert len(figure.axes[0].lines) == 2  # Ada Lund and Marrow stand in both


@pytest.mark.parametrize("steps", [[8], [-1], []])
def test_a_step_that_there_is_not_is_refused(steps):
    with pytest.raises(InputError, match="expected steps from 0 to 7"):
        storyboard(story(), "t", steps=steps)


def test_hostile_titles_and_captions_stay_text(tmp_path, hostile):
    svg, *_ = save_figure(storyboard(story(hostile), hostile, steps=[0]), pd.DataFrame({"a": [1]}), tmp_path, "a")
    names = {element.tag.split("}")[-1] for element in ElementTree.parse(svg).getroot().iter()}
    assert not names & {"script", "img", "foreignObject"}
    assert "<img" not in svg.read_text() and "&lt;img src=x onerro" in svg.read_text()


def replayed() -> Story:
    nodes = (Node("a", "Ada Lund", x=0.1, y=0.2), Node("b", "Marrow", x=0.8, y=0.7, gold=True))
    sent = Edge("a", "b", ("message",), "sends 0.2", emphasised=True, directed=True)
    ranking = Column("first 1", (Entry("a"), Entry("b", moved=12, place=30)))
    scene = Scene("sent", "", (Mark("a", "sender", 1), Mark("b", "plain", 0)), (sent,), (ranking,), asked="Who?")
    return Story(nodes, (scene,), "", (Edge("a", "b", ("graph",)),), Scale("distance", far=0.9, near=0.2))


def test_with_a_scale_fill_follows_the_value_and_a_sender_has_a_ring():
    figure = storyboard(replayed(), "t")
    symbols = [line for line in figure.axes[0].lines if line.get_linestyle() == "None"]
    assert [to_hex(line.get_markerfacecolor()) for line in symbols[1:]] == [SHADES[-1], SHADES[0]]
    ring = symbols[0]
    assert ring.get_markerfacecolor() == "none" and ring.get_markeredgecolor() == HALO
    assert ring.get_markersize() > symbols[1].get_markersize()
    legend = {"distance 0.2 (near)", "distance 0.55", "distance 0.9 (far)", "sender of messages", "graph edge"}
    assert legend | {"message edge", "sent\nWho?", "Marrow (30 ▲12)"} <= set(words(figure))


def test_edges_of_all_scenes_are_faint_and_messages_strong():
    lines = [line for line in storyboard(replayed(), "t").axes[0].lines if line.get_linestyle() != "None"]
    assert [line.get_color() for line in lines] == [look("graph").colour, look("message").colour]
    assert lines[0].get_linewidth() < lines[1].get_linewidth() and lines[0].get_alpha() < lines[1].get_alpha()


def tagged(scale: Scale) -> Story:
    """Fourteen nodes at a line: the titles of most have no room, their numbers do."""
    nodes = tuple(Node(f"n{i}", f"A long title, number {i}", x=0.5, y=i / 13) for i in range(14))
    marks = tuple(Mark(node.id, "entity", 0.5, tag=f"0.{i:02}") for i, node in enumerate(nodes))
    strong = Edge("n1", "n2", ("attention",), emphasised=True)
    return Story(nodes, (Scene("one", "", marks, (strong,)),) * 4, scale=scale)


def test_a_number_stands_behind_a_title_or_alone():
    found = words(storyboard(tagged(Scale("share", 0, 2, ends=("less", "more"))), "t", [0]))
    assert {f"A long title,… 0.{i:02}" for i in (1, 2)} <= set(found)
    assert {f"0.{i:02}" for i in range(14) if i not in (1, 2)} <= set(found)
    assert {"share 2 (more)", "share 1", "share 0 (less)", "entity (o)", "attention edge"} <= set(found)
    assert {"D"} == {line.get_marker() for line in storyboard(tagged(None), "t", [0]).axes[0].lines[1:]}


def test_so_many_panels_across():
    rows = [round(ax.get_position().y0, 2) for ax in storyboard(tagged(None), "t", across=2).axes]
    assert rows[0] == rows[1] > rows[2] == rows[3]
