"""Frames of a walk."""

from kit.views import Frame
from tests.views.frames.traces import order, states, steps


def test_each_path_that_grows_is_a_frame(walk):
    names = ["seeds", "hop 1 · path 1 of 2", "hop 1 · path 2 of 2", "hop 2 · path 1 of 1", "result"]
    assert steps(walk) == names
    assert walk.frames[0].caption.endswith("score 0.8 to 0.7. 1 of 3 supports met.")
    assert (
        walk.frames[3].caption
        == "The path goes on to 2 passages, 1 of them met before. 3 of 3 supports met."
    )
    assert walk.frames[4].caption.startswith("5 passages met on the walk, 9 compared.")
    wrote = [
        "",
        "Generated evidence: Marrow is a port.",
        "Generated evidence: Ada Lund was born.",
        "",
        "",
    ]
    assert [frame.sub_question for frame in walk.frames] == wrote
    assert states(walk, 3)["p0"] == "visited now: scores 0.2, met before"
    assert states(walk, 4)["p0"] == "score 0.9, place 2"  # that it was met with


def test_seeds_the_path_and_what_is_missing_are_told_apart(walk):
    assert states(walk, 0, "role") == {"p2": "seed", "p4": "seed", "p0": "missed", "p1": "missed"}
    roles = {"p2": "seed", "p4": "path", "p1": "path", "p0": "visited", "p3": "visited"}
    assert states(walk, 3, "role") == roles
    assert states(walk, 1, "value") == {"p2": 0.6, "p4": 0.8, "p0": None, "p1": 0.0}


def arrows_of(frame: Frame) -> list[tuple[str, str, bool]]:
    return [(*edge.ends, edge.emphasised) for edge in frame.edges]


def test_visits_are_arrows(walk):
    arrows = [arrows_of(frame) for frame in walk.frames]
    assert arrows[0] == [] and arrows[1] == [("p4", "p1", True)]
    assert arrows[3] == [("p4", "p1", False), ("p1", "p3", True), ("p1", "p0", True)]
    assert arrows[4] == [("p4", "p1", False), ("p2", "p0", False), ("p1", "p3", False)]
    assert [frame.focus for frame in walk.frames] == ["", "p1", "p0", "p0", ""]


def test_the_ranking_holds_what_was_met(walk):
    assert order(walk, 0) == [("p4", 0), ("p2", 0)] and order(walk, 2)[:2] == [("p0", 0), ("p4", 0)]
    assert [passage for passage, _ in order(walk, 4)] == ["p2", "p0", "p4", "p1", "p3"]
