"""Graph search against networkx's PageRank, and what it does where there is no graph."""

import networkx as nx
import numpy as np
import pytest

from kit.corpus import Corpus, Passage, example
from kit.methods.qsgnn.graph import MultiLevelGraph
from kit.text.triples import extract


def test_scores_are_those_of_networkx(indexed) -> None:
    corpus, retriever = example().corpus, indexed("pagerank", entities=2)
    text = "Which river floods the birthplace of the director of the film The Glass Harbour?"
    ranking = retriever.retrieve(text, len(corpus))

    built = MultiLevelGraph.of(corpus, extract(corpus))
    graph = nx.Graph()
    graph.add_nodes_from(("d", row) for row in range(len(corpus)))
    graph.add_edges_from((("o", a), ("o", b)) for a, b in built.data["oo"].edge_index.T.tolist())
    graph.add_edges_from((("o", a), ("d", b)) for a, b in built.data["od"].edge_index.T.tolist())
    query = retriever.encoder.encode([text], role="query")[0]
    passages = (
        np.maximum(
            retriever.encoder.encode([passage.full_text for passage in built.corpus.passages])
            @ query,
            0,
        )
        ** 4
    )
    restart = {("d", row): 0.05 * value / passages.max() for row, value in enumerate(passages)}
    cosines = retriever.encoder.encode(built.entities) @ query
    for entity in np.argsort(-cosines)[:2]:
        held = sum(1 for other, _ in built.data["od"].edge_index.T.tolist() if other == entity)
        restart["o", int(entity)] = cosines[entity] / held
    expected = nx.pagerank(graph, alpha=0.7, personalization=restart, tol=1e-10, max_iter=1000)
    for id, score in zip(ranking.ids, ranking.scores):
        assert score == pytest.approx(expected["d", corpus.row[id]], abs=1e-3)
    assert ranking.ids[0] == max(corpus.row, key=lambda id: expected["d", corpus.row[id]])


def test_without_a_graph_it_ranks_by_cosine(indexed) -> None:
    corpus = Corpus(
        [
            Passage("a", "", "nothing here has a name", "a"),
            Passage("b", "", "rivers flood the plain", "b"),
        ]
    )
    ranked, dense = (indexed(name, corpus) for name in ("pagerank", "dense"))
    assert (
        ranked.retrieve("a flooded plain", 2).ids
        == dense.retrieve("a flooded plain", 2).ids
        == ("b", "a")
    )
    assert ranked.retrieve_many([], 5) == []
