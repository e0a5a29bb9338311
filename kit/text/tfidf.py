"""TF-IDF: search, and the keywords that connect passages (KGP §3)."""

from itertools import pairwise

import numpy as np
from numpy import ndarray
from scipy.sparse import csr_array, hstack

from kit import timer
from kit.corpus import Corpus
from kit.corpus.types import Texts
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
        from sklearn.feature_extraction.text import TfidfVectorizer  # takes two seconds

        self.vectorizer = TfidfVectorizer(
            stop_words=sorted(STOP_WORDS),
            sublinear_tf=True,
            dtype=np.float32,
        )
        self.n_passages = len(corpus)
        texts = [passage.full_text for passage in corpus.passages]
        try:
            self.passages = self.vectorizer.fit_transform(texts)  # (passages, terms)
        except ValueError:  # not a word in any
            self.passages = None

    @timer.part("seeding")
    def scores(self, texts: Texts) -> ndarray:
        """Cosines of shape (texts, passages)."""
        if self.passages is None:
            return np.zeros((len(texts), self.n_passages), np.float32)
        queries = self.vectorizer.transform(texts)  # (texts, terms)
        return (queries @ self.passages.T).toarray()

    def nearest(self, texts: Texts, k: int) -> list[list[int]]:
        """The rows of the k passages nearest to each text, as :func:`matching_rows` has them."""
        scores = (self.scores([text])[0] for text in texts)
        return [matching_rows(of_text, k).tolist() for of_text in scores]


def best_rows(scores: ndarray, k: int) -> ndarray:
    """The rows of the k highest of some scores (passages,), best first.

    Equal scores stand in corpus order, whatever the sort.
    """
    k = min(k, len(scores))
    if not k:
        return np.zeros(0, int)
    kth_best = np.partition(scores, -k)[-k]
    candidates = np.flatnonzero(scores >= kth_best)
    return candidates[np.argsort(-scores[candidates], kind="stable")][:k]


def matching_rows(scores: ndarray, k: int) -> ndarray:
    """The :func:`best_rows` of a search by words.

    A text that shares no word with any passage finds none: all scores are 0 then, and the order of
    the corpus says nothing. Where some passages match, the others follow.
    """
    if not scores.any():
        return np.zeros(0, int)
    return best_rows(scores, k)


def keywords(corpus: Corpus, n: int, titles: bool = True) -> BipartiteIncidence:
    """Passages and the TF-IDF keywords of their documents (KGP §3, "TF-IDF KG Construction").

    The keywords of a document are its ``n`` terms of one or two words with the highest TF-IDF. Stop
    words are no terms, nor is a term of a single passage, which could connect nothing. A passage
    holds those keywords of its document that occur in it. Titles are keywords too, of the passages
    that mention them and of the one that opens their document (the paper adds "the document title",
    which given to all would make a clique of every document); without ``titles`` they are not.
    """
    from sklearn.feature_extraction.text import TfidfTransformer

    counts, terms = _count_terms(corpus)

    # Which passages a document has, as ones: (documents, passages).
    documents = corpus.documents.values()
    rows = np.concatenate([*documents, np.zeros(0, int)])
    starts = np.cumsum([0, *map(len, documents)])
    membership = csr_array(
        (np.ones_like(rows, np.int32), rows, starts),
        shape=(len(documents), len(corpus)),
    )

    weights = membership @ counts  # (documents, terms)
    if weights.nnz:
        weights = TfidfTransformer(sublinear_tf=True).fit_transform(weights).tocsr()

    of_document = membership.T.astype(np.float32) @ _largest(weights, n)
    held = of_document.multiply(counts > 0)  # (passages, terms)
    incidence = BipartiteIncidence(csr_array(held), terms)
    if titles:
        of_titles = _titles(corpus)
        incidence = BipartiteIncidence(
            hstack([held, of_titles.matrix], format="csr"),
            np.concatenate([terms, of_titles.terms]),
        )
    return incidence.connecting()


def _count_terms(corpus: Corpus) -> tuple[csr_array, ndarray]:
    """How often each passage has each term, (passages, terms); and the terms."""
    from sklearn.feature_extraction.text import CountVectorizer

    counter = CountVectorizer(
        stop_words=sorted(STOP_WORDS),
        ngram_range=(1, 2),
        min_df=2,
        dtype=np.int32,
    )
    try:
        counts = counter.fit_transform([passage.text for passage in corpus.passages])
    except ValueError:  # no term in two passages
        return csr_array((len(corpus), 0), dtype=np.int32), np.zeros(0, object)
    return csr_array(counts), counter.get_feature_names_out().astype(object)


def _largest(weights: csr_array, n: int) -> csr_array:
    """Ones where the ``n`` largest weights of each row stand; of equal ones, the first."""
    chosen = np.zeros_like(weights.data, np.float32)
    for start, end in pairwise(weights.indptr):
        order = np.argsort(-weights.data[start:end], kind="stable")
        chosen[start + order[:n]] = 1
    mask = csr_array(
        (chosen, weights.indices, weights.indptr),
        shape=weights.shape,
    )
    mask.eliminate_zeros()
    return mask


def _titles(corpus: Corpus) -> BipartiteIncidence:
    """Passages and the titles that they mention, or whose document they open."""
    names = [fold(without_qualifier(passage.title)) for passage in corpus.passages]
    titles = sorted(set(filter(is_name, names)))
    column = {title: index for index, title in enumerate(titles)}

    matcher = SurfaceMatcher(column)
    entries = []
    for row, passage in enumerate(corpus.passages):
        held = {surface for _, surface in matcher.find(passage.text)}
        if passage.position == 0 and names[row] in column:
            held.add(names[row])
        entries += ((row, column[surface], 1.0) for surface in held)
    return BipartiteIncidence.from_entries(entries, titles, len(corpus))
