"""What is measured for claims of GNN-Ret, by hand."""

import numpy as np
import pytest

from kit.corpus import EvidenceGraph, Question
from kit.lab.claims.gnn_ret import gnn_ret_11, gnn_ret_18

FEW = {"seed": 0, "n_resamples": 500}


def test_gnn_ret_11_is_the_alpha_that_is_best_on_dev_with_how_sure_that_is() -> None:
    recalls = np.array([[0.2, 0.9, 0.4]] * 8)  # all questions agree
    assert gnn_ret_11(recalls, [0.3, 0.4, 0.5], **FEW)[:4] == (0.4, 0.4, 0.4, 8)
    one_by_one = np.eye(3)[[0, 1, 1]]
    torn = gnn_ret_11(one_by_one, [0.3, 0.4, 0.5], **FEW)
    assert (torn.value, torn.low, torn.high) == (0.4, 0.3, 0.4)
    assert gnn_ret_11(np.ones((4, 3)), [0.3, 0.4, 0.5], **FEW).value == 0.5


def test_gnn_ret_18_takes_off_what_passages_of_the_same_rank_gain() -> None:
    """The last support b rises from rank 3 to 0; c and d around it fall by one each: 3 + 1.

    The first support a falls from 0 to 1, as do the others around it: nothing beyond.
    """
    question = Question("q", "?", "", (("a",), ("b",)), evidence=EvidenceGraph(2, ((0, 1),)))
    last, first = gnn_ret_18(question, ("a", "c", "d", "b"), ("b", "a", "c", "d"))
    assert (last, first) == pytest.approx((4, 0))
    assert np.isnan(gnn_ret_18(question, ("a", "c"), ("a", "c"))[0])
