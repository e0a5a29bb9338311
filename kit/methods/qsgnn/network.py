"""The network of QSGNN: message passing on three levels, guided by the query (qsgnn.txt §3.2).

The paper's symbols and the names here:

- h_i, h_j: the vector of a receiver and of a sender; ``h`` holds those of all senders and receivers
- q: ``query``
- α_ij, β_ij, γ_ij: ``alpha``, ``beta``, ``gamma``
- attn: ``attention``, msg: ``messages``
- W^q_α, W^k_α, W^q_β, W^q_γ: ``query_alpha``, ``key_alpha``, ``query_beta``, ``query_gamma``
- W^k_β: ``key_beta_own`` above ``key_beta_other``, as it multiplies h_i ‖ h_j; likewise W^k_γ
- W^v, W^t, W^s: ``value``, ``target``, ``source``
- Norm, P: ``norm``, and ``inner`` and ``outer``
- IntraMQ, InterMQ: the two parts of :class:`Layer`

Graphs are batches of :meth:`kit.methods.qsgnn.graph.MultiLevelGraph.subgraph`.
"""

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import normalize
from torch_geometric.data import HeteroData
from torch_geometric.nn import MessagePassing
from torch_geometric.utils import softmax

LEVELS = "ocd"  # entities, chunks (sentences), documents (passages)
#: Kinds of edges, as the level that sends and the level that receives; each has its own weights
#: (qsgnn-i09).
INTRA = ("oo", "cc")
INTER = ("co", "oc", "do", "od", "dc", "cd")

MESSAGE = 0.9  # W^v begins as so many times the identity
SMALL = 1e-12
Ends = tuple[Tensor, Tensor]  # something of the senders' nodes, and of the receivers'
Vectors = dict[str, Tensor]  # of the nodes of each level, (nodes, n)
Attention = dict[str, Tensor]  # of the edges of each kind, (edges,)


class QueryAttention(MessagePassing):
    """What Eqs. 2 and 3 share: attn = softmax over j of the scores, msg_i = Σ_j attn_ij · h_j W^v.

    A subclass scores the edges. No edge is multiplied with a matrix: [h_i ‖ h_j] W^k = a_i + b_j,
    with a = h W^k_own and b = h W^k_other. So the parts of
    cos(q', a_i + b_j) = (q'·a_i + q'·b_j) / (|q'| |a_i + b_j|) belong to nodes, but for the product
    in |a_i + b_j|² = |a_i|² + |b_j|² + 2 a_i·b_j.
    """

    def __init__(self, logit_scale: float) -> None:
        super().__init__(aggr="add")
        self.logit_scale = logit_scale

    def forward(
        self,
        h: Ends,  # (nodes, n)
        query: Tensor | None,  # (queries, n), None to leave β and γ out
        batch: Ends,  # (nodes,), the query of each node
        edge_index: Tensor,  # (2, edges)
    ) -> tuple[Tensor, Tensor]:
        """The messages to the receivers (nodes, n), and the attention of each edge.

        Where nobody sends, the message is 0 (qsgnn-i11).
        """
        size = (len(h[0]), len(h[1]))
        scores = self.logit_scale * self.score(h, query, batch, edge_index)
        attention = softmax(scores, edge_index[1], num_nodes=size[1])

        # Σ_j attn_ij (h_j W^v) = (Σ_j attn_ij h_j) W^v: the side with fewer nodes is multiplied.
        senders_are_fewer = size[0] < size[1]
        sent = self.value(h[0]) if senders_are_fewer else h[0]
        messages = self.propagate(
            edge_index,
            x=sent,
            attention=attention,
            size=size,
        )
        if not senders_are_fewer:
            messages = self.value(messages)
        return messages, attention

    def message(self, x_j: Tensor, attention: Tensor) -> Tensor:
        return attention[:, None] * x_j


class IntraLevel(QueryAttention):
    """Messages within a level, Eq. 2.

    α_ij = Sim(h_i W^q_α, h_j W^k_α) and β_ij = Sim(q W^q_β, (h_i ‖ h_j) W^k_β); the score is their
    sum.
    """

    def __init__(self, n: int, logit_scale: float = 1.0) -> None:
        super().__init__(logit_scale)
        self.query_alpha = _identity(n)
        self.key_alpha = _identity(n)
        self.query_beta = _identity(n)
        self.key_beta_own = _identity(n, 0.5)
        self.key_beta_other = _identity(n, 0.5)
        self.value = _identity(n, MESSAGE)

    def score(
        self,
        h: Ends,
        query: Tensor | None,
        batch: Ends,
        edge_index: Tensor,
    ) -> Tensor:
        """α + β of each edge, (edges,); without a query α."""
        senders, receivers = h
        keys = normalize(self.key_alpha(senders), dim=1)
        queries = normalize(self.query_alpha(receivers), dim=1)
        alpha = _products((keys, queries), edge_index)
        if query is None:
            return alpha

        ends = (self.key_beta_other(senders), self.key_beta_own(receivers))
        return alpha + _cosines(
            self.query_beta(query),
            batch,
            ends,
            edge_index,
        )


class InterLevel(QueryAttention):
    """Messages from one level to another, Eq. 3.

    p_ij = h_i W^t ‖ h_j W^s, and the score is γ_ij = Sim(q W^q_γ, p_ij W^k_γ). Without a query
    there is no score, and the message is the mean.
    """

    def __init__(self, n: int, logit_scale: float = 1.0) -> None:
        super().__init__(logit_scale)
        self.target = _identity(n)
        self.source = _identity(n)
        self.query_gamma = _identity(n)
        self.key_gamma_own = _identity(n, 0.5)
        self.key_gamma_other = _identity(n, 0.5)
        self.value = _identity(n, MESSAGE)

    def score(
        self,
        h: Ends,
        query: Tensor | None,
        batch: Ends,
        edge_index: Tensor,
    ) -> Tensor:
        """γ of each edge, (edges,); without a query 0."""
        senders, receivers = h
        if query is None:
            return senders.new_zeros(edge_index.shape[1])

        # W^s W^k before h W^s, since there are more nodes than dimensions.
        to_other = self.key_gamma_other.weight @ self.source.weight
        to_own = self.key_gamma_own.weight @ self.target.weight
        return _cosines(
            self.query_gamma(query),
            batch,
            (senders @ to_other.T, receivers @ to_own.T),
            edge_index,
        )


class Update(nn.Module):
    """h_i = P(Norm(h_i + msg_i)) of Eqs. 2 and 3; P is a two-layer MLP with ReLU.

    P begins as the identity, x = ReLU(x) − ReLU(−x), for which its hidden layer has 2n units.
    """

    def __init__(self, n: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(n)
        self.inner = nn.Linear(n, 2 * n)
        self.outer = nn.Linear(2 * n, n)

        with_and_against = torch.cat([torch.eye(n), -torch.eye(n)])  # (2n, n)
        self.inner.weight.data.copy_(with_and_against)
        self.outer.weight.data.copy_(with_and_against.T)
        for linear in (self.inner, self.outer):
            nn.init.zeros_(linear.bias)

    def forward(self, h: Tensor, message: Tensor) -> Tensor:
        hidden = torch.relu(self.inner(self.norm(h + message)))
        return self.outer(hidden)


class Layer(nn.Module):
    """H^l of Eq. 4: within the levels, then between them.

    Documents have no edges among themselves (qsgnn-i14). ``intra``: whether messages within a level
    are passed.
    """

    def __init__(self, n: int, logit_scale: float, intra: bool) -> None:
        super().__init__()
        self.kinds_within = INTRA if intra else ()
        self.intra = nn.ModuleDict({kind: IntraLevel(n, logit_scale) for kind in INTRA})
        self.inter = nn.ModuleDict({kind: InterLevel(n, logit_scale) for kind in INTER})
        self.after_intra = nn.ModuleDict({kind[0]: Update(n) for kind in INTRA})
        self.after_inter = nn.ModuleDict({level: Update(n) for level in LEVELS})

    def forward(
        self,
        h: Vectors,
        query: Tensor | None,  # (queries, n)
        graph: HeteroData,
        targets: str,  # levels
    ) -> tuple[Vectors, Attention]:
        """New vectors of the target levels, and the attention of the edges to them."""
        h = dict(h)
        attention = {}

        def pass_messages(module: QueryAttention, kind: str) -> Tensor:
            source, target = kind
            messages, attention[kind] = module(
                (h[source], h[target]),
                query,
                (graph[source].batch, graph[target].batch),
                graph[source, target].edge_index,
            )
            return messages

        for kind in self.kinds_within:  # IntraMQ
            level = kind[0]
            messages = pass_messages(self.intra[kind], kind)
            h[level] = self.after_intra[level](h[level], messages)

        received = {level: torch.zeros_like(h[level]) for level in targets}
        for kind in INTER:  # InterMQ
            level = kind[1]
            if level in targets:
                received[level] = received[level] + pass_messages(self.inter[kind], kind)
        for level, messages in received.items():
            received[level] = self.after_inter[level](h[level], messages)
        return received, attention


class Network(nn.Module):
    """QSGNN: ``layers`` times Eq. 4, on vectors that a linear map compresses to ``n`` dimensions.

    The map (footnote 3) is the query's, too, which is not updated (qsgnn-i16). The softmax of
    cosines is nearly flat: beside nineteen neighbours at 0, one at 1 has a weight of .13. So they
    are multiplied with ``logit_scale``, which is 1 in the paper (qsgnn-i10). ``query_aware`` and
    ``intra``: whether β and γ, and messages within a level, take part.
    """

    def __init__(
        self,
        dimension: int,
        n: int,
        layers: int = 2,
        logit_scale: float = 1.0,
        query_aware: bool = True,
        intra: bool = True,
    ) -> None:
        super().__init__()
        self.query_aware = query_aware
        self.compress = nn.Linear(dimension, n, bias=False)
        self.layers = nn.ModuleList(Layer(n, logit_scale, intra) for _ in range(layers))

    def draw(self) -> None:
        """Draw all weights at random, as torch does."""
        for module in self.modules():
            if hasattr(module, "reset_parameters"):
                module.reset_parameters()

    @torch.no_grad()
    def keep_cosines(self, vectors: Tensor) -> None:
        """Compress to the directions in which these vectors (vectors, dimension) are largest."""
        weight = self.compress.weight  # (n, dimension)
        *_, directions = np.linalg.svd(vectors.numpy(), full_matrices=False)
        kept = torch.from_numpy(directions[: len(weight)])
        weight.zero_()[: len(kept)] = kept

    def forward(
        self,
        graph: HeteroData,
        query: Tensor,  # (queries, dimension)
        targets: str = "d",  # levels
    ) -> tuple[Vectors, Tensor, list[Attention]]:
        """Vectors of the target levels, of the queries (queries, n), and each layer's attention."""
        q = self.compress(query)
        guide = q if self.query_aware else None
        h = {level: self.compress(x) for level, x in graph.x_dict.items()}

        attention = []
        levels_before = [LEVELS] * (len(self.layers) - 1)
        for layer, levels in zip(self.layers, [*levels_before, targets]):
            h, weights = layer(h, guide, graph, levels)
            attention.append(weights)
        return h, q, attention


def _products(ends: Ends, edge_index: Tensor) -> Tensor:
    """The inner product of each edge's two ends, (edges,)."""
    senders = ends[0].index_select(0, edge_index[0])
    receivers = ends[1].index_select(0, edge_index[1])
    return (senders * receivers).sum(1)


def _cosines(
    query: Tensor,  # (queries, n)
    batch: Ends,  # (nodes,), the query of each node
    ends: Ends,  # b and a, (nodes, n)
    edge_index: Tensor,  # (2, edges)
) -> Tensor:
    """cos(q, a_i + b_j) of each edge, (edges,)."""
    query = normalize(query, dim=1)
    towards = 0.0  # q·a_i + q·b_j
    squares = 0.0  # |a_i|² + |b_j|²
    for vectors, query_of, nodes in zip(ends, batch, edge_index):
        along = (query.index_select(0, query_of) * vectors).sum(1)
        towards = towards + along.index_select(0, nodes)
        squares = squares + vectors.square().sum(1).index_select(0, nodes)

    square = squares + 2 * _products(ends, edge_index)  # |a_i + b_j|²
    return towards * square.clamp_min(SMALL).rsqrt()


def _identity(n: int, weight: float = 1.0) -> nn.Linear:
    """A square projection without bias that begins as a multiple of the identity."""
    linear = nn.Linear(n, n, bias=False)
    linear.weight.data.copy_(weight * torch.eye(n))
    return linear
