"""Nearest neighbours among unit vectors (faiss, exact)."""

from __future__ import annotations

import faiss
import numpy as np


class NearestNeighbours:
    """Exact search by inner product; for unit vectors that is the cosine."""

    def __init__(self, vectors: np.ndarray) -> None:
        self.size = len(vectors)
        self._index = faiss.IndexFlatIP(vectors.shape[1])
        self._index.add(np.ascontiguousarray(vectors, np.float32))

    def search(self, queries: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Scores and rows, both of shape (queries, min(k, size)), best first; of equal scores the lower row first."""
        scores, rows = self._index.search(np.ascontiguousarray(queries, np.float32), min(k, self.size))
        order = np.lexsort((rows, -scores))
        return np.take_along_axis(scores, order, 1), np.take_along_axis(rows, order, 1)
