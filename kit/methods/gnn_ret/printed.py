"""The gradients of GNN-Ret and RGNN-Ret as their paper prints them (GNN-Ret, Appendix A).

    S_R^L = S_O ∩ S_K^L;  S_R^l = S_K^l for l < L                                    (9), (16)
    ∂ℓ/∂h_i^L = 1 for i ∈ S_Y, else −1;  i ∈ S_R^L                                  (10), (17)
    ∂ℓ/∂α^l = Σ_{j ∈ S_R^l} ∂ℓ/∂h_j^l (h_j^{l−1} − m_j^l)                                (11)
    ∂ℓ/∂h_i^{l−1} = Σ_{j ∈ S_{K,i}^l} −α^l ∂ℓ/∂h_j^l                                     (12)
    ∂ℓ/∂ĥ^t = ∂ℓ^t/∂ĥ^t + (1 − β) ∂ℓ/∂ĥ^{t+1}                                      (18), (19)
    ∂ℓ/∂β = 1/T Σ_t 1/|V| Σ_j ∂ℓ/∂ĥ_j^t (h_j^t − ĥ_j^{t−1})                              (20)
    ∂ℓ/∂h^t = β ∂ℓ/∂ĥ^t                                                                  (21)

They are not those of the loss (gnn-ret-i01 to -i08): the means and the flat part of the hinge are
left out, supports beyond the O nearest too, and a message weighs −α for 1 − α. The second term of
Eq. 12 never counts, as no passage is its own neighbour. Eq. 20 begins at the second step, since
there is no memory before the first.

The paper's symbols and the names here: S_O are the ``competitors``; S_Y the ``supports``; S_{K,i}
are the receivers that heard i.
"""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from kit.learning.training import Weights
from kit.methods.gnn_ret.messages import Logs


def with_gradients(losses: Tensor, gradients: Weights, parameters: Mapping[str, Tensor]) -> Tensor:
    """The losses (queries,), whose gradients are the given ones (queries, \\*shape of a weight)."""
    losses = losses.detach()
    for name, gradient in gradients.items():
        weight = parameters[name]
        steps = gradient * (weight - weight.detach())  # 0, but with a gradient
        losses = losses + steps.view(len(losses), -1).sum(1)
    return losses


def of_received(competitors: Tensor, supports: Tensor, logs: Logs) -> Tensor:
    """Eqs. 9 and 10, or 16 and 17: ∂ℓ/∂h^L (queries, passages), 0 outside of S_R^L.

    ``competitors`` are rows (queries, O), ``supports`` a mask (queries, passages). A query without
    a support has no loss.
    """
    signs = torch.where(supports, 1.0, -1.0) * supports.any(1, keepdim=True)
    return signs * received(competitors, logs, supports.shape[1])


def received(competitors: Tensor, logs: Logs, n_passages: int) -> Tensor:
    """The mask of S_R^L, (queries, passages)."""
    is_competitor = torch.zeros(len(competitors), n_passages, dtype=torch.bool)
    is_competitor.scatter_(1, competitors, True)
    is_receiver = torch.zeros(is_competitor.numel(), dtype=torch.bool)
    is_receiver[logs[-1].receivers] = True
    return is_competitor & is_receiver.view_as(is_competitor)


def of_alphas(of_h: Tensor, logs: Logs, alphas: Tensor) -> Tensor:
    """Eqs. 11 and 12: ∂ℓ/∂α (queries, layers), from ∂ℓ/∂h^L (queries, passages) back."""
    n_queries, n_passages = of_h.shape
    gradients = torch.zeros(n_queries, len(logs))
    flat = of_h.reshape(-1)
    for layer in reversed(range(len(logs))):
        log = logs[layer]
        at_receivers = flat[log.receivers]
        change = at_receivers * (log.before - log.heard)
        gradients[:, layer].index_add_(0, log.receivers // n_passages, change)  # Eq. 11

        first = n_passages * torch.arange(n_queries)[:, None]
        cells = (torch.from_numpy(log.active_nodes) + first).view(-1)
        senders, receivers = log.heard_along
        flat = torch.zeros_like(flat)
        flat.index_add_(0, cells[senders], -alphas[layer] * at_receivers[receivers])  # Eq. 12
    return gradients


def of_memory(
    of_steps: Sequence[Tensor],
    distances: Sequence[Tensor],
    memories: Sequence[Tensor],
    beta: Tensor,
) -> tuple[list[Tensor], Tensor]:
    """Eqs. 18 to 21: ∂ℓ/∂h^t of each step, and ∂ℓ/∂β (queries,).

    From ∂ℓ^t/∂ĥ^t, h^t and ĥ^t of each step, all of shape (queries that go on, passages); the
    queries of most steps come first.
    """
    n_passages = distances[0].shape[1]
    lengths = torch.zeros(len(distances[0]))  # T
    of_beta = torch.zeros(len(distances[0]))
    of_own = []
    later = torch.zeros(0, n_passages)
    for t in reversed(range(len(distances))):
        of_memories = of_steps[t].clone()
        of_memories[: len(later)] += (1 - beta) * later  # Eq. 18; at the last step Eq. 19
        of_own.insert(0, beta * of_memories)  # Eq. 21

        n_active = len(distances[t])
        lengths[:n_active] += 1
        if t:
            change = distances[t] - memories[t - 1][:n_active]
            of_beta[:n_active] += (of_memories * change).sum(1) / n_passages
        later = of_memories
    return of_own, of_beta / lengths  # Eq. 20
