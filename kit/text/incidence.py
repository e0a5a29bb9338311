"""Which passages hold which keywords or entities, as a sparse matrix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse


@dataclass(frozen=True)
class Incidence:
    """``matrix`` of shape (passages, terms), its values weights in (0, 1]; ``terms`` names the columns."""

    matrix: sparse.csr_array
    terms: np.ndarray

    @classmethod
    def from_entries(
        cls, rows: Sequence[int], columns: Sequence[int], weights: Sequence[float], terms: Sequence[str], n: int
    ) -> Incidence:
        """Of ``n`` passages, from entries of which several may fall on one place: the largest weight counts."""
        order = np.lexsort((np.negative(weights), columns, rows))
        rows, columns, weights = (np.asarray(entries)[order] for entries in (rows, columns, weights))
        first = np.ones(len(rows), bool)
        first[1:] = (np.diff(rows) != 0) | (np.diff(columns) != 0)
        matrix = sparse.csr_array(
            (weights[first].astype(np.float32), (rows[first], columns[first])), shape=(n, len(terms))
        )
        return cls(matrix, np.asarray(terms, object))

    def at_least(self, weight: float) -> Incidence:
        """Only the entries of this weight or more."""
        matrix = self.matrix.copy()
        matrix.data[matrix.data < weight] = 0
        matrix.eliminate_zeros()
        return Incidence(matrix, self.terms)

    def connecting(self) -> Incidence:
        """Only the terms that two or more passages hold: the others connect nothing."""
        keep = np.flatnonzero(np.bincount(self.matrix.indices, minlength=self.matrix.shape[1]) > 1)
        return Incidence(sparse.csr_array(self.matrix[:, keep]), self.terms[keep])
