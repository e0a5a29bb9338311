"""Replays of traces that are small enough to work out by hand. Scores are 1 − distance."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from msgspec.structs import replace
from scipy import sparse

from kit.corpus import Corpus, Passage
from kit.errors import InputError
from kit.graphs import PassageGraph
from kit.graphs.graph import EdgeList
from kit.retrievers import InitialScore, Message, Ranking, Seed, SubQuestionEvent, Trace
from kit.retrievers.base import AnyEvent
from kit.views.drawing import storyboard
from kit.views.figures import save_figure
from kit.views.replay import replay
from kit.views.story import Story

SCORES = {"p2": 0.8, "p4": 0.6, "p0": 0.4, "p1": 0.2, "p3": 0.1}
SENDERS = (Seed(0, "p2", 0.8), Seed(0, "p4", 0.6))
MIN = (Message(0, "p2", "p0", 0.8, 0.5, 0.4, 0.6), Message(0, "p4", "p1", 0.6, 0.5, 0.2, 0.4))
MEAN = (Message(0, "p2", "p1", 0.8, 0.25, 0.2, 0.45), Message(0, "p4", "p1", 0.6, 0.25, 0.2, 0.45))


@pytest.fixture(scope="module")
def graph(corpus) -> PassageGraph:
    """Ada Lund is joined to Marrow and The Long Ferry, Marrow to The Long Ferry and Tilsby."""
    pairs = np.array([(0, 1), (0, 2), (1, 2), (1, 4)]).T
    links = sparse.csr_array((np.ones(4, np.int8), pairs), shape=(6, 6))
    return PassageGraph(corpus, {"entity": EdgeList(links)})


def ranked(*ids: str, steps: tuple[AnyEvent, ...]) -> Ranking:
    return Ranking(ids, np.linspace(1, 0, len(ids)), Trace(steps))


def scored(scores: dict[str, float], round: int = 0) -> tuple[InitialScore, ...]:
    return tuple(InitialScore(round, id, score) for id, score in scores.items())


@pytest.fixture
def least(corpus, questions, graph) -> Story:
    """One layer with α = 0.5 in which each neighbour hears its nearest sender."""
    ranking = ranked("p2", "p0", "p4", "p1", "p3", steps=(*scored(SCORES), *SENDERS, *MIN))
    return replay(ranking, corpus, question=questions[0], graph=graph, top=2)


@pytest.fixture
def mean(corpus, graph) -> Story:
    ranking = ranked("p2", "p4", "p1", "p0", "p3", steps=(*scored(SCORES), *SENDERS, *MEAN))
    return replay(ranking, corpus, graph=graph, top=2)


def notes(story: Story, step: int) -> dict[str, str]:
    return {mark.node: mark.note for mark in story.scenes[step].marks}


def order(story: Story, step: int) -> list[tuple[str, int]]:
    [column] = story.scenes[step].columns
    return [(entry.node, entry.moved) for entry in column.entries]


def test_the_scenes_are_the_start_the_senders_each_senders_messages_and_the_result(least):
    names = ["start", "layer 1 · senders", "layer 1 · sender 1 of 2", "layer 1 · sender 2 of 2", "result"]
    assert [scene.step for scene in least.scenes] == names
    assert least.question.startswith("On which river") and least.question.endswith("Answer: Halle")


def test_captions_say_in_numbers_what_happens(least):
    assert [scene.caption for scene in least.scenes] == [
        "The distance of each passage's own text to the question: 0.200 to 0.400 in the first 2."
        " 1 of 3 supports in the first 2.",
        "The 2 nearest send their distance, 0.200 to 0.400; 2 passages (2 drawn) receive:"
        " α · h + (1 − α) · m with α = 0.50. 1 of 3 supports in the first 2.",
        "1 passage (1 drawn) receives the distance 0.200. Furthest rise: 0.600 → 0.400, place 3 → 2."
        " 2 of 3 supports in the first 2.",
        "1 passage (1 drawn) receives the distance 0.400. 2 of 3 supports in the first 2.",
        "After all messages: 1 of the first 2 are new. The arrows count since the start."
        " At the start 1, now 2 of 3 supports in the first 2.",
    ]


def test_a_node_that_changes_shows_its_arithmetic_and_others_their_distance(least):
    assert notes(least, 0)["p0"] == "distance 0.600, place 3"
    assert notes(least, 1)["p2"] == "sends 0.200, its distance before this layer"
    assert notes(least, 2)["p0"] == "0.50 · 0.600 + 0.50 · 0.200 = 0.400, place 3 → 2"
    assert notes(least, 2)["p1"] == "distance 0.800, place 4"
    assert notes(least, 3)["p1"] == "0.50 · 0.800 + 0.50 · 0.400 = 0.600, place 4"
    assert notes(least, 4)["p4"] == "distance 0.400, place 2 → 3"


def test_the_ranking_moves_and_equal_distances_stand_in_corpus_order(least):
    assert order(least, 0) == [("p2", 0), ("p4", 0), ("p0", 0), ("p1", 0), ("p3", 0)]
    assert order(least, 2) == [("p2", 0), ("p0", 1), ("p4", -1), ("p1", 0), ("p3", 0)]
    assert order(least, 3) == [("p2", 0), ("p0", 0), ("p4", 0), ("p1", 0), ("p3", 0)]
    assert order(least, 4) == order(least, 2)  # since the start
    [column] = least.scenes[2].columns
    assert column.name == "2 of 3 supports in the first 2"
    assert [entry.score for entry in column.entries] == pytest.approx([0.2, 0.4, 0.4, 0.8, 0.9])


def test_size_and_colour_follow_the_distance_from_the_farthest_to_the_nearest(least):
    assert (least.scale.name, least.scale.far, least.scale.near) == ("distance", 0.9, 0.2)
    values = {mark.node: mark.value for mark in least.scenes[2].marks}
    assert values == {"p2": 1.0, "p4": 0.714, "p0": 0.714, "p1": 0.143, "p3": 0.0}


def test_messages_are_emphasised_arrows_that_say_what_is_sent_along_what(least):
    [message] = least.scenes[2].edges
    assert (message.source, message.target, message.kinds) == ("p2", "p0", ("message",))
    assert message.emphasised and message.directed and message.label == "sends 0.200; entity"
    assert {frozenset((edge.source, edge.target)) for edge in least.edges} == {
        frozenset(pair) for pair in (("p0", "p1"), ("p0", "p2"), ("p1", "p2"), ("p1", "p4"))
    }
    assert [scene.focus for scene in least.scenes] == ["", "", "p0", "p1", ""]
    halo = [{mark.node for mark in scene.marks if mark.role == "sender"} for scene in least.scenes]
    assert halo == [set(), {"p2", "p4"}, {"p2"}, {"p4"}, set()]


def test_a_mean_changes_with_the_last_of_its_messages(mean):
    assert mean.scenes[1].caption.endswith(
        "1 passage (1 drawn) receives: α · h + (1 − α) · m with α = 0.50, m the mean of what it gets."
    )
    assert mean.scenes[2].caption == "1 passage (1 drawn) receives the distance 0.200; none changes yet."
    assert notes(mean, 2)["p1"] == "has 1 of its 2 messages"
    assert notes(mean, 3)["p1"] == "0.50 · 0.800 + 0.50 · 0.300 = 0.550 (0.300: mean of 2 senders), place 4 → 3"
    assert order(mean, 3)[:3] == [("p2", 0), ("p4", 0), ("p1", 1)]


def test_a_support_that_is_not_ranked_is_drawn_as_missed(corpus, questions, graph):
    ranking = ranked("p2", "p0", "p4", "p1", "p3", steps=(*scored(SCORES), *SENDERS, *MIN))
    story = replay(ranking, corpus, question=questions[1], graph=graph, top=2)
    [mark] = [mark for mark in story.scenes[0].marks if mark.node == "p5"]
    assert (mark.role, mark.value, mark.note) == ("missed", None, "not among the 5 ranked passages")


@pytest.fixture
def steps(corpus, questions, graph) -> Story:
    """Two sub-questions without messages, β = 0.9; the rankings p2 p0 p1 and p1 p0 p2, merged in turn."""
    first = (
        SubQuestionEvent(0, "Who directed The Long Ferry?", "Ada Lund"),
        *scored({"p2": 0.8, "p0": 0.6, "p1": 0.1}),
    )
    second = (SubQuestionEvent(1, "Where was Ada Lund born?"), *scored({"p1": 0.9, "p0": 0.5, "p2": 0.2}, 1))
    sent = (Seed(0, "p2", 0.8), Message(0, "p2", "p0", 0.8, 0.5, 0.6, 0.7))
    values = {"p1": (0.1, 0.9, 0.82), "p0": (0.7, 0.5, 0.52), "p2": (0.8, 0.2, 0.26)}
    kept = tuple(Message(1, id, id, old, 0.1, before, after) for id, (old, before, after) in values.items())
    ranking = ranked("p2", "p1", "p0", steps=(*first, *sent, *second, *kept))
    return replay(ranking, corpus, question=questions[0], graph=graph, top=1)


def test_sub_questions_are_steps_and_keep_some_of_the_step_before(steps):
    names = ["step 1 · sub-question", "step 1 · layer 1 · senders", "step 1 · layer 1 · sender 1 of 1"]
    assert [scene.step for scene in steps.scenes] == [
        *names, "step 2 · sub-question", "step 2 · recurrence", "result"
    ]  # fmt: skip
    assert [scene.asked for scene in steps.scenes] == [
        *["Who directed The Long Ferry? → Ada Lund"] * 3, *["Where was Ada Lund born?"] * 2, ""
    ]  # fmt: skip
    assert steps.scenes[4].caption.startswith(
        "Each passage keeps some of step 1: β · h + (1 − β) · ĥ with β = 0.90, ĥ as it was after that step."
    )
    assert notes(steps, 4)["p0"] == "0.90 · 0.500 + 0.10 · 0.300 = 0.480, place 2"
    assert order(steps, 3) == [("p1", 0), ("p0", 0), ("p2", 0)]  # another question: no passage has moved


def test_the_result_of_several_steps_is_their_merger(steps):
    assert order(steps, 5) == [("p2", 0), ("p1", 1), ("p0", -1)]
    assert notes(steps, 5)["p1"] == "distance 0.180 and place 1 in step 2; merged, place 3 → 2"
    assert notes(steps, 5)["p0"] == "distance 0.300 and place 2 in step 1; merged, place 2 → 3"


def test_a_method_without_messages_has_one_scene_and_without_a_graph_only_a_ranking(corpus, questions):
    ranking = ranked("p4", "p2", steps=(Seed(0, "p4", 12.5), Seed(0, "p2", 3.25)))
    story = replay(ranking, corpus, question=questions[0], distances=False, top=1)
    [scene] = story.scenes
    assert (scene.step, scene.marks, story.edges, story.scale) == ("ranking", (), (), None)
    assert scene.caption.startswith("The score of each passage's own text to the question: 12.5 to 12.5 in the first 1")
    assert [(entry.node, entry.score) for entry in scene.columns[0].entries] == [("p4", 12.5), ("p2", 3.25)]


def test_a_ranking_without_a_trace_is_refused(corpus):
    with pytest.raises(InputError, match="the trace of its steps"):
        replay(Ranking(("p0",), np.ones(1)), corpus)


@pytest.fixture(scope="module")
def many() -> tuple[Corpus, PassageGraph]:
    """A hundred ports in a ring."""
    corpus = Corpus(Passage(f"n{i}", f"Port {i}", "A port.", f"d{i}") for i in range(100))
    rows = np.arange(100)
    ring = sparse.csr_array((np.ones(100, np.int8), (rows, (rows + 1) % 100)), shape=(100, 100))
    return corpus, PassageGraph(corpus, {"structure": EdgeList(ring)})


def ports(many: tuple[Corpus, PassageGraph], after: float, senders: int = 3) -> Story:
    """The first ports send to all that are farther than the fiftieth."""
    corpus, graph = many
    scores = {f"n{i}": 1 - i / 100 for i in range(100)}
    seeds = tuple(Seed(0, f"n{i}", 1 - i / 100) for i in range(senders))
    sent = tuple(
        Message(0, f"n{i % senders}", f"n{i}", 1 - (i % senders) / 100, 0.5, 1 - i / 100, after) for i in range(50, 100)
    )
    ids = sorted(scores, key=lambda id: -(after if int(id[1:]) >= 50 else scores[id]))
    return replay(ranked(*ids, steps=(*scored(scores), *seeds, *sent)), corpus, graph=graph)


def test_no_more_than_forty_are_drawn_and_the_caption_counts_the_rest(many):
    story = ports(many, after=0.98)
    assert len(story.scenes[0].marks) <= 40
    drawn = {mark.node for mark in story.scenes[0].marks}
    reached = len({f"n{i}" for i in range(50, 100)} & drawn)
    assert f"50 passages ({reached} drawn) receive" in story.scenes[1].caption and reached < 50


def test_places_do_not_depend_on_what_the_messages_do(many):
    one, other = (ports(many, after, senders) for after, senders in ((0.98, 3), (0.4, 12)))
    places = [{node.id: (node.x, node.y) for node in story.nodes} for story in (one, other)]
    assert all(places[0][f"n{i}"] == places[1][f"n{i}"] for i in range(10))


def test_a_support_far_below_stands_under_the_ranking_with_its_place(many, questions):
    corpus, graph = many
    question = replace(questions[0], supporting=(("n70",), ("n1",)))
    scores = {f"n{i}": 1 - i / 100 for i in range(100)}
    story = replay(ranked(*scores, steps=scored(scores)), corpus, question=question, graph=graph)
    entries = story.scenes[0].columns[0].entries
    assert len(entries) == 11
    assert (entries[-1].node, entries[-1].place, entries[1].place) == ("n70", 71, None)
    assert story.table().query("kind == '1 of 2 supports in the first 10'")["value"].tolist() == [*range(1, 11), 71]


def test_passages_of_one_document_are_numbered(least):
    titles = {node.id: node.title for node in least.nodes}
    assert (titles["p0"], titles["p1"], titles["p2"]) == ("§1 Ada Lund", "§2 Marrow", "§1 The Long Ferry")


def test_without_text_nothing_of_the_corpus_is_left(steps, least, tmp_path):
    words = ("Ada Lund", "Marrow", "Long Ferry", "Halle", "Tilsby", "Who directed", "born", "entity")
    for story in (steps, least):
        bare = story.without_text()
        content = repr((bare.nodes, bare.scenes, bare.question, bare.edges))
        assert not [word for word in words if word in content]
        assert bare.scale == story.scale and len(bare.edges) == len(story.edges)
        svg, *_ = save_figure(storyboard(bare, "t"), pd.DataFrame({"n": [1]}), tmp_path, "a")
        assert not [word for word in words if word in svg.read_text()]


def test_hostile_titles_and_questions_stay_text(corpus, questions, graph, hostile, tmp_path):
    asked = (SubQuestionEvent(0, hostile, hostile), *scored({"p5": 0.9, **SCORES}), *SENDERS, *MIN)
    story = replay(ranked("p5", *SCORES, steps=asked), corpus, question=questions[1], graph=graph)
    assert story.by_id["p5"].title == f"§2 {hostile}"
    svg, *_ = save_figure(storyboard(story, hostile), pd.DataFrame({"n": [1]}), tmp_path, "a")
    assert "<img" not in svg.read_text() and "<script" not in svg.read_text()
