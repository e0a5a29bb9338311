"""Retrieval by the cosine of sentence vectors."""

from __future__ import annotations

from collections.abc import Sequence

from kit.corpus import Corpus, Query
from kit.retrievers.base import Ranking, Retriever, ranking_from_rows
from kit.settings import Settings
from kit.text import DEFAULT_ENCODER, Encoder, NearestNeighbours


class Dense(Retriever):
    """The passages whose vectors are nearest to the query's; exact search (faiss)."""

    name = "dense"
    indexed_by = ("encoder",)

    class Settings(Settings, frozen=True):
        encoder: str = DEFAULT_ENCODER

    #: The encoder that training left, where there was any.
    learned: Encoder | None = None

    def index(self, corpus: Corpus) -> None:
        self.corpus, self.encoder = corpus, self.learned or Encoder(self.settings.encoder)
        self.vectors = self.encoder.encode([passage.full_text for passage in corpus.passages])
        self.nearest = NearestNeighbours(self.vectors)

    def retrieve_many(self, queries: Sequence[Query], k: int) -> list[Ranking]:
        if not queries:
            return []
        vectors = self.encoder.encode([query.text for query in queries], role="query", progress=len(queries) > 64)
        scores, rows = self.nearest.search(vectors, k)
        return [ranking_from_rows(self.corpus, row, score) for row, score in zip(rows, scores)]
