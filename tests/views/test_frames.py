"""Replays of traces that are small enough to work out by hand. Scores of messages are 1 − distance."""

import numpy as np
import pandas as pd
import pytest
from msgspec.structs import replace

from kit.corpus import Corpus, Passage
from kit.errors import InputError
from kit.graphs import PassageGraph
from kit.graphs.graph import EdgeList
from kit.methods import Ranking
from kit.methods.trace import (
    AnyEvent,
    InitialScore,
    Message,
    NodeVisit,
    Seed,
    SubQuestionEvent,
    Trace,
)
from kit.views import Replay, replay, save_figure, storyboard

SCORES = {"p2": 0.8, "p4": 0.6, "p0": 0.4, "p1": 0.2, "p3": 0.1}
SENDERS = (Seed(0, "p2", 0.8), Seed(0, "p4", 0.6))
MIN = (Message(0, "p2", "p0", 0.8, 0.5, 0.4, 0.6), Message(0, "p4", "p1", 0.6, 0.5, 0.2, 0.4))
MEAN = (Message(0, "p2", "p1", 0.8, 0.25, 0.2, 0.45), Message(0, "p4", "p1", 0.6, 0.25, 0.2, 0.45))


def graph_of(corpus: Corpus, *pairs: tuple[int, int]) -> PassageGraph:
    ends = np.array([*pairs, *(pair[::-1] for pair in pairs)]).T
    return PassageGraph(corpus, {"entity": EdgeList.of(*ends, len(corpus))})


@pytest.fixture(scope="module")
def graph(corpus) -> PassageGraph:
    """Ada Lund is joined to Marrow and The Long Ferry, Marrow to The Long Ferry and Tilsby."""
    return graph_of(corpus, (0, 1), (0, 2), (1, 2), (1, 4))


def ranked(*ids: str, events: tuple[AnyEvent, ...]) -> Ranking:
    return Ranking(ids, np.linspace(1, 0, len(ids)), Trace(events))


def scored(scores: dict[str, float], round: int = 0) -> tuple[InitialScore, ...]:
    return tuple(InitialScore(round, id, score) for id, score in scores.items())


@pytest.fixture
def least(corpus, questions, graph) -> Replay:
    """One layer with α = 0.5 in which each neighbour hears its nearest sender."""
    ranking = ranked("p2", "p0", "p4", "p1", "p3", events=(*scored(SCORES), *SENDERS, *MIN))
    return replay(ranking, corpus, question=questions[0], graph=graph, top=2)


def steps(shown: Replay) -> list[str]:
    return [frame.step for frame in shown.frames]


def states(shown: Replay, step: int, field: str = "note") -> dict[str, str]:
    return {state.node: getattr(state, field) for state in shown.frames[step].states}


def order(shown: Replay, step: int) -> list[tuple[str, int]]:
    [column] = shown.frames[step].columns
    return [(item.node, item.moved) for item in column.items]


def test_the_frames_are_the_start_the_senders_each_senders_messages_and_the_result(least):
    layer = ["layer 1 · senders", "layer 1 · sender 1 of 2", "layer 1 · sender 2 of 2"]
    assert steps(least) == ["start", *layer, "result"]
    assert least.question.startswith("On which river") and least.question.endswith("Answer: Halle")
    told = [frame.caption for frame in least.frames]
    assert told[0].endswith("0.200 to 0.400 in the first 2. 1 of 3 supports in the first 2.")
    assert "to 2 passages: α · h + (1 − α) · m with α = 0.5." in told[1]
    assert told[2] == "Distance 0.200 goes to 1 passage. 2 of 3 supports in the first 2."


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
    assert (least.scale.name, least.scale.far, least.scale.near) == ("distance", 0.9, 0.2)
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


@pytest.fixture
def sub_questions(corpus, questions, graph) -> Replay:
    """Two sub-questions, β = 0.9; the rankings p2 p0 p1 and p1 p0 p2, merged in turn."""
    first, second = (
        scored({"p2": 0.8, "p0": 0.6, "p1": 0.1}),
        scored({"p1": 0.9, "p0": 0.5, "p2": 0.2}, 1),
    )
    first = (
        SubQuestionEvent(0, "Who directed The Long Ferry?", "Ada Lund"),
        *first,
        Seed(0, "p2", 0.8),
    )
    second = (
        Message(0, "p2", "p0", 0.8, 0.5, 0.6, 0.7),
        SubQuestionEvent(1, "Where was Ada Lund born?"),
        *second,
    )
    values = {"p1": (0.1, 0.9, 0.82), "p0": (0.7, 0.5, 0.52), "p2": (0.8, 0.2, 0.26)}
    kept = (
        Message(1, id, id, old, 0.1, before, after) for id, (old, before, after) in values.items()
    )
    ranking = ranked("p2", "p1", "p0", events=(*first, *second, *kept))
    return replay(ranking, corpus, question=questions[0], graph=graph, top=1)


def test_sub_questions_are_steps_keep_some_of_the_step_before_and_are_merged(sub_questions):
    one = ["step 1 · start", "step 1 · layer 1 · senders", "step 1 · layer 1 · sender 1 of 1"]
    assert steps(sub_questions) == [*one, "step 2 · start", "step 2 · recurrence", "result"]
    asked = (
        ["Who directed The Long Ferry? → Ada Lund"] * 3 + ["Where was Ada Lund born?"] * 2 + [""]
    )
    assert [frame.asked for frame in sub_questions.frames] == asked
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
    assert frame.caption.startswith("The scores of what was found: 12.5 to 12.5 in the first 1")
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
    places = []
    for after, senders in (
        (0.98, 3),
        (0.4, 12),
    ):  # the first ports send to all that are farther than the fiftieth
        seeds = [Seed(0, id, FAR[id]) for id in [*FAR][:senders]]
        sent = [
            Message(0, f"n{i % senders}", f"n{i}", 0.9, 0.5, 1 - i / 100, after)
            for i in range(50, 100)
        ]
        shown = replay(ranked(*FAR, events=(*scored(FAR), *seeds, *sent)), many[0], graph=many[1])
        assert len(shown.frames[0].states) <= 40
        places.append({node.id: (node.x, node.y) for node in shown.nodes})
    assert all(places[0][f"n{i}"] == places[1][f"n{i}"] for i in range(10))


def test_a_support_far_below_stands_under_the_ranking_with_its_place(many, questions):
    corpus, graph = many
    question = replace(questions[0], supporting=(("n70",), ("n1",)))
    shown = replay(ranked(*FAR, events=scored(FAR)), corpus, question=question, graph=graph)
    items = shown.frames[0].columns[0].items
    assert (len(items), items[-1].node, items[-1].place, items[1].place) == (11, "n70", 71, None)


VISITS = (
    Seed(0, "p2", 0.6),
    Seed(0, "p4", 0.5),
    NodeVisit(0, "p4", "", 0.8),
    NodeVisit(0, "p2", "", 0.7),
    NodeVisit(1, "p1", "p4", 0.4, "Marrow is a port."),
    NodeVisit(1, "p0", "p2", 0.9, "Ada Lund was born."),
    NodeVisit(2, "p3", "p1", 0.5, "", ("p4",)),
    NodeVisit(2, "p0", "p1", 0.2, "", ("p4",)),
)
WALK = Ranking(
    ("p2", "p0", "p4", "p1", "p3"), np.array([1.5, 1.5, 0.5, 0.5, 0.5]), Trace(VISITS, 9)
)


@pytest.fixture
def walk(corpus, questions) -> Replay:
    """Ada Lund is joined to Marrow and The Long Ferry, Marrow to Halle and Tilsby."""
    graph = graph_of(corpus, (0, 1), (0, 2), (1, 3), (1, 4))
    return replay(WALK, corpus, question=questions[0], graph=graph, top=2)


def test_each_path_that_grows_is_a_frame(walk):
    names = ["seeds", "hop 1 · path 1 of 2", "hop 1 · path 2 of 2", "hop 2 · path 1 of 1", "result"]
    assert steps(walk) == names
    assert walk.frames[0].caption.endswith("score 0.8 to 0.7. 1 of 3 supports met.")
    assert (
        walk.frames[3].caption
        == "The path grows by the best: 0.5; 0.2, met before. 3 of 3 supports met."
    )
    assert walk.frames[4].caption.startswith("5 passages met on the walk, 9 compared.")
    wrote = [
        "",
        "Generated evidence: Marrow is a port.",
        "Generated evidence: Ada Lund was born.",
        "",
        "",
    ]
    assert [frame.asked for frame in walk.frames] == wrote
    assert states(walk, 3)["p0"] == "visited now: scores 0.2, met before"
    assert states(walk, 4)["p0"] == "score 1.5, place 2"


def test_seeds_the_path_and_what_is_missing_are_told_apart(walk):
    assert states(walk, 0, "role") == {"p2": "seed", "p4": "seed", "p0": "missed", "p1": "missed"}
    told = {"p2": "seed", "p4": "path", "p1": "path", "p0": "visited", "p3": "visited"}
    assert states(walk, 3, "role") == told
    assert states(walk, 1, "value") == {"p2": 0.6, "p4": 0.8, "p0": None, "p1": 0.0}


def test_visits_are_arrows_and_the_ranking_holds_what_was_met(walk):
    arrows = [[(*edge.ends, edge.emphasised) for edge in frame.edges] for frame in walk.frames]
    assert arrows[0] == [] and arrows[1] == [("p4", "p1", True)]
    assert arrows[3] == [("p4", "p1", False), ("p1", "p3", True), ("p1", "p0", True)]
    assert arrows[4] == [("p4", "p1", False), ("p2", "p0", False), ("p1", "p3", False)]
    assert [frame.focus for frame in walk.frames] == ["", "p1", "p0", "p0", ""]
    assert order(walk, 0) == [("p4", 0), ("p2", 0)] and order(walk, 2)[:2] == [("p0", 0), ("p4", 0)]
    assert [id for id, _ in order(walk, 4)] == ["p2", "p0", "p4", "p1", "p3"]


def test_without_text_a_figure_and_its_table_hold_nothing_of_the_corpus(
    sub_questions, least, walk, tmp_path
):
    words = (
        "Ada Lund",
        "Marrow",
        "Long Ferry",
        "Halle",
        "Tilsby",
        "Who directed",
        "born",
        "a port",
    )
    for shown in (sub_questions, least, walk):
        bare = shown.without_text()
        svg, _, csv = sorted(
            save_figure(storyboard(bare, "t"), bare.table(), tmp_path, "a"), reverse=True
        )
        content = svg.read_text() + csv.read_text() + bare.question
        assert "support 1" in content and not [word for word in words if word in content]


def test_hostile_titles_questions_and_evidence_stay_text(
    corpus, questions, graph, hostile, tmp_path
):
    asked = SubQuestionEvent(0, hostile, hostile), *scored({"p5": 0.9, **SCORES}), *SENDERS, *MIN
    visits = Seed(0, "p5", 0.6), NodeVisit(1, "p4", "p5", 0.4, hostile)
    for ranking in (ranked("p5", *SCORES, events=asked), ranked("p5", "p4", events=visits)):
        shown = replay(ranking, corpus, question=questions[1], graph=graph)
        assert shown.by_id["p5"].title == f"§2 {hostile}"  # passages of one document are numbered
        svg, *_ = save_figure(storyboard(shown, hostile), pd.DataFrame({"n": [1]}), tmp_path, "a")
        assert "<img" not in svg.read_text() and "<script" not in svg.read_text()
