"""QSGNN's messages by hand: three nodes in a plane, cosines of 45 degrees."""

import numpy as np
import pytest
import torch
from scipy.special import softmax
from torch import Tensor
from torch_geometric.data import Batch, HeteroData

from kit.methods.qsgnn.network import (
    INTER,
    INTRA,
    MESSAGE,
    InterLevel,
    IntraLevel,
    NearIdentity,
    Network,
    QueryAttention,
    Residual,
    Update,
)

#: Nodes 0 (east), 1 (north), 2 (north-east); the query points east.
H = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
EAST = torch.tensor([[1.0, 0.0]])
BATCH = torch.zeros(3, dtype=torch.long)  # all nodes are those of the one query
TO_NODE_0 = torch.tensor([[1, 2], [0, 0]])
#: To node 0, with identity projections: cos(q, (h_i + h_j) / 2), of node 1 √½ and of node 2
#: cos((1, 0), (2, 1)).
TOWARDS = np.array([2**-0.5, 2 * 5**-0.5])
ALPHA = np.array([0, 2**-0.5])
PASSING = {"intra": IntraLevel, "inter": InterLevel}


def messages_to_node_0(
    passing: QueryAttention, query: Tensor | None = EAST
) -> tuple[Tensor, Tensor]:
    return passing((H, H), query, (BATCH, BATCH), TO_NODE_0)


@torch.no_grad()
@pytest.mark.parametrize("logit_scale", [1, 5])
@pytest.mark.parametrize(
    ("kind", "score", "blind"), [("intra", ALPHA + TOWARDS, ALPHA), ("inter", TOWARDS, ALPHA * 0)]
)
def test_messages(kind: str, score: np.ndarray, blind: np.ndarray, logit_scale: float) -> None:
    """Eq. 2, α + β, and Eq. 3, γ; without the query α, or the mean."""
    passing = PASSING[kind](2, logit_scale=logit_scale)
    message, attention = messages_to_node_0(passing)
    a = softmax(logit_scale * score)
    np.testing.assert_allclose(attention, a, rtol=1e-5)
    np.testing.assert_allclose(message[0], [MESSAGE * a[1], MESSAGE * (a[0] + a[1])], rtol=1e-5)
    np.testing.assert_array_equal(message[1:], 0)  # nobody sends to them
    _, without_query = messages_to_node_0(passing, None)
    np.testing.assert_allclose(without_query, softmax(logit_scale * blind), rtol=1e-5)


@torch.no_grad()
@pytest.mark.parametrize("kind", PASSING)
@pytest.mark.parametrize("rank", [0, 2])
def test_scores_of_any_weights(kind: str, rank: int) -> None:
    """By the equations, a pair at a time; of whole matrices, and of changed identities."""
    torch.manual_seed(0)
    passing = PASSING[kind](5, rank)
    for weight in passing.parameters():
        torch.nn.init.normal_(weight)
    w = {
        name: module.weight.T
        for name, module in passing.named_children()
        if hasattr(module, "weight")
    }
    h = (torch.randn(7, 5), torch.randn(4, 5))
    query = torch.randn(2, 5)
    batch = (torch.arange(7) // 4, torch.arange(4) // 2)
    edges = torch.tensor([[0, 1, 2, 3, 4, 5, 6], [0, 1, 0, 1, 2, 3, 3]])
    scores = []
    for j, i in edges.T.tolist():
        sender = h[0][j]
        receiver = h[1][i]
        q = query[batch[1][i]]
        if kind == "intra":
            keys = torch.cat([w["key_beta_own"], w["key_beta_other"]])  # W^k_β, 2n × n
            alpha = cosine(receiver @ w["query_alpha"], sender @ w["key_alpha"])
            scores.append(alpha + cosine(q @ w["query_beta"], torch.cat([receiver, sender]) @ keys))
        else:
            keys = torch.cat([w["key_gamma_own"], w["key_gamma_other"]])
            p = torch.cat([receiver @ w["target"], sender @ w["source"]])
            scores.append(cosine(q @ w["query_gamma"], p @ keys))
    np.testing.assert_allclose(passing.score(h, query, batch, edges), scores, rtol=1e-4, atol=1e-6)


def cosine(a: Tensor, b: Tensor) -> float:
    return float(a @ b / a.norm() / b.norm())


@torch.no_grad()
@pytest.mark.parametrize("rank", [0, 2])
def test_the_update_begins_as_the_norm_alone(rank: int) -> None:
    h = torch.tensor([[3.0, 1.0, -4.0]])
    update = Update(3, rank)
    np.testing.assert_allclose(update(h, torch.zeros_like(h)), update.norm(h), rtol=1e-5)


@torch.no_grad()
def test_the_update_of_a_rank_is_a_perceptron_of_two_n_more_units() -> None:
    torch.manual_seed(0)
    small = Update(3, 2)
    for weight in small.outer.parameters():
        torch.nn.init.normal_(weight)
    whole = Update(3)
    inner = torch.cat([whole.inner.weight, small.inner.weight])  # (2n + rank, n)
    bias = torch.cat([whole.inner.bias, small.inner.bias])
    outer = torch.cat([whole.outer.weight, small.outer.weight], 1)  # (n, 2n + rank)
    h = torch.randn(4, 3)
    message = torch.randn(4, 3)
    x = small.norm(h + message)
    expected = torch.relu(x @ inner.T + bias) @ outer.T + small.outer.bias
    np.testing.assert_allclose(small(h, message), expected, rtol=1e-4, atol=1e-6)


@torch.no_grad()
def test_a_changed_identity_by_hand() -> None:
    """W = I / 2 + A B with A = (1, 2)ᵀ and B = (3, 4), as h W for a row h."""
    layer = NearIdentity(2, 1, 0.5)
    h = torch.tensor([[1.0, 1.0]])
    np.testing.assert_array_equal(layer(h), 0.5 * h)  # B begins at 0
    layer.down.weight.copy_(torch.tensor([[1.0, 2.0]]))
    layer.up.weight.copy_(torch.tensor([[3.0], [4.0]]))
    np.testing.assert_array_equal(layer.weight.T, [[3.5, 4.0], [6.0, 8.5]])
    np.testing.assert_array_equal(layer(h), [[9.5, 12.5]])


@torch.no_grad()
def test_a_residual_score_by_hand() -> None:
    residual = Residual(torch.tensor([2.0, 1.0]), temperature=0.5)
    plain = torch.tensor([[1.0, 2.0], [0.0, -1.0]])
    cosines = torch.tensor([0.5, 1.0])
    np.testing.assert_allclose(residual(plain, cosines), [4 + 0.2, -1 + 0.4])  # λ = 0.2


@torch.no_grad()
def test_as_wide_as_the_encoder_nothing_is_compressed() -> None:
    network = Network(4, 4)
    x = torch.randn(3, 4)
    network.keep_cosines(x)
    assert network.compress(x) is x
    assert Network(4, 3).compress(x).shape == (3, 3)


@torch.no_grad()
@pytest.mark.parametrize("gone", [INTRA, INTER])
def test_kinds_of_edges_can_be_left_out(gone: tuple[str, ...]) -> None:
    torch.manual_seed(0)
    kept = [kind for kind in (*INTRA, *INTER) if kind not in gone]
    network = Network(4, 4, kinds=kept)
    x = {level: torch.randn(2, 4) for level in "ocd"}
    edges = dict.fromkeys(gone, torch.tensor([[0], [1]]))
    query = torch.randn(1, 4)
    with_edges, _, layers = network(Batch.from_data_list([graph(x, edges)]), query, "ocd")
    without, _, _ = network(Batch.from_data_list([graph(x, {})]), query, "ocd")
    assert all(set(layer) == set(kept) for layer in layers)
    for level in "ocd":
        np.testing.assert_array_equal(with_edges[level], without[level])


def graph(x: dict[str, Tensor], edges: dict[str, Tensor]) -> HeteroData:
    data = HeteroData()
    for level in "ocd":
        data[level].x = x[level]
    for kind in (*INTRA, *INTER):
        data[kind[0], kind, kind[1]].edge_index = edges.get(
            kind, torch.zeros(2, 0, dtype=torch.long)
        )
    return data


@torch.no_grad()
@pytest.mark.parametrize("kind", [*INTRA, *INTER])
def test_an_edge_reaches_whom_it_leads_to(kind: str) -> None:
    """One edge of a kind changes the receiver alone (Eq. 4, one layer)."""
    torch.manual_seed(0)
    network = Network(4, 4, layers=1)
    query = torch.randn(1, 4)
    x = {level: torch.randn(2, 4) for level in "ocd"}
    without = Batch.from_data_list([graph(x, {})])
    with_edge = Batch.from_data_list([graph(x, {kind: torch.tensor([[0], [1]])})])
    before, _, _ = network(without, query, "ocd")
    after, _, _ = network(with_edge, query, "ocd")
    for level in "ocd":
        changed = (before[level] - after[level]).abs().sum(1) > 1e-6
        assert changed.tolist() == [False, level == kind[1]]


@torch.no_grad()
def test_queries_side_by_side_are_as_each_alone() -> None:
    torch.manual_seed(1)
    network = Network(4, 3, layers=2)
    edges = dict.fromkeys((*INTRA, *INTER), torch.tensor([[0, 1], [1, 0]]))
    graphs = [graph({level: torch.randn(2, 4) for level in "ocd"}, edges) for _ in "ab"]
    query = torch.randn(2, 4)
    together, q, _ = network(Batch.from_data_list(graphs), query, "ocd")
    for i, alone in enumerate(graphs):
        h, q_alone, _ = network(Batch.from_data_list([alone]), query[[i]], "ocd")
        np.testing.assert_allclose(q_alone[0], q[i], rtol=1e-5)
        for level in "ocd":
            expected = together[level][2 * i :][:2]
            np.testing.assert_allclose(h[level], expected, rtol=1e-4, atol=1e-6)
