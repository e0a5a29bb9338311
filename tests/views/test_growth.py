"""RAS's frames, of rounds that one can follow by hand."""

import numpy as np
import pytest

from kit.corpus import example
from kit.methods import Ranking
from kit.methods.trace import GraphGrowth, Seed, SubQuestionEvent, Trace
from kit.views import Replay, replay, storyboard

HAND = example()
TOWN = HAND.test[0]
FILM, PLACE, ASIDE = (
    ("The Glass Harbour (film)", "directed by", "Ines Moravec"),
    ("Ines Moravec", "born in", "Selby Quay"),
    ("Ines Moravec", "taught", "drawing"),
)


@pytest.fixture
def shown() -> Replay:
    scores = (("Selby Quay", 0.7), ("yes", 0.2))
    events = (
        *(SubQuestionEvent(0, TOWN.text), Seed(0, "harbour", 1.0), Seed(0, "novel", 0.5)),
        GraphGrowth(0, (FILM,), (), "[SUBQ]"),
        *(SubQuestionEvent(1, "Ines Moravec born in"), Seed(1, "moravec", 1.0)),
        GraphGrowth(1, (PLACE, ASIDE), ("Selby Quay",), "[SUBQ]", scores),
        *(
            SubQuestionEvent(2, "The Glass Harbour directed by"),
            GraphGrowth(2, (), ("Ines Moravec",), "[SUFFICIENT]"),
        ),
    )
    return replay(Ranking(("harbour", "moravec"), np.ones(2), Trace(events)), HAND.corpus, TOWN)


def test_a_frame_a_round_says_what_was_found_added_and_decided(shown: Replay) -> None:
    assert [frame.caption for frame in shown.frames] == [
        "2 passages, 1 new triple. Then: [SUBQ].",
        "1 passage, 2 new triples; read off: Selby Quay. Then: [SUBQ].",
        "No retrieval: the graph has it; read off: Ines Moravec. Then: [SUFFICIENT].",
    ]
    assert [frame.asked for frame in shown.frames][1:] == [
        "Ines Moravec born in",
        "The Glass Harbour directed by",
    ]
    columns = [
        [(column.name, [item.node for item in column.items]) for column in frame.columns]
        for frame in shown.frames
    ]
    assert columns[0] == [("passages found", ["harbour", "novel"])] and columns[2] == [
        ("passages found", [])
    ]
    assert columns[1][1] == ("answers, by probability", ["selby quay", "yes"])
    titles = {node.id: node.title for node in shown.nodes}
    assert (
        titles["selby quay"] == "Selby Quay"
        and titles["yes"] == "yes"
        and "Glass Harbour" in titles["harbour"]
    )


def test_new_edges_stand_out_and_old_ones_stay(shown: Replay) -> None:
    drawn = [
        {edge.ends: (edge.kinds, edge.emphasised, edge.label) for edge in frame.edges}
        for frame in shown.frames
    ]
    film, place = ("glass harbour", "ines moravec"), ("ines moravec", "selby quay")
    assert drawn[0] == {film: (("added",), True, "directed by")}
    assert drawn[1][film] == (("graph",), False, "directed by") and drawn[1][place] == (
        ("added",),
        True,
        "born in",
    )
    assert all(kinds == ("graph",) for kinds, *_ in drawn[2].values()) and len(drawn[2]) == 3
    roles = [{state.node: state.role for state in frame.states} for frame in shown.frames]
    assert roles[0] == {"glass harbour": "named", "ines moravec": "grown"}
    assert roles[1]["selby quay"] == "answering" and roles[1]["drawing"] == "grown"
    assert roles[2] == {
        **{"glass harbour": "named", "ines moravec": "answering"},
        **{"selby quay": "held", "drawing": "held"},
    }


def test_every_entity_has_one_place_and_it_prints(shown: Replay) -> None:
    drawn = {state.node for frame in shown.frames for state in frame.states}
    places = {node.id: (node.x, node.y) for node in shown.nodes if node.id in drawn}
    assert len(places) == len(set(places.values())) == 4
    assert all(0 <= x <= 1 and 0 <= y <= 1 for x, y in places.values())
    assert storyboard(shown, "Grown").title == "Grown"


def test_a_round_that_finds_nothing_is_shown_too() -> None:
    events = SubQuestionEvent(0, "Who?"), GraphGrowth(0, (), (), "[SUFFICIENT]")
    found = replay(Ranking(("oll",), np.ones(1), Trace(events)), HAND.corpus)
    assert found.frames[0].edges == () and found.frames[0].states == ()


def test_what_a_corpus_says_is_text(shown: Replay) -> None:
    hostile = "<img src=x onerror=alert(1)>"
    events = SubQuestionEvent(0, hostile), GraphGrowth(0, ((hostile, hostile, "x"),), (), hostile)
    found = replay(Ranking(("oll",), np.ones(1), Trace(events)), HAND.corpus)
    assert any(
        node.title == hostile for node in found.nodes
    )  # the canvas makes text nodes of it (test_browser)
