"""What is counted where time is measured; the times themselves are for a benchmark."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from kit.corpus import Query
from kit.corpus.example import example
from kit.errors import InputError
from kit.evaluation.timing import propagation_times
from kit.retrievers.gnn_ret import GNNRet

QUERIES = [Query(str(number), f"Which river floods Selby Quay in spring {number}?") for number in range(70)]


@pytest.fixture(scope="module")
def retriever() -> GNNRet:
    retriever = GNNRet()
    retriever.index(example().corpus)
    return retriever


def test_a_row_a_number_of_senders_and_batch(retriever) -> None:
    table = propagation_times(retriever, QUERIES, [1, 6], repeats=2)
    assert table[["top_k", "batch"]].values.tolist() == [[1, 0], [1, 1], [6, 0], [6, 1]]
    # With all passages sending, every edge is walked from both its ends, each as often as something makes it.
    everything = sum(len(retriever.graph.linked(np.array([row]))[0]) for row in range(6))
    assert table["edges"].tolist()[2:] == [everything, everything]
    assert 0 < table["edges"].iloc[0] < everything
    assert (table[["seconds_messages", "seconds_search"]] > 0).all(axis=None)


def test_more_senders_than_passages_are_all_of_them(retriever) -> None:
    six, many = propagation_times(retriever, QUERIES[:2], [6, 50], repeats=1)["edges"]
    assert six == many


def test_each_layer_walks(retriever) -> None:
    twice = retriever.variant(layers=2)
    (once,) = propagation_times(retriever, QUERIES[:1], [6], repeats=1)["edges"]
    assert propagation_times(twice, QUERIES[:1], [6], repeats=1)["edges"].tolist() == [2 * once]


def test_threads_are_as_before(retriever) -> None:
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        propagation_times(retriever, QUERIES[:1], [1], repeats=1)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize(("n", "senders", "repeats"), [(0, [5], 1), (1, [], 1), (1, [0], 1), (1, [5], 0)])
def test_nothing_to_measure(retriever, n, senders, repeats) -> None:
    with pytest.raises(InputError, match="expected queries, numbers of nodes from 1, and at least one repeat"):
        propagation_times(retriever, QUERIES[:n], senders, repeats)
