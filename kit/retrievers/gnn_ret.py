"""GNN-Ret: passages pass their distance to the question on to their neighbours (gnn-ret.txt §3.2, Appendices A.1, B).

The paper's symbols and the names here: h is ``h``, the (integrated) semantic distance, 1 − cosine; T_K ``sending``, the
K ``senders`` nearest to the question; α ``alphas``, one a layer; S_Y ``supports``; S_O/Y ``rivals``, among the O
``competitors``; r ``margin``. A batch of queries is one flat array of places: for query q of the batch, the passage in
row i of n stands at place q · n + i.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial

import numpy as np
import torch
from torch import Tensor

from kit.corpus import Benchmark, Corpus, Query, Question
from kit.errors import InputError
from kit.graphs import PassageGraph, build, builders
from kit.retrievers.base import Ranking, Retriever, Trace, expect_share, expect_whole
from kit.retrievers.messages import Layer, steps_of
from kit.text import DEFAULT_ENCODER, Encoder

MESSAGES = ("min", "mean")
#: Gradient descent (Appendix B); the cap is ours, since a loss made of hinges need not come to rest.
LEARNING_RATE, SMALL_GRADIENT, MOST_RISES, MOST_STEPS = 1.0, 1e-3, 5, 300
BLOCK = 64_000_000  # distances held at once: 256 MB

#: From senders, rows (queries, K), to their messages: :func:`messages_of` of a graph.
Route = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]


def pass_messages(
    h: Tensor, near: np.ndarray, alphas: Tensor, senders: int, message: str, route: Route
) -> Iterator[Layer]:
    """The network, Eqs. 1 and 2, layer by layer, on the distances ``h`` (queries, passages), changed in place.

    ``near`` (queries, ≥ K + L · K) holds the rows that are nearest before any message. Beside them only those that
    receive are touched, and that is enough: a passage that does not send receives from a nearer one, so only senders
    can move away from the question, and the k nearest after L layers are among the k + L · K nearest before and those
    that have received (:func:`nearest`).
    """
    flat, received = h.view(-1), np.zeros(0, int)
    for alpha in alphas:
        sending = nearest(h, near, received, senders)
        distance = np.take_along_axis(h.detach().numpy(), sending, 1)
        source, target, first = route(sending)
        if message == "min":  # Eq. 1: of the messages to one target the first is the nearest sender's
            source, target, first = source[first], target[first], np.arange(len(first))
        counts = np.diff(first, append=len(target))
        of_target = np.repeat(np.arange(len(first)), counts)
        value = flat[source]
        m = torch.zeros(len(first)).index_add(0, torch.from_numpy(of_target), value) / torch.from_numpy(counts)
        before = flat[target[first]]
        after = alpha * before + (1 - alpha) * m  # Eq. 2
        flat[target[first]] = after  # the others keep their distance
        received = np.concatenate([received, target[first]])
        weight = (1 - alpha.item()) / counts
        value, before, after = (part.detach().numpy() for part in (value, before, after))
        before, after, weight = before[of_target], after[of_target], weight[of_target]
        yield Layer(sending, distance, source, target, value, weight, before, after)


def messages_of(graph: PassageGraph, sending: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The messages of the senders, rows (queries, K) with the nearest first, to their neighbours.

    Places of the sources and of the targets (messages,), target by target and to each from the nearest source on, and
    the numbers of each target's first message.
    """
    n, k = graph.n_nodes, sending.shape[1]
    sender, target = graph.linked(sending.ravel())
    query, rank = np.divmod(sender, k)
    messages = np.sort((query * n + target) * k + rank)
    messages = messages[np.diff(messages, prepend=-1) > 0]  # two passages may be joined in several ways
    target, rank = np.divmod(messages, k)
    query = target // n
    return query * n + sending[query, rank], target, np.flatnonzero(np.diff(target, prepend=-1))


def nearest(h: Tensor, near: np.ndarray, received: np.ndarray, k: int) -> np.ndarray:
    """Rows (queries, k) of the smallest distances among ``near`` (queries, ≥ k) and the places that have received."""
    queries, n = h.shape
    flat = h.detach().view(-1).numpy()
    places = near + n * np.arange(queries)[:, None]
    if not k:
        return near[:, :0]
    bound = np.partition(flat[places], k - 1, axis=1)[:, k - 1]
    closer = received[flat[received] <= bound[received // n]]
    places = np.unique(np.concatenate([places.ravel(), closer]))
    query = places // n
    order = np.lexsort((places, flat[places], query))  # equal distances in corpus order
    rank = np.arange(len(places)) - np.searchsorted(query, query)
    return places[order][rank < k].reshape(queries, k) % n


def hinge(h: Tensor, supports: Tensor, competitors: int, margin: float) -> Tensor:
    """The loss of each query, Eq. 3 (and 6 to 8), from distances and a mask of supports, both (queries, passages).

    Supports are to be nearer than their rivals by the margin, on average: all supports, however far, against those of
    the O nearest passages that are none. The O nearest are those after the messages. Were they those before, as one can
    also read the paper, whom else the messages bring near would not count, and α goes to 0: measured, with Recall@5 far
    below that of the distances themselves. A query without a support or a rival has none to lose: 0.
    """
    nearest_rows = h.detach().topk(min(competitors, h.shape[1]), largest=False).indices
    rivals = ~supports.gather(1, nearest_rows)
    own = (h * supports).sum(1) / supports.sum(1).clamp(min=1)  # Eq. 6
    others = (h.gather(1, nearest_rows) * rivals).sum(1) / rivals.sum(1).clamp(min=1)  # Eq. 7
    return torch.relu(margin + own - others) * (supports.any(1) & rivals.any(1))  # Eq. 8


def named(parameters: dict[str, Tensor]) -> dict[str, float]:
    """Weights by name: ``beta`` for one, ``alpha1``, ``alpha2`` … for one a layer."""
    return {
        f"{name}{i}" if weights.dim() else name: weight
        for name, weights in parameters.items()
        for i, weight in enumerate(weights.detach().view(-1).tolist(), start=1)
    }


def descend(parameters: dict[str, Tensor], loss: Callable[[], Tensor]) -> list[dict[str, float]]:
    """Full-batch gradient descent on ``parameters``, in place; they end at the lowest loss that was met.

    Stops where every gradient is below 0.001 or the loss has risen five times in a row (Appendix B). Weights are kept
    between 0 and 1. Returns a row a step: ``loss`` and each parameter's values before the step.

    The gradients are those of Eqs. 1 to 5. The paper's own (Eqs. 10 to 12 and 17 to 21) leave out the means and the
    flat part of the hinge, and Eq. 12 gives what flows back through a message the weight −α, where Eq. 2 has 1 − α.
    """
    tensors, history, best = list(parameters.values()), [], (np.inf, [])
    rises = 0
    for tensor in tensors:
        tensor.requires_grad_()
    for _ in range(MOST_STEPS):
        now = loss()
        value = now.item()
        rises = rises + 1 if history and value > history[-1]["loss"] else 0
        history.append({"loss": value, **named(parameters)})
        if value < best[0]:
            best = value, [tensor.detach().clone() for tensor in tensors]
        if rises == MOST_RISES or not now.requires_grad:
            break
        gradients = torch.autograd.grad(now, tensors, materialize_grads=True)
        if all(gradient.abs().max() < SMALL_GRADIENT for gradient in gradients):
            break
        with torch.no_grad():
            for tensor, gradient in zip(tensors, gradients):
                tensor.sub_(LEARNING_RATE * gradient).clamp_(0, 1)
    for tensor, lowest in zip(tensors, best[1]):
        tensor.requires_grad_(False).copy_(lowest)
    return history


@contextmanager
def one_thread() -> Iterator[None]:
    """torch on one thread: for tensors as small as those of training, threads wait more than they work."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


class GNNRet(Retriever):
    """GNN-Ret.

    ``graph`` is a builder's name or a union (:func:`kit.graphs.build`), ``senders`` the paper's K, ``message`` min or
    mean. ``alpha`` is the weight of a passage's own distance in each of the ``layers``. With ``n_train`` above 0 the
    weights are learned from so many training questions, drawn by ``seed``, with ``competitors`` (O) and ``margin`` (r);
    ``history`` then tells each step. Descent begins at ``start``, at 1 from the distances themselves. (Appendix B has
    0.1; 20 questions often have no loss at all there, and then nothing is learned.)
    """

    name = "gnn-ret"

    def __init__(
        self,
        encoder: str = DEFAULT_ENCODER,
        graph: str = "entity+structure",
        senders: int = 5,
        layers: int = 1,
        message: str = "min",
        alpha: float = 0.5,
        n_train: int = 0,
        competitors: int = 25,
        margin: float = 0.01,
        start: float = 1.0,
        seed: int = 0,
    ) -> None:
        builders(graph)
        if message not in MESSAGES:
            raise InputError(f"expected one of {', '.join(MESSAGES)}, not {message!r}", field="message")
        expect_whole(1, senders=senders, layers=layers, competitors=competitors)
        expect_whole(0, n_train=n_train, seed=seed)
        expect_share(alpha=alpha, start=start, margin=margin)
        self.encoder, self.builder, self.senders, self.message = Encoder(encoder), graph, senders, message
        self.n_train, self.competitors, self.margin, self.start, self.seed = n_train, competitors, margin, start, seed
        self.alphas = torch.full((layers,), float(alpha))
        self.history: list[dict[str, float]] = []

    @property
    def parameters(self) -> dict[str, Tensor]:
        """What is learned: ``alpha``, one weight a layer."""
        return {"alpha": self.alphas}

    @property
    def weights(self) -> dict[str, float]:
        """The present weights by name, as :func:`named` gives them."""
        return named(self.parameters)

    def index(self, corpus: Corpus) -> None:
        self.corpus = corpus
        self.vectors = self.encoder.encode([passage.full_text for passage in corpus.passages])
        self.graph = build(self.builder, corpus)

    # ---- retrieval

    def retrieve_many(self, queries: Sequence[Query], k: int) -> list[Ranking]:
        vectors, found = self.encode([query.text for query in queries]), []
        size = max(1, BLOCK // max(1, len(self.corpus)))
        for start in range(0, len(queries), size):
            h = self.distances(vectors[start : start + size])
            near = self.near(h, k)
            layers = self.propagate(h, near)
            rows = nearest(h, near, np.concatenate([layer.target for layer in layers]), min(k, h.shape[1]))
            scores = 1 - np.take_along_axis(h.numpy(), rows, 1)
            steps = steps_of(layers, h.numpy(), rows, self.corpus)
            found += [Ranking(self.ids(own), score, Trace(tuple(of))) for own, score, of in zip(rows, scores, steps)]
        return found

    def ids(self, rows: np.ndarray) -> tuple[str, ...]:
        return tuple(self.corpus.passages[row].id for row in rows.tolist())

    def encode(self, texts: list[str]) -> np.ndarray:
        """Unit vectors (texts, dimension) of questions."""
        return self.encoder.encode(texts, role="query", progress=len(texts) > 64)

    def distances(self, vectors: np.ndarray) -> Tensor:
        """h⁰, the semantic distances 1 − cosine (§4.1) of unit vectors (queries, dimension) to all passages."""
        to = self.vectors if len(self.vectors) else np.zeros((0, vectors.shape[1]), np.float32)
        return 1 - torch.from_numpy(vectors) @ torch.from_numpy(to).T

    def near(self, h: Tensor, k: int) -> np.ndarray:
        """Rows that are nearest before any message: with those that receive, they hold the k nearest after all."""
        n, senders = h.shape[1], min(self.senders, h.shape[1])
        depth = min(max(k, senders) + len(self.alphas) * senders, n)
        return h.detach().topk(depth, largest=False).indices.numpy()

    def propagate(self, h: Tensor, near: np.ndarray, route: Route | None = None) -> list[Layer]:
        """Pass messages on ``h`` in place, from the rows of :meth:`near` on."""
        route = route or partial(messages_of, self.graph)
        return list(pass_messages(h, near, self.alphas, min(self.senders, h.shape[1]), self.message, route))

    # ---- training

    def fit(self, benchmark: Benchmark) -> None:
        if not self.n_train:
            return
        questions = self.teaching(benchmark.train)
        if len(questions) < self.n_train:
            expected = f"expected {self.n_train} training questions with what {self.name} learns from"
            raise InputError(f"{expected}, found {len(questions)}", record=benchmark.name, field="n_train")
        picks = np.random.default_rng(self.seed).choice(len(questions), self.n_train, replace=False)
        drawn = [questions[pick] for pick in sorted(picks)]
        pooled = benchmark.collections is None
        losses = []
        for corpus, asked in [(benchmark.corpus, drawn)] if pooled else [(benchmark.collection(q), [q]) for q in drawn]:
            self.index(corpus)
            losses.append(self.losses(asked))
        for weights in self.parameters.values():
            weights.fill_(self.start)
        with one_thread():
            self.history = descend(self.parameters, lambda: torch.cat([loss() for loss in losses]).mean())

    def teaching(self, questions: Sequence[Question]) -> Sequence[Question]:
        """The questions that one can learn from."""
        return questions

    def losses(self, questions: Sequence[Question]) -> Callable[[], Tensor]:
        """A function of the present weights that gives each question's loss over the indexed corpus."""
        distances = self.distances(self.encode([question.text for question in questions]))
        supports, route = self.mask([question.supporting_ids for question in questions]), remembered(self.graph)

        def losses() -> Tensor:
            h = distances.clone()
            self.propagate(h, self.near(h, 0), route)
            return hinge(h, supports, self.competitors, self.margin)

        return losses

    def mask(self, ids: Sequence[Sequence[str]]) -> Tensor:
        """Which passages are among the ids, a row a list: (lists, passages)."""
        marked = torch.zeros(len(ids), len(self.corpus), dtype=torch.bool)
        for row, of in zip(marked, ids):
            row[[self.corpus.row[id] for id in of]] = True
        return marked


def remembered(graph: PassageGraph) -> Route:
    """:func:`messages_of` for descent: from step to step the senders hardly change."""

    @lru_cache(maxsize=16)
    def of(content: bytes, queries: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return messages_of(graph, np.frombuffer(content, int).reshape(queries, -1))

    return lambda sending: of(sending.tobytes(), len(sending))
