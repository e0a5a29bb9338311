"""The oracle that bounds every comparison from above (kgp.txt, Table 1, "Golden")."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kit.corpus import GoldQuery, Query
from kit.retrievers.base import Ranking, ranking_from_rows
from kit.retrievers.sparse import Tfidf


class Golden(Tfidf):
    """The gold supports of the question in reasoning order, then the others by TF-IDF; scores are 1 / place.

    A query without gold fields, such as one that was typed, gets the ranking of TF-IDF.
    """

    name = "golden"
    sees_gold = True

    def retrieve_many(self, queries: Sequence[Query], k: int) -> list[Ranking]:
        return [self._first(query, ranking, k) for query, ranking in zip(queries, super().retrieve_many(queries, k))]

    def _first(self, query: Query, ranking: Ranking, k: int) -> Ranking:
        gold = query.question.supporting_ids if isinstance(query, GoldQuery) else ()
        ids = list(dict.fromkeys([*(id for id in gold if id in self.corpus), *ranking.ids]))[:k]
        rows = np.array([self.corpus.row[id] for id in ids], int)
        return ranking_from_rows(self.corpus, rows, 1 / np.arange(1, len(rows) + 1))
