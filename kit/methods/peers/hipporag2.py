"""HippoRAG 2: a random walk that restarts at the ends of the facts that are nearest to a query.

Gutiérrez et al., From RAG to Memory, ICML 2025; the constants are those of its code. There a
language model throws out facts that do not help; here none does.
"""

from typing import Annotated

import numpy as np
from numpy import ndarray
from scipy import sparse

from kit.corpus import Corpus
from kit.corpus.types import Queries
from kit.methods.base import Rankings, ranking_from_scores
from kit.methods.baselines.classic import Dense
from kit.methods.baselines.pagerank import spread
from kit.methods.peers.facts import facts_of, synonyms
from kit.methods.peers.walk import visits
from kit.settings import AboveZero, Positive, Share
from kit.text import ENCODER_SETTINGS
from kit.text.triples import extract


class HippoRAG2(Dense):
    """The passages where a random walk that restarts near the query is most often.

    It goes over entities and passages: along facts, from an entity to the passages that state a
    fact of it, and between names that are alike. It restarts at the two ends of each of the nearest
    facts, by the fact's likeness over the number of passages that the entity stands in (the mean,
    where it is an end of several), and a little at all passages by theirs. Where there is no fact
    the ranking is that of dense retrieval.

    A likeness is a cosine, spread from 0 for the least of the query to 1 for the highest.
    """

    name = "hipporag2"
    index_settings = (*ENCODER_SETTINGS, "triples", "alike")

    class Settings(Dense.Settings, frozen=True):
        facts: Annotated[Positive, "facts nearest to the query, at whose ends it restarts"] = 5
        entities: Annotated[Positive, "of these ends, at most"] = 5
        passage_weight: Annotated[Share, "what the nearest passage counts in a restart"] = 0.05
        damping: Annotated[Share, "probability to go on instead of restarting"] = 0.5
        alike: Annotated[
            AboveZero,
            "deviations above the usual cosine of two names, from which they are alike (theirs: a "
            "cosine of .8)",
        ] = 5.0
        triples: Annotated[str, "where triples come from, see kit.text.triples.extract"] = "rules"

    def index(self, corpus: Corpus) -> None:
        super().index(corpus)
        facts = facts_of(extract(corpus, self.settings.triples))
        self.facts = facts
        self.fact_vectors = self.encoder.encode(facts.texts)
        self.n_passages = np.maximum(np.asarray(facts.contained.sum(axis=1)).ravel(), 1)

        self.alike = synonyms(self.encoder.encode(facts.entities), self.settings.alike)
        # Nodes: the entities, then the passages.
        blocks = [[facts.related + self.alike, facts.contained], [facts.contained.T, None]]
        self.adjacency = sparse.csr_matrix(sparse.block_array(blocks))

    def rank(self, queries: Queries, k: int) -> Rankings:
        rankings = []
        for vector in self.encoded(queries):
            rankings.append(ranking_from_scores(self.corpus, self.scores(vector), k))
        return rankings

    def scores(self, vector: ndarray) -> ndarray:
        """How often the walk for a unit vector is at which passage, (passages,)."""
        n_entities = len(self.facts.entities)
        restarts = self.restarts(vector)
        if not n_entities:
            return restarts
        return visits(self.adjacency, restarts, self.settings.damping)[n_entities:]

    def restarts(self, vector: ndarray) -> ndarray:
        """How often the walk restarts where, (entities + passages,), up to a factor."""
        likeness = spread(vector[None] @ self.vectors.T)[0]
        return np.concatenate([self.named(vector), self.settings.passage_weight * likeness])

    def named(self, vector: ndarray) -> ndarray:
        """What the facts that tell of the query give to their ends, (entities,)."""
        n = len(self.facts.entities)
        if not n:
            return np.zeros(0)
        facts, weights = self.telling_facts(vector)
        ends = self.facts.ends[facts].ravel()
        weights = np.repeat(weights, 2) / self.n_passages[ends]

        times = np.maximum(np.bincount(ends, minlength=n), 1)
        of_entities = np.bincount(ends, weights, minlength=n) / times
        lowest = np.argsort(-of_entities, kind="stable")[self.settings.entities :]
        of_entities[lowest] = 0
        return of_entities

    def telling_facts(self, vector: ndarray) -> tuple[ndarray, ndarray]:
        """The rows of the facts at whose ends the walk restarts, and what each counts."""
        likeness = spread(vector[None] @ self.fact_vectors.T)[0]
        nearest = np.argsort(-likeness, kind="stable")[: self.settings.facts]
        return nearest, likeness[nearest]
