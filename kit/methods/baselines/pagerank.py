"""Graph search in the manner of HippoRAG, with which QSGNN compares in Table 2.

A random walk with restarts goes over the graph of triples and of the passages that they come from
(Gutiérrez et al. 2024, 2025). HippoRAG asks a language model for the triples, and which of them
start the walk; this method decides by vectors alone.
"""

from typing import Annotated

import numpy as np
from numpy import ndarray
from scipy import sparse
from sknetwork.ranking import PageRank as RandomWalk

from kit.corpus import Corpus
from kit.corpus.types import Queries
from kit.methods.base import Rankings, ranking_from_scores
from kit.methods.baselines.classic import Dense
from kit.methods.qsgnn.graph import MultiLevelGraph
from kit.settings import Positive, Share
from kit.text import ENCODER_SETTINGS
from kit.text.triples import extract

ITERATIONS = 20  # of the power method; at a damping of .7 less than a thousandth is to come
SHARPNESS = 4  # the power of a passage's likeness
SMALL = 1e-9


class PageRank(Dense):
    """The passages where a random walk that restarts near the query is most often.

    It restarts at entities, by their likeness to the query over the number of passages that they
    stand in, and at passages, by the fourth power of theirs. A likeness is a cosine, spread from 0
    for the least to 1 for the highest of the query: what the encoder's scale is does not count.

    HippoRAG 2 starts from the ends of up to five triples, with a passage weight of .05 and a
    damping of ½; the defaults of this method were chosen on dev and training questions.
    """

    name = "pagerank"
    index_settings = (*ENCODER_SETTINGS, "triples")

    class Settings(Dense.Settings, frozen=True):
        entities: Annotated[Positive, "entities nearest to the query, where it restarts"] = 3
        passage_weight: Annotated[Share, "what the nearest passage counts in a restart"] = 0.05
        damping: Annotated[Share, "probability to go on instead of restarting"] = 0.7
        triples: Annotated[str, "where triples come from, see kit.text.triples.extract"] = "rules"

    def index(self, corpus: Corpus) -> None:
        super().index(corpus)
        extractions = extract(corpus, self.settings.triples)
        self.levels = MultiLevelGraph.build(corpus, extractions)
        related = self.levels.adjacency("oo")  # (entities, entities)
        contained = self.levels.adjacency("od")  # (entities, passages)

        # Nodes: the entities, then the passages.
        blocks = [
            [related + related.T, contained],
            [contained.T, None],
        ]
        self.adjacency = sparse.csr_matrix(sparse.block_array(blocks))
        self.frequency = np.maximum(contained.sum(axis=1), 1)  # passages of an entity

        self.entity_vectors = self.encoder.encode(self.levels.entities)

    def rank(self, queries: Queries, k: int) -> Rankings:
        visits = self.visits(self.encoded(queries))
        return [ranking_from_scores(self.corpus, scores, k) for scores in visits]

    def visits(self, vectors: ndarray) -> ndarray:
        """How often the walks for these unit vectors (queries, dimension) are at which passage.

        Shape (queries, passages), up to a factor per query.
        """
        visits = self._restarts(vectors)
        if len(vectors) and self.adjacency.nnz:  # otherwise the walk stays where it begins
            walk = RandomWalk(
                self.settings.damping,
                n_iter=ITERATIONS,
                tol=0,
            )
            visits = np.stack(
                [walk.fit_predict(self.adjacency, weights=weights) for weights in visits]
            )
        return visits[:, len(self.frequency) :]

    def _restarts(self, vectors: ndarray) -> ndarray:
        """How often a walk restarts where, (queries, entities + passages), up to a factor."""
        n_entities = len(self.frequency)
        restarts = np.zeros((len(vectors), self.adjacency.shape[0]))
        likeness = spread(vectors @ self.vectors.T)
        restarts[:, n_entities:] = self.settings.passage_weight * likeness**SHARPNESS

        if n_entities:
            likeness = spread(vectors @ self.entity_vectors.T)
            nearest = np.argsort(-likeness, axis=1, kind="stable")[:, : self.settings.entities]
            weights = np.take_along_axis(likeness, nearest, axis=1) / self.frequency[nearest]
            np.put_along_axis(restarts, nearest, weights, axis=1)
        return restarts


def spread(scores: ndarray) -> ndarray:
    """Scores (queries, items), from 0 for the least of each query to 1 for its highest.

    Where all are equal they are 1.
    """
    highest = scores.max(axis=1, keepdims=True)
    width = highest - scores.min(axis=1, keepdims=True)
    return 1 - (highest - scores) / np.maximum(width, SMALL)
