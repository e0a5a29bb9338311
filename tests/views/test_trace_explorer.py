"""The explorers of GNN-Ret and RGNN-Ret with the real retrievers, on the six passages."""

from __future__ import annotations

import json
from itertools import product

import ipywidgets as widgets
import pytest

from kit.corpus import Benchmark
from kit.corpus.example import example
from kit.errors import InputError
from kit.retrievers import GNNRet, Retriever, make
from kit.views.explorer import Explorer
from kit.views.story import Node, Scene, Story
from kit.views.trace_explorer import (
    explore_gnn_ret,
    explore_retrieval,
    explore_rgnn_ret,
    in_step,
    side_by_side,
)


@pytest.fixture(scope="module")
def hand() -> Benchmark:
    return example()


@pytest.fixture
def gnn(hand) -> Explorer:
    return explore_gnn_ret(hand, hand.test, top=3, top_k=2)


def shown(explorer: Explorer) -> dict:
    """The story as the browser gets it."""
    return json.loads(json.dumps(explorer.canvas.story))


def steps(explorer: Explorer) -> list[str]:
    return [scene["step"] for scene in shown(explorer)["scenes"]]


def first(explorer: Explorer, scene: int = -1) -> list[str]:
    return [entry["node"] for entry in shown(explorer)["scenes"][scene]["columns"][0]["entries"]]


@pytest.mark.parametrize(("message", "layers", "senders"), product(("min", "mean"), (1, 2), (1, 3, 6)))
def test_the_replay_ends_with_the_ranking_of_the_retriever(hand, message, layers, senders):
    settings = {"message": message, "layers": layers, "top_k": senders, "alpha": 0.3}
    explorer = explore_gnn_ret(hand, hand.test, **settings)
    retriever = make("gnn-ret", graph="entity+structure", **settings)
    retriever.index(hand.corpus)
    assert first(explorer) == list(retriever.retrieve(hand.test[0].query, 6).ids)
    assert len(steps(explorer)) == 1 + layers * (1 + senders) + 1


def test_rgnn_ret_ends_with_the_merged_ranking_and_has_a_step_a_sub_question(hand):
    explorer = explore_rgnn_ret(hand, hand.test, question="river", top_k=2, beta=0.5)
    retriever = make("rgnn-ret", top_k=2, beta=0.5)
    retriever.index(hand.corpus)
    assert first(explorer) == list(retriever.retrieve(hand.test[1].gold_query, 6).ids)
    asked = [scene["asked"] for scene in shown(explorer)["scenes"] if scene["step"].endswith("sub-question")]
    assert asked == [
        "Who directed the film The Glass Harbour? → Ines Moravec",
        "In which town was Ines Moravec born? → Selby Quay",
        "Which river floods Selby Quay? → Oll",
    ]
    assert [step for step in steps(explorer) if "recurrence" in step] == ["step 2 · recurrence", "step 3 · recurrence"]


def test_a_setting_changes_the_story_and_keeps_the_step_and_the_places(gnn):
    def places() -> dict[str, tuple[float, float]]:
        return {id: (node["x"], node["y"]) for id, node in shown(gnn)["nodes"].items()}

    before = places()
    gnn.canvas.index = 2
    gnn.controls["alpha"].value = 0.2
    assert gnn.canvas.index == 2 and gnn.canvas.problem == ""
    [note] = [mark["note"] for mark in shown(gnn)["scenes"][2]["marks"] if mark["node"] == "moravec"]
    assert note.startswith("0.20 · ") and " + 0.80 · " in note
    gnn.controls["top_k"].value = 3
    assert steps(gnn)[2] == "layer 1 · sender 1 of 3" and gnn.canvas.index == 0
    assert places() == before


def test_another_graph_has_other_edges(gnn):
    def joined() -> set[frozenset[str]]:
        return {frozenset((edge["source"], edge["target"])) for edge in shown(gnn)["edges"]}

    before = joined()
    gnn.controls["graph"].value = "structure"
    assert joined() == {frozenset(("moravec", "moravec-later"))} < before


def test_a_typed_question_is_asked_without_supports_until_another_is_chosen(gnn):
    gnn.controls["typed"].value = "Which prize did the novel win?"
    story = shown(gnn)
    assert story["question"] == "Which prize did the novel win?"
    assert not any(node["gold"] for node in story["nodes"].values())
    assert first(gnn, 0)[0] == "novel"
    gnn.controls["question"].value = "river"
    assert gnn.controls["typed"].value == "" and shown(gnn)["question"].startswith("Which river")


def test_lines_that_are_typed_are_sub_questions(hand):
    explorer = explore_rgnn_ret(hand, hand.test, typed="Which film is silent?\nWho was a painter?")
    asked = list(dict.fromkeys(scene["asked"] for scene in shown(explorer)["scenes"]))
    assert asked == ["Which film is silent?", "Who was a painter?", ""]


def test_a_storyboard_can_be_had_for_other_values_and_without_text(gnn, hand):
    assert gnn.story(question="river", top_k=1).scenes[-2].step == "layer 1 · sender 1 of 1"
    bare = gnn.story(text=False)
    assert bare.question == "" and {node.title for node in bare.nodes} == {"", "support 1", "support 2"}
    assert len(gnn.storyboard("Messages", [0, 2, 4], text=False).axes) == 3


@pytest.mark.parametrize(
    ("start", "message"),
    [
        ({"depth": 3}, "expected one of question, typed, top_k"),
        ({"message": "max"}, "field message"),
        ({"question": "nobody"}, "field question"),
    ],
)
def test_a_start_that_cannot_be_is_refused(hand, start, message):
    with pytest.raises(InputError, match=message):
        explore_gnn_ret(hand, hand.test, **start)


def test_no_questions_are_refused(hand):
    with pytest.raises(InputError, match="at least one question"):
        explore_gnn_ret(hand, [])


def test_any_retriever_can_be_explored(hand):
    def ready(corpus, name: str) -> Retriever:
        retriever = make(name)
        retriever.index(corpus)
        return retriever

    control = widgets.Dropdown(options=["bm25", "tfidf"])
    explorer = explore_retrieval("Words", hand, hand.test, {"name": control}, ready, distances=False)
    [scene] = shown(explorer)["scenes"]
    assert scene["step"] == "ranking" and scene["marks"] == [] and first(explorer)[0] == "harbour"


def test_vectors_and_graphs_are_made_once(hand, monkeypatch):
    indexed = []
    index = GNNRet.index
    graph = lambda self, corpus: (indexed.append(self.settings.graph), index(self, corpus))  # noqa: E731
    monkeypatch.setattr(GNNRet, "index", graph)
    explorer = explore_gnn_ret(hand, hand.test)
    for alpha in (0.1, 0.2, 0.3):
        explorer.controls["alpha"].value = alpha
    explorer.controls["graph"].value = "entity"
    explorer.controls["graph"].value = "entity+structure"
    assert indexed == ["entity+structure", "entity"]


# ---- side by side


def test_two_settings_go_in_step_with_one_question_and_one_place_a_passage(hand):
    both = side_by_side(explore_gnn_ret(hand, hand.test, top_k=2), explore_gnn_ret(hand, hand.test, top_k=3, layers=2))
    assert steps(both.left) == [
        "start",
        "layer 1 · senders",
        "layer 1 · sender 1 of 2",
        "layer 1 · sender 2 of 2",
        *["layer 1 · sender 2 of 2 (waits)"] * 5,
        "result",
    ]
    layer = ["senders", *(f"sender {number} of 3" for number in (1, 2, 3))]
    assert steps(both.right)[1:-1] == [f"layer {number} · {name}" for number in (1, 2) for name in layer]
    both.left.controls["question"].value = "river"
    assert shown(both.right)["question"] == shown(both.left)["question"] != ""
    both.right.controls["alpha"].value = 0.9
    notes = [mark["note"] for mark in shown(both.right)["scenes"][2]["marks"]]
    assert any(note.startswith("0.90 · ") for note in notes)
    left, right = shown(both.left)["nodes"], shown(both.right)["nodes"]
    assert all((left[id]["x"], left[id]["y"]) == (node["x"], node["y"]) for id, node in right.items() if id in left)
    assert "GNN-Ret" in repr(both)


def test_gnn_ret_waits_while_rgnn_ret_asks_on(hand):
    both = side_by_side(explore_gnn_ret(hand, hand.test, top_k=2), explore_rgnn_ret(hand, hand.test, top_k=2))
    assert len(steps(both.left)) == len(steps(both.right))
    assert steps(both.left)[-1] == steps(both.right)[-1] == "result"
    both.right.controls["typed"].value = "Who was a painter?\nWhich river floods the town?"
    assert shown(both.left)["question"] == shown(both.right)["question"] == both.right.controls["typed"].value
    assert both.children[0].children == (both.right.controls["question"], both.right.controls["typed"])


def told(*names: str) -> Story:
    return Story((Node("a", "A"),), tuple(Scene(name) for name in names))


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (("ranking",), ("start", "end"), (["ranking", "ranking (waits)"], ["start", "end"])),
        (("start", "end"), ("end",), (["start", "end"], ["end (waits)", "end"])),
        (("a · 1", "b"), ("a · 1", "a · 2", "b"), (["a · 1", "a · 1 (waits)", "b"], ["a · 1", "a · 2", "b"])),
    ],
)
def test_the_shorter_story_waits_at_the_end_of_a_phase(left, right, expected):
    stories = in_step(told(*left), told(*right))
    assert tuple([scene.step for scene in story.scenes] for story in stories) == expected
