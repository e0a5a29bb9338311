"""The explorer of QSGNN's attention with the real retriever, before any training."""

import numpy as np
import pytest

from kit.corpus import Benchmark, Corpus, Passage, Question, example
from kit.errors import InputError
from kit.retrievers import QSGNN
from kit.views import Explorer, Frame, SideBySide, explore_attention
from kit.views.replay import ROLES

HAND = example()
TOWNS = 24


def explorer(benchmark: Benchmark = HAND, **start: object) -> Explorer:
    return explore_attention(QSGNN(dimension=16), benchmark, benchmark.test, **start)


def numbers(frame: Frame) -> list[float]:
    """The attention that is written beside each sender, and that of the others together."""
    return [float(state.tag) for state in frame.states[1:]]


@pytest.mark.parametrize(
    ("node", "kinds"),
    [
        ("passage", ["between: o → d", "between: c → d"]),
        ("entity", ["within: o → o", "between: c → o", "between: d → o"]),
        ("sentence", ["within: c → c", "between: o → c", "between: d → c"]),
    ],
)
@pytest.mark.parametrize("alignment", ["on", "off"])
def test_a_step_a_layer_and_level_whose_attention_sums_to_one(node, kinds, alignment):
    shown = explorer(listener=node, alignment=alignment).replay()
    assert [frame.step for frame in shown.frames] == [f"layer {layer} · {kind}" for layer in (1, 2) for kind in kinds]
    for frame in shown.frames:
        listener, *senders = frame.states
        assert listener.node == frame.focus and listener.node.startswith(node) and ROLES[listener.role].halo
        assert [edge.source for edge in frame.edges] == [state.node for state in senders]
        if senders:
            scores = [item.score for item in frame.columns[0].items]
            assert scores == sorted(scores, reverse=True) and sum(scores) == pytest.approx(1, abs=1e-4)
        else:
            assert not frame.columns and "0 senders" in frame.caption


def test_the_numbers_are_the_networks_and_without_the_query_the_levels_send_their_mean():
    shown, retriever = explorer().replay(), QSGNN(dimension=16)
    retriever.index(HAND.corpus)
    heard = retriever.attend(HAND.test[0].query)
    passage = [HAND.corpus.passages[row].id for row in heard.nodes["d"]].index("harbour")
    own = heard.edges["cd"][1] == passage
    for layer, frame in zip(heard.layers, shown.frames[1::2]):
        np.testing.assert_allclose(numbers(frame), layer["cd"][own], atol=0.0006)
    assert "“Its only print burned in a cellar.”" in {node.title for node in shown.nodes}
    for frame in explorer(alignment="off").replay().frames:
        assert len(set(numbers(frame))) == 1 and {state.value for state in frame.states[1:]} == {0.5}
        assert "Query alignment off: 2 " in frame.caption and not any(edge.emphasised for edge in frame.edges)
    moved = abs(numbers(shown.frames[1])[0] - 0.5)
    assert f"The query moves {moved:.3f} of the attention to others." in shown.frames[1].caption


def test_of_a_hub_the_first_are_drawn_in_the_same_places_and_the_others_are_summed_up():
    text = "Orm {0} is a town in Venland. It has a mill."
    towns = Corpus(Passage(f"t{i}", f"Orm {i}", text.format(i), f"t{i}") for i in range(TOWNS))
    hub = Benchmark("hub", towns, test=[Question("q", "Which town of Venland has a mill?", "Orm 3", (("t3",),))])
    start = {"listener": "entity", "number": 2}
    both = SideBySide(explorer(hub, **start), explorer(hub, alignment="off", **start))
    for shown in both.replays():
        for frame in shown.frames:
            _, *senders, rest = frame.states
            assert len(senders) == len(frame.columns[0].items) == 16 and rest.role == "rest"
            assert sum(numbers(frame)) == pytest.approx(1, abs=0.02)
            many = int(frame.columns[0].name.split()[0])
            assert many >= TOWNS and shown.by_id[rest.node].title == f"{many - 16} more"
    left, right = both.replays()
    assert left.nodes == right.nodes and right.frames[0].caption.startswith("Query alignment off: ")
    assert [frame.step for frame in left.frames] == [frame.step for frame in right.frames]


def test_who_listens_is_chosen_by_number_and_a_typed_question_has_no_supports():
    widget = explorer()
    chosen = [("passage", 2, "passage moravec"), ("entity", 8, "entity "), ("sentence", 1, "sentence ")]
    for listener, number, expected in chosen:
        assert widget.replay(listener=listener, number=number).frames[0].focus.startswith(expected)
    widget.controls["typed"].value = "Who was a painter?"
    told = widget.canvas.replay
    assert told["question"] == "Who was a painter?" and not any(node["gold"] for node in told["nodes"].values())


def test_a_network_without_its_query_cannot_be_explored():
    with pytest.raises(InputError, match="field retriever: expected a retriever that the query steers"):
        explore_attention(QSGNN(dimension=16, ablate="query"), HAND, HAND.test)
