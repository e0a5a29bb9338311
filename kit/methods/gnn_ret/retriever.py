"""GNN-Ret: passages pass their distance to the question on to their neighbours (gnn-ret.txt §3.2, Appendices A.1, B).

The paper's symbols and the names here: h is ``h``, the (integrated) semantic distance, 1 − cosine; T_K the
``active_nodes``, the ``top_k`` nearest to the question; α ``alphas``, one a layer; S_Y ``supports``; S_O/Y
``negatives``, among the O ``n_candidates``; r ``margin``. A batch of queries is one flat array of places: for query q
of the batch, the passage in row i of n stands at place q · n + i.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple

import msgspec
import numpy as np
import torch
from torch import Tensor
from torch_geometric.nn import SimpleConv

from kit.corpus import Benchmark, Corpus, Query, Question
from kit.errors import InputError
from kit.graphs import PassageGraph, build, builders
from kit.learning.training import one_thread
from kit.methods.base import Ranking, Retriever, as_query
from kit.methods.trace import AnyEvent, InitialScore, Message, Seed, Trace
from kit.settings import BaseSettings, Positive, Share, Whole
from kit.store import content_key
from kit.text import DEFAULT_ENCODER, Encoder

#: Gradient descent (Appendix B); the cap is ours, since a loss made of hinges need not come to rest.
LEARNING_RATE, SMALL_GRADIENT, MOST_RISES, MOST_STEPS = 1.0, 1e-3, 5, 300
BLOCK = 64_000_000  # distances held at once: 256 MB
KIND = "gnn-ret"  # in the store


class MessageLog(NamedTuple):
    """What one layer did; ``edge_index`` goes target by target, and to each from the nearest active node on."""

    active_nodes: np.ndarray  # rows (queries, K), nearest first
    sent: Tensor  # their distances
    edge_index: Tensor  # from active nodes, numbered through the batch, to those who hear, by their number in `heard`
    heard: Tensor  # places
    before: Tensor  # the distances of those who hear
    after: Tensor


def pass_messages(
    h: Tensor, near: np.ndarray, alphas: Tensor, top_k: int, message: str, graph: PassageGraph
) -> Iterator[MessageLog]:
    """Eqs. 1 and 2, layer by layer, from the active nodes T_K to their neighbours S_K.

    The distances ``h`` (queries, passages) are changed in place; ``message`` is min, or mean for Table 2. ``near``
    (queries, ≥ K + L · K) holds the rows that are nearest before any message. Beside them only those that hear are
    touched, and that is enough: a passage that does not send hears from a nearer one, so only active nodes can move
    away from the question, and the k nearest after L layers are among the k + L · K nearest before and those that have
    heard (:func:`nearest`).
    """
    layer, flat, heard = SimpleConv(message, node_dim=0), h.view(-1), np.zeros(0, int)
    for alpha in alphas:
        active = nearest(h, near, heard, top_k)
        edge_index, places = edges_from(graph, active)
        sent, before = h[np.arange(len(h))[:, None], active].view(-1), flat[places]
        m = layer((sent, before), edge_index)  # Eq. 1
        after = alpha * before + (1 - alpha) * m  # Eq. 2
        flat[places] = after  # the others keep their distance
        heard = np.concatenate([heard, places.numpy()])
        yield MessageLog(active, sent.detach(), edge_index, places, before.detach(), after.detach())


def edges_from(graph: PassageGraph, active: np.ndarray) -> tuple[Tensor, Tensor]:
    """The edges from active nodes, rows (queries, K): ``edge_index`` and ``heard`` of a :class:`MessageLog`."""
    n, k = graph.n_nodes, active.shape[1]
    sender, target = graph.linked(active.ravel())
    query, rank = np.divmod(sender, k)
    edges = np.sort((query * n + target) * k + rank)
    edges = edges[np.diff(edges, prepend=-1) > 0]  # two passages may be joined in several ways
    place, rank = np.divmod(edges, k)
    first = np.diff(place, prepend=-1) > 0
    edge_index = np.stack([place // n * k + rank, np.cumsum(first) - 1])
    return torch.from_numpy(edge_index), torch.from_numpy(place[first])


def nearest(h: Tensor, near: np.ndarray, heard: np.ndarray, k: int) -> np.ndarray:
    """Rows (queries, k) of the smallest distances among ``near`` (queries, ≥ k) and the places that have heard."""
    queries, n = h.shape
    flat = h.detach().view(-1).numpy()
    places = near + n * np.arange(queries)[:, None]
    if not k:
        return near[:, :0]
    bound = np.partition(flat[places], k - 1, axis=1)[:, k - 1]
    closer = heard[flat[heard] <= bound[heard // n]]
    places = np.unique(np.concatenate([places.ravel(), closer]))
    query = places // n
    order = np.lexsort((places, flat[places], query))  # equal distances in corpus order
    rank = np.arange(len(places)) - np.searchsorted(query, query)
    return places[order][rank < k].reshape(queries, k) % n


def hinge(
    h: Tensor, supports: Tensor, n_candidates: int, margin: float, nearest_by: Tensor | None = None
) -> Tensor:
    """The loss of each query, Eq. 3 (and 6 to 8), from distances and a mask of supports, both (queries, passages).

    All supports, however far, are to be nearer than the negatives among the O nearest, by the margin and on average.
    The O nearest are those by the distances ``h`` after the messages, or by others: the paper's words fit those before
    them, too (gnn-ret-i14). Without a support or a negative the loss is 0.
    """
    by = h.detach() if nearest_by is None else nearest_by
    candidates = by.topk(min(n_candidates, h.shape[1]), largest=False).indices
    negatives = ~supports.gather(1, candidates)
    own = (h * supports).sum(1) / supports.sum(1).clamp(min=1)  # Eq. 6
    others = (h.gather(1, candidates) * negatives).sum(1) / negatives.sum(1).clamp(min=1)  # Eq. 7
    return torch.relu(margin + own - others) * (supports.any(1) & negatives.any(1))  # Eq. 8


def named(parameters: dict[str, Tensor]) -> dict[str, float]:
    """Weights by name: ``beta`` for one, ``alpha1``, ``alpha2`` … for one a layer."""
    return {
        f"{name}{i}" if weights.dim() else name: weight
        for name, weights in parameters.items()
        for i, weight in enumerate(weights.detach().view(-1).tolist(), start=1)
    }


def gradient_descent(
    parameters: dict[str, Tensor], loss: Callable[[], Tensor]
) -> list[dict[str, float]]:
    """Full-batch gradient descent on ``parameters``, in place; they end at the lowest loss that was met.

    Stops where every gradient is below 0.001 or the loss has risen five times in a row (Appendix B). Weights are kept
    between 0 and 1. Returns a row a step: ``loss`` and each parameter's values before the step. The gradients are those
    of Eqs. 1 to 5; the paper's own (Eqs. 10 to 12 and 17 to 21) leave out the means and the flat part of the hinge.
    """
    tensors, history, rises = [tensor.requires_grad_() for tensor in parameters.values()], [], 0
    for _ in range(MOST_STEPS):
        now = loss()
        value = now.item()
        rises = rises + 1 if history and value > history[-1]["loss"] else 0
        if value < min((row["loss"] for row in history), default=np.inf):
            best = [tensor.detach().clone() for tensor in tensors]
        history.append({"loss": value, **named(parameters)})
        if rises == MOST_RISES or not now.requires_grad:
            break
        gradients = torch.autograd.grad(now, tensors, materialize_grads=True)
        if all(gradient.abs().max() < SMALL_GRADIENT for gradient in gradients):
            break
        with torch.no_grad():
            for tensor, gradient in zip(tensors, gradients):
                tensor.sub_(LEARNING_RATE * gradient).clamp_(0, 1)
    for tensor, lowest in zip(tensors, best):
        tensor.requires_grad_(False).copy_(lowest)
    return history


class GNNRet(Retriever):
    """``graph`` is a builder's name or a union (:func:`kit.graphs.build`), ``alpha`` the weight of a passage's own
    distance in each of the ``layers``.

    With ``n_train`` above 0 the weights are learned from so many training questions, drawn by ``seed``; ``history``
    then tells each step. Descent begins at ``init_alpha``, by default at dense retrieval (0.1 in Appendix B);
    ``competitors``, the O nearest, are those before or after the messages.
    """

    name = "gnn-ret"
    index_settings = ("encoder", "graph")

    class Settings(BaseSettings, frozen=True):
        encoder: str = DEFAULT_ENCODER
        graph: str = "entity+structure"
        top_k: Positive = 5
        layers: Positive = 1
        message: Literal["min", "mean"] = "min"
        alpha: Share = 0.5
        n_train: Whole = 0
        n_candidates: Positive = 25
        margin: Share = 0.01
        init_alpha: Share = 1.0
        competitors: Literal["before", "after"] = "after"
        seed: Whole = 0

        def __post_init__(self) -> None:
            builders(self.graph)  # there is such a graph

    learned: dict[str, Tensor] | None = None
    history: Sequence[dict[str, float]] = ()

    def initial(self) -> dict[str, Tensor]:
        """What is learned, as it is set: ``alpha``, one weight a layer."""
        return {"alpha": torch.full((self.settings.layers,), self.settings.alpha)}

    @property
    def parameters(self) -> dict[str, Tensor]:
        return self.learned or self.initial()

    @property
    def alphas(self) -> Tensor:
        return self.parameters["alpha"]

    def index(self, corpus: Corpus) -> None:
        self.corpus, self.encoder = corpus, Encoder(self.settings.encoder)
        self.vectors = self.encoder.encode([passage.full_text for passage in corpus.passages])
        self.graph = build(self.settings.graph, corpus)

    # ---- retrieval

    def rank(self, queries: Sequence[Query], k: int) -> list[Ranking]:
        vectors, found = self.encode([query.text for query in queries]), []
        size = max(1, BLOCK // max(1, len(self.corpus)))
        for start in range(0, len(queries), size):
            h = self.distances(vectors[start : start + size])
            found += self.rankings(h, self.found(h, k)[0])
        return found

    def rank_traced(self, query: Query, k: int) -> Ranking:
        h = self.distances(self.encode([as_query(query).text]))
        before = h[0].clone()
        rows, logs = self.found(h, k)
        [ranking] = self.rankings(h, rows)
        return Ranking(
            ranking.ids, ranking.scores, Trace(tuple(self.events(ranking.ids, before, logs)))
        )

    def rows(self, vectors: np.ndarray, k: int) -> np.ndarray:
        """The rows (queries, min(k, passages)) that are found for unit vectors (queries, dimension), best first."""
        return self.found(self.distances(vectors), k)[0]

    def found(self, h: Tensor, k: int) -> tuple[np.ndarray, list[MessageLog]]:
        """Pass messages on the distances ``h`` in place: the rows as of :meth:`rows`, and what each layer did."""
        near = self.near(h, k)
        logs = self.propagate(h, near)
        return nearest(
            h, near, np.concatenate([log.heard for log in logs]), min(k, h.shape[1])
        ), logs

    def rankings(self, h: Tensor, rows: np.ndarray) -> list[Ranking]:
        """A ranking a query of its rows (queries, k), best first; scores are 1 − distance."""
        scores = 1 - np.take_along_axis(h.numpy(), rows, 1)
        return [Ranking(self.ids(own), score) for own, score in zip(rows.tolist(), scores)]

    def encode(self, texts: list[str]) -> np.ndarray:
        """Unit vectors (texts, dimension) of questions."""
        return self.encoder.encode(texts, role="query", progress=len(texts) > 64)

    def distances(self, vectors: np.ndarray) -> Tensor:
        """h⁰, the semantic distances 1 − cosine (§4.1) of unit vectors (queries, dimension) to all passages."""
        return (
            1
            - torch.from_numpy(vectors)
            @ torch.from_numpy(self.vectors.reshape(-1, vectors.shape[1])).T
        )

    def near(self, h: Tensor, k: int) -> np.ndarray:
        """Rows that are nearest before any message: with those that hear, they hold the k nearest after all."""
        depth = max(k, self.settings.top_k) + len(self.alphas) * self.settings.top_k
        return h.detach().topk(min(depth, h.shape[1]), largest=False).indices.numpy()

    def propagate(self, h: Tensor, near: np.ndarray) -> list[MessageLog]:
        """Pass messages on ``h`` in place, from the rows of :meth:`near` on."""
        top_k = min(self.settings.top_k, h.shape[1])
        return list(pass_messages(h, near, self.alphas, top_k, self.settings.message, self.graph))

    def events(
        self, ids: Sequence[str], before: Tensor, logs: Sequence[MessageLog], first: int = 0
    ) -> list[AnyEvent]:
        """What concerns the ranked ``ids`` of one query whose distances were ``before`` (passages,).

        Each layer is a round, counted from ``first``, with its active nodes and the messages to ranked passages.
        """
        events: list[AnyEvent] = [
            InitialScore(first, id, 1 - before[self.corpus.row[id]].item()) for id in ids
        ]
        for round, (log, alpha) in enumerate(zip(logs, self.alphas.tolist()), start=first):
            active, heard, sent = (
                self.ids(log.active_nodes[0]),
                self.ids(log.heard.tolist()),
                log.sent.tolist(),
            )
            events += [Seed(round, id, 1 - value) for id, value in zip(active, sent)]
            for number in [number for number, id in enumerate(heard) if id in ids]:
                sources = log.edge_index[0, log.edge_index[1] == number].tolist()
                sources = sources[:1] if self.settings.message == "min" else sources
                weight = (1 - alpha) / len(sources)
                change = 1 - log.before[number].item(), 1 - log.after[number].item()
                events += [
                    Message(round, active[i], heard[number], 1 - sent[i], weight, *change)
                    for i in sources
                ]
        return events

    # ---- training

    def fit(self, benchmark: Benchmark) -> None:
        n_train = self.settings.n_train
        if not n_train:
            return
        questions = [question for question in benchmark.train if self.learnable(question)]
        if len(questions) < n_train:
            expected = f"expected {n_train} training questions with what {self.name} learns from"
            raise InputError(
                f"{expected}, found {len(questions)}", record=benchmark.name, field="n_train"
            )
        picks = np.random.default_rng(self.settings.seed).choice(
            len(questions), n_train, replace=False
        )
        encoder, told = Encoder(self.settings.encoder), msgspec.json.encode(self.settings).decode()
        key = content_key("1", self.name, encoder.identity, told, benchmark.hash)
        found = encoder.store.get_many(KIND, [key])
        if not found:
            taught = [questions[pick] for pick in sorted(picks)]
            found = {key: msgspec.json.encode(self.variant()._descend(benchmark, taught))}
            encoder.store.put_many(KIND, found)
        learned, self.history = msgspec.json.decode(found[key])
        self.learned = {name: torch.tensor(weights) for name, weights in learned.items()}

    def _descend(
        self, benchmark: Benchmark, questions: Sequence[Question]
    ) -> tuple[dict, list[dict[str, float]]]:
        """The weights of the lowest loss, and the history."""
        losses = []
        for corpus, asked in benchmark.asked_together(questions):
            self.index(corpus)
            losses.append(self.losses(asked))
        self.learned = {
            name: torch.full_like(of, self.settings.init_alpha)
            for name, of in self.initial().items()
        }
        with one_thread():
            history = gradient_descent(
                self.learned, lambda: torch.cat([loss() for loss in losses]).mean()
            )
        return {name: weights.tolist() for name, weights in self.learned.items()}, history

    def learnable(self, question: Question) -> bool:
        """Whether one can learn from the question."""
        return True

    def losses(self, questions: Sequence[Question]) -> Callable[[], Tensor]:
        """A function of the present weights that gives each question's loss over the indexed corpus."""
        distances = self.distances(self.encode([question.text for question in questions]))
        supports = self.mask([question.supporting_ids for question in questions])

        def losses() -> Tensor:
            h = distances.clone()
            self.propagate(h, self.near(h, 0))
            by = distances if self.settings.competitors == "before" else None
            return hinge(h, supports, self.settings.n_candidates, self.settings.margin, by)

        return losses

    def mask(self, ids: Sequence[Sequence[str]]) -> Tensor:
        """Which passages are among the ids, a row a list: (lists, passages)."""
        marked = torch.zeros(len(ids), len(self.corpus), dtype=torch.bool)
        for row, own in zip(marked, ids):
            row[[self.corpus.row[id] for id in own]] = True
        return marked
