"""GNN-Ret: dense retrieval, after passages have passed their distance on to their neighbours.

The method of GNN-Ret §3.1 and 3.2: the graph of passages is :mod:`kit.graphs`, Eqs. 1 and 2 are
:mod:`kit.methods.gnn_ret.messages`, what is learned by Eq. 3 is :mod:`kit.methods.gnn_ret.descent`.
The paper's symbols and the names here: h⁰ are :meth:`GNNRet.distances`; α, K, L, O and r are the
settings ``alpha``, ``top_k``, ``layers``, ``n_candidates`` and ``margin``.

The hinge of Eq. 3 is not Recall, and its α is not the one that finds most. So α can also be the
best of a grid by Recall@10 on development questions, and so can O (``learns_by``).
"""

import json
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import torch
from msgspec.structs import replace
from numpy import ndarray
from safetensors.torch import save_file
from torch import Tensor

from kit import timer
from kit.corpus import Benchmark, Corpus, Query
from kit.corpus.types import Queries, Questions, Texts
from kit.errors import InputError
from kit.graphs import build, builders
from kit.learning.trained import Trained
from kit.learning.training import HISTORY, History, Slot, Weights, one_thread, read_weights
from kit.methods.base import Ranking, Rankings, Retriever
from kit.methods.gnn_ret import printed
from kit.methods.gnn_ret.descent import Loss, competitors, gradient_descent, hinge, named
from kit.methods.gnn_ret.messages import Logs, MessageLog, nearest, pass_messages
from kit.methods.trace import AnyEvent, InitialScore, Message, Seed, Trace
from kit.methods.training import expect_training, recalls
from kit.settings import Positive, Share, Whole
from kit.text import ENCODER_SETTINGS, Encoder, EncoderSettings

BLOCK = 64_000_000  # distances held at once: 256 MB
MANY = 64  # texts whose encoding shows a progress bar
DEV_CUT = 10  # weights are chosen by their Recall@10
CANDIDATES = (5, 10, 25, 50)  # O to choose from (GNN-Ret, Figure 4)


class GNNRet(Trained, Retriever):
    """Passages pass their distance to the question on, and the nearest rank first.

    With ``n_train`` above 0 the weights α are learned; ``history`` then tells each step. Learned by
    ``recall`` they are the best of a grid on the development questions, and it tells each of these.
    """

    name = "gnn-ret"
    kind = "gnn-ret"
    learns_from = ""  # what training questions must have, in words
    index_settings = (*ENCODER_SETTINGS, "graph")
    training_settings = (
        "graph",
        "top_k",
        "layers",
        "message",
        "n_train",
        "n_candidates",
        "margin",
        "init_alpha",
        "competitors",
        "learns_by",
        "seed",
    )

    class Settings(EncoderSettings, frozen=True):
        graph: Annotated[str, "a builder's name, or several joined by +"] = "entity+structure"
        top_k: Annotated[Positive, "passages that send in each layer"] = 5
        layers: Annotated[Positive, "rounds of messages"] = 1
        message: Annotated[Literal["min", "mean"], "what a passage hears of its senders"] = "min"
        alpha: Annotated[Share, "weight of a passage's own distance"] = 0.5
        n_train: Annotated[Whole, "training questions that weights are learned from"] = 0
        n_candidates: Annotated[
            Whole, "O, nearest passages that supports compete with; 0: chosen on dev questions"
        ] = 25
        margin: Annotated[Share, "by which supports are to be nearer"] = 0.01
        init_alpha: Annotated[Share, "first weights; 1 is dense retrieval, the paper has 0.1"] = 1.0
        competitors: Annotated[
            Literal["before", "after"], "whether the O nearest are those before the messages"
        ] = "after"
        learns_by: Annotated[
            Literal["hinge", "printed", "recall"],
            "the loss, the gradients that the paper prints, or Recall@10 on dev questions",
        ] = "hinge"
        seed: Annotated[Whole, "of the questions that are drawn"] = 0

        def __post_init__(self) -> None:
            builders(self.graph)  # there is such a graph

    @property
    def parameters(self) -> Weights:
        """The weights by name, as they were learned or as they are set."""
        return self.learned or self.initial()

    @property
    def alphas(self) -> Tensor:
        return self.parameters["alpha"]

    def initial(self) -> Weights:
        """The weights as they are set: ``alpha``, one per layer."""
        return {"alpha": torch.full((self.settings.layers,), self.settings.alpha)}

    def index(self, corpus: Corpus) -> None:
        super().index(corpus)
        self.encoder = Encoder(**self.settings.of_encoder())
        self.vectors = self.encoder.encode([passage.full_text for passage in corpus.passages])
        self.graph = build(self.settings.graph, corpus)

    # ---- retrieval

    def rank(self, queries: Queries, k: int) -> Rankings:
        vectors = self.encode([query.text for query in queries])
        rankings = []
        for block in blocks(len(queries), len(self.corpus)):
            h = self.distances(vectors[block])
            rows, _ = self.search(h, k)
            rankings += self.rankings(h, rows)
        return rankings

    def rank_traced(self, query: Query, k: int) -> Ranking:
        h = self.distances(self.encode([query.text]))
        before = h[0].clone()
        rows, logs = self.search(h, k)
        [ranking] = self.rankings(h, rows)
        events = self.events(ranking.ids, before, logs)
        return replace(ranking, trace=Trace(tuple(events)))

    def rows(self, vectors: ndarray, k: int) -> ndarray:
        """The best rows (queries, min(k, passages)) for unit vectors (queries, dimension)."""
        return self.search(self.distances(vectors), k)[0]

    def search(self, h: Tensor, k: int) -> tuple[ndarray, Logs]:
        """Pass messages on ``h`` in place; the rows as of :meth:`rows`, and what each layer did."""
        dense_rows = self.dense_rows(h, k)
        logs = self.propagate(h, dense_rows)
        touched = np.concatenate([log.receivers for log in logs])
        return nearest(h, dense_rows, touched, min(k, h.shape[1])), logs

    def rankings(self, h: Tensor, rows: ndarray) -> Rankings:
        """A ranking per query of its rows (queries, k), best first; scores are 1 − distance."""
        scores = 1 - np.take_along_axis(h.numpy(), rows, 1)
        return [Ranking(self.ids(ranked), score) for ranked, score in zip(rows, scores)]

    def encode(self, texts: list[str]) -> ndarray:
        """Unit vectors (texts, dimension) of questions."""
        return self.encoder.encode(
            texts,
            role="query",
            progress=len(texts) > MANY,
        )

    def distances(self, vectors: ndarray) -> Tensor:
        """h⁰ (queries, passages) of unit vectors (queries, dimension): 1 − cosine (§4.1)."""
        return 1 - torch.from_numpy(vectors) @ torch.from_numpy(self.vectors).T

    def dense_rows(self, h: Tensor, k: int) -> ndarray:
        """The rows that are nearest before any message, so many that :func:`nearest` finds k."""
        top_k = self.settings.top_k
        depth = max(k, top_k) + len(self.alphas) * top_k
        return h.detach().topk(min(depth, h.shape[1]), largest=False).indices.numpy()

    @timer.part("messages")
    def propagate(self, h: Tensor, dense_rows: ndarray) -> Logs:
        """Pass messages on ``h`` in place, beginning with :meth:`dense_rows`."""
        return list(
            pass_messages(
                h,
                dense_rows,
                self.alphas,
                min(self.settings.top_k, h.shape[1]),
                self.settings.message,
                self.graph,
            )
        )

    # ---- the trace

    def events(
        self,
        ids: Texts,
        before: Tensor,
        logs: Logs,
        first: int = 0,
    ) -> list[AnyEvent]:
        """What concerns the ranked ``ids`` of one query, with the distances ``before`` (passages,).

        Each layer is a round, counted from ``first``.
        """
        events = []
        for passage in ids:
            distance = before[self.corpus.row[passage]].item()
            events.append(InitialScore(first, passage, 1 - distance))
        for layer, log in enumerate(logs):
            weight = 1 - self.alphas[layer].item()
            events += self._layer_events(first + layer, log, weight, ids)
        return events

    def _layer_events(
        self,
        layer: int,
        log: MessageLog,
        weight: float,  # 1 − α
        ids: Texts,
    ) -> list[AnyEvent]:
        """The active nodes, and the messages to ranked passages."""
        senders = self.ids(log.active_nodes[0])
        sent = [1 - distance for distance in log.sent.tolist()]
        events = [Seed(layer, *sender) for sender in zip(senders, sent)]
        for index, receiver in enumerate(self.ids(log.receivers.tolist())):
            if receiver not in ids:
                continue
            sources = log.edge_index[0, log.edge_index[1] == index].tolist()
            if self.settings.message == "min":
                sources = sources[:1]
            change = [1 - h[index].item() for h in (log.before, log.after)]
            events += [
                Message(
                    layer,
                    senders[source],
                    receiver,
                    sent[source],
                    weight / len(sources),
                    *change,
                )
                for source in sources
            ]
        return events

    # ---- training

    def fit(self, benchmark: Benchmark) -> None:
        """Learn the weights where ``n_train`` is above 0, or by ``recall``."""
        if self.settings.n_train or self.settings.learns_by == "recall":
            super().fit(benchmark)

    def expect_training(self, benchmark: Benchmark) -> None:
        if self.settings.learns_by != "recall":
            expect_training(
                benchmark,
                self.learnable(benchmark.train),
                self.settings.n_train,
                self.name,
                self.learns_from,
            )
        is_chosen = self.settings.learns_by == "recall" or not self.settings.n_candidates
        if is_chosen and not self._dev_questions(benchmark):
            raise InputError(
                f"expected dev questions with supports{self.learns_from} for {self.name}, "
                "whose weights are chosen by what they find",
                record=benchmark.name,
            )

    def _dev_questions(self, benchmark: Benchmark) -> Questions:
        return [question for question in self.learnable(benchmark.dev) if question.supporting]

    def train(self, benchmark: Benchmark, slot: Slot) -> Path:
        """Descend to the lowest mean loss over the drawn questions, or choose on the dev ones."""
        if self.settings.learns_by == "recall":
            grid = self._grid()
            on_dev = self._dev_recalls(benchmark, grid)
            weights = grid[np.argmax(on_dev)]
            history = []
            for tried, recall in zip(grid, on_dev):
                history.append({**named(tried), f"recall@{DEV_CUT}": recall})
        elif self.settings.n_candidates:
            weights, history = self._descend(benchmark)
        else:
            descents = [self.variant(n_candidates=n)._descend(benchmark) for n in CANDIDATES]
            on_dev = self._dev_recalls(benchmark, [weights for weights, _ in descents])
            weights, steps = descents[np.argmax(on_dev)]
            history = [{**step, "n_candidates": CANDIDATES[np.argmax(on_dev)]} for step in steps]

        def write(folder: Path) -> None:
            save_file(weights, folder / "weights.safetensors")
            (folder / HISTORY).write_text(json.dumps(history), "utf-8")

        return slot.store.put_folder(slot.kind, slot.key, write)

    def _grid(self) -> list[Weights]:
        """Weights from 0 to 1 in steps of a tenth; layers have the same α."""
        initial = self.initial()
        grid = []
        for values in product(np.arange(11) / 10, repeat=len(initial)):
            weights = {}
            for (name, weight), value in zip(initial.items(), values):
                weights[name] = torch.full_like(weight, value)
            grid.append(weights)
        return grid

    def _dev_recalls(self, benchmark: Benchmark, candidates: Sequence[Weights]) -> list[float]:
        """The mean Recall@10 on dev questions with each of several weights."""
        on_dev = np.zeros((len(candidates), 0))
        for corpus, group in benchmark.asked_together(self._dev_questions(benchmark)):
            student = self.variant(corpus=corpus)
            values = []
            for weights in candidates:
                student.learned = weights
                values.append(recalls(student, group, DEV_CUT))
            on_dev = np.hstack([on_dev, values])
        return on_dev.mean(1).tolist()

    def _descend(self, benchmark: Benchmark) -> tuple[Weights, History]:
        """The weights of the lowest mean loss over the drawn training questions."""
        learnable = self.learnable(benchmark.train)
        rng = np.random.default_rng(self.settings.seed)
        picks = rng.choice(len(learnable), self.settings.n_train, replace=False)
        questions = [learnable[pick] for pick in sorted(picks)]

        student = self.variant()
        student.learned = {
            name: torch.full_like(weight, self.settings.init_alpha)
            for name, weight in self.initial().items()
        }
        losses = [
            student.variant(corpus=corpus).losses(group)  # which learns by the same weights
            for corpus, group in benchmark.asked_together(questions)
        ]
        with one_thread():
            history = gradient_descent(
                student.learned,
                lambda: torch.cat([loss() for loss in losses]).mean(),
            )
        return student.learned, history

    def restore(self, folder: Path) -> None:
        self.learned = read_weights(folder)

    def learnable(self, questions: Questions) -> Questions:
        """Those that one can learn from."""
        return questions

    def losses(self, questions: Questions) -> Loss:
        """A function of the present weights that gives each question's loss (Eq. 3).

        The questions are asked of the indexed corpus.
        """
        distances = self.distances(self.encode([question.text for question in questions]))
        supports = self.mask([question.supporting_ids for question in questions])

        def losses() -> Tensor:
            h = distances.clone()
            logs = self.propagate(h, self.dense_rows(h, 0))
            loss = self.hinge(h, supports, distances)
            if self.settings.learns_by != "printed":
                return loss
            of_h = printed.of_received(self.competitors(h, distances), supports, logs)
            gradients = {"alpha": printed.of_alphas(of_h, logs, self.alphas.detach())}
            return printed.with_gradients(loss, gradients, self.parameters)

        return losses

    def competitors(self, h: Tensor, h0: Tensor) -> Tensor:
        """S_O of each query, from its distances after and before the messages."""
        nearest_by = h0 if self.settings.competitors == "before" else h
        return competitors(nearest_by, self.settings.n_candidates)

    def hinge(self, h: Tensor, supports: Tensor, h0: Tensor) -> Tensor:
        """The loss of each query from its distances after and before the messages."""
        return hinge(
            h,
            supports,
            self.settings.n_candidates,
            self.settings.margin,
            h0 if self.settings.competitors == "before" else None,
        )

    def mask(self, groups: Sequence[Texts]) -> Tensor:
        """Which passages are among the ids of each group: (groups, passages)."""
        marked = torch.zeros(len(groups), len(self.corpus), dtype=torch.bool)
        for row, ids in zip(marked, groups):
            row[[self.corpus.row[passage] for passage in ids]] = True
        return marked


def blocks(n_queries: int, n_distances: int) -> Iterator[slice]:
    """Parts of many queries, of which each holds so many distances, that fit into memory."""
    size = max(1, BLOCK // max(1, n_distances))
    for start in range(0, n_queries, size):
        yield slice(start, start + size)
