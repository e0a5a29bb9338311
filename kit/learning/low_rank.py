"""Changes of low rank: a matrix that learns is W + up · down, and W stays (LoRA, Hu et al. 2021).

So a training changes few numbers, a step needs no gradient of W, and what was learned is small: in
rank 32, of three layers of MiniLM, 1.3 MB in float16.
"""

from collections.abc import Mapping
from typing import Self

import torch
from torch import Tensor, nn

from kit.learning.training import Weights

UP = ".up"  # (rows, rank)
DOWN = ".down"  # (rank, columns)


class LowRank(nn.Linear):
    """A layer x ↦ (W + up · down) x + b, of which ``up`` and ``down`` learn; at first up is 0."""

    @classmethod
    def over(cls, linear: nn.Linear, rank: int, generator: torch.Generator) -> Self:
        """The layer that is ``linear`` until it learns; ``down`` is drawn."""
        layer = cls(linear.in_features, linear.out_features, device="meta")
        layer.weight = linear.weight
        layer.bias = linear.bias
        size = (rank, linear.in_features)
        down = torch.randn(size, generator=generator) / linear.in_features**0.5
        up = torch.zeros(linear.out_features, rank)
        layer.down = nn.Parameter(down.to(linear.weight.device))
        layer.up = nn.Parameter(up.to(linear.weight.device))
        return layer

    def forward(self, inputs: Tensor) -> Tensor:
        """Of shape (…, columns of W) to (…, rows)."""
        return super().forward(inputs) + inputs @ self.down.T @ self.up.T

    def merged(self) -> nn.Linear:
        """One plain layer that does the same."""
        linear = nn.Linear(self.in_features, self.out_features, device="meta")
        linear.weight = nn.Parameter((self.weight + self.up @ self.down).detach())
        linear.bias = self.bias
        return linear


def learn_in_low_rank(model: nn.Module, rank: int, seed: int) -> None:
    """Let the linear layers of a model learn in a low rank, and all else stay as it is.

    A model without linear layers, such as a table of word vectors, learns whole.
    """
    generator = torch.Generator().manual_seed(seed)
    layers = _layers(model, nn.Linear)
    if layers:
        model.requires_grad_(False)
    for parent, name, linear in layers:
        setattr(parent, name, LowRank.over(linear, rank, generator))


def merge(model: nn.Module) -> None:
    """Make plain layers again of those that learned in a low rank."""
    for parent, name, layer in _layers(model, LowRank):
        setattr(parent, name, layer.merged())


def _layers(model: nn.Module, kind: type[nn.Linear]) -> list[tuple[nn.Module, str, nn.Linear]]:
    """The layers of a kind, each with what it is part of and its name there."""
    layers = []
    for parent in model.modules():
        for name, child in parent.named_children():
            if isinstance(child, kind):
                layers.append((parent, name, child))
    return layers


def factors(
    learned: Mapping[str, Tensor],
    base: Mapping[str, Tensor],
    rank: int,
) -> Weights:
    """What a training changed in matrices, as ``up`` and ``down`` in float16.

    Of all factors of this rank these come nearest to the change (its singular vectors): they are
    the change where that was learned in this rank.
    """
    small = {}
    for name, weight in learned.items():
        change = weight.float().cpu() - base[name].float().cpu()
        if change.dim() == 2 and change.any():
            rows, scales, columns = torch.linalg.svd(change, full_matrices=False)
            roots = scales[:rank].sqrt()
            small[name + UP] = (rows[:, :rank] * roots).half().contiguous()
            small[name + DOWN] = (roots[:, None] * columns[:rank]).half().contiguous()
    return small


def changed(base: Mapping[str, Tensor], small: Mapping[str, Tensor]) -> Weights:
    """The base's weights with the change that :func:`factors` has kept."""
    weights = dict(base)
    for name, weight in base.items():
        if name + UP in small:
            change = small[name + UP].float() @ small[name + DOWN].float()
            weights[name] = weight + change.to(weight.device)
    return weights
