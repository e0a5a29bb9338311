"""The network: the state of each node, and two rounds in which nodes hear of each other.

    z_i = W_level [numbers_i ; W_× (q ⊙ x_i)]                                     the first state
    m_i = max over j of ReLU(W_kind [z_j ; cos(x_i, x_j)])        the message of a kind of edges
    z_i ← z_i + MLP(LayerNorm[z_i ; m_i of each kind])                            the new state
    s_i = w · scores_i + b + MLP(z_i)                                 the score of a document

A round renews the sentences, then the entities, then the documents, each from the states that the
others have by then: so one round carries what a document says through its sentences and their
entities to other documents. The maximum is that of each component for itself. The last layer of the
score begins with 0, so that the ranking before training is that of the scores alone.

The nearest in the literature: NBFNet and ULTRA (Zhu et al. 2021, Galkin et al. 2024) have states
that depend on the query, too, and carry over to other graphs, but send them along the relations of
a knowledge graph that is given; GFM-RAG (Luo et al. 2025) trains such a network over entities for
retrieval, on many graphs, and scores a document by its entities. Here nodes begin with what their
words say of the question, sentences and documents have states of their own, the graph is that of a
question's candidates, and the network only corrects a ranking.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import torch
from numpy import ndarray
from torch import Tensor, nn
from torch.nn.functional import linear

from kit.methods.graph_reranker.candidates import SCORES
from kit.methods.graph_reranker.features import LEVELS, NUMBERS, Batch, Edges

#: The levels in the order in which a round renews them, with the kinds of edges that lead there.
HEARD = {
    "c": ("cc", "oc", "dc"),
    "o": ("oo", "co", "do"),
    "d": ("od", "cd"),
}
CHANNELS = 24  # of q ⊙ x
States = dict[str, Tensor]  # of the nodes of each level, (nodes, width)


class Messages(NamedTuple):
    """What nodes heard along a kind of edges."""

    messages: Tensor  # (receivers, width), 0 where nobody sends
    edge: Tensor  # which edge brought it, (receivers, width), −1 where the message is 0


Heard = dict[str, Messages]  # by kind of edges


class Listening(nn.Module):
    """The messages of one kind of edges."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.linear = nn.Linear(width + 1, width)

    def forward(self, z: Tensor, edges: Edges, n_receivers: int) -> Messages:
        senders, receivers = edges.index
        weight = self.linear.weight
        spoken = linear(z, weight[:, :-1], self.linear.bias)  # (senders, width)
        along = torch.outer(edges.closeness, weight[:, -1])  # (edges, width)
        sent = torch.relu(spoken.index_select(0, senders) + along)
        return largest(sent, receivers, n_receivers)


def largest(sent: Tensor, receivers: Tensor, n_receivers: int) -> Messages:
    """The componentwise maximum of what is sent (edges, width) to each receiver, if above 0.

    Of equal ones the last edge counts.
    """
    width = sent.shape[1]
    targets = receivers[:, None].expand(-1, width)
    with torch.no_grad():
        highest = sent.new_zeros(n_receivers, width)
        highest.scatter_reduce_(0, targets, sent, "amax")
        is_highest = sent == highest.index_select(0, receivers)
        is_highest &= sent > 0

        edge = torch.arange(len(sent))[:, None]
        winning = edge.where(is_highest, -1)
        winner = edge.new_full((n_receivers, width), -1)
        winner.scatter_reduce_(0, targets, winning, "amax")
    if not len(sent):
        return Messages(highest, winner)
    # Taken from the edge that won, to which alone the gradient goes.
    taken = sent.gather(0, winner.clamp_min(0))
    return Messages(taken.where(winner >= 0, 0.0), winner)


class Update(nn.Module):
    """The new state of a level's nodes, from the old one and the messages of each kind."""

    def __init__(self, width: int, n_kinds: int) -> None:
        super().__init__()
        n_heard = width * (1 + n_kinds)
        self.norm = nn.LayerNorm(n_heard)
        self.inner = nn.Linear(n_heard, 2 * width)
        self.outer = nn.Linear(2 * width, width)

    def forward(self, z: Tensor, messages: Sequence[Tensor]) -> Tensor:
        heard = self.norm(torch.cat([z, *messages], dim=1))
        return z + self.outer(torch.relu(self.inner(heard)))


class Round(nn.Module):
    """Sentences, then entities, then documents hear, along the given kinds of edges."""

    def __init__(self, width: int) -> None:
        super().__init__()
        kinds = [kind for of_level in HEARD.values() for kind in of_level]
        self.listening = nn.ModuleDict({kind: Listening(width) for kind in kinds})
        self.update = nn.ModuleDict(
            {level: Update(width, len(kinds)) for level, kinds in HEARD.items()}
        )

    def forward(
        self, z: States, edges: Mapping[str, Edges], kinds: Sequence[str]
    ) -> tuple[States, Heard]:
        """The new states; along kinds of edges that are not among ``kinds`` nothing is heard."""
        z = dict(z)
        heard = {}
        for level, kinds_here in HEARD.items():
            messages = []
            for kind in kinds_here:
                message = torch.zeros_like(z[level])
                if kind in kinds:
                    listen = self.listening[kind]
                    heard[kind] = listen(
                        z[kind[0]],
                        edges[kind],
                        len(message),
                    )
                    message = heard[kind].messages
                messages.append(message)
            z[level] = self.update[level](z[level], messages)
        return z, heard


class Network(nn.Module):
    """``dimension`` is that of the vectors q and x, or 0 to leave out q ⊙ x."""

    def __init__(self, width: int, rounds: int, dimension: int = 0) -> None:
        super().__init__()
        channels = CHANNELS if dimension else 0
        n_numbers = {level: len(NUMBERS) + channels for level in LEVELS}
        n_numbers["d"] += len(SCORES)
        self.embed = nn.ModuleDict({level: nn.Linear(n_numbers[level], width) for level in LEVELS})
        self.products = nn.ModuleDict()
        if dimension:
            for level in LEVELS:
                self.products[level] = nn.Linear(dimension, channels)

        self.rounds = nn.ModuleList(Round(width) for _ in range(rounds))
        self.inner = nn.Linear(width, width)
        self.outer = nn.Linear(width, 1)
        self.base = nn.Linear(len(SCORES), 1)
        for zero in (self.outer.weight, self.outer.bias):
            nn.init.zeros_(zero)

    @torch.no_grad()
    def begin_with(self, weights: ndarray) -> None:
        """Take the logistic model's weights of the plain scores, and its bias, as the base."""
        *of_scores, bias = weights.tolist()
        self.base.weight.copy_(torch.tensor([of_scores]))
        self.base.bias.fill_(bias)

    def forward(self, batch: Batch, kinds: Sequence[str]) -> tuple[list[Tensor], list[Heard]]:
        """The documents' scores before and after each round, (documents,); and what was heard."""
        z = {}
        for level in LEVELS:
            numbers = batch.numbers[level]
            if self.products:
                channels = self.products[level](batch.products(level))
                numbers = torch.cat([numbers, channels], dim=1)
            z[level] = self.embed[level](numbers)

        base = self.base(batch.scores)[:, 0]
        scores = [base]
        rounds = []
        for one_round in self.rounds:
            z, heard = one_round(z, batch.edges, kinds)
            hidden = torch.relu(self.inner(z["d"]))
            correction = self.outer(hidden)[:, 0]
            scores.append(base + correction)
            rounds.append(heard)
        return scores, rounds
