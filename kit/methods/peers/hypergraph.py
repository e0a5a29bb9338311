"""Diffusion over a hypergraph: a passage is one edge that joins all names of its facts.

After Zhou, Huang and Schölkopf, Learning with Hypergraphs, NIPS 2006, as HGRAG (2025) and others
retrieve with it. The facts are those of HippoRAG 2, so that pairs of names against passages is all
that differs.
"""

from typing import Annotated, ClassVar

import numpy as np
from numpy import ndarray
from scipy import sparse

from kit.corpus import Corpus
from kit.methods.baselines.pagerank import SMALL, spread
from kit.methods.peers.hipporag2 import HippoRAG2, Telling
from kit.settings import Positive


class Hypergraph(HippoRAG2):
    """The passages through which most of what the query's names have goes.

    The ends of the facts nearest to the query begin, as in HippoRAG 2. In each round every name
    gives what it has to its passages, by their likeness to the query, and each passage gives it on
    to its names in equal parts:

        x ← (1 − damping) x₀ + damping · H D_e⁻¹ W Hᵀ D_v⁻¹ x

    H (names, passages) says which name, or one that is alike, stands in which passage. W, D_v and
    D_e are diagonal: W (passages) has the likenesses, D_v (names) the sums of the rows of H W, D_e
    (passages) those of the columns of H. A passage's score is what it was given last, and a little
    for its own likeness. Where there is no fact the ranking is that of dense retrieval.
    """

    name = "hypergraph"

    class Settings(HippoRAG2.Settings, frozen=True):
        rounds: Annotated[Positive, "from names to passages and back"] = 2

    ranges: ClassVar = {"rounds": 10}

    def index(self, corpus: Corpus) -> None:
        super().index(corpus)
        contained = self.facts.contained.sign()
        self.joined = sparse.csr_array(contained + self.alike @ contained)  # H
        self.n_names = np.maximum(np.asarray(self.joined.sum(axis=0)).ravel(), 1)  # D_e

    def scores(self, vector: ndarray, facts: Telling | None = None) -> ndarray:
        """What each passage was given last, and a little for its likeness, (passages,)."""
        settings = self.settings
        if facts is None:
            facts = self.telling_facts(vector)
        likeness = spread(vector[None] @ self.vectors.T)[0]  # W
        n_passages = np.maximum(self.joined @ likeness, SMALL)  # D_v
        first = self.named(facts)
        names = first
        for _ in range(settings.rounds):
            passages = likeness * (self.joined.T @ (names / n_passages))
            back = self.joined @ (passages / self.n_names)
            names = (1 - settings.damping) * first + settings.damping * back
        return passages + settings.passage_weight * likeness
