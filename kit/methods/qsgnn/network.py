"""The network of QSGNN: message passing on three levels, guided by the query (qsgnn.txt §3.2, Eqs. 2–4).

The paper's symbols and the names here: h_i ``h_i``, a receiver's vector, h_j ``h_j``, a sender's; q ``query``; W^q_α …
the modules named after them. Graphs are batches of :meth:`kit.methods.qsgnn.graph.MultiLevelGraph.subgraph`.
"""

from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize
from torch_geometric.data import HeteroData
from torch_geometric.nn import MessagePassing
from torch_geometric.utils import softmax

#: Kinds of edges, as the level that sends and the level that receives; each with weights of its own (qsgnn-i09).
INTRA = ("oo", "cc")
INTER = ("co", "oc", "do", "od", "dc", "cd")
SMALL, MESSAGE = 1e-12, 0.9  # MESSAGE times the identity is what W^v begins as
Ends = tuple[Tensor, Tensor]  # something of the senders' nodes, and of the receivers'


class QueryAttention(MessagePassing):
    """What Eqs. 2 and 3 share: attn = softmax over j of the scores, msg_i = Σ_j attn_ij · h_j W^v.

    A subclass scores the edges, and multiplies nothing with a matrix for an edge: [h_i ‖ h_j] W^k = a_i + b_j, with
    a = h W^k_own and b = h W^k_other, so that the parts of cos(q', a_i + b_j) = (q'·a_i + q'·b_j) / (|q'| |a_i + b_j|)
    belong to nodes, but for the product in |a_i + b_j|² = |a_i|² + |b_j|² + 2 a_i·b_j.
    """

    def __init__(self, logit_scale: float) -> None:
        super().__init__(aggr="add")
        self.logit_scale = logit_scale

    def forward(
        self, h: Ends, query: Tensor | None, batch: Ends, edge_index: Tensor
    ) -> tuple[Tensor, Tensor]:
        """The messages to the receivers (nodes, n), 0 where nobody sends (qsgnn-i11), and the attention of each edge.

        ``h`` (nodes, n), ``query`` (queries, n) or None to leave β and γ out, ``batch`` (nodes,) each node's query.
        """
        n_nodes = len(h[0]), len(h[1])
        scores = self.logit_scale * self.score(h, query, batch, edge_index)
        attention = softmax(scores, edge_index[1], num_nodes=n_nodes[1])
        if n_nodes[0] < n_nodes[1]:  # the fewer products
            return self.propagate(
                edge_index, x=self.value(h[0]), attention=attention, size=n_nodes
            ), attention
        return self.value(
            self.propagate(edge_index, x=h[0], attention=attention, size=n_nodes)
        ), attention

    def message(self, x_j: Tensor, attention: Tensor) -> Tensor:
        return attention[:, None] * x_j


class IntraLevel(QueryAttention):
    """Messages within a level, Eq. 2: α_ij = Sim(h_i W^q_α, h_j W^k_α), β_ij = Sim(q W^q_β, (h_i ‖ h_j) W^k_β)."""

    def __init__(self, n: int, logit_scale: float = 1.0) -> None:
        super().__init__(logit_scale)
        self.query_alpha, self.key_alpha = _identity(n), _identity(n)
        self.query_beta, self.key_beta_own, self.key_beta_other = (
            _identity(n),
            _identity(n, 0.5),
            _identity(n, 0.5),
        )
        self.value = _identity(n, MESSAGE)

    def score(self, h: Ends, query: Tensor | None, batch: Ends, edge_index: Tensor) -> Tensor:
        other, own = h
        keys, asking = (
            normalize(self.key_alpha(other), dim=1),
            normalize(self.query_alpha(own), dim=1),
        )
        alpha = _products((keys, asking), edge_index)
        if query is None:
            return alpha
        ends = self.key_beta_other(other), self.key_beta_own(own)
        return alpha + _cosines(self.query_beta(query), batch, ends, edge_index)


class InterLevel(QueryAttention):
    """Messages from one level to another, Eq. 3: p_ij = h_i W^t ‖ h_j W^s, γ_ij = Sim(q W^q_γ, p_ij W^k_γ).

    Without a query there is no score, and the message is the mean.
    """

    def __init__(self, n: int, logit_scale: float = 1.0) -> None:
        super().__init__(logit_scale)
        self.target, self.source = _identity(n), _identity(n)
        self.query_gamma, self.key_gamma_own, self.key_gamma_other = (
            _identity(n),
            _identity(n, 0.5),
            _identity(n, 0.5),
        )
        self.value = _identity(n, MESSAGE)

    def score(self, h: Ends, query: Tensor | None, batch: Ends, edge_index: Tensor) -> Tensor:
        if query is None:
            return h[0].new_zeros(edge_index.shape[1])
        pairs = (self.key_gamma_other, self.source), (self.key_gamma_own, self.target)
        # W^s W^k before h W^s, since there are more nodes than dimensions.
        to_other, to_own = ((key.weight @ inner.weight).T for key, inner in pairs)
        return _cosines(
            self.query_gamma(query), batch, (h[0] @ to_other, h[1] @ to_own), edge_index
        )


class Update(nn.Module):
    """h_i = P(Norm(h_i + msg_i)) of Eqs. 2 and 3; P is a two-layer MLP with ReLU.

    P begins as the identity, x = ReLU(x) − ReLU(−x), for which its hidden layer has 2n units.
    """

    def __init__(self, n: int) -> None:
        super().__init__()
        self.norm, self.inner, self.outer = (
            nn.LayerNorm(n),
            nn.Linear(n, 2 * n),
            nn.Linear(2 * n, n),
        )
        both = torch.cat([torch.eye(n), -torch.eye(n)])
        for linear, weight in ((self.inner, both), (self.outer, both.T)):
            nn.init.zeros_(linear.bias)
            linear.weight.data.copy_(weight)

    def forward(self, h: Tensor, message: Tensor) -> Tensor:
        return self.outer(torch.relu(self.inner(self.norm(h + message))))


class Layer(nn.Module):
    """H^l of Eq. 4: within the levels, then between them. Documents have no edges among themselves (qsgnn-i14)."""

    def __init__(self, n: int, logit_scale: float) -> None:
        super().__init__()
        self.intra = nn.ModuleDict({kind: IntraLevel(n, logit_scale) for kind in INTRA})
        self.inter = nn.ModuleDict({kind: InterLevel(n, logit_scale) for kind in INTER})
        self.after_intra = nn.ModuleDict({kind[0]: Update(n) for kind in INTRA})
        self.after_inter = nn.ModuleDict({level: Update(n) for level in "ocd"})

    def forward(
        self,
        h: Mapping[str, Tensor],
        query: Tensor | None,
        graph: HeteroData,
        targets: str,
        intra: bool,
    ) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
        """New vectors of the target levels, and by kind the attention of the edges on the way to them."""
        h, batch, attention = dict(h), graph.batch_dict, {}
        edges = {
            source + target: edge_index
            for (source, _, target), edge_index in graph.edge_index_dict.items()
        }

        def pass_messages(module: QueryAttention, kind: str) -> Tensor:
            (source, target), edge_index = kind, edges[kind]
            message, attention[kind] = module(
                (h[source], h[target]), query, (batch[source], batch[target]), edge_index
            )
            return message

        for kind in INTRA if intra else ():  # IntraMQ
            level = kind[0]
            h[level] = self.after_intra[level](h[level], pass_messages(self.intra[kind], kind))
        messages = {level: torch.zeros_like(h[level]) for level in targets}
        for kind in INTER:  # InterMQ
            if kind[1] in targets:
                messages[kind[1]] = messages[kind[1]] + pass_messages(self.inter[kind], kind)
        return {
            level: self.after_inter[level](h[level], message) for level, message in messages.items()
        }, attention


class Network(nn.Module):
    """QSGNN: ``layers`` times Eq. 4 on vectors that a linear map compresses from ``dimension`` to ``n`` (footnote 3).

    The query takes the same map and is not updated (qsgnn-i16). The softmax of cosines is nearly flat (beside nineteen
    neighbours at 0 one at 1 has a weight of .13), so they are multiplied with ``logit_scale``, 1 in the paper
    (qsgnn-i10). ``query_aware`` and ``intra``: whether β and γ, and messages within a level, take part.
    """

    query_aware = intra = True

    def __init__(self, dimension: int, n: int, layers: int = 2, logit_scale: float = 1.0) -> None:
        super().__init__()
        self.compress = nn.Linear(dimension, n, bias=False)
        self.layers = nn.ModuleList(Layer(n, logit_scale) for _ in range(layers))

    def forward(
        self, graph: HeteroData, query: Tensor, targets: str = "d"
    ) -> tuple[dict[str, Tensor], Tensor, list[dict[str, Tensor]]]:
        """Vectors of the target levels' nodes, of the queries (queries, n), and each layer's attention."""
        q = self.compress(query)
        guide = q if self.query_aware else None
        h = {level: self.compress(x) for level, x in graph.x_dict.items()}
        attention = []
        for number, layer in enumerate(self.layers, 1):
            h, weights = layer(
                h, guide, graph, targets if number == len(self.layers) else "ocd", self.intra
            )
            attention.append(weights)
        return h, q, attention


def _products(ends: Ends, edge_index: Tensor) -> Tensor:
    """The inner product of each edge's two ends."""
    return (ends[0].index_select(0, edge_index[0]) * ends[1].index_select(0, edge_index[1])).sum(1)


def _cosines(query: Tensor, batch: Ends, ends: Ends, edge_index: Tensor) -> Tensor:
    """cos(q, a_i + b_j) of each edge, where ``ends`` are b and a."""
    query, towards, square = normalize(query, dim=1), 0.0, 0.0
    for vectors, graph_of, nodes in zip(ends, batch, edge_index):
        towards = towards + (query.index_select(0, graph_of) * vectors).sum(1).index_select(
            0, nodes
        )
        square = square + vectors.square().sum(1).index_select(0, nodes)
    return towards * (square + 2 * _products(ends, edge_index)).clamp_min(SMALL).rsqrt()


def _identity(n: int, weight: float = 1.0) -> nn.Linear:
    """A square projection without bias that begins as a multiple of the identity."""
    linear = nn.Linear(n, n, bias=False)
    linear.weight.data.copy_(weight * torch.eye(n))
    return linear
