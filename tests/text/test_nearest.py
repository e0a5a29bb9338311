from __future__ import annotations

import numpy as np

from kit.text import NearestNeighbours


def test_exact_and_ties_in_order() -> None:
    vectors = np.array([[0, 1], [1, 0], [1, 0], [-1, 0]], np.float32)
    scores, rows = NearestNeighbours(vectors).search(np.array([[1, 0]], np.float32), 9)
    assert rows.tolist() == [[1, 2, 0, 3]]
    assert scores.tolist() == [[1, 1, 0, -1]]
