"""KNN as kgp.txt compares it (8.2): half by the cosine of vectors, half by edit distance to the question."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from kit.corpus import Corpus, Query
from kit.retrievers.base import Ranking, ranking_from_rows
from kit.retrievers.dense import Dense
from kit.retrievers.rgnn_ret import round_robin


class KNN(Dense):
    """The nearest by vector and the nearest by Levenshtein distance, in turn; scores are 1 / place.

    The paper takes 15 of each and does not say in which order (kgp-i21). Edit distance to a question favours short
    passages: :class:`Dense` is the half that means something.
    """

    name = "knn"

    def index(self, corpus: Corpus) -> None:
        super().index(corpus)
        self._texts = [passage.full_text for passage in corpus.passages]

    def retrieve_many(self, queries: Sequence[Query], k: int) -> list[Ranking]:
        distances = cdist([query.text for query in queries], self._texts, scorer=Levenshtein.distance, dtype=np.int32)
        found = []
        for ranking, distance in zip(super().retrieve_many(queries, k), distances):
            near = np.array([self.corpus.row[id] for id in ranking.ids], int)
            rows = round_robin([near, np.argsort(distance, kind="stable")[: len(near)]])
            found.append(ranking_from_rows(self.corpus, rows, 1 / np.arange(1, len(rows) + 1)))
        return found
