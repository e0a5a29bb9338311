"""What entities listen to, by hand; random edges and misspelt names change what they say and nothing else."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from kit.corpus.example import example
from kit.evaluation import attention_on_supports, likeness, misspelt, with_random_edges
from kit.retrievers import make
from kit.retrievers.qsgnn import QSGNN

HAND = example()


@pytest.fixture(scope="module")
def retriever() -> QSGNN:
    found = make("qsgnn", documents=0, dimension=16)
    found.index(HAND.corpus)
    return found


def test_attention_of_entities_that_stand_in_a_support_and_elsewhere(retriever: QSGNN) -> None:
    graph = retriever.graph
    gold = {HAND.corpus.row[id] for id in HAND.test[1].supporting_ids}
    inside, documents = graph.data["od"].edge_index
    held = {entity: set(documents[inside == entity].tolist()) for entity in range(len(graph.entities))}
    both = {entity: len(rows & gold) / len(rows) for entity, rows in held.items() if rows & gold and rows - gold}
    table = attention_on_supports(retriever, HAND.test[1:2])
    if both:
        assert table["entities"].item() == len(both)
        assert table["uniform"].item() == pytest.approx(np.mean(list(both.values())))
        assert 0 < table["attention"].item() < 1
    else:
        assert table.empty


def test_without_the_query_attention_is_uniform() -> None:
    blind = make("qsgnn", documents=0, dimension=16, ablate="query")
    blind.index(HAND.corpus)
    table = attention_on_supports(blind, HAND.test)
    np.testing.assert_allclose(table["attention"], table["uniform"], rtol=1e-5)


def test_random_edges_are_added_between_entities_alone(retriever: QSGNN) -> None:
    before = retriever.graph.data
    noisy = with_random_edges(retriever, 3.0, seed=1).graph.data
    assert retriever.graph.data is before
    for kind in ("cc", "oc", "od", "cd"):
        assert noisy[kind].edge_index is before[kind].edge_index
    pairs, known = ({tuple(pair) for pair in data["oo"].edge_index.T.tolist()} for data in (noisy, before))
    assert known < pairs and all(a < b for a, b in pairs)


def test_a_misspelt_name_keeps_its_letters() -> None:
    changed = misspelt(HAND.test, seed=0)
    assert changed
    by_id = {question.id: question for question in HAND.test}
    for question in changed:
        before = by_id[question.id].text
        assert question.text != before and sorted(question.text) == sorted(before)
        assert sum(a != b for a, b in zip(question.text, before)) == 2
        assert question.supporting == by_id[question.id].supporting


def test_likeness_is_the_mean_cosine_of_pairs(retriever: QSGNN) -> None:
    (found,) = likeness(retriever, HAND.test[:1])
    query = torch.from_numpy(retriever.encoder.encode([HAND.test[0].text], role="query"))
    with torch.no_grad():
        documents = retriever.network(retriever.batch([np.arange(6)]), query)[0]["d"]
    pairs = [torch.cosine_similarity(documents[i], documents[j], 0).item() for i in range(6) for j in range(i)]
    assert found == pytest.approx(np.mean(pairs), abs=1e-5)
