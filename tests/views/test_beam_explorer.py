"""MDR's explorer with the real retriever, on the six passages."""

from __future__ import annotations

import pytest

from kit.corpus.example import example
from kit.errors import InputError
from kit.retrievers import MDR
from kit.views.beam_explorer import explore_mdr
from kit.views.trace_explorer import side_by_side


def test_the_paths_of_the_retriever_step_by_step():
    hand = example()
    explorer = explore_mdr(hand, hand.test, {"untrained": MDR()}, question="river", beam=2, branches=1, hops=3)
    story = explorer.story()
    assert [scene.step for scene in story.scenes] == [
        "seeds",
        *(f"hop {hop} · path {path} of 2" for hop in (1, 2) for path in (1, 2)),
        "result",
    ]
    retriever = MDR(beam=2, branches=1, hops=3)
    retriever.index(hand.corpus)
    ranked = [entry.node for entry in story.scenes[-1].columns[0].entries]
    assert ranked == list(retriever.retrieve(hand.test[1].query, 6).ids)
    # Any passage could come next, so none is drawn as a neighbour to choose from.
    assert not {mark.role for scene in story.scenes for mark in scene.marks} & {"candidate"}
    assert "neighbour" not in " ".join(scene.caption for scene in story.scenes)
    assert story.edges and {node.id for node in story.nodes} == set(hand.corpus.row)


def test_a_setting_turned_and_a_question_typed():
    hand = example()
    explorer = explore_mdr(hand, hand.test, {"untrained": MDR()})
    explorer.controls["hops"].value = 1
    assert [scene.step for scene in explorer.story().scenes] == ["ranking"]
    explorer.controls["typed"].value = "Where does the Oll rise?"
    assert explorer.story().question == "Where does the Oll rise?" and not explorer.canvas.problem


def test_two_encoders_side_by_side(tiny_model):
    hand = example()
    searches = {"untrained": MDR(), "tiny": MDR(encoder=tiny_model)}
    left, right = (explore_mdr(hand, hand.test, searches, encoder=name, beam=1) for name in searches)
    both = side_by_side(left, right)
    assert both.left.controls["encoder"].value == "untrained" and both.right.controls["encoder"].value == "tiny"
    steps = [[scene["step"] for scene in side.canvas.story["scenes"]] for side in (left, right)]
    assert len(steps[0]) == len(steps[1])


def test_something_to_choose_from():
    hand = example()
    with pytest.raises(InputError, match="field retrievers: expected at least one"):
        explore_mdr(hand, hand.test, {})
