"""A layer that learns in a low rank: by hand, merged again, and kept small."""

import pytest
import torch
from torch import nn

from kit.learning.low_rank import LowRank, changed, factors, learn_in_low_rank, merge


def small_model() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(5, 4), nn.LayerNorm(4), nn.Sequential(nn.Linear(4, 3)))


def test_a_layer_by_hand() -> None:
    linear = nn.Linear(2, 2)
    with torch.no_grad():
        linear.weight.copy_(torch.tensor([[1.0, 0.0], [0.0, 1.0]]))
        linear.bias.copy_(torch.tensor([0.5, 0.0]))
    layer = LowRank.over(linear, 1, torch.Generator())
    inputs = torch.tensor([2.0, 3.0])
    assert layer(inputs).tolist() == [2.5, 3.0]  # as it was, before it learns

    with torch.no_grad():
        layer.up.copy_(torch.tensor([[1.0], [-1.0]]))
        layer.down.copy_(torch.tensor([[10.0, 1.0]]))
    assert layer(inputs).tolist() == [25.5, -20.0]  # down · inputs is 23
    assert layer.merged().weight.tolist() == [[11.0, 1.0], [-10.0, 0.0]]
    assert layer.merged()(inputs).tolist() == [25.5, -20.0]


def taught(rank: int) -> tuple[nn.Sequential, nn.Sequential]:
    """A model, and the same after a few steps in a low rank, merged."""
    base = small_model()
    model = small_model()
    inputs = torch.randn(8, 5)
    learn_in_low_rank(model, rank, 0)
    optimiser = torch.optim.SGD([w for w in model.parameters() if w.requires_grad], 0.02)
    for _ in range(3):
        optimiser.zero_grad()
        model(inputs).square().sum().backward()
        optimiser.step()

    before = model(inputs)
    merge(model)
    torch.testing.assert_close(model(inputs), before)
    return base, model


def test_only_matrices_change_and_only_in_the_rank() -> None:
    base, model = taught(2)
    assert list(model.state_dict()) == list(base.state_dict())
    for name, weight in model.state_dict().items():
        change = weight - base.state_dict()[name]
        rank = int(torch.linalg.matrix_rank(change, atol=1e-5)) if change.dim() == 2 else 0
        assert rank == (2 if name in ("0.weight", "2.0.weight") else 0), name


def test_what_was_learned_in_a_rank_is_kept_in_it() -> None:
    base, model = taught(2)
    small = factors(model.state_dict(), base.state_dict(), 2)
    assert {name: tuple(part.shape) for name, part in small.items()} == {
        "0.weight.up": (4, 2),
        "0.weight.down": (2, 5),
        "2.0.weight.up": (3, 2),
        "2.0.weight.down": (2, 4),
    }
    assert {part.dtype for part in small.values()} == {torch.float16}
    again = changed(base.state_dict(), small)
    for name, weight in model.state_dict().items():
        torch.testing.assert_close(again[name], weight, atol=5e-3, rtol=0)


def test_of_a_higher_rank_the_nearest_change_is_kept() -> None:
    change = torch.diag(torch.tensor([3.0, 2.0, 1.0]))
    base = {"w": torch.zeros(3, 3)}
    small = factors({"w": change}, base, 2)
    expected = torch.diag(torch.tensor([3.0, 2.0, 0.0]))
    torch.testing.assert_close(changed(base, small)["w"], expected, atol=2e-3, rtol=0)


def test_a_model_without_layers_to_change_learns_whole() -> None:
    table = nn.Sequential(nn.Embedding(3, 2))
    learn_in_low_rank(table, 4, 0)
    assert all(weight.requires_grad for weight in table.parameters())


@pytest.mark.parametrize("has_bias", [True, False])
def test_layers_with_and_without_a_bias(has_bias: bool) -> None:
    model = nn.Sequential(nn.Linear(3, 2, bias=has_bias))
    inputs = torch.randn(2, 3)
    before = model(inputs)
    learn_in_low_rank(model, 1, 0)
    torch.testing.assert_close(model(inputs), before)
    merge(model)
    torch.testing.assert_close(model(inputs), before)
