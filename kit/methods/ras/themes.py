"""Theme scoping: which part of a corpus is searched for a sub-question (ras.txt §3.2.1, Eqs. 3 to 5; Appendix C.1)."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from kit.corpus import Corpus
from kit.corpus.sentences import split_sentences

#: Broad classes of DBpedia's ontology (the paper's classifier learned all 298), each with words that say so.
THEMES: dict[str, str] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
SHIFTER = (512, 256)  # units of its hidden layers, as Appendix C.1 has them
EPOCHS = 30  # of its training
STRENGTH = 30  # of what is learned against what keeps weights small
LEAST = 5  # passages that a theme is learned from


class Themes:
    """Profiles, probabilities of shape (texts, themes), of a corpus and of queries over ``themes``.

    Labels are no part of a corpus: a passage is labelled with the themes whose words its first sentence has ("… is a
    river in …"). From these the classifier f_cls learns, a linear layer on sentence vectors; from pairs of queries and
    their passages, the shifter f_shift.
    """

    def __init__(
        self, corpus: Corpus, vectors: np.ndarray, themes: Mapping[str, str] = THEMES
    ) -> None:
        from sklearn.linear_model import LogisticRegression
        from sklearn.multiclass import OneVsRestClassifier

        first = [(split_sentences(passage.text) or [""])[0].lower() for passage in corpus.passages]
        patterns = [
            re.compile(rf"\b(?:{'|'.join(words.split())})s?\b") for words in themes.values()
        ]
        labels = np.array([[bool(pattern.search(text)) for pattern in patterns] for text in first])
        kept = labels.sum(0) >= LEAST
        self.names = tuple(name for name, enough in zip(themes, kept) if enough)
        self.labels = labels[:, kept]
        known = self.labels.any(1)
        self.classifier = OneVsRestClassifier(LogisticRegression(C=STRENGTH)).fit(
            vectors[known], self.labels[known]
        )
        self.profiles = self.of(vectors)
        self.shifter = None

    def of(self, vectors: np.ndarray) -> np.ndarray:
        """Eq. 3: the profiles of texts by their vectors, normalised to sum 1 (ras-i05)."""
        found = self.classifier.predict_proba(vectors)
        return found / np.maximum(found.sum(1, keepdims=True), 1e-15)

    def fit(
        self,
        queries: np.ndarray,
        passages: np.ndarray,
        *,
        from_vectors: bool = False,
        seed: int = 0,
    ) -> None:
        """Learn to shift (Eq. 4) from the vectors of queries and of the passages that belong to each, of any corpus.

        By the KL divergence, with AdamW, as in Appendix C.1; ``from_vectors`` leaves the query's own profile out.
        """
        import torch
        from torch import nn
        from torch_geometric.nn import MLP

        self.from_vectors = from_vectors
        given = torch.tensor(queries if from_vectors else self.of(queries), dtype=torch.float)
        wanted = torch.tensor(self.of(passages), dtype=torch.float)
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            layers = MLP([given.shape[1], *SHIFTER, len(self.names)], dropout=0.2, norm=None)
            self.shifter = nn.Sequential(layers, nn.LogSoftmax(1))
            adam = torch.optim.AdamW(self.shifter.parameters(), 1e-3, weight_decay=0.01)
            for _ in range(EPOCHS):
                for part in torch.randperm(len(given)).split(32):
                    loss = nn.functional.kl_div(
                        self.shifter(given[part]), wanted[part], reduction="batchmean"
                    )
                    adam.zero_grad()
                    loss.backward()
                    adam.step()
        self.shifter.eval()

    def shifted(self, queries: np.ndarray) -> np.ndarray:
        """Eq. 4: the profiles that passages for these queries are expected to have; unshifted before :meth:`fit`."""
        import torch

        if self.shifter is None:
            return self.of(queries)
        with torch.no_grad():
            return (
                self.shifter(
                    torch.tensor(queries if self.from_vectors else self.of(queries)).float()
                )
                .exp()
                .numpy()
            )

    def scoped(self, queries: np.ndarray, share: float) -> np.ndarray:
        """Eq. 5: which passages are within the scope of each query, (queries, passages): the nearest ``share``."""
        from sklearn.metrics.pairwise import euclidean_distances

        distances = euclidean_distances(self.shifted(queries), self.profiles)
        k = max(1, round(share * len(self.profiles)))
        return distances <= np.partition(distances, k - 1)[:, k - 1 : k]
