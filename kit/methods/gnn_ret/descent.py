"""How GNN-Ret and RGNN-Ret learn their few weights (GNN-Ret §3.2, Appendices A and B).

    d̄_Y = mean of h_j over S_Y                                                     (6), (13)
    d̄_{O/Y} = mean of h_o over S_{O/Y}                                             (7), (14)
    ℓ = max(0, r + d̄_Y − d̄_{O/Y})                                             (3), (8), (15)

The paper's symbols and the names here: S_Y are the ``supports``; S_O, the O nearest, are
``n_candidates``; S_{O/Y} are the ``negatives``; r is the ``margin``.
"""

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor

from kit.learning.training import History, Weights

# Appendix B. The cap is ours, since a loss made of hinges need not come to rest (gnn-ret-i12).
LEARNING_RATE = 1.0
SMALL_GRADIENT = 1e-3
MOST_RISES = 5
MOST_STEPS = 300

Loss = Callable[[], Tensor]  # by the present weights


def competitors(distances: Tensor, n_candidates: int) -> Tensor:
    """Rows (queries, O) of the nearest by distances (queries, passages)."""
    n = min(n_candidates, distances.shape[1])
    return distances.detach().topk(n, largest=False).indices


def hinge(
    h: Tensor,
    supports: Tensor,
    n_candidates: int,
    margin: float,
    nearest_by: Tensor | None = None,
) -> Tensor:
    """The loss of each query, from distances and a mask of supports, both (queries, passages).

    All supports, however far, are to be nearer than the negatives among the O nearest, by the
    margin and on average. The O nearest are those by the distances ``h`` after the messages, or by
    others: the paper's words fit those before them, too (gnn-ret-i14), but then α = 0 is best,
    where all that hear of a passage tie with it. Without a support or a negative the loss is 0.
    """
    candidates = competitors(h if nearest_by is None else nearest_by, n_candidates)
    negatives = ~supports.gather(1, candidates)
    has_both = supports.any(1) & negatives.any(1)

    of_supports = _mean(h, supports)  # Eqs. 6 and 13
    of_negatives = _mean(h.gather(1, candidates), negatives)  # Eqs. 7 and 14
    return torch.relu(margin + of_supports - of_negatives) * has_both  # Eqs. 8 and 15


@torch.no_grad()
def _take_step(tensors: Sequence[Tensor], gradients: Sequence[Tensor]) -> None:
    for tensor, gradient in zip(tensors, gradients):
        tensor.sub_(LEARNING_RATE * gradient).clamp_(0, 1)  # gnn-ret-i11


def _mean(values: Tensor, mask: Tensor) -> Tensor:
    """The mean of each row where the mask is true; 0 where it is nowhere."""
    return (values * mask).sum(1) / mask.sum(1).clamp(min=1)


def gradient_descent(parameters: Weights, loss: Loss) -> History:
    """Full-batch gradient descent on ``parameters``, in place; they end at the lowest loss met.

    It stops where every gradient is below 0.001 or the loss has risen five times in a row (Appendix
    B). Weights are kept between 0 and 1. Returns a row per step: ``loss`` and each parameter's
    values before the step.

    The gradients are those of Eqs. 1 to 5, by automatic differentiation, unless the loss brings
    others (:mod:`kit.methods.gnn_ret.printed`).
    """
    tensors = [tensor.requires_grad_() for tensor in parameters.values()]
    history = []
    lowest = np.inf
    previous = np.inf
    rises = 0
    for _ in range(MOST_STEPS):
        current = loss()
        value = current.item()
        history.append({"loss": value, **named(parameters)})
        if value < lowest:
            lowest = value
            best = [tensor.detach().clone() for tensor in tensors]
        rises = rises + 1 if value > previous else 0
        previous = value
        if rises == MOST_RISES or not current.requires_grad:
            break

        gradients = torch.autograd.grad(current, tensors, materialize_grads=True)
        if all(gradient.abs().max() < SMALL_GRADIENT for gradient in gradients):
            break
        _take_step(tensors, gradients)

    for tensor, values in zip(tensors, best):
        tensor.requires_grad_(False).copy_(values)
    return history


def named(parameters: Weights) -> dict[str, float]:
    """Weights by name: ``beta`` for one, ``alpha1``, ``alpha2`` … for one per layer."""
    weights = {}
    for name, parameter in parameters.items():
        values = parameter.detach().view(-1).tolist()
        for layer, value in enumerate(values, start=1):
            weights[f"{name}{layer}" if parameter.dim() else name] = value
    return weights
