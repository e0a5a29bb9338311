"""Changes of low rank: a matrix that learns is W + up · down, and W stays (LoRA, Hu et al. 2021).

So a training changes few numbers, a step needs no gradient of W, and what was learned is small: in
rank 32, of three layers of MiniLM, 1.3 MB in float16.
"""

from collections.abc import Mapping
from typing import Self

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from kit.learning.training import Weights

UP = ".up"  # (rows, rank)
DOWN = ".down"  # (rank, columns)


class LowRank(nn.Linear):
    """A layer x ↦ (W + up · down) x + b, of which ``up`` and ``down`` learn; at first up is 0."""

    @classmethod
    def over(cls, plain: nn.Linear, rank: int, generator: torch.Generator) -> Self:
        """The layer that is the ``plain`` one until it learns; ``down`` is drawn."""
        weight = plain.weight
        n_rows, n_columns = weight.shape
        down = torch.randn(rank, n_columns, generator=generator)
        layer = cls(n_columns, n_rows, device="meta")
        layer.weight = weight
        layer.bias = plain.bias
        layer.down = nn.Parameter(down.to(weight.device) / n_columns**0.5)
        layer.up = nn.Parameter(weight.new_zeros(n_rows, rank))
        return layer

    def forward(self, inputs: Tensor) -> Tensor:
        """Of shape (…, columns of W) to (…, rows)."""
        learned = linear(linear(inputs, self.down), self.up)
        return super().forward(inputs) + learned

    @torch.no_grad()
    def merged(self) -> nn.Linear:
        """One plain layer that does the same."""
        layer = nn.Linear(
            self.in_features,
            self.out_features,
            device="meta",
        )
        layer.weight = nn.Parameter(self.weight + self.up @ self.down)
        layer.bias = self.bias
        return layer


def learn_in_low_rank(model: nn.Module, rank: int, seed: int) -> None:
    """Let the linear layers of a model learn in a low rank, and all else stay as it is.

    A model without linear layers, such as a table of word vectors, learns whole.
    """
    generator = torch.Generator().manual_seed(seed)
    layers = _layers(model, nn.Linear)
    if layers:
        model.requires_grad_(False)
    for parent, name, plain in layers:
        setattr(parent, name, LowRank.over(plain, rank, generator))


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
        change = weight.cpu() - base[name].cpu()
        if change.dim() == 2 and change.any():
            vectors, scales, others = torch.linalg.svd(change, full_matrices=False)
            roots = scales[:rank].sqrt().diag()
            up = vectors[:, :rank] @ roots
            down = roots @ others[:rank]
            small[name + UP] = up.half()
            small[name + DOWN] = down.half()
    return small


def changed(base: Mapping[str, Tensor], small: Mapping[str, Tensor]) -> Weights:
    """The base's weights with the change that :func:`factors` has kept."""
    weights = dict(base)
    for name, weight in base.items():
        if name + UP in small:
            change = small[name + UP].float() @ small[name + DOWN].float()
            weights[name] = weight + change.to(weight.device)
    return weights
