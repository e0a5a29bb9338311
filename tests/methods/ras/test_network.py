"""The graph network: messages and the loss by hand; GRetriever with a tiny model."""

from pathlib import Path

import numpy as np
import pytest
import torch
from torch_geometric.data import Batch
from torch_geometric.llm.models import LLM, GRetriever

from kit.methods.ras.graph_data import CLOSED_ANSWERS, to_data
from kit.methods.ras.network import GraphEncoder, answer_loss


def test_a_layer_passes_messages_along_edges_alone() -> None:
    """What reaches a node from its one neighbour is its value and the edge's: attention is 1."""
    torch.manual_seed(0)
    encoder = GraphEncoder(3, 2, 4, layers=1, heads=1)
    conv = encoder.convs[0]
    x = torch.randn(3, 3)
    edge = torch.randn(1, 2)
    h = encoder.enter(x)
    normed = encoder.norms[0](h)
    sent = conv.lin_value(normed[0]) + conv.lin_edge(edge[0])
    messages = [0, sent, 0]
    expected = torch.stack(
        [h[n] + (conv.lin_skip(normed[n]) + messages[n]).relu() for n in range(3)]
    )
    assert torch.allclose(encoder(x, torch.tensor([[0], [1]]), edge), expected, atol=1e-6)
    silent = GraphEncoder(3, 2, 4, layers=0)
    assert torch.equal(silent(x, torch.tensor([[0], [1]]), edge), silent.enter(x))


def test_the_loss_is_that_of_all_right_answers_together() -> None:
    nodes = torch.tensor([1.0, 2.0, 0.5])
    closed = torch.zeros(2, len(CLOSED_ANSWERS))
    right_closed = torch.zeros(2, len(CLOSED_ANSWERS), dtype=torch.bool)
    right_closed[1, 0] = True
    data = Batch(
        batch=torch.tensor([0, 0, 1]),
        right=torch.tensor([True, False, False]),
        right_closed=right_closed,
    )
    e = np.exp
    first = -np.log(e(1) / (e(1) + e(2) + len(CLOSED_ANSWERS)))
    second = -np.log(1 / (e(0.5) + len(CLOSED_ANSWERS)))
    assert answer_loss(nodes, closed, data).item() == pytest.approx((first + second) / 2, rel=1e-5)
    data.right_closed = torch.zeros_like(right_closed)
    # What has no answer teaches nothing.
    assert answer_loss(nodes, closed, data).item() == pytest.approx(first, rel=1e-5)


def test_the_graph_is_a_token_of_a_causal_model(chat_model: Path, grow) -> None:
    texts = ("Ada", "born", "1901", "Bo", "1905", "of", "Orm")
    vectors = dict.fromkeys(texts, np.ones(32, np.float32))
    language_model = LLM(str(chat_model), num_params=1, dtype=torch.float32)
    model = GRetriever(language_model, GraphEncoder(32, 33, 16, layers=1))
    graph = to_data(grow(("1901",)), vectors["of"], vectors)
    batch = Batch.from_data_list([graph] * 2, exclude_keys=["names"])
    prompts = ["Who?\n(S> Ada| P> born| O> 1901)\n\nQuestion: Who?"] * 2
    inputs = (prompts, batch.x, batch.edge_index, batch.batch)
    loss = model(*inputs, ["Selby Quay", "Oll"], batch.edge_attr)
    loss.backward()
    assert loss.isfinite() and model.gnn.convs[0].lin_value.weight.grad.abs().sum() > 0
    assert len(model.inference(*inputs, batch.edge_attr, max_out_tokens=3)) == 2
