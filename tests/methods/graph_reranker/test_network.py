"""The network's messages by hand and against a plain loop."""

import numpy as np
import pytest
import torch
from torch import Tensor

from kit.methods.graph_reranker.candidates import SCORES
from kit.methods.graph_reranker.features import KINDS, LEVELS, NUMBERS, Batch, Edges
from kit.methods.graph_reranker.network import HEARD, Listening, Network, Round, largest

WIDTH = 4
N_NODES = {"o": 3, "c": 4, "d": 2}


def some_edges(kind: str) -> Edges:
    """Two thirds of the pairs of nodes, receiver by receiver."""
    n_senders, n_receivers = (N_NODES[level] for level in kind)
    pairs = [(j, i) for i in range(n_receivers) for j in range(n_senders) if (2 * i + j) % 3]
    return Edges(torch.tensor(pairs).T, torch.linspace(-1, 1, len(pairs)))


@pytest.fixture
def batch() -> Batch:
    torch.manual_seed(1)
    n_numbers = dict.fromkeys(LEVELS, len(NUMBERS)) | {"d": len(NUMBERS) + len(SCORES)}
    numbers = {level: torch.randn(N_NODES[level], n_numbers[level]) for level in LEVELS}
    edges = {kind: some_edges(kind) for kind in KINDS}
    return Batch((), numbers, torch.randn(N_NODES["d"], len(SCORES)), edges)


def test_the_largest_of_each_component_and_who_sent_it() -> None:
    sent = torch.tensor([[1.0, 0.0], [3.0, 0.0], [2.0, 5.0], [3.0, 1.0]])
    messages, edge = largest(sent, torch.tensor([0, 0, 2, 2]), 3)
    assert messages.tolist() == [[3, 0], [0, 0], [3, 5]]
    assert edge.tolist() == [[1, -1], [-1, -1], [3, 2]]  # nobody sends to 1; 0 brings nothing


def test_the_gradient_goes_to_the_winner_alone() -> None:
    sent = torch.tensor([[1.0], [3.0], [3.0]], requires_grad=True)
    largest(sent, torch.zeros(3, dtype=torch.long), 1).messages.sum().backward()
    assert sent.grad.flatten().tolist() == [0, 0, 1]


@torch.no_grad()
def test_messages_by_hand() -> None:
    """ReLU(W [z_j ; cos]) with W = (1, 2) and a bias of −1."""
    listening = Listening(1)
    listening.linear.weight.copy_(torch.tensor([[1.0, 2.0]]))
    listening.linear.bias.fill_(-1)
    edges = Edges(torch.tensor([[0, 1, 1], [0, 0, 1]]), torch.tensor([0.5, 0.25, -1.0]))
    messages, edge = listening(torch.tensor([[2.0], [3.0]]), edges, 2)
    assert messages.tolist() == [[2.5], [0]]  # 2 + 2 · .5 − 1 and 3 + 2 · .25 − 1; 3 − 2 − 1
    assert edge.tolist() == [[1], [-1]]


def brute_force(layer: Round, z: dict[str, Tensor], edges: dict[str, Edges]) -> dict[str, Tensor]:
    """A round, node by node and edge by edge."""
    z = dict(z)
    for level in "cod":
        heard = [z[level]]
        for kind in HEARD[level]:
            weight = layer.listening[kind].linear
            messages = torch.zeros(N_NODES[level], WIDTH)
            for (j, i), closeness in zip(edges[kind].index.T.tolist(), edges[kind].closeness):
                sent = torch.relu(weight(torch.cat([z[kind[0]][j], closeness[None]])))
                messages[i] = torch.maximum(messages[i], sent)
            heard.append(messages)
        update = layer.update[level]
        together = torch.cat(heard, 1)
        mean = together.mean(1, keepdim=True)
        deviation = (together.var(1, correction=0, keepdim=True) + update.norm.eps).sqrt()
        z[level] = z[level] + update.outer(torch.relu(update.inner((together - mean) / deviation)))
    return z


@torch.no_grad()
def test_a_round_is_that_of_a_plain_loop(batch: Batch) -> None:
    torch.manual_seed(0)
    layer = Round(WIDTH)
    z = {level: torch.randn(N_NODES[level], WIDTH) for level in LEVELS}
    renewed, _ = layer(z, batch.edges, KINDS)
    for level, expected in brute_force(layer, z, batch.edges).items():
        np.testing.assert_allclose(renewed[level], expected, rtol=1e-4, atol=1e-5)


@torch.no_grad()
def test_the_base_alone_ranks_before_training(batch: Batch) -> None:
    network = Network(WIDTH, 2)
    network.begin_with(np.array([1, 2, 0, 0, 0, 0, 0, -3], np.float32))
    expected = batch.scores[:, 0] + 2 * batch.scores[:, 1] - 3
    scores, rounds = network(batch, KINDS)
    assert len(scores) == 3 and len(rounds) == 2
    for of_round in scores:
        np.testing.assert_allclose(of_round, expected, rtol=1e-5)


@torch.no_grad()
def test_one_round_carries_from_document_to_document(batch: Batch) -> None:
    """Through sentences and entities; without edges nothing is heard."""
    torch.manual_seed(0)
    network = Network(16, 1)
    torch.nn.init.normal_(network.outer.weight)
    changed = batch.numbers["d"].clone()
    changed[1] += 5
    other = batch._replace(numbers=batch.numbers | {"d": changed})
    for kinds, is_moved in ((KINDS, True), ((), False)):
        before, heard = network(batch, kinds)
        after, _ = network(other, kinds)
        assert bool((before[-1][0] - after[-1][0]).abs() > 1e-6) == is_moved
        assert set(heard[0]) == set(kinds)
