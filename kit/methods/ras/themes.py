"""Theme scoping: which part of a corpus is searched for a sub-question (RAS §3.2.1, C.1).

The paper's symbols and the names here: PPD is a ``profile``, C_PPD ``profiles``, f_cls
``classifier``, f_shift ``shifter``, K/N ``share``.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch
from numpy import ndarray
from torch import Tensor, nn

from kit.corpus import Corpus
from kit.corpus.sentences import split_sentences
from kit.errors import InputError

#: Broad classes of DBpedia's ontology, each with words that say so (the paper's are all 298).
THEMES: dict[str, str] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
SHIFTER = (512, 256)  # units of its hidden layers, as Appendix C.1 has them
EPOCHS = 30  # of its training …
BATCH = 32  # … pairs per step …
RATE = 1e-3  # … and the learning rate
STRENGTH = 30  # of what is learned against what keeps weights small
LEAST = 5  # passages that a theme is learned from


class Themes:
    """Profiles, probabilities of shape (texts, themes), of a corpus and of queries over ``themes``.

    Labels are no part of a corpus: a passage is labelled with the themes whose words its first
    sentence has ("… is a river in …"). From these the classifier f_cls learns, a linear layer on
    sentence vectors; from pairs of queries and their passages, the shifter f_shift. Raises
    :class:`InputError` where a corpus has no theme.
    """

    shifter = None

    def __init__(
        self,
        corpus: Corpus,
        vectors: ndarray,
        themes: Mapping[str, str] = THEMES,
    ) -> None:
        from sklearn.linear_model import LogisticRegression
        from sklearn.multiclass import OneVsRestClassifier

        labels = labels_of(corpus, themes)
        kept = labels.sum(0) >= LEAST
        self.names = tuple(name for name, is_kept in zip(themes, kept) if is_kept)
        self.labels = labels[:, kept]
        if not self.names:
            raise InputError(
                f"expected {LEAST} passages or more of a theme, by which a search is scoped "
                "(scope=1 searches the whole corpus)",
                field="scope",
            )

        labelled = self.labels.any(1)
        self.classifier = OneVsRestClassifier(LogisticRegression(C=STRENGTH)).fit(
            vectors[labelled], self.labels[labelled]
        )
        self.profiles = self.profile(vectors)

    def profile(self, vectors: ndarray) -> ndarray:
        """Eq. 3: the profiles of texts by their vectors, normalised to sum 1 (ras-i05)."""
        strengths = self.classifier.predict_proba(vectors)
        return strengths / np.maximum(strengths.sum(1, keepdims=True), 1e-15)

    def fit(
        self,
        queries: ndarray,
        passages: ndarray,
        *,
        from_vectors: bool = False,
        seed: int = 0,
    ) -> None:
        """Learn to shift (Eq. 4) from vectors of queries, and of a passage for each, of any corpus.

        By the KL divergence, with AdamW, as in Appendix C.1. ``from_vectors`` leaves the query's
        own profile out.
        """
        from torch_geometric.nn import MLP

        self.from_vectors = from_vectors
        given = self._shifter_input(queries)
        wanted = torch.tensor(self.profile(passages), dtype=torch.float)
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            sizes = [given.shape[1], *SHIFTER, len(self.names)]
            shifter = nn.Sequential(MLP(sizes, dropout=0.2, norm=None), nn.LogSoftmax(1))
            optimiser = torch.optim.AdamW(
                shifter.parameters(),
                RATE,
                weight_decay=0.01,
            )
            for _ in range(EPOCHS):
                for rows in torch.randperm(len(given)).split(BATCH):
                    loss = nn.functional.kl_div(
                        shifter(given[rows]),
                        wanted[rows],
                        reduction="batchmean",
                    )
                    optimiser.zero_grad()
                    loss.backward()
                    optimiser.step()
        self.shifter = shifter.eval()

    def _shifter_input(self, queries: ndarray) -> Tensor:
        features = queries if self.from_vectors else self.profile(queries)
        return torch.tensor(features, dtype=torch.float)

    def shifted(self, queries: ndarray) -> ndarray:
        """Eq. 4: the profiles that passages for these queries are expected to have.

        Before :meth:`fit` they are the queries' own.
        """
        if self.shifter is None:
            return self.profile(queries)
        with torch.no_grad():
            return self.shifter(self._shifter_input(queries)).exp().numpy()

    def scoped(self, queries: ndarray, share: float) -> ndarray:
        """Eq. 5: which passages are in the scope of each query, the nearest ``share``.

        Of shape (queries, passages).
        """
        from sklearn.metrics.pairwise import euclidean_distances

        distances = euclidean_distances(self.shifted(queries), self.profiles)
        last = max(1, round(share * len(self.profiles))) - 1
        return distances <= np.partition(distances, last)[:, last, None]


def labels_of(corpus: Corpus, themes: Mapping[str, str]) -> ndarray:
    """Which themes' words the first sentence of each passage has, (passages, themes)."""
    patterns = []
    for words in themes.values():
        alternatives = "|".join(words.split())
        patterns.append(re.compile(rf"\b(?:{alternatives})s?\b"))

    labels = []
    for passage in corpus.passages:
        first, *_ = split_sentences(passage.text) or [""]
        text = first.lower()
        labels.append([bool(pattern.search(text)) for pattern in patterns])
    return np.array(labels)
