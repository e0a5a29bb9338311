"""Frames of messages and of a plain search."""

import numpy as np
import pytest
from msgspec.structs import replace

from kit.corpus import Corpus, Passage
from kit.errors import InputError
from kit.graphs import PassageGraph
from kit.methods import Ranking
from kit.methods.trace import Message, Seed
from kit.views import replay
from tests.views.frames.traces import (
    MEAN,
    SCORES,
    SENDERS,
    graph_of,
    order,
    ranked,
    scored,
    states,
    steps,
)


def test_the_frames_are_the_start_the_senders_each_senders_messages_and_the_result(least):
    layer = ["layer 1 · senders", "layer 1 · sender 1 of 2", "layer 1 · sender 2 of 2"]
    assert steps(least) == ["start", *layer, "result"]
    assert least.question.startswith("On which river") and least.question.endswith("Answer: Halle")
    captions = [frame.caption for frame in least.frames]
    assert captions[0].endswith("0.200 to 0.400 in the first 2. 1 of 3 supports in the first 2.")
    assert "to 2 passages: α · h + (1 − α) · m with α = 0.5." in captions[1]
    assert captions[2] == "Its distance, 0.200, goes to 1 passage. 2 of 3 supports in the first 2."


def test_a_node_that_changes_shows_its_arithmetic_and_others_their_distance(least):
    assert states(least, 0)["p0"] == "distance 0.600, place 3"
    assert states(least, 1)["p2"] == "sends 0.200, its distance before"
    assert states(least, 2)["p0"] == "0.5 · 0.600 + 0.5 · 0.200 = 0.400, place 3 → 2"
    assert states(least, 2)["p4"] == "distance 0.400, place 2 → 3"
    assert states(least, 3)["p1"] == "0.5 · 0.800 + 0.5 · 0.400 = 0.600, place 4"


def test_the_ranking_moves_and_equal_distances_stand_in_corpus_order(least):
    assert order(least, 0) == [("p2", 0), ("p4", 0), ("p0", 0), ("p1", 0), ("p3", 0)]
    assert order(least, 2) == [("p2", 0), ("p0", 1), ("p4", -1), ("p1", 0), ("p3", 0)]
    assert order(least, 4) == order(least, 2)  # since the start
    [column] = least.frames[2].columns
    assert column.name == "2 of 3 supports in the first 2"
    assert [item.score for item in column.items] == pytest.approx([0.2, 0.4, 0.4, 0.8, 0.9])


def test_size_and_colour_follow_the_distance_and_messages_are_arrows(least):
    assert (least.scale.name, least.scale.farthest, least.scale.nearest) == ("distance", 0.9, 0.2)
    assert states(least, 2, "value") == {
        "p2": 1.0,
        "p4": 0.714,
        "p0": 0.714,
        "p1": 0.143,
        "p3": 0.0,
    }
    [message] = least.frames[2].edges
    assert (*message.ends, message.kinds, message.label) == ("p2", "p0", ("message",), "entity")
    assert message.emphasised and message.directed and len(least.edges) == 4
    assert [frame.focus for frame in least.frames] == ["", "", "p0", "p1", ""]
    assert [[*states(least, step, "role").values()].count("sender") for step in range(5)] == [
        0,
        2,
        1,
        1,
        0,
    ]


def test_a_mean_changes_with_the_last_of_its_messages(corpus, graph):
    ranking = ranked("p2", "p4", "p1", "p0", "p3", events=(*scored(SCORES), *SENDERS, *MEAN))
    shown = replay(ranking, corpus, graph=graph, top=2)
    assert states(shown, 2)["p1"] == "waits for more of its 2"
    assert (
        states(shown, 3)["p1"]
        == "0.5 · 0.800 + 0.5 · 0.300 = 0.550 (0.300: mean of 2 senders), place 4 → 3"
    )
    assert order(shown, 3)[:3] == [("p2", 0), ("p4", 0), ("p1", 1)]


def test_sub_questions_are_steps_keep_some_of_the_step_before_and_are_merged(sub_questions):
    turn = ["step 1 · start", "step 1 · layer 1 · senders", "step 1 · layer 1 · sender 1 of 1"]
    assert steps(sub_questions) == [*turn, "step 2 · start", "step 2 · recurrence", "result"]
    sub_questions_shown = (
        ["Who directed The Long Ferry? → Ada Lund"] * 3 + ["Where was Ada Lund born?"] * 2 + [""]
    )
    assert [frame.sub_question for frame in sub_questions.frames] == sub_questions_shown
    assert sub_questions.frames[4].caption.startswith("β · h + (1 − β) · ĥ")
    assert states(sub_questions, 4)["p0"] == "0.9 · 0.500 + 0.1 · 0.300 = 0.480, place 2"
    assert order(sub_questions, 3) == [
        ("p1", 0),
        ("p0", 0),
        ("p2", 0),
    ]  # another question: no passage has moved
    assert order(sub_questions, 5) == [("p2", 0), ("p1", 1), ("p0", -1)]
    assert states(sub_questions, 5)["p1"] == "distance 0.180, place 3 → 2"


def test_a_method_without_messages_has_one_frame_and_without_a_graph_only_a_ranking(
    corpus, questions
):
    ranking = ranked("p4", "p2", events=(Seed(0, "p4", 12.5), Seed(0, "p2", 3.25)))
    [frame] = replay(ranking, corpus, question=questions[0], top=1).frames
    assert (frame.step, frame.states) == ("ranking", ())
    assert frame.caption.startswith("What was found: score 12.5 to 12.5 in the first 1")
    assert [(item.node, item.score) for item in frame.columns[0].items] == [
        ("p4", 12.5),
        ("p2", 3.25),
    ]
    with pytest.raises(InputError, match="the trace of its steps"):
        replay(Ranking(("p0",), np.ones(1)), corpus)


@pytest.fixture(scope="module")
def many() -> tuple[Corpus, PassageGraph]:
    """A hundred ports in a ring."""
    corpus = Corpus(Passage(f"n{i}", f"Port {i}", "A port.", f"d{i}") for i in range(100))
    return corpus, graph_of(corpus, *((i, (i + 1) % 100) for i in range(100)))


FAR = {f"n{i}": 1 - i / 100 for i in range(100)}


def test_not_more_than_forty_are_drawn_and_places_do_not_depend_on_what_the_messages_do(many):
    positions = []
    for after, senders in (
        (0.98, 3),
        (0.4, 12),
    ):  # the first ports send to all that are farther than the fiftieth
        seeds = [Seed(0, passage, FAR[passage]) for passage in [*FAR][:senders]]
        sent = [
            Message(0, f"n{i % senders}", f"n{i}", 0.9, 0.5, 1 - i / 100, after)
            for i in range(50, 100)
        ]
        shown = replay(ranked(*FAR, events=(*scored(FAR), *seeds, *sent)), many[0], graph=many[1])
        assert len(shown.frames[0].states) <= 40
        positions.append({node.id: (node.x, node.y) for node in shown.nodes})
    assert all(positions[0][f"n{i}"] == positions[1][f"n{i}"] for i in range(10))


def test_a_support_far_below_stands_under_the_ranking_with_its_place(many, questions):
    corpus, graph = many
    question = replace(questions[0], supporting=(("n70",), ("n1",)))
    shown = replay(ranked(*FAR, events=scored(FAR)), corpus, question=question, graph=graph)
    items = shown.frames[0].columns[0].items
    assert (len(items), items[-1].node, items[-1].rank, items[1].rank) == (11, "n70", 71, None)
