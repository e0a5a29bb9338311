"""The random walk with restarts that peers rank by."""

import numpy as np
from numpy import ndarray
from scipy import sparse
from sknetwork.ranking import PageRank as RandomWalk

from kit.methods.baselines.pagerank import ITERATIONS


def visits(adjacency: sparse.csr_matrix, restarts: ndarray, damping: float) -> ndarray:
    """How often a walk is at which node, (nodes,), that restarts as ``restarts`` say.

    From where no edge leads it restarts, too; scikit-network would let it stay.
    """
    is_isolated = np.diff(adjacency.indptr) == 0
    weights = restarts * np.where(is_isolated, 1 - damping, 1)
    return RandomWalk(damping, n_iter=ITERATIONS, tol=0).fit_predict(adjacency, weights=weights)
