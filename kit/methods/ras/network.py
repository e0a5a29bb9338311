"""The networks of RAS's answerer, f_gnn and M_ans (RAS §3.4, C.3)."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout
from torch_geometric.data import Batch, Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import MLP, TransformerConv, global_add_pool
from torch_geometric.utils import scatter, softmax

from kit.methods.ras.graph_data import CLOSED_ANSWERS, NodeFeatures

AT_ONCE = 64  # graphs that are answered together
N_FEATURES = len(NodeFeatures._fields)


class GraphEncoder(nn.Module):
    """f_gnn: ``layers`` of the paper's Graph Transformer (C.3), each with a residual.

    They are PyG's TransformerConv with edge vectors. x: (nodes, in_channels), edge_attr: (edges,
    edge_dim) → (nodes, out_channels).
    """

    def __init__(
        self,
        in_channels: int,
        edge_dim: int,
        out_channels: int,
        layers: int,
        heads: int = 4,
    ) -> None:
        super().__init__()
        self.out_channels = out_channels
        self.enter = nn.Linear(in_channels, out_channels)
        self.convs = nn.ModuleList()
        self.norms = nn.ModuleList()
        for _ in range(layers):
            self.convs.append(
                TransformerConv(
                    out_channels,
                    out_channels // heads,
                    heads,
                    edge_dim=edge_dim,
                )
            )
            self.norms.append(nn.LayerNorm(out_channels))

    def forward(
        self,
        x: Tensor,
        edge_index: Tensor,
        edge_attr: Tensor,
    ) -> Tensor:
        """What each node is after all messages."""
        h = self.enter(x)
        for conv, norm in zip(self.convs, self.norms):
            h = h + conv(norm(h), edge_index, edge_attr).relu()
        return h


class AnswerNetwork(nn.Module):
    """M_ans (Eq. 11): scores of all nodes and of the closed answers, in the light of the question.

    Of an empty graph only the closed answers are scored, by the question alone (Eq. 10).
    """

    def __init__(
        self,
        width: int,
        hidden: int,
        layers: int,
    ) -> None:
        super().__init__()
        seen = 2 * hidden + N_FEATURES  # of a node: its text or state, the question, its features
        self.text = nn.Linear(width, hidden)
        self.edge = nn.Linear(width + 1, hidden)
        self.question = nn.Sequential(nn.Dropout(0.2), nn.Linear(width, hidden))
        self.encoder = GraphEncoder(
            seen,
            hidden,
            hidden,
            layers,
        )
        self.node = MLP([seen, 128, 1], dropout=0.2, norm=None)
        pooled = hidden + 2 * (hidden + N_FEATURES)
        self.closed = MLP(
            [pooled, 128, len(CLOSED_ANSWERS)],
            dropout=0.2,
            norm=None,
        )

    def forward(self, data: Batch) -> tuple[Tensor, Tensor]:
        """Of shapes (nodes,) and (graphs, closed answers)."""
        features = data.features  # (nodes, features)
        question = self.question(data.question)  # (graphs, hidden)
        text = dropout(self.text(data.x), 0.3, self.training)  # (nodes, hidden)
        x = torch.cat([text, question[data.batch], features], 1)
        edge = self.edge(data.edge_attr)  # (edges, hidden)
        h = self.encoder(x, data.edge_index, edge)  # f_gnn(G_Q), (nodes, hidden)

        columns = NodeFeatures(*features.split(1, 1))  # (nodes, 1) each
        last = columns.answers_last_step
        any_step = columns.answers_step
        answering = torch.cat([h * last, h * any_step / 3, features * last, features * any_step], 1)

        nodes = self.node(torch.cat([h, question[data.batch], features], 1)).squeeze(1)
        pooled = global_add_pool(answering, data.batch, len(question))
        return nodes, self.closed(torch.cat([question, pooled], 1))

    def loss(self, data: Batch) -> Tensor:
        """As of :func:`answer_loss`."""
        return answer_loss(*self(data), data)

    @torch.no_grad()
    def scores(self, graphs: Sequence[Data]) -> list[dict[str, float]]:
        """For each graph how probable each answer is, the best first."""
        self.eval()
        scores = []
        for batch in DataLoader(graphs, AT_ONCE):
            nodes, closed = self(batch)
            sizes = batch.ptr.diff().tolist()
            for names, *parts in zip(batch.names, nodes.split(sizes), closed):
                probabilities = torch.cat(parts).softmax(0).tolist()
                pairs = zip([*names, *CLOSED_ANSWERS], probabilities)
                scores.append(dict(sorted(pairs, key=lambda pair: -pair[1])))
        return scores

    def answers(self, graphs: Sequence[Data]) -> list[str]:
        """The most probable answer of each graph: A of Eqs. 10 and 11."""
        return [next(iter(scores)) for scores in self.scores(graphs)]


def answer_loss(
    nodes: Tensor,
    closed: Tensor,
    data: Batch,
) -> Tensor:
    """Minus the mean log-likelihood of the right answers, wherever they stand.

    ``nodes`` is (nodes,), ``closed`` (graphs, closed answers). A graph without a right answer does
    not count.
    """
    n_graphs, n_closed = closed.shape
    graphs = torch.arange(n_graphs)
    graph = torch.cat([data.batch, graphs.repeat_interleave(n_closed)])  # of each answer
    right = torch.cat([data.right, data.right_closed.ravel()])
    probabilities = softmax(torch.cat([nodes, closed.ravel()]), graph)

    likelihood = scatter(probabilities * right, graph, 0, n_graphs)  # (graphs,)
    has_answer = scatter(right.float(), graph, 0, n_graphs) > 0
    if not has_answer.any():
        return 0 * nodes.sum()
    return -likelihood[has_answer].log().mean()
