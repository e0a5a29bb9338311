"""A corpus as QSGNN sees it: its graph with vectors, the part around a query, and parts side by side."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from scipy import sparse

from kit.corpus import Corpus
from kit.graphs.multilevel import MultiLevelGraph
from kit.retrievers.qsgnn_network import INTRA, Batch
from kit.text import Encoder, NearestNeighbours
from kit.text.triples import Extraction

SEEDS = 50  # documents from which the neighbourhood of a query is found


class Surroundings:
    """The multi-level graph of a corpus with the encoder's vectors of each level (nodes, dimension)."""

    def __init__(self, whole: MultiLevelGraph, vectors: dict[str, np.ndarray], without: str = "") -> None:
        """``vectors`` are those of each level's nodes. ``without``: a level that the network is not shown, ``o`` or
        ``c``; what lies around a query is found with both."""
        self.corpus, self.vectors = whole.corpus, vectors
        self.graph = whole.without(without) if without else whole
        self.nearest = NearestNeighbours(vectors["d"])
        self.entities = whole.contained["o"]
        self.frequency = np.maximum(self.entities.sum(axis=0), 1)

    @classmethod
    def of(cls, corpus: Corpus, extractions: Sequence[Extraction], encoder: Encoder, without: str = "") -> Surroundings:
        """Those of a corpus whose passages have these extractions, with an encoder's vectors."""
        whole = MultiLevelGraph.of(corpus, extractions)
        vectors = {level: encoder.encode(whole.texts(level)) for level in "ocd" if level != without}
        width = vectors["d"].shape[1]
        none = np.zeros((0, width), np.float32)
        return cls(whole, {level: vectors.get(level, none).reshape(-1, width) for level in "ocd"}, without)

    def around(self, queries: np.ndarray, size: int) -> list[np.ndarray]:
        """For each query's vector (queries, dimension) the rows of ``size`` documents, best first.

        First those nearest by cosine, then those that share entities with them: an entity has the cosines of the near
        documents that contain it, divided by how many do in all, and a document what its entities have.
        """
        scores, near = self.nearest.search(queries, min(SEEDS, size))
        shape = len(queries), len(self.corpus)
        starts = np.arange(len(queries) + 1) * near.shape[1]
        seeds = sparse.csr_array((np.maximum(scores, 0).ravel(), near.ravel(), starts), shape=shape)
        reached = (seeds @ self.entities).multiply(1 / self.frequency).tocsr() @ self.entities.T
        found = []
        for row, first in enumerate(near):
            part = reached[[row]]
            order = part.indices[np.argsort(-part.data, kind="stable")]
            found.append(np.concatenate([first, order[~np.isin(order, first)]])[:size])
        return found

    def batch(self, documents: Sequence[np.ndarray]) -> Batch:
        """The parts of the graph that several queries' documents make, side by side."""
        parts = [self.graph.part(rows) for rows in documents]
        sizes = {level: [len(part.nodes[level]) for part in parts] for level in "ocd"}
        start = {level: np.cumsum([0, *of]) for level, of in sizes.items()}
        x = {level: self.vectors[level][np.concatenate([part.nodes[level] for part in parts])] for level in "ocd"}
        of = {level: np.repeat(np.arange(len(parts)), of) for level, of in sizes.items()}
        edges = {}
        for kind in parts[0].edges:
            shifts = [[[start[level][number]] for level in kind] for number in range(len(parts))]
            there = torch.from_numpy(np.concatenate([part.edges[kind] + by for part, by in zip(parts, shifts)], axis=1))
            back = there.flip(0)
            edges |= {kind: torch.cat([there, back], 1)} if kind in INTRA else {kind: there, kind[::-1]: back}
        return Batch(
            *({level: torch.from_numpy(each) for level, each in each_of.items()} for each_of in (x, of)), edges
        )
