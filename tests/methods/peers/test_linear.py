"""LinearRAG on the six passages: which names become active, and where the walk goes."""

import networkx as nx
import numpy as np
import pytest

from kit.corpus import Corpus, Passage, example
from kit.text.placeholders import key_of

STORY = "Which river floods the birthplace of the director of the film The Glass Harbour?"


def test_names_are_activated_sentence_by_sentence(indexed) -> None:
    linear = indexed("linear", rounds=2, least=0.0)
    [vector] = linear.encoder.encode([STORY], role="query")
    film = linear.rows[key_of("The Glass Harbour")]
    active = linear.activate(STORY, vector)
    assert active[film][1] == 2  # its own best sentence names it again

    cosines = linear.sentence_vectors @ vector
    likeness = (cosines - cosines.min()) / (cosines.max() - cosines.min())
    sentences = [n for n, names in enumerate(linear.names_of) if film in names]
    best = max(sentences, key=lambda n: likeness[n])
    expected = dict.fromkeys(linear.names_of[best], pytest.approx(likeness[best], rel=1e-4))
    expected[film] = pytest.approx(1 + likeness[best], rel=1e-4)
    assert {row: value for row, (value, _) in active.items()} == expected


def test_what_is_less_than_enough_is_not_passed_on(indexed) -> None:
    question = "Where was Ines Moravec born?"
    active = {}
    for least in (0.0, 1.0):
        linear = indexed("linear", least=least, rounds=3)
        [vector] = linear.encoder.encode([question], role="query")
        names = {row: key for key, row in linear.rows.items()}
        active[least] = {names[row] for row in linear.activate(question, vector)}
    assert {key_of("Ines Moravec"), key_of("Selby Quay")} <= active[0.0]
    assert active[1.0] < active[0.0]


def test_scores_are_those_of_networkx(indexed) -> None:
    corpus = example().corpus
    linear = indexed("linear")
    ranking = linear.retrieve(STORY, len(corpus))
    [vector] = linear.encoder.encode([STORY], role="query")
    active = linear.activate(STORY, vector)
    restart = {row: value for row, (value, _) in active.items()}

    dense = linear.vectors @ vector
    dense = (dense - dense.min()) / (dense.max() - dense.min())
    times = linear.times.toarray()
    first = len(linear.rows)
    for row in range(len(corpus)):
        bonus = sum(np.log1p(times[name, row]) * value / n for name, (value, n) in active.items())
        restart[first + row] = 0.05 * (1.5 * dense[row] + np.log1p(bonus))
    graph = nx.from_scipy_sparse_array(linear.adjacency)
    expected = nx.pagerank(graph, alpha=0.5, personalization=restart, tol=1e-12, max_iter=1000)
    for passage, score in zip(ranking.ids, ranking.scores):
        assert score == pytest.approx(expected[first + corpus.row[passage]], abs=1e-5)


def test_without_a_name_it_ranks_by_cosine(indexed) -> None:
    texts = {"a": "nothing here has a name", "b": "rivers flood the plain"}
    corpus = Corpus([Passage(name, "", text, name) for name, text in texts.items()])
    question = "a flooded plain"
    assert indexed("linear", corpus).retrieve(question, 2).ids == ("b", "a")
    assert indexed("linear").retrieve("which one is it?", 6).ids == (
        indexed("dense").retrieve("which one is it?", 6).ids
    )
