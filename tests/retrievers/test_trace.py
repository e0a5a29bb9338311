"""A trace can be written, read and replayed."""

from __future__ import annotations

from kit.retrievers import InitialScore, Message, NodeVisit, Seed, SubQuestionEvent, Trace


def test_round_trip_of_every_kind_of_step() -> None:
    trace = Trace(
        (
            SubQuestionEvent(0, "Who directed <b>it</b>?", "Ines Moravec"),
            InitialScore(0, "harbour", 0.8),
            Seed(0, "harbour", 0.8),
            Message(1, "harbour", "moravec", 0.8, 0.5, 0.3, 0.55),
            NodeVisit(1, "moravec", "harbour", 0.7, "a director was born"),
        )
    )
    assert Trace.from_json(trace.to_json()) == trace
    assert trace.seeds == (Seed(0, "harbour", 0.8),)
    assert b'"kind":"message"' in trace.to_json()
