"""The explorer of QSGNN's attention with the real retriever, before any training."""

from __future__ import annotations

import json

import numpy as np
import pytest
from msgspec.structs import replace

from kit.corpus import Benchmark, Corpus, Passage, Question
from kit.corpus.example import example
from kit.errors import InputError
from kit.retrievers import QSGNN
from kit.views.attention import compare_attention, explore_attention
from kit.views.explorer import Explorer
from kit.views.story import ROLES, Scene, Story

HAND = example()
TOWNS = 24


@pytest.fixture(scope="module")
def hand() -> QSGNN:
    return ready(HAND)


@pytest.fixture(scope="module")
def hub() -> tuple[QSGNN, Benchmark]:
    """Many towns of one country, which many triples name."""
    towns = [
        Passage(f"t{i}", f"Orm {i}", f"Orm {i} is a town in Venland. It has a mill.", f"t{i}") for i in range(TOWNS)
    ]
    question = Question("q", "Which town of Venland has a mill?", "Orm 3", (("t3",),))
    benchmark = Benchmark("hub", Corpus(towns), test=[question])
    return ready(benchmark), benchmark


def ready(benchmark: Benchmark, **settings: object) -> QSGNN:
    retriever = QSGNN(**{"dimension": 16, **settings})
    retriever.index(benchmark.corpus)
    return retriever


def explorer(retriever: QSGNN, **start: object) -> Explorer:
    return explore_attention(retriever, HAND, HAND.test, **start)


def shown(explorer: Explorer) -> dict:
    """The story as the browser gets it."""
    return json.loads(json.dumps(explorer.canvas.story))


def numbers(scene: Scene) -> list[float]:
    """The attention that is written beside each sender, and that of the others together."""
    return [float(mark.tag) for mark in scene.marks[1:]]


def nodes(explorer: Explorer) -> list[str]:
    return [name for _, name in explorer.controls["node"].options]


# ---- the story


@pytest.mark.parametrize(
    ("node", "kinds"),
    [
        ("passage harbour", ["between: o → d", "between: c → d"]),
        ("entity Ines Moravec", ["within: o → o", "between: c → o", "between: d → o"]),
        ("sentence 1 of moravec", ["within: c → c", "between: o → c", "between: d → c"]),
    ],
)
@pytest.mark.parametrize("alignment", ["on", "off"])
def test_a_step_a_layer_and_level_whose_attention_sums_to_one(hand, node, kinds, alignment):
    story = explorer(hand, node=node, alignment=alignment).story()
    assert [scene.step for scene in story.scenes] == [f"layer {layer} · {kind}" for layer in (1, 2) for kind in kinds]
    for scene in story.scenes:
        listener, *senders = scene.marks
        assert listener.node == scene.focus == node and ROLES[listener.role].halo
        assert sum(numbers(scene)) == pytest.approx(1, abs=0.001 * len(senders)) if senders else not scene.columns
        assert [edge.source for edge in scene.edges] == [mark.node for mark in senders]
        assert {mark.role for mark in senders} <= {"entity", "chunk", "document"}
        if senders:
            scores = [entry.score for entry in scene.columns[0].entries]
            assert scores == sorted(scores, reverse=True) and sum(scores) == pytest.approx(1, abs=1e-4)


def test_the_numbers_are_the_networks(hand):
    story = explorer(hand, node="passage harbour", documents=6).story()
    heard = hand.attend(HAND.test[0].query, documents=6)
    passage = [HAND.corpus.passages[row].id for row in heard.nodes["d"]].index("harbour")
    own = heard.edges["cd"][1] == passage
    for layer, scene in zip(heard.layers, story.scenes[1::2]):
        np.testing.assert_allclose(numbers(scene), layer["cd"][own], atol=0.0006)
    titles = {node.id: node.title for node in story.nodes}
    assert titles["sentence 2 of harbour"] == "“Its only print burned in a cellar.”"


def test_without_the_query_the_levels_send_their_mean(hand):
    story = explorer(hand, node="passage harbour", alignment="off").story()
    for scene in story.scenes:
        assert len(set(numbers(scene))) == 1 and {mark.value for mark in scene.marks[1:]} == {0.5}
        assert not any(edge.emphasised for edge in scene.edges)
        assert "Query alignment off: each of 2 " in scene.caption and "the same, 0.500" in scene.caption
    steered = explorer(hand, node="passage harbour").story().scenes[1]
    assert len(set(numbers(steered))) == 2
    moved = abs(numbers(steered)[0] - 0.5)
    assert f"The query moves {moved:.3f} of the attention to others." in steered.caption


def test_of_a_hub_the_first_are_drawn_and_the_others_are_summed_up(hub):
    retriever, benchmark = hub
    both = compare_attention(retriever, benchmark, benchmark.test, node="entity Venland", documents=TOWNS)
    for side in (both.left, both.right):
        for scene in side.story().scenes:
            _, *senders, rest = scene.marks
            assert len(senders) == 16 and rest.role == "rest"
            assert sum(numbers(scene)) == pytest.approx(1, abs=0.02)
            many = int(scene.columns[0].name.split()[0])
            title = next(node.title for node in side.story().nodes if node.id == rest.node)
            assert many >= TOWNS and title.startswith(f"{many - 16} more ")
            assert len(scene.columns[0].entries) == 16
    left, right = ([mark.node for mark in each.scenes[0].marks] for each in both.stories())
    assert left == right  # the same are drawn, in the same places
    most = max(scene.columns[0].entries[0].score for scene in both.left.story().scenes[:1])
    entity = next(i for i, name in enumerate(retriever.surroundings.graph.entities) if name == "Venland")
    heard = retriever.attend(benchmark.test[0].query, documents=TOWNS)
    place = heard.nodes["o"].tolist().index(entity)
    assert most == pytest.approx(heard.layers[0]["oo"][heard.edges["oo"][1] == place].max(), abs=1e-5)


def test_nobody_sends_to_a_node_that_stands_alone():
    """A passage whose sentences name no entity."""
    alone = Benchmark(
        "alone",
        Corpus([Passage("p", "Nothing", "It rained. It rained again.", "p"), *HAND.corpus.passages]),
        test=[Question("q", "When did it rain?", "often", (("p",),))],
    )
    retriever = ready(alone, triples="rules")
    story = explore_attention(retriever, alone, alone.test, node="passage p").story()
    entities, sentences = story.scenes[:2]
    assert "no entity sends to this passage" in entities.caption
    assert len(entities.marks) == 1 and entities.edges == () and entities.columns == ()
    assert numbers(sentences) != []
    one = explore_attention(retriever, alone, alone.test, node="sentence 1 of p").story().scenes[0]
    assert "the one sentence that sends gets all" in one.caption and numbers(one) == [1]


@pytest.mark.parametrize(("without", "steps"), [("intra", 2), ("entity", 3)])
def test_what_an_ablation_takes_away_is_not_shown(without, steps):
    story = explorer(ready(HAND, without=without, layers=1), node="sentence 1 of harbour").story()
    assert len(story.scenes) == steps
    assert [len(scene.marks) for scene in story.scenes if "o → c" in scene.step] == (
        [1] if without == "entity" else [3]
    )


def test_a_passage_says_where_it_ends(hand):
    note = explorer(hand, documents=6).story().scenes[0].marks[0].note
    assert "place 1 of 6; with the query alignment off " in note


# ---- the controls


def test_nodes_to_choose_from_are_supports_then_passages_then_what_they_hold(hand):
    names = nodes(explorer(hand))
    assert names[:2] == ["passage harbour", "passage moravec"]
    assert explorer(hand).controls["node"].options[0][0] == "★ passage · The Glass Harbour (film)"
    levels = [name.split()[0] for name in names]
    assert levels == sorted(levels, key=["passage", "entity", "sentence"].index) and len(set(levels)) == 3
    assert "entity Ines Moravec" in names and "sentence 2 of moravec" in names


def test_another_question_has_other_nodes_and_a_setting_keeps_the_node(hand):
    widget = explorer(hand, node="entity Ines Moravec")
    widget.controls["documents"].value = 5
    assert widget.controls["node"].value == "entity Ines Moravec" and not widget.canvas.problem
    widget.controls["question"].value = HAND.test[1].id
    assert widget.controls["node"].value == nodes(widget)[0] == f"passage {HAND.test[1].supporting_ids[0]}"
    assert shown(widget)["question"].startswith(HAND.test[1].text)
    assert shown(widget)["scenes"][0]["focus"] == widget.controls["node"].value
    widget.controls["typed"].value = "Who was a painter?"
    assert shown(widget)["question"] == "Who was a painter?" and not any(
        n["gold"] for n in shown(widget)["nodes"].values()
    )
    assert widget.controls["node"].value == nodes(widget)[0]


def test_a_change_keeps_the_step_and_the_places(hand):
    widget = explorer(hand)
    before = {id: (node["x"], node["y"]) for id, node in shown(widget)["nodes"].items()}
    widget.canvas.index = 2
    widget.controls["alignment"].value = "off"
    assert widget.canvas.index == 2
    assert {id: (node["x"], node["y"]) for id, node in shown(widget)["nodes"].items()} == before


def test_the_graph_around_a_query_is_made_once(hand, monkeypatch):
    asked = []
    attend = QSGNN.attend
    monkeypatch.setattr(QSGNN, "attend", lambda self, *a, **k: (asked.append(k["steered"]), attend(self, *a, **k))[1])
    both = compare_attention(hand, HAND, HAND.test)
    for name in nodes(both.left):
        both.left.controls["node"].value = name
    assert asked == [True, False]


def test_the_whole_graph_has_no_slider():
    widget = explorer(ready(HAND, documents=0))
    assert list(widget.controls) == ["question", "typed", "node", "alignment"]
    assert "of 6" in shown(widget)["scenes"][0]["marks"][0]["note"]


def test_what_fails_is_shown(hand, monkeypatch):
    widget = explorer(hand)

    def fail(*_: object, **__: object) -> None:
        raise InputError("no such thing")

    monkeypatch.setattr(QSGNN, "attend", fail)
    widget.controls["typed"].value = "Who?"
    assert "no such thing" in widget.canvas.problem


@pytest.mark.parametrize("start", [{"node": "entity Nobody"}, {"alignment": "maybe"}, {"depth": 3}])
def test_a_start_that_cannot_be_is_refused(hand, start):
    with pytest.raises(InputError, match=f"field {'start' if 'depth' in start else next(iter(start))}"):
        explorer(hand, **start)


def test_what_cannot_be_explored_is_refused(hand):
    with pytest.raises(InputError, match="field questions"):
        explore_attention(hand, HAND, [])
    with pytest.raises(InputError, match="field retriever: expected a retriever that the query steers"):
        explorer(ready(HAND, without="query"))


def test_each_question_in_its_own_collection():
    questions = list(HAND.test)
    own = {question.id: (*question.supporting_ids, "novel") for question in questions}
    rows = {id: np.array([HAND.corpus.row[passage] for passage in ids]) for id, ids in own.items()}
    benchmark = Benchmark("own", HAND.corpus, test=questions, collections=rows)
    widget = explore_attention(QSGNN(dimension=16), benchmark, questions)
    for question in questions:
        widget.controls["question"].value = question.id
        passages = {name for name in nodes(widget) if name.startswith("passage ")}
        assert passages == {f"passage {id}" for id in own[question.id]} and not widget.canvas.problem


# ---- side by side, print, text that would do harm


def test_on_and_off_go_in_step_at_one_node(hand):
    both = compare_attention(hand, HAND, HAND.test)
    assert both.left.controls["alignment"].value == "on" and both.right.controls["alignment"].value == "off"
    both.left.controls["node"].value = "entity Ines Moravec"
    left, right = shown(both.left), shown(both.right)
    assert left["nodes"] == right["nodes"] and "entity Ines Moravec" in left["nodes"]
    assert [scene["step"] for scene in left["scenes"]] == [scene["step"] for scene in right["scenes"]]
    assert left["scenes"][0]["caption"].startswith("Steered by the query: ")
    assert right["scenes"][0]["caption"].startswith("Query alignment off: by likeness alone (α)")
    both.left.controls["question"].value = HAND.test[1].id
    assert shown(both.left)["question"] == shown(both.right)["question"]
    assert shown(both.left)["nodes"] == shown(both.right)["nodes"]


def test_both_in_print(hand):
    both = compare_attention(hand, HAND, HAND.test)
    figure = both.storyboard("Title")
    assert len(figure.axes) == 4
    captions = [ax.get_title(loc="left").split("\n")[1] for ax in figure.axes]
    assert [caption.split(":")[0] for caption in captions] == ["Steered by the query"] * 2 + ["Query alignment off"] * 2
    assert len(both.storyboard("Title", [3], node="entity Ines Moravec").axes) == 2
    table = both.story().table()
    senders = table[(table["kind"] == "node") & (table["role"] == "entity")]
    assert senders["step"].unique().tolist() == [
        f"layer {n} · between: o → d · {word}" for word in ("on", "off") for n in (1, 2)
    ]
    assert set(senders["tag"][senders["step"].str.endswith("off")]) == {"0.500"}
    assert sum(bool(ax.get_title(loc="left")) for ax in explorer(hand).storyboard("Title").axes) == 4
    for steps in ([4], []):
        with pytest.raises(InputError, match="expected steps from 0 to 3"):
            both.storyboard("Title", steps)


def words(story: Story) -> list[str]:
    marks = [mark for scene in story.scenes for mark in scene.marks]
    edges = [edge for scene in story.scenes for edge in scene.edges]
    told = [story.question, *(node.title + node.text for node in story.nodes), *(mark.note for mark in marks)]
    return [*told, *(edge.label for edge in edges), *(scene.caption + scene.step for scene in story.scenes)]


def test_without_text_only_numbers_are_left(hand):
    both = compare_attention(hand, HAND, HAND.test, node="entity Ines Moravec")
    bare = both.story(text=False)
    assert not any("Moravec" in word or "Harbour" in word for word in words(bare))
    assert any("Moravec" in word for word in words(both.story()))
    assert numbers(bare.scenes[0])
    both.storyboard("Title", text=False).draw_without_rendering()


def test_hostile_text_is_shown_as_it_is(corpus, questions, hostile):
    benchmark = Benchmark("hostile", corpus, test=questions)
    widget = explore_attention(QSGNN(dimension=16), benchmark, questions, question="q2")
    assert widget.controls["node"].value == "passage p5" and widget.canvas.problem == ""
    story = widget.story()
    assert {node.id: node for node in story.nodes}["passage p5"].title == f"§2 {hostile}"
    for name in nodes(widget):
        widget.controls["node"].value = name
        assert not widget.canvas.problem
    widget.storyboard(hostile).draw_without_rendering()
    assert replace(story, question=hostile).without_text().question == ""
