from __future__ import annotations

import pytest

from kit.retrievers import InitialScore, Message, NodeVisit, Seed, SubQuestionEvent, Trace
from kit.views.turns import legs_of, message_sum, turns_of


def test_a_trace_of_messages_is_one_turn_with_its_layers():
    first = Message(0, "a", "b", 0.8, 0.5, 0.2, 0.5)
    second = Message(1, "b", "a", 0.5, 0.5, 0.8, 0.65)
    steps = (InitialScore(0, "a", 0.8), InitialScore(0, "b", 0.2), Seed(0, "a", 0.8), first, Seed(1, "a", 0.8), second)
    [turn] = turns_of(Trace(steps))
    assert turn.asked is None and turn.scores == {"a": 0.8, "b": 0.2} and turn.kept == []
    assert [layer.senders for layer in turn.layers] == [[Seed(0, "a", 0.8)], [Seed(1, "a", 0.8)]]
    assert [layer.messages for layer in turn.layers] == [{"a": [first]}, {"b": [second]}]


def test_each_sub_question_opens_a_turn_and_a_message_to_oneself_is_kept_from_before():
    kept = Message(1, "a", "a", 0.8, 0.1, 0.3, 0.35)
    steps = (
        SubQuestionEvent(0, "Who?", "Ada"),
        InitialScore(0, "a", 0.8),
        SubQuestionEvent(1, "Where?"),
        InitialScore(1, "a", 0.3),
        kept,
    )
    one, two = turns_of(Trace(steps))
    assert (one.asked.text, one.scores, one.kept) == ("Who?", {"a": 0.8}, [])
    assert (two.asked.text, two.scores, two.kept) == ("Where?", {"a": 0.3}, [kept])


def test_seeds_without_messages_are_the_scores():
    [turn] = turns_of(Trace((Seed(0, "a", 3.0), Seed(0, "b", 1.0))))
    assert turn.scores == {"a": 3.0, "b": 1.0} and turn.layers == []


def test_no_steps_are_no_turns():
    assert turns_of(Trace()) == []


def test_messages_to_one_passage_stand_in_the_order_of_their_senders():
    late, early = Message(0, "b", "c", 0.6, 0.25, 0.2, 0.45), Message(0, "a", "c", 0.8, 0.25, 0.2, 0.45)
    [turn] = turns_of(Trace((InitialScore(0, "c", 0.2), Seed(0, "a", 0.8), Seed(0, "b", 0.6), late, early)))
    assert turn.layers[0].by_target == {"c": [early, late]}


def test_the_sum_of_messages_is_what_the_passage_keeps_and_the_mean_of_what_it_gets():
    both = [Message(0, "a", "c", 0.8, 0.3, 0.2, 0.4), Message(0, "b", "c", 0.5, 0.1, 0.2, 0.4)]
    keeps, before, gets, mean = message_sum(both)
    assert (keeps, before, gets) == (pytest.approx(0.6), 0.2, pytest.approx(0.4))
    assert mean == pytest.approx((0.3 * 0.8 + 0.1 * 0.5) / 0.4)
    assert message_sum([Message(0, "a", "c", 0.8, 0.0, 0.2, 0.2)]) == (1.0, 0.2, 0.0, 0.8)


def test_the_visits_of_a_path_are_a_leg_wherever_they_stand():
    begin = NodeVisit(0, "a", "", 0.9)
    b, c, d = NodeVisit(1, "b", "a", 0.5), NodeVisit(1, "c", "a", 0.4), NodeVisit(2, "d", "b", 0.3, "a mill", ("a",))
    legs = legs_of(Trace((Seed(0, "a", 0.7), begin, b, d, c)))
    assert [(leg.round, leg.path, leg.visits) for leg in legs] == [
        (0, (), [begin]),
        (1, ("a",), [b, c]),
        (2, ("a", "b"), [d]),
    ]
