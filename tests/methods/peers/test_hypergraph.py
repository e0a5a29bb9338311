"""Diffusion over a hypergraph against its equation in plain matrices."""

import numpy as np
import pytest

from kit.corpus import Corpus, Passage

STORY = "Which river floods the birthplace of the director of the film The Glass Harbour?"


def from_0_to_1(values):
    return (values - values.min()) / (values.max() - values.min())


def test_scores_are_those_of_the_equation(indexed) -> None:
    hypergraph = indexed("hypergraph", rounds=3, damping=0.6)
    [vector] = hypergraph.encoder.encode([STORY], role="query")
    joins = hypergraph.joined.toarray()
    weights = np.diag(from_0_to_1(hypergraph.vectors @ vector))
    of_names = np.diag(1 / np.maximum((joins @ weights).sum(axis=1), 1e-9))
    of_passages = np.diag(1 / np.maximum(joins.sum(axis=0), 1))

    hippo = indexed("hipporag2")
    first = hippo.named(hippo.telling_facts(vector))
    names = first
    for _ in range(3):
        given = weights @ joins.T @ of_names @ names
        names = 0.4 * first + 0.6 * joins @ of_passages @ given
    expected = given + 0.05 * weights.diagonal()
    assert hypergraph.scores(vector) == pytest.approx(expected, rel=1e-6)


def test_a_passage_joins_its_names_and_those_that_are_alike(indexed) -> None:
    hypergraph = indexed("hypergraph")
    contained = hypergraph.facts.contained.toarray() > 0
    joins = hypergraph.joined.toarray()
    assert (joins[contained] >= 1).all()
    alike = hypergraph.alike.toarray()
    assert joins == pytest.approx(contained + alike @ contained)


def test_what_begins_is_passed_on_in_full(indexed) -> None:
    hypergraph = indexed("hypergraph", rounds=1, passage_weight=0.0)
    [vector] = hypergraph.encoder.encode([STORY], role="query")
    assert hypergraph.scores(vector).sum() == pytest.approx(
        hypergraph.named(hypergraph.telling_facts(vector)).sum()
    )


def test_without_a_fact_it_ranks_by_cosine(indexed) -> None:
    texts = {"a": "nothing here has a name", "b": "rivers flood the plain"}
    corpus = Corpus([Passage(name, "", text, name) for name, text in texts.items()])
    assert indexed("hypergraph", corpus).retrieve("a flooded plain", 2).ids == ("b", "a")
