"""What is measured for claims of RAS, by hand."""

import numpy as np
import pytest

from kit.lab.claims.ras import connects, holds, ras_06, ras_08_connected, ras_08_growth, ras_10

FEW = {"seed": 0, "n_resamples": 200}
BY = ("Harbour", "director", "Moravec")
BORN = ("Moravec", "born in", "Selby Quay")
FAR = ("Oll", "rises in", "Hills")


def test_a_graph_holds_and_connects_by_whole_names() -> None:
    assert holds([BY, BORN], ["selby quay"]) == 1 and holds([BY], ["Selby Quay"]) == 0
    question = "Where was the director of Harbour born?"
    assert connects([BY, BORN], question, ["Selby Quay"]) == 1
    assert connects([BORN], question, ["Selby Quay"]) == 0  # no name of the question
    assert connects([BY, BORN], "Who made Harbours?", ["Selby Quay"]) == 0  # no whole word
    assert connects([FAR, BORN], "Where does the Oll end?", ["Selby Quay"]) == 0


def test_ras_06_draws_the_shuffles_of_a_question_together() -> None:
    shares = [0, 1] * 6
    questions = ["a", "a", "b", "b"] * 3
    measured = ras_06(shares, [0, 1, 0, 0] * 3, questions, **FEW)
    assert (measured.value, measured.n, measured.differ) == (0.5, 2, 1)


def test_ras_08_grows_beyond_chance_only_if_its_own_triples_tell() -> None:
    """After one sub-query no answer, after two there is: slope 1. Others' triples never have it."""
    rounds = [[[BY], [BY, BORN]], [[FAR], [FAR]]]
    answers = [["Selby Quay"], ["Nowhere"]]
    grown = ras_08_growth(rounds, answers, **FEW)
    assert grown["growth"].value == grown["growth over chance"].value == 0.5
    # Where other questions' graphs are the same, the growth is that of any graph.
    alike = ras_08_growth([rounds[0]] * 2, [answers[0]] * 2, **FEW)
    assert alike["growth"].value == 1 and alike["growth over chance"].value < 1


def test_ras_08_connects_beyond_chance_only_with_the_triples_that_fit() -> None:
    texts = ["Where was the director of Harbour born?", "Where does the Oll rise?"]
    answers = [["Selby Quay"], ["Hills"]]
    measured = ras_08_connected([[[BY], [BORN]], [[FAR], []]], texts, answers, **FEW)
    assert measured["merged over separate"].value == 0.5  # the second needs no merging
    assert measured["connected over chance"].value == 0.5
    twins = ras_08_connected([[[BY], [BORN]]] * 2, texts[:1] * 2, answers[:1] * 2, **FEW)
    assert twins["merged over separate"].value == 1
    assert twins["connected over chance"].value < 1


def test_ras_10_compares_the_two_effects() -> None:
    """The better answerer brings 1 with either planner, the better planner 0."""
    best = np.ones(4)
    worst = np.zeros(4)
    assert ras_10([[best, best], [worst, worst]], **FEW).value == 1
    assert ras_10([[best, worst], [best, worst]], **FEW).value == -1
    assert ras_10([[best, worst], [worst, worst]], **FEW).value == pytest.approx(0)
