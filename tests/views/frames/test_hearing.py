"""Frames of two rounds of messages through entities."""

import pytest

from kit.methods.trace import Hearing, Sender
from kit.views import Replay, replay
from tests.views.frames.traces import graph_of, order, ranked, scored, states, steps

STARTS = {"p2": 3.0, "p4": 2.0, "p0": 1.0, "p1": 0.5, "p3": 0.0}
FERRY = (Sender("p2", "Ada Lund", 0.6), Sender("p4", "Tilsby", 0.1))
ROUNDS = (
    Hearing(0, "p2", (), 3.0, 3.5),
    Hearing(0, "p4", (), 2.0, 2.0),
    Hearing(0, "p0", FERRY, 1.0, 2.5),
    Hearing(0, "p1", (Sender("p0", "Marrow", 0.3),), 0.5, 0.5),
    Hearing(0, "p3", (), 0.0, 0.0),
    Hearing(1, "p2", (), 3.5, 3.5),
    Hearing(1, "p4", (), 2.0, 1.0),
    Hearing(1, "p0", FERRY, 2.5, 3.0),
    Hearing(1, "p1", (Sender("p0", "Marrow", 0.8),), 0.5, 4.0),
    Hearing(1, "p3", (), 0.0, 0.0),
)


@pytest.fixture
def shown(corpus, questions) -> Replay:
    ranking = ranked("p1", "p2", "p0", "p4", "p3", events=(*scored(STARTS), *ROUNDS))
    graph = graph_of(corpus, (0, 1), (0, 2), (1, 2), (1, 4))
    return replay(ranking, corpus, question=questions[0], graph=graph, top=2)


def test_a_frame_per_round_says_who_rose_and_whom_it_heard(shown: Replay) -> None:
    assert steps(shown) == ["start", "round 1", "round 2"]
    assert shown.frames[0].caption.startswith("5 candidates, by their logistic scores.")
    assert (
        "“Ada Lund” rises most: place 3 → 2; 60% from “The Long Ferry” through Ada Lund; 10%"
        in (shown.frames[1].caption)
    )
    assert states(shown, 2)["p1"] == "place 4 → 1; 80% from “Ada Lund” through Marrow"
    assert [frame.focus for frame in shown.frames] == ["", "p0", "p1"]


def test_arrows_lead_from_the_first_sender_to_the_first_passages(shown: Replay) -> None:
    arrows = [[(*edge.ends, edge.emphasised) for edge in frame.edges] for frame in shown.frames]
    assert arrows == [[], [("p2", "p0", True)], [("p0", "p1", True)]]
    assert states(shown, 2, "role")["p0"] == "sender"


def test_the_ranking_moves_round_by_round(shown: Replay) -> None:
    assert [passage for passage, _ in order(shown, 0)][:2] == ["p2", "p4"]
    assert order(shown, 1)[:2] == [("p2", 0), ("p0", 1)]
    assert order(shown, 2)[:2] == [("p1", 3), ("p2", -1)]
