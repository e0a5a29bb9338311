"""GNN-Ret's network: passages pass their distance to the question on (GNN-Ret §3.2).

    m_i^l = min {h_j^{l−1} : j ∈ N(i) ∩ T_K^l}                                            (1)
    h_i^l = α^l h_i^{l−1} + (1 − α^l) m_i^l                                               (2)

The paper's symbols and the names here: h is ``h``, the (integrated) semantic distance, 1 − cosine;
T_K are the ``active_nodes``, the ``top_k`` nearest to the question; S_K, their neighbours, are the
``receivers``; α are the ``alphas``, one per layer; m is ``message`` min, or mean for Table 2.

A batch of queries is one flat array of cells: the passage in row i of n stands, for query q of the
batch, in cell q · n + i.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch
from numpy import ndarray
from torch import Tensor
from torch_geometric.nn import SimpleConv

from kit.graphs import PassageGraph


class MessageLog(NamedTuple):
    """What one layer did.

    ``edge_index`` leads from active nodes, numbered through the batch, to indices of ``receivers``.
    It goes receiver by receiver, and to each from the nearest active node on.
    """

    active_nodes: ndarray  # rows (queries, K), nearest first
    sent: Tensor  # their distances (queries · K,)
    edge_index: Tensor  # (2, edges)
    receivers: Tensor  # cells
    before: Tensor  # the receivers' distances
    heard: Tensor  # m, what each receiver hears
    after: Tensor
    message: str

    @property
    def heard_along(self) -> Tensor:
        """The edges of which something is heard: of each receiver's the first, or all (mean)."""
        if self.message == "mean":
            return self.edge_index
        is_first = torch.diff(self.edge_index[1], prepend=torch.tensor([-1])) > 0
        return self.edge_index[:, is_first]


Logs = list[MessageLog]


def pass_messages(
    h: Tensor,
    dense_rows: ndarray,
    alphas: Tensor,
    top_k: int,
    message: str,
    graph: PassageGraph,
) -> Iterator[MessageLog]:
    """Eqs. 1 and 2, layer by layer, from the active nodes T_K to their neighbours S_K.

    The distances ``h`` (queries, passages) are changed in place. ``dense_rows`` (queries,
    ≥ K + L · K) are the nearest before any message. Beside these only receivers are touched, which
    is enough. A passage that does not send hears from a nearer one, so only active nodes can move
    away from the question. The k nearest after L layers are thus among the k + L · K nearest
    before, and the receivers (:func:`nearest`).
    """
    aggregate = SimpleConv(message, node_dim=0)
    flat = h.view(-1)
    touched = np.zeros(0, int)
    for alpha in alphas:
        active = nearest(h, dense_rows, touched, top_k)  # T_K
        edge_index, receivers = edges_from(graph, active)  # to S_K
        sent = h[np.arange(len(h))[:, None], active].view(-1)
        before = flat[receivers]

        m = aggregate((sent, before), edge_index)  # Eq. 1
        after = alpha * before + (1 - alpha) * m  # Eq. 2
        flat[receivers] = after  # the others keep their distance

        touched = np.concatenate([touched, receivers.numpy()])
        yield MessageLog(
            active,
            sent,
            edge_index,
            receivers,
            before,
            m,
            after,
            message,
        )


def edges_from(graph: PassageGraph, active: ndarray) -> tuple[Tensor, Tensor]:
    """``edge_index`` and ``receivers`` of a :class:`MessageLog`, for active rows (queries, K)."""
    n_passages = graph.n_nodes
    top_k = active.shape[1]
    sender, target = graph.linked(active.ravel())
    query, rank = np.divmod(sender, top_k)

    # One number per edge, by which they are sorted; two passages may be joined in several ways.
    cell = query * n_passages + target
    edges = np.sort(cell * top_k + rank)  # np.unique takes ten times as long
    edges = edges[np.diff(edges, prepend=-1) > 0]

    cell, rank = np.divmod(edges, top_k)
    is_first = np.diff(cell, prepend=-1) > 0  # of those to one receiver
    senders = cell // n_passages * top_k + rank
    receiver = np.cumsum(is_first) - 1
    edge_index = np.stack([senders, receiver])
    return torch.from_numpy(edge_index), torch.from_numpy(cell[is_first])


def nearest(
    h: Tensor,
    dense_rows: ndarray,
    touched: ndarray,
    k: int,
) -> ndarray:
    """Rows (queries, k) of the smallest distances, equal ones in corpus order.

    They are looked for among ``dense_rows`` (queries, ≥ k) and the cells that were ``touched``.
    """
    if not k:
        return dense_rows[:, :0]
    n_queries, n_passages = h.shape
    flat = h.detach().view(-1).numpy()
    cells = dense_rows + n_passages * np.arange(n_queries)[:, None]
    kth = np.partition(flat[cells], k - 1, axis=1)[:, k - 1]  # nothing farther is found
    near_enough = touched[flat[touched] <= kth[touched // n_passages]]

    cells = np.unique(np.concatenate([cells.ravel(), near_enough]))
    query = cells // n_passages
    order = np.lexsort((cells, flat[cells], query))
    rank = np.arange(len(cells)) - np.searchsorted(query, query)  # within its query
    return cells[order][rank < k].reshape(n_queries, k) % n_passages
