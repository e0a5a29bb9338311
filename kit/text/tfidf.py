"""TF-IDF: search, and the keywords that connect passages (kgp.txt §3)."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer, TfidfVectorizer

from kit.corpus import Corpus
from kit.text.entities import (
    STOP_WORDS,
    BipartiteIncidence,
    SurfaceMatcher,
    fold,
    is_name,
    without_qualifier,
)


class TfidfIndex:
    """Passages by the cosine of their TF-IDF vectors with the query's."""

    def __init__(self, corpus: Corpus) -> None:
        self.vectorizer = TfidfVectorizer(
            stop_words=sorted(STOP_WORDS), sublinear_tf=True, dtype=np.float32
        )
        try:
            self.passages = self.vectorizer.fit_transform(
                [passage.full_text for passage in corpus.passages]
            )
        except ValueError:  # not a word in any
            self.passages = None

    def scores(self, texts: Sequence[str]) -> np.ndarray:
        """Cosines of shape (texts, passages)."""
        if self.passages is None:
            return np.zeros((len(texts), 0), np.float32)
        return (self.vectorizer.transform(texts) @ self.passages.T).toarray()

    def nearest(self, texts: Sequence[str], k: int) -> list[list[int]]:
        """The rows of the k passages nearest to each text, best first; of equal scores the lower row first."""
        return [np.argsort(-self.scores([text])[0], kind="stable")[:k].tolist() for text in texts]


def keywords(corpus: Corpus, n: int) -> BipartiteIncidence:
    """Passages and the TF-IDF keywords of their documents (kgp.txt §3, "TF-IDF KG Construction").

    The keywords of a document are its ``n`` terms of one or two words with the highest TF-IDF; stop words are no terms,
    nor is a term of a single passage, which could connect nothing. A passage holds those keywords of its document that
    occur in it. Titles are keywords too, of the passages that mention them and of the one that opens their document
    (the paper adds "the document title", which given to all would make a clique of every document).
    """
    counter = CountVectorizer(
        stop_words=sorted(STOP_WORDS), ngram_range=(1, 2), min_df=2, dtype=np.int32
    )
    try:
        counts = sparse.csr_array(
            counter.fit_transform([passage.text for passage in corpus.passages])
        )
        terms = counter.get_feature_names_out().astype(object)
    except ValueError:  # no term in two passages
        counts, terms = sparse.csr_array((len(corpus), 0), dtype=np.int32), np.zeros(0, object)

    documents = corpus.documents.values()
    rows, starts = (
        np.concatenate([*documents, np.zeros(0, int)]),
        np.cumsum([0, *map(len, documents)]),
    )
    belongs = sparse.csr_array(
        (np.ones(len(rows), np.int32), rows, starts), (len(documents), len(corpus))
    )
    weights = belongs @ counts
    if weights.nnz:
        weights = TfidfTransformer(sublinear_tf=True).fit_transform(weights).tocsr()
    chosen = np.zeros(len(weights.data), np.float32)
    for start, end in pairwise(weights.indptr):  # of equal weights, the first
        chosen[start + np.argsort(-weights.data[start:end], kind="stable")[:n]] = 1
    mask = sparse.csr_array((chosen, weights.indices, weights.indptr), shape=weights.shape)
    mask.eliminate_zeros()
    held = sparse.csr_array((belongs.T.astype(np.float32) @ mask).multiply(counts > 0))
    titles = _titles(corpus)
    both = sparse.csr_array(sparse.hstack([held, titles.matrix], format="csr"))
    return BipartiteIncidence(both, np.concatenate([terms, titles.terms])).connecting()


def _titles(corpus: Corpus) -> BipartiteIncidence:
    names = [fold(without_qualifier(passage.title)) for passage in corpus.passages]
    column = {name: number for number, name in enumerate(sorted(set(filter(is_name, names))))}
    mentions, entries = SurfaceMatcher(column), []
    for row, (passage, name) in enumerate(zip(corpus.passages, names)):
        held = {surface for _, surface in mentions.find(passage.text)}
        if passage.position == 0 and name in column:
            held.add(name)
        entries += ((row, column[surface], 1.0) for surface in held)
    return BipartiteIncidence.from_entries(entries, list(column), len(corpus))
