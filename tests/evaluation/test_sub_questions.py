"""Steps by hand: which bridges there are, what replaces them, and whose support is counted."""

import pytest

from kit.corpus import example
from kit.evaluation.sub_questions import (
    bridges_of,
    recalls_with_wrong_bridges,
    step_recalls,
    with_wrong_bridges,
)
from kit.methods import make


@pytest.fixture(scope="module")
def questions():
    return example().test


@pytest.fixture(scope="module")
def methods():
    method = make("rgnn-ret", top_k=2)
    method.index(example().corpus)
    return {"rgnn-ret": method}


def test_bridges_are_the_steps_that_later_ones_name(questions) -> None:
    assert [bridges_of(question) for question in questions] == [{1}, {1, 2}]


def test_a_wrong_bridge_is_an_answer_of_the_same_kind(questions) -> None:
    assert with_wrong_bridges(questions, 0.0, seed=0) == list(questions)
    # Both questions have the same director and town: there is nothing else to put in.
    assert with_wrong_bridges(questions, 1.0, seed=0) == list(questions)


def test_every_step_counts_its_own_support(methods, questions) -> None:
    recalls = step_recalls(methods, questions, k=6)
    assert recalls.groupby("question")["step"].max().to_dict() == {"river": 3, "town": 2}
    assert set(recalls["recall"]) == {1.0}


def test_only_steps_with_a_bridge_before_them_can_be_wrong(methods, questions) -> None:
    recalls = recalls_with_wrong_bridges(methods, questions, shares=(0.0, 1.0), draws=range(2))
    assert set(recalls["step"]) == {2, 3}
    assert len(recalls) == 2 * 2 * 3
    assert recalls_with_wrong_bridges(methods, (), shares=(1.0,)).empty
