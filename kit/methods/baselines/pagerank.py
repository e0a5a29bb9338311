"""Graph search in the manner of HippoRAG (Gutiérrez et al. 2024, 2025), with which qsgnn.txt compares in Table 2.

A random walk with restarts goes over the graph of triples and of the passages that they come from. HippoRAG asks a
language model for the triples, and which of them start the walk; here vectors decide alone.
"""

from collections.abc import Sequence

import numpy as np
from scipy import sparse
from sknetwork.ranking import PageRank as RandomWalk

from kit.corpus import Corpus, Query
from kit.methods.base import Ranking, ranking_from_scores
from kit.methods.baselines.classic import Dense
from kit.methods.qsgnn.graph import MultiLevelGraph
from kit.settings import Positive, Share
from kit.text import NearestNeighbours
from kit.text.triples import extract

ITERATIONS = (
    20  # of the power method, after which a damping of .7 leaves less than a thousandth to come
)


class PageRank(Dense):
    """The passages where a random walk that restarts near the query is most often.

    It restarts at the ``entities`` nearest to the query, by their cosines over the number of passages that they stand
    in, and at passages, by the fourth power of their cosines, the nearest of which counts ``passage_weight``.
    ``damping`` is the probability to go on instead. (HippoRAG 2: the ends of up to five triples, .05, and ½;
    those here were chosen on dev and training questions.)
    """

    name = "pagerank"
    index_settings = ("encoder", "triples")

    class Settings(Dense.Settings, frozen=True):
        entities: Positive = 3
        passage_weight: Share = 0.05
        damping: Share = 0.7
        triples: str = "rules"

    def index(self, corpus: Corpus) -> None:
        super().index(corpus)
        graph = MultiLevelGraph.of(corpus, extract(corpus, self.settings.triples))
        related, contained = graph.adjacency("oo"), graph.adjacency("do")
        # Nodes: the entities, then the passages.
        self.adjacency = sparse.csr_matrix(
            sparse.block_array([[related + related.T, contained.T], [contained, None]])
        )
        self.frequency = np.maximum(contained.sum(axis=0), 1)
        self.entities = (
            NearestNeighbours(self.encoder.encode(graph.entities)) if graph.entities else None
        )

    def rank(self, queries: Sequence[Query], k: int) -> list[Ranking]:
        vectors, n_entities = self.encoded(queries), len(self.frequency)
        restarts = np.zeros((len(queries), self.adjacency.shape[0]))
        near = np.maximum(vectors @ self.vectors.T, 0) ** 4
        nearest = np.maximum(near.max(axis=1, keepdims=True), 1e-9)
        restarts[:, n_entities:] = self.settings.passage_weight * near / nearest
        if self.entities:
            scores, rows = self.entities.search(vectors, self.settings.entities)
            np.put_along_axis(restarts, rows, np.maximum(scores, 0) / self.frequency[rows], axis=1)
        walk = RandomWalk(self.settings.damping, n_iter=ITERATIONS, tol=0)
        if len(queries) and self.adjacency.nnz:  # otherwise it stays where it begins
            restarts = np.stack(
                [walk.fit_predict(self.adjacency, weights=weights) for weights in restarts]
            )
        return [ranking_from_scores(self.corpus, scores, k) for scores in restarts[:, n_entities:]]
