"""Words of questions and of a graph's nodes, compared by sparse products.

A text is the stems of its words without stop words, as those of ``bm25``. How rare a word is counts
over the passages of a corpus, for names and sentences, too: idf = ln(1 + (N − n + ½) / (n + ½)) of
N passages, n of which hold the word.
"""

from collections.abc import Iterable
from itertools import chain, count

import bm25s
import numpy as np
import Stemmer
from numpy import ndarray
from scipy.sparse import csr_array

from kit.corpus.types import Texts

K1 = 1.5  # of BM25
B = 0.75


class Vocabulary:
    """The words of some passages, and how rare they are."""

    def __init__(self, texts: Texts) -> None:
        self._stemmer = Stemmer.Stemmer("english")
        words = list(map(set, self.stems(texts)))
        distinct = sorted(set().union(*words))
        self.column = dict(zip(distinct, count()))

        columns = map(self.column.get, chain.from_iterable(words))
        n_holding = np.bincount(list(columns), minlength=len(distinct))
        odds = (len(texts) - n_holding + 0.5) / (n_holding + 0.5)
        self.idf = np.log1p(odds).astype(np.float32)

    def stems(self, texts: Texts) -> list[list[str]]:
        """The stems of each text's words, in their order."""
        return bm25s.tokenize(
            list(texts),
            stopwords="en",
            stemmer=self._stemmer,
            return_ids=False,
            show_progress=False,
        )

    def marked(self, text: str) -> ndarray:
        """1 for each word that stands in a text, (words,)."""
        [stems] = self.stems([text])
        marks = np.zeros(len(self.idf), np.float32)
        marks[self._known(stems)] = 1
        return marks

    def counts(self, texts: Texts) -> csr_array:
        """How often each text has each word, (texts, words)."""
        columns = list(map(self._known, self.stems(texts)))
        ends = np.cumsum([0, *map(len, columns)])
        indices = np.fromiter(
            chain.from_iterable(columns),
            np.int32,
            ends[-1],
        )
        counts = csr_array(
            (np.ones(ends[-1], np.float32), indices, ends),
            shape=(len(texts), len(self.column)),
        )
        counts.sum_duplicates()
        return counts

    def _known(self, stems: Iterable[str]) -> list[int]:
        return [self.column[stem] for stem in stems if stem in self.column]


class WordIndex:
    """Texts by their words.

    For a question with the words Q, and a text with the words T and a name with the words A:

    - ``named``: the share of A's idf that A ∩ Q has
    - ``covered``: the share of Q's idf that T ∩ Q has
    - ``bm25``: Lucene's variant, as that of the method ``bm25``
    """

    def __init__(self, vocabulary: Vocabulary, texts: Texts, names: Texts | None = None) -> None:
        idf = vocabulary.idf
        counts = vocabulary.counts(texts)
        lengths = counts.sum(axis=1)
        mean_length = lengths.sum() / max(len(texts), 1)
        relative = lengths / max(mean_length, 1)

        frequency = counts.data
        norm = 1 - B + B * _along(counts, relative)
        saturated = frequency / (frequency + K1 * norm)
        self.idf = _like(counts, idf[counts.indices])
        self.bm25 = _like(counts, self.idf.data * saturated)

        named = self.idf
        if names is not None:
            of_names = vocabulary.counts(names)
            named = _like(of_names, idf[of_names.indices])
        total = named.sum(axis=1)
        self.named = _like(named, named.data / _along(named, total))


def _along(matrix: csr_array, of_rows: ndarray) -> ndarray:
    """Values of rows, for each entry of a matrix that of its row."""
    return np.repeat(of_rows, np.diff(matrix.indptr))


def _like(matrix: csr_array, data: ndarray) -> csr_array:
    """Other values where a matrix has some."""
    return csr_array(
        (data.astype(np.float32), matrix.indices, matrix.indptr),
        shape=matrix.shape,
    )
