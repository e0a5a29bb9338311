"""The baselines: search by words or by sentence vectors, KNN of KGP, and the oracle."""

import bm25s
import numpy as np
import Stemmer
from numpy import ndarray
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from kit.corpus import Corpus, GoldQuery
from kit.corpus.types import Queries
from kit.methods.base import (
    EMPTY,
    Ranking,
    Rankings,
    Retriever,
    ranking_from_order,
    ranking_from_scores,
    round_robin,
)
from kit.text import ENCODER_SETTINGS, Encoder, EncoderSettings, NearestNeighbours, TfidfIndex

PROGRESS_FROM = 65  # queries: fewer are encoded in a moment, and no progress is shown


class BM25(Retriever):
    """Okapi BM25 over stemmed words without stop words.

    As bm25s computes it: Lucene's variant, with k1 = 1.5 and b = 0.75.
    """

    name = "bm25"

    def index(self, corpus: Corpus) -> None:
        super().index(corpus)
        self._stemmer = Stemmer.Stemmer("english")
        self._bm25 = bm25s.BM25()
        tokens = self._tokenize([passage.full_text for passage in corpus.passages])
        self._has_words = bool(tokens.vocab)
        if self._has_words:
            self._bm25.index(tokens, show_progress=False)

    def rank(self, queries: Queries, k: int) -> Rankings:
        rankings = []
        for words in self._tokenize([query.text for query in queries], return_ids=False):
            scores = np.zeros(len(self.corpus), np.float32)
            if words and self._has_words:  # bm25s has no scores otherwise
                scores = self._bm25.get_scores(words)
            rankings.append(_of_matching(self.corpus, scores, k))
        return rankings

    def _tokenize(
        self, texts: list[str], return_ids: bool = True
    ) -> bm25s.tokenization.Tokenized | list[list[str]]:
        return bm25s.tokenize(
            texts,
            stopwords="en",
            stemmer=self._stemmer,
            return_ids=return_ids,
            show_progress=False,
        )


class Tfidf(Retriever):
    """The cosine of TF-IDF vectors (scikit-learn), by which KGP finds its seeds (KGP §4)."""

    name = "tfidf"

    def index(self, corpus: Corpus) -> None:
        super().index(corpus)
        self._index = TfidfIndex(corpus)

    def rank(self, queries: Queries, k: int) -> Rankings:
        scores = (self._index.scores([query.text])[0] for query in queries)
        return [_of_matching(self.corpus, of_query, k) for of_query in scores]


def _of_matching(corpus: Corpus, scores: ndarray, k: int) -> Ranking:
    """The passages that match best by words; none where no passage has one of the query's."""
    return ranking_from_scores(corpus, scores, k) if scores.any() else EMPTY


class Dense(Retriever):
    """The passages whose vectors are nearest to the query's; exact search (faiss)."""

    name = "dense"
    index_settings = ENCODER_SETTINGS
    Settings = EncoderSettings
    learned: Encoder | None = None

    def index(self, corpus: Corpus) -> None:
        super().index(corpus)
        self.encoder = self.learned or Encoder(**self.settings.of_encoder())
        self.vectors = self.encoder.encode([passage.full_text for passage in corpus.passages])
        self.nearest = NearestNeighbours(self.vectors)

    def rank(self, queries: Queries, k: int) -> Rankings:
        scores, rows = self.nearest.search(self.encoded(queries), k)
        return [Ranking(self.ids(row), score) for row, score in zip(rows, scores)]

    def encoded(self, queries: Queries) -> ndarray:
        """Unit vectors (queries, dimension)."""
        vectors = self.encoder.encode(
            [query.text for query in queries],
            role="query",
            progress=len(queries) >= PROGRESS_FROM,
        )
        return vectors.reshape(-1, self.vectors.shape[1])  # of no query, too


class KNN(Dense):
    """The nearest by vector and the nearest by Levenshtein distance, in turn; scores are 1 / rank.

    The paper takes 15 of each and does not say in which order (kgp-i21). Edit distance favours
    short passages.
    """

    name = "knn"

    def rank(self, queries: Queries, k: int) -> Rankings:
        distances = cdist(
            [query.text for query in queries],
            [passage.full_text for passage in self.corpus.passages],
            scorer=Levenshtein.distance,
            dtype=np.int32,
        )
        rankings = []
        for ranking, distance in zip(super().rank(queries, k), distances):
            rows = np.argsort(distance, kind="stable")[: len(ranking.ids)]
            merged = round_robin([ranking.ids, self.ids(rows)])
            rankings.append(ranking_from_order(merged))
        return rankings


class Golden(Tfidf):
    """The gold supports in reasoning order, where a query has any, then the others by TF-IDF.

    Scores are 1 / rank.
    """

    name = "golden"
    sees_gold = True

    def rank(self, queries: Queries, k: int) -> Rankings:
        rankings = []
        for query, ranking in zip(queries, super().rank(queries, k)):
            gold = query.question.supporting_ids if isinstance(query, GoldQuery) else ()
            present = [passage for passage in gold if passage in self.corpus]
            ids = dict.fromkeys([*present, *ranking.ids])
            rankings.append(ranking_from_order(list(ids)[:k]))
        return rankings
