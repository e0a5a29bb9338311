"""QSGNN's messages by hand: three nodes in a plane, cosines of 45 degrees."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from kit.retrievers.qsgnn_network import INTER, INTRA, Batch, InterLevel, IntraLevel, Network, Update

#: Nodes 0 (east), 1 (north), 2 (north-east); the query points east.
H = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
EAST = torch.tensor([[1.0, 0.0]])
OF = torch.zeros(3, dtype=torch.long)  # all nodes are those of the one query
TO_NODE_0 = torch.tensor([[1, 2], [0, 0]])
HALF = 2**-0.5


def weights(*scores: float) -> np.ndarray:
    return np.exp(scores) / np.exp(scores).sum()


@torch.no_grad()
def test_messages_within_a_level() -> None:
    """Eq. 2 with identity projections: α = cos(h_i, h_j), β = cos(q, (h_i + h_j) / 2)."""
    message, attention = IntraLevel(2, message=1.0)(H, EAST, OF, TO_NODE_0)
    # To node 0: from 1, α = 0 and β = cos(east, north-east) = √½; from 2, α = √½ and β = cos((1, 0), (2, 1)) = 2 / √5.
    a = weights(0 + HALF, HALF + 2 * 5**-0.5)
    np.testing.assert_allclose(attention, a, rtol=1e-5)
    np.testing.assert_allclose(message[0], [a[1], a[0] + a[1]], rtol=1e-5)
    np.testing.assert_array_equal(message[1:], 0)  # nobody sends to them


@torch.no_grad()
def test_without_the_query_only_alpha_is_left() -> None:
    passing = IntraLevel(2, message=1.0, steered=False)
    _, attention = passing(H, EAST, OF, TO_NODE_0)
    np.testing.assert_allclose(attention, weights(0, HALF), rtol=1e-5)
    _, other = passing(H, -EAST, OF, TO_NODE_0)
    np.testing.assert_array_equal(attention, other)


@torch.no_grad()
def test_messages_between_levels() -> None:
    """Eq. 3 with identity projections: γ = cos(q, (h_i + h_j) / 2), and nothing of the nodes' own likeness."""
    message, attention = InterLevel(2, message=1.0)(H, H, EAST, OF, OF, TO_NODE_0)
    a = weights(HALF, 2 * 5**-0.5)
    np.testing.assert_allclose(attention, a, rtol=1e-5)
    np.testing.assert_allclose(message[0], [a[1], a[0] + a[1]], rtol=1e-5)
    _, blind = InterLevel(2, message=1.0, steered=False)(H, H, EAST, OF, OF, TO_NODE_0)
    np.testing.assert_allclose(blind, [0.5, 0.5])


@torch.no_grad()
def test_sharpness_multiplies_the_scores() -> None:
    sharp = [
        IntraLevel(2, 1.0, sharpness=5.0)(H, EAST, OF, TO_NODE_0)[1],
        InterLevel(2, 1.0, sharpness=5.0)(H, H, EAST, OF, OF, TO_NODE_0)[1],
    ]
    np.testing.assert_allclose(sharp[0], weights(5 * HALF, 5 * (HALF + 2 * 5**-0.5)), rtol=1e-5)
    np.testing.assert_allclose(sharp[1], weights(5 * HALF, 5 * 2 * 5**-0.5), rtol=1e-5)


@torch.no_grad()
def test_projections_are_where_the_equations_have_them() -> None:
    """With a turn of 90 degrees in one projection at a time, by the definition with concatenations."""
    turn = torch.tensor([[0.0, 1.0], [-1.0, 0.0]])
    for name in ("query_alpha", "key_alpha", "query_beta", "key_beta_own", "key_beta_other"):
        passing = IntraLevel(2, message=1.0)
        getattr(passing, name).weight.mul_(0).add_(turn)
        w = {key: module.weight.T for key, module in passing.named_children()}
        scores = []
        for j in (1, 2):
            alpha = cosine(H[0] @ w["query_alpha"], H[j] @ w["key_alpha"])
            both = torch.cat([w["key_beta_own"], w["key_beta_other"]])  # W^k_β, 2n × n
            scores.append(alpha + cosine(EAST[0] @ w["query_beta"], torch.cat([H[0], H[j]]) @ both))
        np.testing.assert_allclose(passing(H, EAST, OF, TO_NODE_0)[1], weights(*scores), rtol=1e-5)


def cosine(a: Tensor, b: Tensor) -> float:
    return float(a @ b / a.norm() / b.norm())


@torch.no_grad()
def test_the_update_begins_as_the_norm_alone() -> None:
    h = torch.tensor([[3.0, 1.0, -4.0]])
    update = Update(3)
    np.testing.assert_allclose(update(h, torch.zeros_like(h)), update.norm(h), rtol=1e-5)


@torch.no_grad()
@pytest.mark.parametrize("kind", [*INTRA, *INTER])
def test_an_edge_reaches_whom_it_leads_to(kind: str) -> None:
    """One edge of a kind changes the receiver alone (one layer), and each query's nodes know their query alone."""
    torch.manual_seed(0)
    network = Network(4, 4, layers=1, message=0.5)
    x = {level: torch.randn(2, 4) for level in "ocd"}
    of = {level: torch.tensor([0, 1]) for level in "ocd"}
    none = {name: torch.zeros(2, 0, dtype=torch.long) for name in (*INTRA, *INTER)}
    query = torch.randn(2, 4)
    before, _, _ = network(Batch(x, of, none), query, "ocd")
    after, _, _ = network(
        Batch(x, of, none | {kind: torch.tensor([[0], [0 if kind[0] != kind[1] else 1]])}), query, "ocd"
    )
    changed = {level: (before[level] - after[level]).abs().sum(1) > 1e-6 for level in "ocd"}
    receiver = kind[1]
    assert [level for level in "ocd" if changed[level].any()] == [receiver]
    assert changed[receiver].tolist() == ([True, False] if kind[0] != kind[1] else [False, True])


@torch.no_grad()
def test_the_same_weights_without_the_query() -> None:
    torch.manual_seed(2)
    network = Network(4, 3, layers=1)
    torch.nn.init.normal_(network.layers[0].inter["cd"].value.weight)
    blind = network.unsteered()
    assert all(torch.equal(weight, blind.state_dict()[name]) for name, weight in network.state_dict().items())
    of, pair = dict.fromkeys("ocd", torch.zeros(3, dtype=torch.long)), torch.tensor([[0, 1, 2], [0, 0, 0]])
    batch = Batch({level: torch.randn(3, 4) for level in "ocd"}, of, dict.fromkeys((*INTRA, *INTER), pair))
    query = torch.randn(1, 4)
    np.testing.assert_allclose(blind(batch, query)[2][0]["cd"], 1 / 3, rtol=1e-6)
    assert not np.allclose(network(batch, query)[2][0]["cd"], 1 / 3)  # which is as it was
    empty = Network(4, 3, layers=1, steered=False)
    empty.load_state_dict(network.state_dict())
    assert torch.equal(empty(batch, query)[0]["d"], blind(batch, query)[0]["d"])


@torch.no_grad()
def test_queries_side_by_side_are_as_each_alone() -> None:
    torch.manual_seed(1)
    network = Network(4, 3, layers=2)
    x = {level: torch.randn(4, 4) for level in "ocd"}
    of = {level: torch.tensor([0, 0, 1, 1]) for level in "ocd"}
    pair = torch.tensor([[0, 1], [1, 0]])
    edges = {name: torch.cat([pair, pair + 2], 1) for name in (*INTRA, *INTER)}
    query = torch.randn(2, 4)
    together, q, _ = network(Batch(x, of, edges), query, "ocd")
    for number in (0, 1):
        rows = slice(2 * number, 2 * number + 2)
        own = Batch({k: v[rows] for k, v in x.items()}, dict.fromkeys("ocd", torch.zeros(2, dtype=torch.long)), {
            name: pair for name in edges
        })  # fmt: skip
        alone, q_alone, _ = network(own, query[number : number + 1], "ocd")
        np.testing.assert_allclose(q_alone[0], q[number], rtol=1e-5)
        for level in "ocd":
            np.testing.assert_allclose(alone[level], together[level][rows], rtol=1e-4, atol=1e-6)
