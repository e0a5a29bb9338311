from __future__ import annotations

import json

import pandas as pd
import pytest

from kit.corpus import Benchmark, Corpus, Passage, Question
from kit.errors import InputError
from kit.evaluation import evaluate
from kit.graphs import build
from kit.views.canvas import GraphCanvas
from kit.views.explorers import explore_graph, explore_quality, explore_rankings
from kit.views.figures import save_figure
from kit.views.story import Edge, Mark, Node, Scene, Story

SETTINGS = (1, 2, 6)


@pytest.fixture
def quality(corpus, questions):
    built = {n: build("tfidf", corpus, n_keywords=n) for n in SETTINGS}
    seeds = {"q1": ["p2"], "q2": ["p0"]}
    return explore_quality(
        questions, seeds, {"tfidf": ("n_keywords", SETTINGS)}, lambda builder, setting, question: built[setting]
    ), built


def scenes(explorer) -> list[dict]:
    """The scenes as the browser gets them."""
    return json.loads(json.dumps(explorer.canvas.story))["scenes"]


def test_only_what_the_scenes_show_is_sent():
    nodes = (Node("a", "A", "seen"), Node("b", "B", "unseen"))
    canvas = GraphCanvas(Story(nodes, (Scene(marks=(Mark("a"),)),)))
    assert list(canvas.story["nodes"]) == ["a"]
    assert "unseen" not in json.dumps(canvas.story)
    assert set(canvas.looks["roles"]) == {"plain"} and canvas.looks["kinds"] == {}


def test_a_shorter_story_moves_the_index_into_it():
    scene = Scene(marks=(Mark("a"), Mark("b")), edges=(Edge("a", "b", ("knn",)),))
    nodes = (Node("a", "A"), Node("b", "B"))
    canvas = GraphCanvas(Story(nodes, (scene,) * 5))
    canvas.index = 4
    canvas.show(Story(nodes, (scene,) * 2), 4)
    assert canvas.index == 1


def test_links_are_those_of_the_graph_with_what_is_shared(corpus):
    graphs = {"structure": build("structure", corpus), "tfidf+structure": build("tfidf+structure", corpus)}
    explorer = explore_graph(graphs, [0, 1, 2, 3, 4], gold=["p1"])
    [scene] = scenes(explorer)
    assert [(edge["source"], edge["target"]) for edge in scene["edges"]] == [("p0", "p1"), ("p2", "p3")]
    assert scene["caption"] == "structure: 2 links between 5 passages"
    before = {id: (node["x"], node["y"]) for id, node in explorer.canvas.story["nodes"].items()}
    explorer.controls["builder"].value = "tfidf+structure"
    edges = {(edge["source"], edge["target"]): edge for edge in scenes(explorer)[0]["edges"]}
    assert edges["p0", "p1"]["kinds"] == ["tfidf", "structure"] and "both have" in edges["p0", "p1"]["label"]
    assert "halle" in edges["p1", "p3"]["label"].lower()
    assert before == {id: (node["x"], node["y"]) for id, node in explorer.canvas.story["nodes"].items()}
    explorer.controls["tfidf"].value = False
    assert [edge["kinds"] for edge in scenes(explorer)[0]["edges"]] == [["structure"], ["structure"]]
    assert [id for id, node in explorer.canvas.story["nodes"].items() if node["gold"]] == ["p1"]


def test_bad_rows_are_refused(corpus):
    graphs = {"structure": build("structure", corpus)}
    for rows in ([6], [-1, 2], []):
        with pytest.raises(InputError):
            explore_graph(graphs, rows)


def test_each_setting_is_a_step_that_says_what_the_neighbourhood_reaches(quality, corpus, questions):
    explorer, built = quality
    for scene, setting in zip(scenes(explorer), SETTINGS):
        reached = {corpus.passages[row].id for row in built[setting].neighbours([2])} | {"p2"}
        found = len(reached & {"p0", "p1", "p2"})
        assert scene["step"] == f"n_keywords = {setting}"
        assert (
            f"SF-EM {int(found == 3)}: {found} of 3 supports reached. Precision {found / len(reached):.3f}"
            in scene["caption"]
        )
        roles = {mark["node"]: mark["role"] for mark in scene["marks"]}
        assert roles["p2"] == "seed"
        assert {id for id, role in roles.items() if role == "missed"} == {"p0", "p1"} - reached
        assert {id for id, role in roles.items() if role == "reached"} == reached - {"p2"}
        assert all("p2" in (edge["source"], edge["target"]) for edge in scene["edges"])


def test_another_question_keeps_the_setting_in_view(quality):
    explorer, _ = quality
    explorer.canvas.index = 2
    explorer.controls["question"].value = "q2"
    assert explorer.canvas.index == 2
    assert "p5" in explorer.canvas.story["nodes"]


def test_no_more_than_forty_neighbours_are_drawn_and_the_rest_is_counted():
    many = Corpus(Passage(f"p{i}", f"Port {i}", "A harbour town.", "d") for i in range(80))
    graph = build("tfidf", many, n_keywords=3)
    question = Question("q", "Which?", "Port 1", (("p1",), ("p79",)))
    explorer = explore_quality([question], {"q": ["p1"]}, {"tfidf": ("n_keywords", [3])}, lambda *_: graph)
    [scene] = scenes(explorer)
    assert len(graph.neighbours(1)) == 79
    assert len(scene["marks"]) == 1 + 1 + 40
    assert scene["caption"].endswith("80 passages in the neighbourhood, 38 of them not drawn.")


def test_what_goes_wrong_after_a_change_is_said_and_the_picture_stays(corpus, questions):
    graph = build("structure", corpus)

    def only_first(builder, setting, question):
        if question.id == "q2":
            raise InputError("expected a <b>graph</b>", record="q2")
        return {1: graph}[setting]

    explorer = explore_quality(
        questions, {"q1": ["p2"], "q2": ["p0"]}, {"structure": ("window", [1]), "knn": ("k", [9])}, only_first
    )
    shown = explorer.canvas.story
    explorer.controls["question"].value = "q2"
    assert explorer.canvas.problem == "record q2: expected a <b>graph</b>"
    assert explorer.canvas.story == shown
    explorer.controls["question"].value = "q1"
    assert explorer.canvas.problem == ""
    explorer.controls["builder"].value = "knn"
    assert explorer.canvas.problem == "KeyError: 9"


def test_rankings_stand_side_by_side_for_the_questions_of_a_hop_count(corpus, questions):
    experiment = evaluate(["bm25", "tfidf"], Benchmark("demo", corpus, test=questions), ks=(2,), k=4, progress=False)
    explorer = explore_rankings(experiment, k=3)
    [scene] = scenes(explorer)
    for column, name in zip(scene["columns"], ("bm25", "tfidf")):
        assert [entry["node"] for entry in column["entries"]] == list(experiment.rankings[name]["q1"].ids[:3])
        found = len({"p0", "p1", "p2"} & set(experiment.rankings[name]["q1"].ids[:3]))
        assert column["name"] == f"{name}: {found} of 3 supports"
    hops, question = explorer.children[0].children
    hops.value = 2
    assert [id for _, id in question.options] == ["q2"]
    assert explorer.canvas.story["question"].endswith("line two\nAnswer: nobody")
    assert explorer.canvas.problem == ""


def test_a_storyboard_is_the_picture_for_print(quality):
    explorer, _ = quality
    figure = explorer.storyboard("Settings side by side", question="q2")
    assert len(figure.axes) == 3
    with pytest.raises(InputError, match="expected one of builder, question, not 'knob'"):
        explorer.storyboard("t", knob=1)


def test_a_widget_says_little_where_it_cannot_be_shown(quality):
    explorer, _ = quality
    assert repr(explorer) == "Neighbourhood of the seeds (a widget: open the notebook in Jupyter to use it)"
    assert repr(explorer) == repr(explorer.canvas)


def test_a_storyboard_without_text_holds_nothing_of_the_corpus(corpus, questions, tmp_path):
    experiment = evaluate(["bm25", "tfidf"], Benchmark("demo", corpus, test=questions), ks=(2,), k=6, progress=False)
    explorer = explore_rankings(experiment, k=6)
    for text in (True, False):
        svg, *_ = save_figure(explorer.storyboard("t", text=text), pd.DataFrame({"n": [1]}), tmp_path, "a")
        drawn = svg.read_text()
        found = [word for word in ("Marrow", "Ada Lund", "The Long Ferry", "birthplace", "Halle") if word in drawn]
        assert len(found) == (5 if text else 0)
    assert "support 1" in drawn and "bm25: " in drawn
