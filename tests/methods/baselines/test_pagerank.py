"""Graph search against networkx's PageRank, and what it does where there is no graph."""

import networkx as nx
import numpy as np
import pytest

from kit.corpus import Corpus, Passage, example
from kit.methods.qsgnn.graph import MultiLevelGraph
from kit.text.triples import extract


def test_scores_are_those_of_networkx(indexed) -> None:
    corpus = example().corpus
    retriever = indexed("pagerank", entities=2)
    text = "Which river floods the birthplace of the director of the film The Glass Harbour?"
    ranking = retriever.retrieve(text, len(corpus))

    built = MultiLevelGraph.build(corpus, extract(corpus))
    graph = nx.Graph()
    graph.add_nodes_from(("d", row) for row in range(len(corpus)))
    graph.add_edges_from((("o", a), ("o", b)) for a, b in built.data["oo"].edge_index.T.tolist())
    graph.add_edges_from((("o", a), ("d", b)) for a, b in built.data["od"].edge_index.T.tolist())
    query = retriever.encoder.encode([text], role="query")[0]
    texts = [passage.full_text for passage in built.corpus.passages]
    passages = retriever.encoder.encode(texts) @ query
    likeness = (passages - passages.min()) / (passages.max() - passages.min())
    restart = {("d", row): 0.05 * value**4 for row, value in enumerate(likeness)}
    cosines = retriever.encoder.encode(built.entities) @ query
    likeness = (cosines - cosines.min()) / (cosines.max() - cosines.min())
    for entity in np.argsort(-cosines)[:2]:
        n_passages = int((built.data["od"].edge_index[0] == entity).sum())
        restart["o", int(entity)] = likeness[entity] / n_passages
    expected = nx.pagerank(graph, alpha=0.7, personalization=restart, tol=1e-10, max_iter=1000)
    for passage, score in zip(ranking.ids, ranking.scores):
        assert score == pytest.approx(expected["d", corpus.row[passage]], abs=1e-3)
    assert ranking.ids[0] == max(corpus.row, key=lambda name: expected["d", corpus.row[name]])


def test_without_a_graph_it_ranks_by_cosine(indexed) -> None:
    corpus = Corpus(
        [
            Passage("a", "", "nothing here has a name", "a"),
            Passage("b", "", "rivers flood the plain", "b"),
        ]
    )
    ranked, dense = (indexed(name, corpus) for name in ("pagerank", "dense"))
    assert dense.retrieve("a flooded plain", 2).ids == ("b", "a")
    assert ranked.retrieve("a flooded plain", 2).ids == ("b", "a")
    assert ranked.retrieve_many([], 5) == []
