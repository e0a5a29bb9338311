"""The explorer of QSGNN's attention with the real retriever, before any training."""

from __future__ import annotations

import json

import numpy as np
import pytest

from kit.corpus import Benchmark, Corpus, Passage, Question
from kit.corpus.example import example
from kit.errors import InputError
from kit.retrievers import QSGNN
from kit.views import Explorer, Frame, SideBySide, explore_attention
from kit.views.replay import ROLES

HAND = example()
TOWNS = 24


def qsgnn(**settings: object) -> QSGNN:
    return QSGNN(**{"dimension": 16, **settings})


def explorer(retriever: QSGNN | None = None, benchmark: Benchmark = HAND, **start: object) -> Explorer:
    return explore_attention(retriever or qsgnn(), benchmark, benchmark.test, **start)


def numbers(frame: Frame) -> list[float]:
    """The attention that is written beside each sender, and that of the others together."""
    return [float(state.tag) for state in frame.states[1:]]


def nodes(widget: Explorer) -> list[str]:
    return [name for _, name in widget.controls["node"].options]


@pytest.mark.parametrize(
    ("node", "kinds"),
    [
        ("passage harbour", ["between: o → d", "between: c → d"]),
        ("entity Ines Moravec", ["within: o → o", "between: c → o", "between: d → o"]),
        ("sentence 1 of moravec", ["within: c → c", "between: o → c", "between: d → c"]),
    ],
)
@pytest.mark.parametrize("alignment", ["on", "off"])
def test_a_step_a_layer_and_level_whose_attention_sums_to_one(node, kinds, alignment):
    shown = explorer(node=node, alignment=alignment).replay()
    assert [frame.step for frame in shown.frames] == [f"layer {layer} · {kind}" for layer in (1, 2) for kind in kinds]
    for frame in shown.frames:
        listener, *senders = frame.states
        assert listener.node == frame.focus == node and ROLES[listener.role].halo
        assert [edge.source for edge in frame.edges] == [state.node for state in senders]
        if senders:
            scores = [item.score for item in frame.columns[0].items]
            assert scores == sorted(scores, reverse=True) and sum(scores) == pytest.approx(1, abs=1e-4)
        else:
            assert not frame.columns and "0 " in frame.caption


def test_the_numbers_are_the_networks_and_without_the_query_the_levels_send_their_mean():
    shown = explorer(node="passage harbour", documents=6).replay()
    retriever = qsgnn()
    retriever.index(HAND.corpus)
    heard = retriever.attend(HAND.test[0].query, documents=6)
    passage = [HAND.corpus.passages[row].id for row in heard.nodes["d"]].index("harbour")
    own = heard.edges["cd"][1] == passage
    for layer, frame in zip(heard.layers, shown.frames[1::2]):
        np.testing.assert_allclose(numbers(frame), layer["cd"][own], atol=0.0006)
    assert shown.by_id["sentence 2 of harbour"].title == "“Its only print burned in a cellar.”"
    for frame in explorer(node="passage harbour", alignment="off").replay().frames:
        assert len(set(numbers(frame))) == 1 and {state.value for state in frame.states[1:]} == {0.5}
        assert "Query alignment off: 2 " in frame.caption and not any(edge.emphasised for edge in frame.edges)
    moved = abs(numbers(shown.frames[1])[0] - 0.5)
    assert f"The query moves {moved:.3f} of the attention to others." in shown.frames[1].caption


def test_of_a_hub_the_first_are_drawn_in_the_same_places_and_the_others_are_summed_up():
    text = "Orm {0} is a town in Venland. It has a mill."
    towns = Corpus(Passage(f"t{i}", f"Orm {i}", text.format(i), f"t{i}") for i in range(TOWNS))
    hub = Benchmark("hub", towns, test=[Question("q", "Which town of Venland has a mill?", "Orm 3", (("t3",),))])
    start = {"node": "entity Venland", "documents": TOWNS}
    both = SideBySide(explorer(benchmark=hub, **start), explorer(benchmark=hub, alignment="off", **start))
    for shown in both.replays():
        for frame in shown.frames:
            _, *senders, rest = frame.states
            assert len(senders) == len(frame.columns[0].items) == 16 and rest.role == "rest"
            assert sum(numbers(frame)) == pytest.approx(1, abs=0.02)
            many = int(frame.columns[0].name.split()[0])
            assert many >= TOWNS and shown.by_id[rest.node].title.startswith(f"{many - 16} more ")
    left, right = ([state.node for state in each.frames[0].states] for each in both.replays())
    assert left == right


@pytest.mark.parametrize(("ablate", "steps"), [("intra", 2), ("entity", 3)])
def test_what_an_ablation_takes_away_is_not_shown(ablate, steps):
    shown = explorer(qsgnn(ablate=ablate, layers=1), node="sentence 1 of harbour").replay()
    assert len(shown.frames) == steps
    senders = [len(frame.states) for frame in shown.frames if "o → c" in frame.step]
    assert senders == ([1] if ablate == "entity" else [3])


def test_nodes_to_choose_from_follow_the_question_and_stay_where_they_can():
    widget = explorer(node="entity Ines Moravec")
    assert nodes(widget)[:2] == ["passage harbour", "passage moravec"] and "sentence 2 of moravec" in nodes(widget)
    assert widget.controls["node"].options[0][0] == "★ passage · The Glass Harbour (film)"
    widget.canvas.index = 2
    widget.controls["alignment"].value = "off"
    assert widget.canvas.index == 2
    widget.controls["documents"].value = 5
    assert widget.controls["node"].value == "entity Ines Moravec" and not widget.canvas.problem
    widget.controls["question"].value = HAND.test[1].id
    assert widget.controls["node"].value == nodes(widget)[0] == f"passage {HAND.test[1].supporting_ids[0]}"
    widget.controls["typed"].value = "Who was a painter?"
    replay = json.loads(json.dumps(widget.canvas.replay))
    assert replay["question"] == "Who was a painter?" and not any(node["gold"] for node in replay["nodes"].values())
    assert list(explorer(qsgnn(documents=0)).controls) == ["question", "typed", "node", "alignment"]  # the whole graph


def test_the_graph_around_a_query_is_made_once_and_what_fails_is_shown(monkeypatch):
    asked, attend = [], QSGNN.attend
    monkeypatch.setattr(
        QSGNN, "attend", lambda self, *a, **k: (asked.append(k["query_aware"]), attend(self, *a, **k))[1]
    )
    widget = explorer()
    for name in nodes(widget):
        widget.controls["node"].value = name
    assert asked == [True, False]

    def fail(*_: object, **__: object) -> None:
        raise InputError("no such thing")

    monkeypatch.setattr(QSGNN, "attend", fail)
    widget.controls["typed"].value = "Who?"
    assert "no such thing" in widget.canvas.problem


def test_what_cannot_be_explored_is_refused():
    for start in ({"node": "entity Nobody"}, {"alignment": "maybe"}, {"depth": 3}):
        with pytest.raises(InputError, match=f"field {'start' if 'depth' in start else next(iter(start))}"):
            explorer(**start)
    with pytest.raises(InputError, match="field questions"):
        explore_attention(qsgnn(), HAND, [])
    with pytest.raises(InputError, match="field retriever: expected a retriever that the query steers"):
        explorer(qsgnn(ablate="query"))


def test_each_question_in_its_own_collection():
    own = {question.id: (*question.supporting_ids, "novel") for question in HAND.test}
    rows = {id: np.array([HAND.corpus.row[passage] for passage in ids]) for id, ids in own.items()}
    widget = explorer(benchmark=Benchmark("own", HAND.corpus, test=HAND.test, collections=rows))
    for question in HAND.test:
        widget.controls["question"].value = question.id
        passages = {name for name in nodes(widget) if name.startswith("passage ")}
        assert passages == {f"passage {id}" for id in own[question.id]} and not widget.canvas.problem


def test_on_and_off_go_in_step_at_one_node_and_in_print():
    both = SideBySide(explorer(), explorer(alignment="off"))
    both.left.controls["node"].value = "entity Ines Moravec"
    left, right = both.left.canvas.replay, both.right.canvas.replay
    assert left["nodes"] == right["nodes"] and "entity Ines Moravec" in left["nodes"]
    assert [frame["step"] for frame in left["frames"]] == [frame["step"] for frame in right["frames"]]
    assert right["frames"][0]["caption"].startswith("Query alignment off: ")
    printed = both.replay(text=False)
    assert len(printed.frames) == 12 and numbers(printed.frames[0])
    states = [state for frame in printed.frames for state in frame.states]
    texts = [*(node.title + node.text for node in printed.nodes), *(state.note for state in states)]
    assert not any("Moravec" in text for text in [*texts, *(edge.label for edge in printed.lines)])


def test_hostile_text_is_shown_as_it_is(corpus, questions, hostile):
    widget = explorer(benchmark=Benchmark("hostile", corpus, test=questions), question="q2")
    assert widget.controls["node"].value == "passage p5"
    assert widget.replay().by_id["passage p5"].title == f"§2 {hostile}"
    for name in nodes(widget):
        widget.controls["node"].value = name
        assert not widget.canvas.problem
    widget.storyboard(hostile).draw_without_rendering()
