"""The baselines: search by words or by sentence vectors, KNN of kgp.txt, and the oracle."""

from collections.abc import Sequence

import bm25s
import numpy as np
import Stemmer
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from kit.corpus import Corpus, GoldQuery, Query
from kit.methods.base import (
    Ranking,
    Retriever,
    ranking_from_order,
    ranking_from_scores,
    round_robin,
)
from kit.settings import BaseSettings
from kit.text import DEFAULT_ENCODER, Encoder, NearestNeighbours, TfidfIndex


class BM25(Retriever):
    """Okapi BM25 as bm25s computes it (Lucene's variant, k1 = 1.5, b = 0.75), over stemmed words without stop words."""

    name = "bm25"

    def index(self, corpus: Corpus) -> None:
        self.corpus = corpus
        self._stemmer = Stemmer.Stemmer("english")
        self._bm25 = bm25s.BM25()
        self._bm25.index(
            self._tokenize([passage.full_text for passage in corpus.passages]), show_progress=False
        )

    def rank(self, queries: Sequence[Query], k: int) -> list[Ranking]:
        tokens = self._tokenize([query.text for query in queries], return_ids=False)
        none = np.zeros(len(self.corpus), np.float32)  # bm25s scores no query without words
        scores = [self._bm25.get_scores(words) if words else none for words in tokens]
        return [ranking_from_scores(self.corpus, each, k) for each in scores]

    def _tokenize(
        self, texts: list[str], return_ids: bool = True
    ) -> bm25s.tokenization.Tokenized | list[list[str]]:
        return bm25s.tokenize(
            texts, stopwords="en", stemmer=self._stemmer, return_ids=return_ids, show_progress=False
        )


class Tfidf(Retriever):
    """The cosine of TF-IDF vectors (scikit-learn): the search that finds KGP's seeds (kgp.txt §4)."""

    name = "tfidf"

    def index(self, corpus: Corpus) -> None:
        self.corpus = corpus
        self._index = TfidfIndex(corpus)

    def rank(self, queries: Sequence[Query], k: int) -> list[Ranking]:
        return [
            ranking_from_scores(self.corpus, self._index.scores([query.text])[0], k)
            for query in queries
        ]


class Dense(Retriever):
    """The passages whose vectors are nearest to the query's; exact search (faiss)."""

    name = "dense"
    index_settings = ("encoder",)

    class Settings(BaseSettings, frozen=True):
        encoder: str = DEFAULT_ENCODER

    learned: Encoder | None = None

    def index(self, corpus: Corpus) -> None:
        self.corpus, self.encoder = corpus, self.learned or Encoder(self.settings.encoder)
        self.vectors = self.encoder.encode([passage.full_text for passage in corpus.passages])
        self.nearest = NearestNeighbours(self.vectors)

    def rank(self, queries: Sequence[Query], k: int) -> list[Ranking]:
        scores, rows = self.nearest.search(self.encoded(queries), k)
        return [Ranking(self.ids(row), score) for row, score in zip(rows, scores)]

    def encoded(self, queries: Sequence[Query]) -> np.ndarray:
        vectors = self.encoder.encode(
            [query.text for query in queries], role="query", progress=len(queries) > 64
        )
        return vectors.reshape(-1, self.vectors.shape[1])  # of no query, too


class KNN(Dense):
    """The nearest by vector and the nearest by Levenshtein distance, in turn; scores are 1 / place.

    The paper takes 15 of each and does not say in which order (kgp-i21). Edit distance favours short passages.
    """

    name = "knn"

    def rank(self, queries: Sequence[Query], k: int) -> list[Ranking]:
        texts = [passage.full_text for passage in self.corpus.passages]
        distances = cdist(
            [query.text for query in queries], texts, scorer=Levenshtein.distance, dtype=np.int32
        )
        found = []
        for ranking, distance in zip(super().rank(queries, k), distances):
            near = self.ids(np.argsort(distance, kind="stable")[: len(ranking.ids)])
            found.append(ranking_from_order(round_robin([ranking.ids, near])))
        return found


class Golden(Tfidf):
    """The gold supports, where a query has any, in reasoning order, then the others by TF-IDF; scores are 1 / place."""

    name = "golden"
    sees_gold = True

    def rank(self, queries: Sequence[Query], k: int) -> list[Ranking]:
        found = []
        for query, ranking in zip(queries, super().rank(queries, k)):
            gold = query.question.supporting_ids if isinstance(query, GoldQuery) else ()
            ids = dict.fromkeys([*(id for id in gold if id in self.corpus), *ranking.ids])
            found.append(ranking_from_order(list(ids)[:k]))
        return found
