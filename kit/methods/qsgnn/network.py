"""The network of QSGNN: message passing on three levels, guided by the query (QSGNN §3.2).

The paper's symbols and the names here:

- h_i, h_j: the vector of a receiver and of a sender; ``h`` holds those of all senders and receivers
- q: ``query``
- α_ij, β_ij, γ_ij: ``alpha``, ``beta``, ``gamma``
- attn: ``attention``, msg: ``messages``
- W^q_α, W^k_α, W^q_β, W^q_γ: ``query_alpha``, ``key_alpha``, ``query_beta``, ``query_gamma``
- W^k_β: ``key_beta_own`` above ``key_beta_other``, as it multiplies h_i ‖ h_j; likewise W^k_γ
- W^v, W^t, W^s: ``value``, ``target``, ``source``
- Norm, P: ``norm``, and ``inner`` and ``outer``
- I: what a square matrix begins as; with a ``rank`` it stays, and I + A B is learned, where A is
  ``down`` and B ``up``
- IntraMQ, InterMQ: the two parts of :class:`Layer`

Graphs are batches of :meth:`kit.methods.qsgnn.graph.MultiLevelGraph.subgraph`.
"""

from collections.abc import Collection

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import normalize
from torch_geometric.data import HeteroData
from torch_geometric.nn import MessagePassing
from torch_geometric.utils import softmax

from kit.learning.training import Weights

LEVELS = "ocd"  # entities, chunks (sentences), documents (passages)
#: Kinds of edges, as the level that sends and the level that receives; each has its own weights
#: (qsgnn-i09).
INTRA = ("oo", "cc")
INTER = ("co", "oc", "do", "od", "dc", "cd")

MESSAGE = 0.9  # W^v begins as so many times the identity
SHARE = 0.2  # λ of a residual score: so that cosines can turn odds of 1 : 300
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

    def __init__(self, n: int, rank: int = 0, logit_scale: float = 1.0) -> None:
        super().__init__(logit_scale)
        self.query_alpha = _identity(n, rank)
        self.key_alpha = _identity(n, rank)
        self.query_beta = _identity(n, rank)
        self.key_beta_own = _identity(n, rank, 0.5)
        self.key_beta_other = _identity(n, rank, 0.5)
        self.value = _identity(n, rank, MESSAGE)

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

    def __init__(self, n: int, rank: int = 0, logit_scale: float = 1.0) -> None:
        super().__init__(logit_scale)
        self.target = _identity(n, rank)
        self.source = _identity(n, rank)
        self.query_gamma = _identity(n, rank)
        self.key_gamma_own = _identity(n, rank, 0.5)
        self.key_gamma_other = _identity(n, rank, 0.5)
        self.value = _identity(n, rank, MESSAGE)

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

        ends = (
            self.key_gamma_other(self.source(senders)),
            self.key_gamma_own(self.target(receivers)),
        )
        return _cosines(
            self.query_gamma(query),
            batch,
            ends,
            edge_index,
        )


class Update(nn.Module):
    """h_i = P(Norm(h_i + msg_i)) of Eqs. 2 and 3; P is a two-layer MLP with ReLU.

    P begins as the identity, x = ReLU(x) − ReLU(−x), for which 2n hidden units are needed. With a
    ``rank`` these stay as they are, and so many units beside them learn, whose outputs begin at 0.
    """

    def __init__(self, n: int, rank: int = 0) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(n)
        self.keeps_identity = rank > 0
        self.inner = nn.Linear(n, rank or 2 * n)
        self.outer = nn.Linear(rank or 2 * n, n)
        nn.init.zeros_(self.outer.weight)
        nn.init.zeros_(self.outer.bias)
        if not self.keeps_identity:
            with_and_against = torch.cat([torch.eye(n), -torch.eye(n)])  # (2n, n)
            self.inner.weight.data.copy_(with_and_against)
            self.outer.weight.data.copy_(with_and_against.T)
            nn.init.zeros_(self.inner.bias)

    def forward(self, h: Tensor, message: Tensor) -> Tensor:
        x = self.norm(h + message)
        changed = self.outer(torch.relu(self.inner(x)))
        return x + changed if self.keeps_identity else changed


class Layer(nn.Module):
    """H^l of Eq. 4: within the levels, then between them.

    Documents have no edges among themselves (qsgnn-i14). ``kinds``: along which messages are
    passed.
    """

    def __init__(
        self,
        n: int,
        rank: int,
        logit_scale: float,
        kinds: Collection[str],
    ) -> None:
        super().__init__()
        self.kinds = kinds
        self.intra = nn.ModuleDict({kind: IntraLevel(n, rank, logit_scale) for kind in INTRA})
        self.inter = nn.ModuleDict({kind: InterLevel(n, rank, logit_scale) for kind in INTER})
        self.after_intra = nn.ModuleDict({kind[0]: Update(n, rank) for kind in INTRA})
        self.after_inter = nn.ModuleDict({level: Update(n, rank) for level in LEVELS})

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

        for kind, module in self.intra.items():  # IntraMQ
            level = kind[0]
            if kind in self.kinds:
                messages = pass_messages(module, kind)
                h[level] = self.after_intra[level](h[level], messages)

        received = {level: torch.zeros_like(h[level]) for level in targets}
        for kind, module in self.inter.items():  # InterMQ
            level = kind[1]
            if kind in self.kinds and level in targets:
                received[level] = received[level] + pass_messages(module, kind)
        for level, messages in received.items():
            received[level] = self.after_inter[level](h[level], messages)
        return received, attention


class Network(nn.Module):
    """QSGNN: ``layers`` times Eq. 4, on the encoder's vectors or on a linear map of them.

    The map to ``n`` dimensions (footnote 3) is the query's, too, which is not updated (qsgnn-i16).
    The softmax of cosines is nearly flat: beside nineteen neighbours at 0, one at 1 has a weight of
    .13. So they are multiplied with ``logit_scale``, which is 1 in the paper (qsgnn-i10).

    Args:
        dimension: of the encoder's vectors.
        n: the dimensions that they are compressed to; ``dimension`` for none.
        rank: of what is learned beside the identities; 0 for whole matrices, as in the paper.
        query_aware: whether β and γ take part.
        kinds: the edges along which messages are passed.
    """

    def __init__(
        self,
        dimension: int,
        n: int,
        layers: int = 2,
        rank: int = 0,
        logit_scale: float = 1.0,
        query_aware: bool = True,
        kinds: Collection[str] = (*INTRA, *INTER),
    ) -> None:
        super().__init__()
        self.query_aware = query_aware
        self.residual: Residual | None = None  # where a document's score is one
        is_compressed = n < dimension
        self.compress = nn.Linear(dimension, n, bias=False) if is_compressed else nn.Identity()
        self.layers = nn.ModuleList(
            Layer(n, rank, logit_scale, kinds)  # with weights of its own
            for _ in range(layers)
        )

    def draw(self) -> None:
        """Draw all weights at random, as torch does; of whole matrices alone."""
        for module in self.modules():
            if hasattr(module, "reset_parameters"):
                module.reset_parameters()

    @torch.no_grad()
    def keep_cosines(self, vectors: Tensor) -> None:
        """Compress to the directions in which these vectors (vectors, dimension) are largest."""
        if isinstance(self.compress, nn.Identity):
            return
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


def without_idle(weights: Weights) -> Weights:
    """The weights without those of modules that no training moved: a second factor is still 0.

    Such are, in the last layer, the messages to all but documents.
    """
    idle = []
    for name, weight in weights.items():
        if name.endswith((".up.weight", ".outer.weight")) and not weight.any():
            idle.append(name.removesuffix("up.weight").removesuffix("outer.weight"))
    return {name: weight for name, weight in weights.items() if not name.startswith(tuple(idle))}


class Residual(nn.Module):
    """A document's score: Σ_k w_k s_k + λ Sim(q, H^l) / τ, where s are scores of plain methods.

    w begins as that of the method ``logistic``; λ is :data:`SHARE`. This is the kit's and not the
    paper's, in which w = 0 and λ = τ. A λ that was learned from 0 on became negative, as untrained
    cosines say again what the plain scores say; from then on they stood for unlikeness.
    """

    def __init__(self, weights: Tensor, temperature: float) -> None:
        """``weights`` are those of the plain scores, (scores,)."""
        super().__init__()
        self.base = nn.Linear(len(weights), 1, bias=False)
        self.base.weight = nn.Parameter(weights[None].clone())
        self.temperature = temperature

    def forward(self, plain: Tensor, cosines: Tensor) -> Tensor:
        """The scores (documents,) from those of plain methods (documents, scores)."""
        return self.base(plain).squeeze(1) + SHARE * cosines / self.temperature


class NearIdentity(nn.Module):
    """h ↦ h W with W = ``scale`` · I + A B, of which A and B are learned; B begins at 0."""

    def __init__(self, n: int, rank: int, scale: float) -> None:
        super().__init__()
        self.scale = scale
        self.down = nn.Linear(n, rank, bias=False)
        self.up = nn.Linear(rank, n, bias=False)
        nn.init.zeros_(self.up.weight)

    @property
    def weight(self) -> Tensor:
        """W as that of a linear layer, (n, n)."""
        identity = torch.eye(self.up.out_features, device=self.up.weight.device)
        return self.scale * identity + self.up.weight @ self.down.weight

    def forward(self, h: Tensor) -> Tensor:
        return torch.add(self.up(self.down(h)), h, alpha=self.scale)


def _identity(n: int, rank: int, scale: float = 1.0) -> nn.Module:
    """A square projection without bias that begins as a multiple of the identity."""
    if rank:
        return NearIdentity(n, rank, scale)
    linear = nn.Linear(n, n, bias=False)
    linear.weight.data.copy_(scale * torch.eye(n))
    return linear
