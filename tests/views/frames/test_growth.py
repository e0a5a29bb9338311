"""RAS's frames, of rounds that one can follow by hand."""

import numpy as np
import pytest

from kit.corpus import example
from kit.methods import Ranking
from kit.methods.trace import GraphGrowth, Seed, SubQuestionEvent, Trace
from kit.views import Column, Frame, Replay, replay, storyboard
from tests.views.frames.traces import states

HAND = example()
TOWN = HAND.test[0]
FILM = ("The Glass Harbour (film)", "directed by", "Ines Moravec")
PLACE = ("Ines Moravec", "born in", "Selby Quay")
ASIDE = ("Ines Moravec", "taught", "drawing")


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


def ranking(column: Column) -> tuple[str, list[str]]:
    return column.name, [item.node for item in column.items]


def edges(frame: Frame) -> dict[tuple[str, str], tuple]:
    return {edge.ends: (edge.kinds, edge.emphasised, edge.label) for edge in frame.edges}


def test_a_frame_a_round_says_what_was_added_and_decided(shown: Replay) -> None:
    assert [frame.caption for frame in shown.frames] == [
        "2 passages, 1 new triple. Then: a further question.",
        "1 passage, 2 new triples; read off: Selby Quay. Then: a further question.",
        "No retrieval: the graph has it; read off: Ines Moravec."
        " Then: the graph is enough to answer.",
    ]


def test_a_frame_has_the_sub_question_and_what_was_found(shown: Replay) -> None:
    assert [frame.sub_question for frame in shown.frames][1:] == [
        "Ines Moravec born in",
        "The Glass Harbour directed by",
    ]
    first, second, third = (frame.columns for frame in shown.frames)
    assert [ranking(column) for column in first] == [("passages found", ["harbour", "novel"])]
    assert [ranking(column) for column in third] == [("passages found", [])]
    assert ranking(second[1]) == ("answers, by probability", ["selby quay", "yes"])
    titles = {node.id: node.title for node in shown.nodes}
    assert (titles["selby quay"], titles["yes"]) == ("Selby Quay", "yes")
    assert "Glass Harbour" in titles["harbour"]


def test_new_edges_stand_out_and_old_ones_stay(shown: Replay) -> None:
    drawn = [edges(frame) for frame in shown.frames]
    film = ("glass harbour", "ines moravec")
    town = ("ines moravec", "selby quay")
    assert drawn[0] == {film: (("added",), True, "directed by")}
    assert drawn[1][film] == (("graph",), False, "directed by")
    assert drawn[1][town] == (("added",), True, "born in")
    assert all(kinds == ("graph",) for kinds, *_ in drawn[2].values()) and len(drawn[2]) == 3


def test_roles_tell_what_is_new_named_or_an_answer(shown: Replay) -> None:
    roles = [states(shown, step, "role") for step in range(3)]
    assert roles[0] == {"glass harbour": "named", "ines moravec": "grown"}
    assert roles[1]["selby quay"] == "answering" and roles[1]["drawing"] == "grown"
    assert roles[2] == {
        **{"glass harbour": "named", "ines moravec": "answering"},
        **{"selby quay": "held", "drawing": "held"},
    }


def test_every_entity_has_one_place_and_it_prints(shown: Replay) -> None:
    drawn = {state.node for frame in shown.frames for state in frame.states}
    positions = {node.id: (node.x, node.y) for node in shown.nodes if node.id in drawn}
    assert len(positions) == len(set(positions.values())) == 4
    assert all(0 <= x <= 1 and 0 <= y <= 1 for x, y in positions.values())
    assert storyboard(shown, "Grown").title == "Grown"


def test_a_round_that_finds_nothing_is_shown_too() -> None:
    events = SubQuestionEvent(0, "Who?"), GraphGrowth(0, (), (), "[SUFFICIENT]")
    empty = replay(Ranking(("oll",), np.ones(1), Trace(events)), HAND.corpus)
    assert empty.frames[0].edges == () and empty.frames[0].states == ()


def test_what_a_corpus_says_is_text(shown: Replay) -> None:
    hostile = "<img src=x onerror=alert(1)>"
    events = SubQuestionEvent(0, hostile), GraphGrowth(0, ((hostile, hostile, "x"),), (), hostile)
    drawn = replay(Ranking(("oll",), np.ones(1), Trace(events)), HAND.corpus)
    # The canvas makes text nodes of it (test_browser).
    assert any(node.title == hostile for node in drawn.nodes)
