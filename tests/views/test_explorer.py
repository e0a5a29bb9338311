"""What a reader can explore, with the real retrievers on the six passages."""

import json
import re

import numpy as np
import pytest

from kit.corpus import Benchmark, Corpus, Passage, Question, example
from kit.errors import InputError
from kit.evaluation import evaluate
from kit.graphs import build
from kit.methods import make
from kit.methods.gnn_ret.retriever import GNNRet
from kit.methods.loops.loops import SelfAsk
from kit.methods.loops.steps import gold_steps
from kit.views import (
    Explorer,
    SideBySide,
    explore,
    explore_rankings,
    graph_frame,
    graph_page,
    places_of,
)
from kit.views.controls import setting_control
from kit.views.graph_page import page_around
from kit.views.names import name_of

HAND = example()


def shown(explorer: Explorer) -> dict:
    """The replay as the browser gets it."""
    return json.loads(json.dumps(explorer.canvas.replay))


def steps(explorer: Explorer) -> list[str]:
    return [frame["step"] for frame in shown(explorer)["frames"]]


def first(explorer: Explorer, frame: int = -1) -> list[str]:
    return [item["node"] for item in shown(explorer)["frames"][frame]["columns"][0]["items"]]


def places(explorer: Explorer) -> dict[str, tuple[float, float]]:
    return {name: (node["x"], node["y"]) for name, node in shown(explorer)["nodes"].items()}


@pytest.fixture
def gnn() -> Explorer:
    return explore("gnn-ret", HAND, HAND.test, top_k=2)


@pytest.mark.parametrize(
    ("name", "settings", "expected_steps"),
    [
        (
            "gnn-ret",
            {"message": "mean", "layers": 2, "alpha": 0.3},
            ["layer 2 · sender 5 of 5", "result"],
        ),
        ("rgnn-ret", {"top_k": 2, "beta": 0.5}, ["step 2 · recurrence", "step 3 · recurrence"]),
        ("kgp-tfidf", {"branching": 2, "depth": 3, "budget": 5}, ["seeds", "hop 1 · path 1 of 2"]),
        (
            "mdr",
            {"beam": 2, "branches": 1, "hops": 3},
            ["hop 2 · path 1 of 2", "hop 2 · path 2 of 2"],
        ),
        ("bm25", {}, ["ranking"]),
    ],
)
def test_each_kind_of_retrieval_is_replayed_and_ends_with_its_ranking(
    name, settings, expected_steps
):
    explorer = explore(
        name, HAND, HAND.test, behind="entity+structure", question="river", **settings
    )
    retriever = make(name, **settings)
    retriever.index(HAND.corpus)
    query = HAND.test[1].gold_query if retriever.sees_gold else HAND.test[1].query
    assert first(explorer) == list(retriever.retrieve(query, 6).ids)
    assert set(expected_steps) <= set(steps(explorer)) and explorer.canvas.problem == ""
    assert shown(explorer)["edges"]


def test_first_values_are_what_was_asked_or_an_error():
    many = Corpus(Passage(f"p{i}", f"Port {i}", "A harbour town.", "d", i) for i in range(60))
    question = Question("q", "Which harbour?", "Port 1", (("p1",),))
    explorer = explore(
        "gnn-ret",
        Benchmark("many", many, test=[question]),
        [question],
        top_k=np.int64(50),
        layers=5,
        alpha=np.float32(0.25),
    )
    asked_values = {"top_k": 50, "layers": 5, "alpha": 0.25}
    assert explorer.values == explorer.values | asked_values
    assert explorer.controls["top_k"].max == 50
    assert "layer 5 · sender 50 of 50" in steps(explorer)


@pytest.mark.parametrize(
    ("start", "line"),
    [
        ({"top_k": 0}, "field top_k: expected a whole number from 1, not 0"),
        ({"alpha": 1.5}, "field alpha: expected a number from 0 to 1, not 1.5"),
        ({"message": "max"}, "field message: expected one of 'mean', 'min', not 'max'"),
        ({"topk": 3}, "the retriever gnn-ret has no setting 'topk'; it has "),
        ({"question": "none"}, "field question: expected a value that its control can have, not"),
    ],
)
def test_a_first_value_that_cannot_be_is_told(start, line):
    with pytest.raises(InputError) as caught:
        explore("gnn-ret", HAND, HAND.test, **start)
    assert str(caught.value).startswith(line)


def test_a_slider_does_not_turn_a_first_value_into_another():
    controls = {"gamma": setting_control("γ", 0.2, None)}
    with pytest.raises(InputError, match=r"field gamma: expected a value .* not 1.5"):
        Explorer("t", controls, lambda gamma: None, {"gamma": 1.5})
    with pytest.raises(InputError, match="no control 'delta'; known are gamma"):
        Explorer("t", controls, lambda gamma: None, {"delta": 0.5})
    assert setting_control("layers", 0, 3).value == 0


def test_another_question_is_told(gnn):
    with pytest.raises(InputError, match="field question: expected the id of a question"):
        gnn.storyboard("t", question="none")


def test_a_setting_changes_the_replay_and_keeps_the_step_and_the_places(gnn):
    before = places(gnn)
    gnn.canvas.index = 2
    gnn.controls["alpha"].value = 0.2
    assert gnn.canvas.index == 2 and gnn.canvas.problem == "" and places(gnn) == before
    assert any(state["note"].startswith("0.2 · ") for state in shown(gnn)["frames"][2]["states"])
    gnn.controls["graph"].value = "structure"
    assert [{edge["source"], edge["target"]} for edge in shown(gnn)["edges"]] == [
        {"moravec", "moravec-later"}
    ]


def test_a_typed_question_is_asked_without_supports_until_another_is_chosen(gnn):
    gnn.controls["typed"].value = "Which prize did the novel win?"
    assert (
        shown(gnn)["question"] == "Which prize did the novel win?" and first(gnn, 0)[0] == "novel"
    )
    assert not any(node["gold"] for node in shown(gnn)["nodes"].values())
    gnn.controls["question"].value = "river"
    assert gnn.controls["typed"].value == "" and shown(gnn)["question"].startswith("Which river")
    lines = explore("rgnn-ret", HAND, HAND.test, typed="Which film is silent?\nWho was a painter?")
    sub_questions = list(dict.fromkeys(frame["asked"] for frame in shown(lines)["frames"]))
    assert sub_questions == ["Which film is silent?", "Who was a painter?", ""]


def test_what_is_costly_is_made_once_and_the_retriever_stays_as_it_is(monkeypatch):
    indexed = []
    index = GNNRet.index
    monkeypatch.setattr(
        GNNRet, "index", lambda self, corpus: (indexed.append(1), index(self, corpus))
    )
    method = make("gnn-ret", top_k=6)
    explorer = explore(method, HAND, HAND.test)
    for alpha in (0.1, 0.2, 0.3):
        explorer.controls["alpha"].value = alpha
    assert explorer.canvas.problem == "" and len(indexed) == 1
    assert method.settings.alpha == 0.5 and method.corpus is None


def test_a_storyboard_can_be_had_for_other_values_and_without_text(gnn):
    assert gnn.replay(question="river", top_k=1).frames[-2].step == "layer 1 · sender 1 of 1"
    bare = gnn.replay(text=False)
    assert bare.question == "" and {node.title for node in bare.nodes} == {
        "",
        "support 1",
        "support 2",
    }
    assert len(gnn.storyboard("Messages", [0, 2, 4], text=False).axes) == 3


def test_two_go_in_step_with_one_question_and_one_place_a_passage():
    pair = SideBySide(*(explore("gnn-ret", HAND, HAND.test, top_k=k, layers=k - 1) for k in (2, 3)))
    layer = ["layer 1 · senders", "layer 1 · sender 1 of 2", "layer 1 · sender 2 of 2"]
    assert steps(pair.left) == [
        "start",
        *layer,
        *["result"] * 6,
    ]  # the shorter one waits at its end
    assert len(steps(pair.right)) == len(steps(pair.left))
    pair.left.controls["question"].value = "river"
    assert shown(pair.right)["question"] == shown(pair.left)["question"] != ""
    left = places(pair.left)
    right = places(pair.right)
    assert all(left[name] == position for name, position in right.items() if name in left)


def test_rankings_stand_side_by_side_in_the_order_of_hops(corpus, questions):
    experiment = evaluate(
        ["bm25", "tfidf"], Benchmark("demo", corpus, test=questions), ks=(2,), k=4, progress=False
    )
    explorer = explore_rankings(experiment, k=3)
    assert [value for _, value in explorer.controls["question"].options] == ["q2", "q1"]
    explorer.controls["question"].value = "q1"
    [frame] = shown(explorer)["frames"]
    for column, name in zip(frame["columns"], ("bm25", "tfidf")):
        best = experiment.rankings[name]["q1"].ids[:3]
        assert [item["node"] for item in column["items"]] == [*best]
        count = len({"p0", "p1", "p2"} & {*best})
        assert column["name"] == f"{name_of(name)}: {count} of 3 supports"


def test_in_print_each_ranking_has_a_row_for_a_support_that_none_found(corpus, questions):
    experiment = evaluate(
        ["bm25", "tfidf"], Benchmark("demo", corpus, test=questions), ks=(1,), k=1, progress=False
    )
    figure = explore_rankings(experiment, k=1).storyboard("t", question="q1")
    for name, ax in zip(("bm25", "tfidf"), figure.axes, strict=True):
        missed = {"p0", "p1", "p2"} - {*experiment.rankings[name]["q1"].ids}
        texts = [text.get_text() for text in ax.texts]
        assert sum("(not" in text for text in texts) == len(missed) >= 2


def test_in_print_a_support_is_found_in_any_passage_that_carries_it(corpus):
    text = "Which river passes Marrow and Tilsby?"
    question = Question("q", text, "Halle", (("p1", "p3"), ("p0",)))
    benchmark = Benchmark("demo", corpus, test=[question])
    experiment = evaluate(["bm25"], benchmark, ks=(1,), k=1, progress=False)
    assert list(experiment.rankings["bm25"]["q"].ids) == ["p3"]
    [ax] = explore_rankings(experiment, k=1).storyboard("t", question="q").axes
    texts = " ".join(text.get_text() for text in ax.texts)
    assert texts.count("(not") == 1 and "Ada Lund" in texts


def test_a_graph_is_one_page_with_fixed_places_and_the_same_in_print(corpus, hostile):
    graphs = {name: build(name, corpus) for name in ("structure", "tfidf")}
    at = places_of(graphs.values(), range(5))
    picture = graph_frame(graphs["structure"], range(5), ["p1"], at, "structure")
    assert [edge.ends for edge in picture.frames[0].edges] == [("p0", "p1"), ("p2", "p3")]
    assert picture.frames[0].caption == "structure: 2 links between 5 passages"
    assert {name: (node.x, node.y) for name, node in picture.by_id.items()} == at
    page = graph_page(graphs["structure"])
    assert not re.search(r"""\b(?:src|href)\s*=\s*["']https?:""", page.html)
    assert hostile not in page.html and "\\u003cimg src=x onerror" in page.html
    assert page._repr_html_().startswith(
        '<div class="kit-page"><iframe sandbox="allow-scripts" loading="lazy" srcdoc="&lt;!DOCTYPE'
    )


def test_of_a_large_graph_the_page_is_that_of_a_question():
    many = Corpus(Passage(f"p{i}", f"Port {i}", "A harbour town.", "d", i) for i in range(400))
    graph = build("structure", many)
    benchmark = Benchmark(
        "many", many, test=[Question("q", "Which?", "Port 1", (("p1",), ("p79",)))]
    )
    with pytest.raises(InputError, match="1 to 300 passages to draw, not 400"):
        page_around(graph, benchmark, None)
    with pytest.raises(
        InputError, match="field question: expected the id of a test question, not 'x'"
    ):
        page_around(graph, benchmark, "x")
    html = page_around(graph, benchmark, "q").html
    assert all(f"Port {i}" in html for i in (0, 1, 2, 78, 79, 80)) and "Port 200" not in html


class SilentAgent:
    """Asks for nothing."""

    model = None

    def plan(self, trajectories, policy):
        return [None] * len(trajectories)


class SilentLoop(SelfAsk):
    def index(self, corpus: Corpus) -> None:
        super().index(corpus)
        self.agent = SilentAgent()


def test_a_loop_that_asks_for_nothing_shows_what_its_retriever_finds() -> None:
    explorer = explore(SilentLoop(model="gold"), HAND, HAND.test)
    assert explorer.canvas.problem == ""
    assert sorted(first(explorer)) == sorted(HAND.corpus.row)


def test_a_loop_searches_with_the_retriever_that_is_chosen() -> None:
    explorer = explore(make("selfask", model="gold"), HAND, HAND.test)
    steps_by_name = {}
    for name in ("dense", "bm25"):
        explorer.controls["inner"].value = name
        steps_by_name[name] = [first(explorer, frame) for frame in range(len(steps(explorer)))]
    sub_questions = [step.text for step in gold_steps(HAND.test[0].gold_query)]
    for name, by_step in steps_by_name.items():
        inner = make(name)
        inner.index(HAND.corpus)
        assert [ids[:5] for ids in by_step] == [
            list(inner.retrieve(text, 5).ids) for text in sub_questions
        ]
    assert steps_by_name["dense"] != steps_by_name["bm25"]
