"""Replays of walks that are small enough to work out by hand, and the explorer of KGP on the six passages."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from kit.corpus import Benchmark
from kit.corpus.example import example
from kit.errors import InputError
from kit.graphs import PassageGraph
from kit.graphs.graph import EdgeList
from kit.retrievers import NodeVisit, Ranking, Seed, Trace, make
from kit.views.drawing import storyboard
from kit.views.explorer import Explorer
from kit.views.figures import save_figure
from kit.views.replay import replay
from kit.views.story import Story
from kit.views.trace_explorer import explore_kgp, side_by_side


@pytest.fixture(scope="module")
def graph(corpus) -> PassageGraph:
    """Ada Lund is joined to Marrow and The Long Ferry, Marrow to Halle and Tilsby."""
    pairs = np.array([(0, 1), (0, 2), (1, 3), (1, 4)]).T
    pairs = np.concatenate([pairs, pairs[::-1]], axis=1)
    return PassageGraph(corpus, {"entity": EdgeList(sparse.csr_array((np.ones(8, np.int8), pairs), shape=(6, 6)))})


STEPS = (
    Seed(0, "p2", 0.6),
    Seed(0, "p4", 0.5),
    NodeVisit(0, "p4", "", 0.8),
    NodeVisit(0, "p2", "", 0.7),
    NodeVisit(1, "p1", "p4", 0.4, "Marrow is a port."),
    NodeVisit(1, "p0", "p2", 0.9, "Ada Lund was born."),
    NodeVisit(2, "p3", "p1", 0.5, "", ("p4",)),
    NodeVisit(2, "p0", "p1", 0.2, "", ("p4",)),
)
RANKING = Ranking(("p2", "p0", "p4", "p1", "p3"), np.array([1.5, 1.5, 0.5, 0.5, 0.5]), Trace(STEPS, 9))


@pytest.fixture
def story(corpus, questions, graph) -> Story:
    return replay(RANKING, corpus, question=questions[0], graph=graph, top=2)


def notes(story: Story, scene: int) -> dict[str, str]:
    return {mark.node: mark.note for mark in story.scenes[scene].marks}


def roles(story: Story, scene: int) -> dict[str, str]:
    return {mark.node: mark.role for mark in story.scenes[scene].marks}


def tree(story: Story, scene: int) -> list[tuple[str, int | None]]:
    return [(entry.node, entry.indent) for entry in story.scenes[scene].columns[0].entries]


def test_each_path_that_grows_is_a_scene(story):
    names = ["seeds", "hop 1 · path 1 of 2", "hop 1 · path 2 of 2", "hop 2 · path 1 of 1", "result"]
    assert [scene.step for scene in story.scenes] == names
    assert [scene.caption for scene in story.scenes] == [
        "2 seeds, found by a search for the question. The agent scores them 0.8 to 0.7. 1 of 3 supports met.",
        "The path grows by the best of 1 neighbour (1 drawn): 0.4. 2 of 3 supports met.",
        "The path grows by the best of 1 neighbour (1 drawn): 0.9. 3 of 3 supports met.",
        "The path grows by the best of 2 neighbours (2 drawn): 0.5; 0.2, met before. 3 of 3 supports met.",
        "5 passages met on the walk, ranked by the paths on which they came. 3 of 3 supports met.",
    ]


def test_the_evidence_that_the_agent_wrote_is_told(story):
    assert [scene.asked for scene in story.scenes] == [
        "", "Evidence generated_evidence: Marrow is a port.", "Evidence generated_evidence: Ada Lund was born.", "", ""
    ]  # fmt: skip


def test_seeds_the_path_its_candidates_and_what_is_missing_are_told_apart(story):
    assert roles(story, 0) == {"p2": "seed", "p4": "seed", "p0": "missed", "p1": "missed"}
    assert roles(story, 1) == {"p2": "seed", "p4": "path", "p0": "missed", "p1": "visited"}
    assert roles(story, 3) == {"p2": "seed", "p4": "path", "p1": "path", "p0": "visited", "p3": "visited"}


def test_a_candidate_that_is_not_visited_is_drawn(corpus, graph):
    ranking = Ranking(("p0", "p1"), np.array([1.0, 1.0]), Trace((Seed(0, "p0", 0.6), NodeVisit(1, "p1", "p0", 0.4))))
    story = replay(ranking, corpus, graph=graph)
    assert roles(story, 1) == {"p0": "path", "p1": "visited", "p2": "candidate"}
    assert notes(story, 1)["p2"] == "a candidate, not visited now"


def test_notes_tell_the_scores_and_the_scale_spans_them(story):
    assert notes(story, 0)["p4"] == "scores 0.8; place 2 in the search for seeds"
    assert notes(story, 3)["p0"] == "visited now: scores 0.2, met before"
    assert notes(story, 4)["p0"] == "hop 1: scores 0.9; place 2 in the end"
    assert (story.scale.name, story.scale.far, story.scale.near) == ("score", 0.2, 0.9)
    assert {mark.node: mark.value for mark in story.scenes[1].marks} == {
        "p2": 0.714,
        "p4": 0.857,
        "p0": None,
        "p1": 0.286,
    }


def test_visits_are_arrows_and_the_path_shows(story):
    arrows = [[(edge.source, edge.target, edge.emphasised) for edge in scene.edges] for scene in story.scenes]
    assert arrows[0] == [] and arrows[1] == [("p4", "p1", True)]
    assert arrows[3] == [("p4", "p1", False), ("p1", "p3", True), ("p1", "p0", True)]
    assert arrows[4] == [("p4", "p1", False), ("p2", "p0", False), ("p1", "p3", False)]
    assert story.scenes[1].edges[0].kinds == ("visit",)
    assert [scene.focus for scene in story.scenes] == ["", "p1", "p0", "p0", ""]


def test_the_tree_has_each_passage_where_it_was_first_met(story):
    assert tree(story, 0) == [("p4", 0), ("p2", 0)]
    assert tree(story, 2) == [("p4", 0), ("p1", 1), ("p2", 0), ("p0", 1)]  # p1 is gold: it stays in view
    assert tree(story, 3) == [("p4", 0), ("p1", 1), ("p3", 2), ("p2", 0), ("p0", 1)]
    assert story.scenes[3].columns[0].name == "5 met, as a tree"
    assert tree(story, 4) == [("p2", None), ("p0", None), ("p1", None)]  # the first two, and gold below
    assert [entry.place for entry in story.scenes[4].columns[0].entries] == [None, None, 4]


def test_without_a_graph_there_is_the_tree(corpus, questions):
    story = replay(RANKING, corpus, question=questions[0], top=2)
    assert not any(scene.marks or scene.edges for scene in story.scenes) and story.scale is None
    assert tree(story, 3)[1] == ("p1", 1)
    assert story.scenes[3].caption.startswith("The path grows by the best: 0.5; 0.2, met before.")


def test_hostile_evidence_stays_text(corpus, questions, graph, hostile, tmp_path):
    steps = (Seed(0, "p5", 0.6), NodeVisit(1, "p4", "p5", 0.4, hostile))
    ranking = Ranking(("p5", "p4"), np.array([1.0, 1.0]), Trace(steps))
    story = replay(ranking, corpus, question=questions[1], graph=graph)
    svg, *_ = save_figure(storyboard(story, hostile), pd.DataFrame({"n": [1]}), tmp_path, "a")
    assert "<img" not in svg.read_text() and "<script" not in svg.read_text()


def test_without_text_nothing_of_the_corpus_is_left(story, tmp_path):
    bare = story.without_text()
    svg, *_ = save_figure(storyboard(bare, "t"), pd.DataFrame({"n": [1]}), tmp_path, "a")
    content = repr((bare.nodes, bare.scenes, bare.question, bare.edges)) + svg.read_text()
    assert not [word for word in ("Ada", "Marrow", "Ferry", "Halle", "Tilsby", "born", "a port") if word in content]


# ---- the explorer


@pytest.fixture(scope="module")
def hand() -> Benchmark:
    return example()


def shown(explorer: Explorer) -> dict:
    """The story as the browser gets it."""
    return json.loads(json.dumps(explorer.canvas.story))


def test_the_explorer_ends_with_the_ranking_of_the_retriever(hand):
    chosen = {"branching": 2, "depth": 3, "budget": 5}
    explorer = explore_kgp(hand, hand.test, agent="kgp-tfidf", **chosen)
    retriever = make("kgp-tfidf", **chosen)
    retriever.index(hand.corpus)
    entries = shown(explorer)["scenes"][-1]["columns"][0]["entries"]
    assert [entry["node"] for entry in entries] == list(retriever.retrieve(hand.test[0].query, 6).ids)


def test_settings_agents_and_typed_questions_change_the_walk(hand):
    explorer = explore_kgp(hand, hand.test, budget=6, branching=3)
    assert explorer.values["agent"] == "kgp-tfidf" and explorer.canvas.problem == ""
    assert shown(explorer)["scenes"][0]["caption"].startswith("2 seeds")
    explorer.controls["branching"].value = 2
    assert shown(explorer)["scenes"][0]["caption"].startswith("3 seeds")
    explorer.controls["agent"].value = "kgp-dense"
    explorer.controls["graph"].value = "knn"
    explorer.controls["typed"].value = "Which prize did the novel win?"
    story = shown(explorer)
    assert explorer.canvas.problem == "" and story["question"] == "Which prize did the novel win?"
    assert not any(node["gold"] for node in story["nodes"].values())


def test_agents_of_ones_own_and_their_settings_are_left_as_they_are(hand):
    own = make("kgp-random", branching=5, seed=3)
    explorer = explore_kgp(hand, hand.test, {"by chance": own}, branching=2)
    assert explorer.values["agent"] == "by chance"
    assert own.branching == 5 and not hasattr(own, "graph")
    with pytest.raises(InputError, match="agent"):
        explore_kgp(hand, hand.test, agent="kgp-mdr")


def test_two_agents_walk_in_step(hand):
    both = side_by_side(*(explore_kgp(hand, hand.test, agent=name, budget=4) for name in ("kgp-tfidf", "kgp-dense")))
    left, right = shown(both.left), shown(both.right)
    assert len(left["scenes"]) == len(right["scenes"])
    assert all(right["nodes"][id]["x"] == node["x"] for id, node in left["nodes"].items() if id in right["nodes"])


def test_any_retriever_that_walks_is_told_as_a_walk(hand):
    mdr = make("mdr", beam=2, branches=2)
    mdr.index(hand.corpus)
    story = replay(mdr.retrieve(hand.test[0].query, 6), hand.corpus, question=hand.test[0])
    assert [scene.step for scene in story.scenes][1:] == ["hop 1 · path 1 of 2", "hop 1 · path 2 of 2", "result"]
