"""What fits into a context, by hand: five passages of 3, 1, 2, 2 and 9 tokens."""

from types import SimpleNamespace

import numpy as np
import pytest

from kit.corpus import Question, example
from kit.evaluation.contexts import (
    by_question,
    counts_by_supports,
    deepest_rank,
    in_contexts,
    token_counts,
)
from kit.methods import Ranking

TOKENS = np.array([3, 1, 2, 2, 9])


@pytest.fixture
def experiment():
    questions = [
        Question("one", "?", "", (("a",),)),
        Question("two", "?", "", (("a",), ("c",))),
    ]
    orders = {"dense": "ebacd", "gnn-ret": "bacde"}
    rankings = {}
    for name, order in orders.items():
        ranking = Ranking(tuple(order), np.arange(5.0))
        rankings[name] = {question.id: ranking for question in questions}
    corpus = SimpleNamespace(row={name: row for row, name in enumerate("abcde")})
    return SimpleNamespace(
        questions=questions, rankings=rankings, benchmark=SimpleNamespace(corpus=corpus)
    )


def test_whole_passages_fit_until_the_next_would_not(experiment) -> None:
    contexts = in_contexts(experiment, ["dense", "gnn-ret"], TOKENS, budgets=(5, 20))
    of_two = contexts[contexts["question"] == "two"].set_index(["retriever", "budget"])
    assert of_two["passages"].to_dict() == {
        ("dense", 5): 0,
        ("dense", 20): 5,
        ("gnn-ret", 5): 2,
        ("gnn-ret", 20): 5,
    }
    assert of_two.loc[("gnn-ret", 5), "recall"] == 0.5
    assert by_question(contexts, 5).loc["one"].to_dict() == {"dense": 0, "gnn-ret": 1}


def test_questions_are_counted_by_their_supports(experiment) -> None:
    contexts = in_contexts(experiment, ["dense", "gnn-ret"], TOKENS, budgets=(5,))
    counted = counts_by_supports(contexts, "gnn-ret", "dense", 5, seed=0, n_resamples=100)
    assert counted["supports"].tolist() == ["1", "2", "all"]
    assert counted["gained"].tolist() == [1, 0, 1] and counted["lost"].tolist() == [0, 0, 0]
    assert counted["p"].tolist() == [1, 1, 1]


def test_the_shortest_passages_could_fit_at_best() -> None:
    assert deepest_rank(TOKENS, 5) == 3
    corpus = example().corpus
    assert len(token_counts(corpus)) == len(corpus)
