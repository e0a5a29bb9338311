"""The network of QSGNN: message passing on three levels, steered by the query (qsgnn.txt §3.2, Eqs. 2–4).

The paper's symbols and the names here: h ``h``, of each level; q ``query``; W^q_α … the modules named after them.

What makes it fast: nothing is multiplied with a matrix for an edge. [h_i ‖ h_j] W^k = a_i + b_j with a = h W^k_own and
b = h W^k_other, so that cos(q', a_i + b_j) = (q'·a_i + q'·b_j) / (|q'| |a_i + b_j|), whose parts belong to nodes but
for the product in |a_i + b_j|² = |a_i|² + |b_j|² + 2 a_i·b_j.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize
from torch_geometric.utils import scatter

#: Kinds of edges, as the level that sends and the level that receives; each with weights of its own (qsgnn-i09).
INTRA = ("oo", "cc")
INTER = ("co", "oc", "do", "od", "dc", "cd")
SMALL = 1e-12
SHARPEST = 40  # of sharpness: e to the power of twice that is still a number in single precision


class Batch(NamedTuple):
    """Graphs of several queries side by side.

    ``x`` has for each level the nodes' vectors (nodes, dimension), ``of`` the place of the query that a node belongs
    to, and ``edges`` for each kind of INTRA and INTER an array (2, edges): senders, receivers.
    """

    x: Mapping[str, Tensor]
    of: Mapping[str, Tensor]
    edges: Mapping[str, Tensor]


class IntraLevel(nn.Module):
    """Messages within a level, Eq. 2.

    α_ij = cos(h_i W^q_α, h_j W^k_α), β_ij = cos(q W^q_β, [h_i ‖ h_j] W^k_β), attention = softmax over j of α + β, and
    the message is Σ_j attention · h_j W^v. ``steered``: whether β takes part. ``sharpness``: see :class:`Network`.
    """

    def __init__(self, n: int, message: float, steered: bool = True, sharpness: float = 1.0) -> None:
        super().__init__()
        self.query_alpha, self.key_alpha = _identity(n), _identity(n)
        self.query_beta, self.key_beta_own, self.key_beta_other = _identity(n), _identity(n, 0.5), _identity(n, 0.5)
        self.value = _identity(n, message)
        self.steered, self.sharpness = steered, sharpness

    def forward(self, h: Tensor, query: Tensor, of: Tensor, edges: Tensor) -> tuple[Tensor, Tensor]:
        """The messages (nodes, n), and the attention of each edge.

        ``h`` (nodes, n), ``query`` (queries, n), ``of`` (nodes,) the query of each node, ``edges`` (2, edges).
        """
        sender, receiver = edges
        own, other = normalize(self.query_alpha(h), dim=1), normalize(self.key_alpha(h), dim=1)
        score = _products(own, other, sender, receiver)
        if self.steered:
            asked = self.query_beta(query)
            score = score + _cosines(
                asked.index_select(0, of),
                asked.index_select(0, of),
                self.key_beta_own(h),
                self.key_beta_other(h),
                edges,
            )
        attention = _softmax(self.sharpness * score, receiver, len(h))
        return self.value(_gather(attention, h, sender, receiver, len(h))), attention


class InterLevel(nn.Module):
    """Messages from one level to another, Eq. 3.

    p_ij = [h_i W^t ‖ h_j W^s], γ_ij = cos(q W^q_γ, p_ij W^k_γ), attention = softmax over j of γ, and the message is
    Σ_j attention · h_j W^v. Without ``steered`` there is no score, and the message is the mean.
    """

    def __init__(self, n: int, message: float, steered: bool = True, sharpness: float = 1.0) -> None:
        super().__init__()
        self.target, self.source = _identity(n), _identity(n)
        self.query_gamma, self.key_gamma_own, self.key_gamma_other = _identity(n), _identity(n, 0.5), _identity(n, 0.5)
        self.value = _identity(n, message)
        self.steered, self.sharpness = steered, sharpness

    def forward(
        self, h: Tensor, other: Tensor, query: Tensor, of: Tensor, of_other: Tensor, edges: Tensor
    ) -> tuple[Tensor, Tensor]:
        """The messages to the nodes of ``h`` from those of ``other``, and the attention of each edge."""
        sender, receiver = edges
        score = torch.zeros(len(sender), dtype=h.dtype, device=h.device)
        if self.steered:
            asked = self.query_gamma(query)
            own = h @ (self.key_gamma_own.weight @ self.target.weight).T
            others = other @ (self.key_gamma_other.weight @ self.source.weight).T
            score = _cosines(asked.index_select(0, of), asked.index_select(0, of_other), own, others, edges)
        attention = _softmax(self.sharpness * score, receiver, len(h))
        if len(other) < len(h):  # the fewer products
            return _gather(attention, self.value(other), sender, receiver, len(h)), attention
        return self.value(_gather(attention, other, sender, receiver, len(h))), attention


class Update(nn.Module):
    """h_i = P(Norm(h_i + msg_i)) of Eqs. 2 and 3; P is a two-layer MLP with ReLU.

    P begins as the identity, x = ReLU(x) − ReLU(−x), for which its hidden layer has 2n units.
    """

    def __init__(self, n: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(n)
        self.inner, self.outer = nn.Linear(n, 2 * n), nn.Linear(2 * n, n)
        both = torch.cat([torch.eye(n), -torch.eye(n)])
        with torch.no_grad():
            self.inner.weight.copy_(both)
            self.outer.weight.copy_(both.T)
            self.inner.bias.zero_()
            self.outer.bias.zero_()

    def forward(self, h: Tensor, message: Tensor) -> Tensor:
        return self.outer(torch.relu(self.inner(self.norm(h + message))))


class Layer(nn.Module):
    """H^l of Eq. 4: within the levels, then between them. Documents have no edges among themselves (qsgnn-i14)."""

    def __init__(self, n: int, message: float, steered: bool, intra: bool, sharpness: float) -> None:
        super().__init__()
        self.intra = nn.ModuleDict({kind: IntraLevel(n, message, steered, sharpness) for kind in INTRA if intra})
        self.inter = nn.ModuleDict({kind: InterLevel(n, message, steered, sharpness) for kind in INTER})
        self.after_intra = nn.ModuleDict({kind[0]: Update(n) for kind in self.intra})
        self.after_inter = nn.ModuleDict({level: Update(n) for level in "ocd"})

    def forward(
        self, h: Mapping[str, Tensor], query: Tensor, batch: Batch, generated_evidence: str
    ) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
        """New vectors of the levels that are generated_evidence, and the attention of the edges on the way to them."""
        h, attention = dict(h), {}
        for kind, passing in self.intra.items():
            level = kind[0]
            message, attention[kind] = passing(h[level], query, batch.of[level], batch.edges[kind])
            h[level] = self.after_intra[level](h[level], message)
        messages = {level: torch.zeros_like(h[level]) for level in generated_evidence}
        for kind, passing in self.inter.items():
            sender, receiver = kind
            if receiver in generated_evidence:
                message, attention[kind] = passing(
                    h[receiver], h[sender], query, batch.of[receiver], batch.of[sender], batch.edges[kind]
                )
                messages[receiver] = messages[receiver] + message
        return {level: self.after_inter[level](h[level], message) for level, message in messages.items()}, attention


class Network(nn.Module):
    """QSGNN: ``layers`` times Eq. 4 on vectors that a linear map compresses from ``dimension`` to ``n`` (footnote 3).

    The query takes the same map and is not updated (qsgnn-i16). ``message`` is what the projections of messages begin
    as, times the identity. Scores are cosines, whose softmax is nearly flat: beside nineteen neighbours at 0 one at 1
    has a weight of .13. They are multiplied with ``sharpness``, 1 in the paper (qsgnn-i10); at 5 it has .89.
    """

    def __init__(
        self,
        dimension: int,
        n: int,
        layers: int = 2,
        message: float = 0.9,
        steered: bool = True,
        intra: bool = True,
        sharpness: float = 1.0,
    ) -> None:
        super().__init__()
        self.compress = nn.Linear(dimension, n, bias=False)
        self.layers = nn.ModuleList(Layer(n, message, steered, intra, sharpness) for _ in range(layers))

    def forward(
        self, batch: Batch, query: Tensor, generated_evidence: str = "d"
    ) -> tuple[dict[str, Tensor], Tensor, list[dict[str, Tensor]]]:
        """Vectors of the generated_evidence levels' nodes, of the queries (queries, n), and each layer's attention."""
        q = self.compress(query)
        h = {level: self.compress(x) for level, x in batch.x.items()}
        attention = []
        for number, layer in enumerate(self.layers, 1):
            h, weights = layer(h, q, batch, generated_evidence if number == len(self.layers) else "ocd")
            attention.append(weights)
        return h, q, attention

    def unsteered(self) -> Network:
        """The same weights without β and γ: messages within a level by α alone, those between levels means."""
        other = deepcopy(self)
        for module in other.modules():
            if isinstance(module, IntraLevel | InterLevel):
                module.steered = False
        return other


def _products(own: Tensor, other: Tensor, sender: Tensor, receiver: Tensor) -> Tensor:
    """own_i · other_j of each edge."""
    return (own.index_select(0, receiver) * other.index_select(0, sender)).sum(1)


def _cosines(query_own: Tensor, query_other: Tensor, own: Tensor, other: Tensor, edges: Tensor) -> Tensor:
    """cos(q, own_i + other_j) of each edge; the queries are those of the receivers' and of the senders' nodes."""
    sender, receiver = edges
    towards, square = (
        one.index_select(0, receiver) + two.index_select(0, sender)
        for one, two in (
            ((normalize(query_own, dim=1) * own).sum(1), (normalize(query_other, dim=1) * other).sum(1)),
            (own.square().sum(1), other.square().sum(1)),
        )
    )
    return towards * (square + 2 * _products(own, other, sender, receiver)).clamp_min(SMALL).rsqrt()


def _softmax(score: Tensor, receiver: Tensor, n: int) -> Tensor:
    """Over the edges of each receiver. Cosines are small, so that nothing overflows (:data:`SHARPEST`)."""
    grown = score.exp()
    return grown / grown.new_zeros(n).index_add(0, receiver, grown).index_select(0, receiver)


def _gather(attention: Tensor, values: Tensor, sender: Tensor, receiver: Tensor, n: int) -> Tensor:
    """Σ_j attention_ij · values_j for each receiver i; zero for one that nobody sends to (qsgnn-i11)."""
    return scatter(attention[:, None] * values.index_select(0, sender), receiver, dim=0, dim_size=n)


def _identity(n: int, weight: float = 1.0) -> nn.Linear:
    """A square projection without bias that begins as a multiple of the identity."""
    linear = nn.Linear(n, n, bias=False)
    with torch.no_grad():
        linear.weight.copy_(weight * torch.eye(n))
    return linear
