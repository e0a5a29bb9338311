"""RAPTOR: a tree of summaries over the passages, searched on all its levels at once.

Sarthi et al., RAPTOR: Recursive Abstractive Processing for Tree-Organized Retrieval, ICLR 2024.
There a language model writes a summary of each group, and groups come from Gaussian mixtures of
reduced vectors; here a summary is the group's most central sentences, and groups are k-means'.
"""

from typing import Annotated, ClassVar, NamedTuple

import msgspec
import numpy as np
from numpy import ndarray
from sklearn.cluster import KMeans

from kit.corpus import Corpus
from kit.corpus.sentences import split_sentences
from kit.corpus.types import Queries, Texts
from kit.methods.base import Rankings, ranking_from_order
from kit.methods.baselines.classic import Dense
from kit.settings import Positive
from kit.text import ENCODER_SETTINGS


class Summary(NamedTuple):
    """A node above the passages: the rows of those below it, and its sentences as one text."""

    rows: ndarray
    text: str


class Raptor(Dense):
    """The nodes of the collapsed tree nearest to the query; a summary stands for its passages.

    Passages and summaries are ranked together by cosine. A summary brings those of its passages
    that are not ranked yet, ``brought`` at most and the nearest first, since it is passages that
    are counted here; the paper gives its text to the reader.
    """

    name = "raptor"
    index_settings = (*ENCODER_SETTINGS, "group", "sentences")

    class Settings(Dense.Settings, frozen=True):
        group: Annotated[int, msgspec.Meta(ge=2), "nodes under a summary, on average"] = 8
        sentences: Annotated[Positive, "of a summary"] = 4
        brought: Annotated[Positive, "passages that a summary brings into the ranking"] = 2

    ranges: ClassVar = {"brought": 8}

    def index(self, corpus: Corpus) -> None:
        super().index(corpus)
        rows = [np.array([row]) for row in range(len(corpus))]
        texts = [passage.full_text for passage in corpus.passages]
        vectors = self.vectors
        self.summaries = []
        of_summaries = [np.zeros((0, vectors.shape[1]), vectors.dtype)]
        while len(texts) > self.settings.group:
            level = self._summarised(rows, texts, vectors)
            rows = [summary.rows for summary in level]
            texts = [summary.text for summary in level]
            vectors = self.encoder.encode(texts)
            self.summaries += level
            of_summaries.append(vectors)
        self.summary_vectors = np.concatenate(of_summaries)

    def _summarised(self, rows: list[ndarray], texts: Texts, vectors: ndarray) -> list[Summary]:
        """The level above nodes with these passages, texts and vectors (nodes, dimension)."""
        groups = KMeans(-(-len(texts) // self.settings.group), n_init=1, random_state=0)
        labels = groups.fit_predict(vectors)
        level = []
        for label in np.unique(labels):
            members = np.flatnonzero(labels == label)
            below = np.concatenate([rows[member] for member in members])
            sentences = [part for member in members for part in split_sentences(texts[member])]
            level.append(Summary(below, self._central(sentences)))
        return level

    def _central(self, sentences: Texts) -> str:
        """The sentences that are nearest to the mean of all, in their order."""
        vectors = self.encoder.encode(sentences, progress=False)
        centrality = vectors @ vectors.mean(axis=0)
        nearest = np.argsort(-centrality, kind="stable")[: self.settings.sentences]
        return " ".join(sentences[row] for row in sorted(nearest))

    def rank(self, queries: Queries, k: int) -> Rankings:
        rankings = []
        for vector in self.encoded(queries):
            rows = self._collapsed(vector, k)
            rankings.append(ranking_from_order(self.ids(rows)))
        return rankings

    def _collapsed(self, vector: ndarray, k: int) -> list[int]:
        """The first ``k`` passages by the tree for a unit vector."""
        likeness = self.vectors @ vector
        n = len(likeness)
        cosines = np.concatenate([likeness, self.summary_vectors @ vector])
        ranked = {}
        for node in np.argsort(-cosines, kind="stable").tolist():
            if node < n:
                ranked[node] = None
            else:
                below = self.summaries[node - n].rows
                others = [row for row in below.tolist() if row not in ranked]
                others.sort(key=lambda row: (-likeness[row], row))
                ranked |= dict.fromkeys(others[: self.settings.brought])
            if len(ranked) >= k:
                break
        return list(ranked)[:k]
