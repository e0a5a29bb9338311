"""Theme scoping: which part of a corpus is searched for a sub-question (ras.txt §3.2.1, Eqs. 3 to 5; Appendix C.1)."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from kit.corpus import Corpus
from kit.corpus.sentences import split_sentences

#: What passages may be about: classes of DBpedia's ontology, from whose 298 the paper's classifier learned.
THEMES = tuple(
    "actor album architect artist athlete award band bridge building church city composer company country film "
    "footballer magazine mountain museum musician novel organisation player politician region river school scientist "
    "series settlement singer song stadium station team tower town university village war writer".split()
)
HIDDEN, SHIFTER = (512,), (512, 256)  # units of hidden layers, as Appendix C.1 has them
LEAST = 5  # passages that a theme is learned from


class Themes:
    """Profiles, probabilities of shape (texts, themes), of a corpus and of queries; ``names`` are words for themes.

    Labels are no part of a corpus: a passage is labelled with the themes that its first sentence names ("… is a river
    in …"). From these the classifier f_cls learns, on sentence vectors; from pairs of queries and their passages, the
    shifter f_shift. Scikit-learn's networks stand for the paper's; the shifter learns by squared error, whose best
    guess is the mean profile that Eq. 5 then seeks by L2 distance, where the paper takes the KL divergence.
    """

    def __init__(self, corpus: Corpus, vectors: np.ndarray, names: Sequence[str] = THEMES, seed: int = 0) -> None:
        from sklearn.neural_network import MLPClassifier

        first = [(split_sentences(passage.text) or [""])[0].lower() for passage in corpus.passages]
        labels = np.array([[bool(re.search(rf"\b{re.escape(name)}s?\b", text)) for name in names] for text in first])
        kept = labels.sum(0) >= LEAST
        self.names = tuple(name for name, enough in zip(names, kept) if enough)
        self.labels = labels[:, kept]
        known = self.labels.any(1)
        self.classifier = MLPClassifier(HIDDEN, early_stopping=True, max_iter=100, random_state=seed)
        self.classifier.fit(vectors[known], self.labels[known])
        self.profiles = self.of(vectors)
        self.shifter = None

    def of(self, vectors: np.ndarray) -> np.ndarray:
        """Eq. 3: the profiles of texts by their vectors, normalised to sum 1 (ras-i05)."""
        found = self.classifier.predict_proba(vectors)
        return found / np.maximum(found.sum(1, keepdims=True), 1e-15)

    def fit(self, queries: np.ndarray, rows: Sequence[int], *, from_vectors: bool = False, seed: int = 0) -> None:
        """Learn to shift (Eq. 4) from the vectors of queries and the row of the passage that belongs to each."""
        from sklearn.neural_network import MLPRegressor

        self.shifter, self.from_vectors = MLPRegressor(SHIFTER, early_stopping=True, random_state=seed), from_vectors
        self.shifter.fit(queries if from_vectors else self.of(queries), self.profiles[rows])

    def shifted(self, queries: np.ndarray) -> np.ndarray:
        """Eq. 4: the profiles that passages for these queries are expected to have; unshifted before :meth:`fit`."""
        if self.shifter is None:
            return self.of(queries)
        return self.shifter.predict(queries if self.from_vectors else self.of(queries))

    def scoped(self, queries: np.ndarray, share: float) -> np.ndarray:
        """Eq. 5: which passages are within the scope of each query, (queries, passages): the nearest ``share``."""
        from sklearn.metrics.pairwise import euclidean_distances

        distances = euclidean_distances(self.shifted(queries), self.profiles)
        k = max(1, round(share * len(self.profiles)))
        return distances <= np.partition(distances, k - 1)[:, k - 1 : k]
