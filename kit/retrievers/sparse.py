"""Retrieval by words: BM25 and TF-IDF."""

from __future__ import annotations

from collections.abc import Sequence

import bm25s
import numpy as np
import Stemmer

from kit.corpus import Corpus, Query
from kit.retrievers.base import Ranking, Retriever, ranking_from_scores
from kit.text import TfidfIndex


class BM25(Retriever):
    """Okapi BM25 as bm25s computes it (Lucene's variant, k1 = 1.5, b = 0.75), over stemmed words without stop words."""

    name = "bm25"

    def index(self, corpus: Corpus) -> None:
        self.corpus = corpus
        self._stemmer = Stemmer.Stemmer("english")
        self._bm25 = bm25s.BM25()
        self._bm25.index(self._tokenize([passage.full_text for passage in corpus.passages]), show_progress=False)

    def retrieve_many(self, queries: Sequence[Query], k: int) -> list[Ranking]:
        tokens = self._tokenize([query.text for query in queries], return_ids=False)
        return [ranking_from_scores(self.corpus, self._scores(words), k) for words in tokens]

    def _scores(self, words: list[str]) -> np.ndarray:
        # bm25s scores no query without words: nothing matches it.
        return self._bm25.get_scores(words) if words else np.zeros(len(self.corpus), np.float32)

    def _tokenize(self, texts: list[str], return_ids: bool = True) -> bm25s.tokenization.Tokenized | list[list[str]]:
        return bm25s.tokenize(texts, stopwords="en", stemmer=self._stemmer, return_ids=return_ids, show_progress=False)


class Tfidf(Retriever):
    """The cosine of TF-IDF vectors (scikit-learn): the search that finds KGP's seeds (kgp.txt §4)."""

    name = "tfidf"

    def index(self, corpus: Corpus) -> None:
        self.corpus = corpus
        self._index = TfidfIndex(corpus)

    def retrieve_many(self, queries: Sequence[Query], k: int) -> list[Ranking]:
        return [ranking_from_scores(self.corpus, self._index.scores([query.text])[0], k) for query in queries]
