"""HippoRAG 2: a random walk that restarts at the ends of the facts that are nearest to a query.

Gutiérrez et al., From RAG to Memory, ICML 2025; the constants are those of its code. There a
language model throws out facts that do not help; here that is for you to choose, by default nobody.
"""

from typing import Annotated, NamedTuple, Self

import numpy as np
from numpy import ndarray
from scipy import sparse

from kit.corpus import Corpus
from kit.corpus.types import Queries
from kit.methods.base import Rankings, ranking_from_scores
from kit.methods.baselines.classic import Dense
from kit.methods.baselines.pagerank import spread
from kit.methods.peers.facts import facts_of, synonyms
from kit.methods.peers.filters import ORACLE, ModelFilter, make_filter
from kit.methods.peers.walk import visits
from kit.settings import AboveZero, Positive, Share
from kit.text import ENCODER_SETTINGS
from kit.text.triples import extract


class Telling(NamedTuple):
    """Facts that tell of a query."""

    rows: ndarray
    weights: ndarray  # what each counts

    def only(self, kept: ndarray) -> Self:
        """Those that a filter keeps."""
        return Telling(self.rows[kept], self.weights[kept])


class HippoRAG2(Dense):
    """The passages where a random walk that restarts near the query is most often.

    It goes over entities and passages: along facts, from an entity to the passages that state a
    fact of it, and between names that are alike. It restarts at the two ends of each of the nearest
    facts, by the fact's likeness over the number of passages that the entity stands in (the mean,
    where it is an end of several), and a little at all passages by theirs. Where no fact is left
    the ranking is that of dense retrieval.

    A likeness is a cosine, spread from 0 for the least of the query to 1 for the highest.
    """

    name = "hipporag2"
    index_settings = (*ENCODER_SETTINGS, "triples", "alike", "filter")

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
        filter: Annotated[
            str,
            "who throws out facts that do not help: nobody, oracle (by the supports), a cross-"
            "encoder by its name or folder, or a language model, such as server:MODEL",
        ] = ""

    @property
    def sees_gold(self) -> bool:
        """Whether it is told the supports."""
        return self.settings.filter == ORACLE

    def index(self, corpus: Corpus) -> None:
        super().index(corpus)
        facts = facts_of(extract(corpus, self.settings.triples))
        self.facts = facts
        self.filter = make_filter(self.settings.filter, facts, corpus)
        self.model = self.filter.model if isinstance(self.filter, ModelFilter) else None
        self.fact_vectors = self.encoder.encode(facts.texts)
        self.n_passages = np.maximum(np.asarray(facts.contained.sum(axis=1)).ravel(), 1)

        self.alike = synonyms(self.encoder.encode(facts.entities), self.settings.alike)
        # Nodes: the entities, then the passages.
        blocks = [[facts.related + self.alike, facts.contained], [facts.contained.T, None]]
        self.adjacency = sparse.csr_matrix(sparse.block_array(blocks))

    def rank(self, queries: Queries, k: int) -> Rankings:
        vectors = self.encoded(queries)
        facts = list(map(self.telling_facts, vectors))
        if self.filter and self.facts.entities:
            kept = self.filter.kept(queries, [of_query.rows for of_query in facts])
            facts = list(map(Telling.only, facts, kept))

        rankings = []
        for vector, of_query in zip(vectors, facts):
            scores = self.scores(vector, of_query)
            rankings.append(ranking_from_scores(self.corpus, scores, k))
        return rankings

    def scores(self, vector: ndarray, facts: Telling | None = None) -> ndarray:
        """How often the walk for a unit vector is at which passage, (passages,).

        ``facts`` are those that tell of the query, by default :meth:`telling_facts`.
        """
        n_entities = len(self.facts.entities)
        restarts = self.restarts(vector, facts)
        if not restarts[:n_entities].any():
            return restarts[n_entities:]
        return visits(self.adjacency, restarts, self.settings.damping)[n_entities:]

    def restarts(self, vector: ndarray, facts: Telling | None = None) -> ndarray:
        """How often the walk restarts where, (entities + passages,), up to a factor."""
        likeness = spread(vector[None] @ self.vectors.T)[0]
        if facts is None:
            facts = self.telling_facts(vector)
        of_entities = self.named(facts)
        return np.concatenate([of_entities, self.settings.passage_weight * likeness])

    def named(self, facts: Telling) -> ndarray:
        """What the facts that tell of the query give to their ends, (entities,)."""
        n = len(self.facts.entities)
        ends = self.facts.ends[facts.rows].ravel()
        weights = np.repeat(facts.weights, 2) / self.n_passages[ends]

        times = np.maximum(np.bincount(ends, minlength=n), 1)
        of_entities = np.bincount(ends, weights, minlength=n) / times
        lowest = np.argsort(-of_entities, kind="stable")[self.settings.entities :]
        of_entities[lowest] = 0
        return of_entities

    def telling_facts(self, vector: ndarray) -> Telling:
        """The facts nearest to a unit vector, at whose ends the walk restarts."""
        if not len(self.facts.entities):
            return Telling(np.zeros(0, int), np.zeros(0))
        likeness = spread(vector[None] @ self.fact_vectors.T)[0]
        nearest = np.argsort(-likeness, kind="stable")[: self.settings.facts]
        return Telling(nearest, likeness[nearest])
