"""What learns also learns with the second encoder, and searches by what it learned."""

import pytest

from kit.corpus import Benchmark, example
from kit.methods import make

pytestmark = pytest.mark.model

HAND = example()
LESSON = Benchmark("lesson", HAND.corpus, train=HAND.test, dev=HAND.test[:1])
QUICKLY = {
    "dpr": {"epochs": 1, "batch": 2},
    "mdr": {"epochs": 1, "batch": 2},
    "qsgnn": {"epochs": 1, "synthetic": 2},
    "graph-reranker": {"epochs": 1},
    "bgr": {"n_train": 2, "steps": 2},
}


@pytest.mark.parametrize("name", QUICKLY)
def test_a_network_learns_with_it(name: str, e5_small: str, own_store) -> None:
    retriever = make(name, encoder=e5_small, start="untrained", **QUICKLY[name])
    retriever.fit(LESSON)
    losses = [row["loss"] for row in retriever.history if "loss" in row]
    assert losses and all(loss > 0 for loss in losses)

    retriever.index(HAND.corpus)
    ranking = retriever.retrieve(HAND.test[1].query, 6)
    assert len(ranking.ids) == 6 and set(HAND.test[1].supporting_ids) <= set(ranking.ids)


def test_the_graph_reranker_needs_no_training_anew(e5_small: str, own_store) -> None:
    """Its weights carry over, for its numbers are standardised."""
    retriever = make("graph-reranker", encoder=e5_small)
    retriever.index(HAND.corpus)
    assert retriever.retrieve(HAND.test[0].query, 2).ids


def test_ras_grows_its_graph_with_it(e5_small: str) -> None:
    ras = make("ras", encoder=e5_small, triples="rules", planner="gold", top_k=1)
    ras.index(HAND.corpus)
    river = HAND.test[1]
    assert set(ras.retrieve(river.gold_query, 3).ids) == set(river.supporting_ids)
