"""RGNN-Ret: GNN-Ret for each sub-question, with a memory of the distances before (gnn-ret.txt §3.3, Appendices A.2, B).

The paper's symbols and the names here, beside those of :mod:`kit.retrievers.gnn_ret`: qᵗ, t = 1 … T, are the
``steps`` of a question; ĥ is ``memory``; β ``beta``; Y, Yᵗ and Yᵗ⁺ are the ``target`` all, own and later.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from kit.corpus import GoldQuery, Query, Question
from kit.errors import InputError
from kit.retrievers.base import AnyEvent, Message, Ranking, SubQuestionEvent, Trace, expect_share
from kit.retrievers.gnn_ret import BLOCK, GNNRet, Route, hinge, remembered
from kit.retrievers.messages import Layer, steps_of
from kit.text import DEFAULT_ENCODER

TARGETS = ("all", "own", "later")


def gold_steps(query: Query) -> list[SubQuestionEvent]:
    """The sub-questions of the data set, each ``#1`` filled with the gold answer of the first.

    Where a question has none, its gold triples are asked (subject >> relation), as MuSiQue words such sub-questions.
    A query without gold fields is asked line by line, so that one can type sub-questions.
    """
    question = query.question if isinstance(query, GoldQuery) else None
    if question and question.decomposition:
        answers = [step.answer for step in question.decomposition]
        filled = [step.filled(answers) for step in question.decomposition]
        return [SubQuestionEvent(0, text, answer) for text, answer in zip(filled, answers)]
    if question and question.triples:
        return [
            SubQuestionEvent(0, f"{subject} >> {relation}", object) for subject, relation, object in question.triples
        ]
    return [SubQuestionEvent(0, line) for line in query.text.splitlines() if line.strip()] or [
        SubQuestionEvent(0, query.text)
    ]


#: Where sub-questions come from.
DECOMPOSERS: dict[str, Callable[[Query], list[SubQuestionEvent]]] = {"gold": gold_steps}


@dataclass(frozen=True)
class Step:
    """What a batch did at one step: distances h of the network and ĥ, this step's and the last one's, and layers."""

    h: Tensor
    memory: Tensor
    before: Tensor | None
    layers: list[Layer]


class RGNNRet(GNNRet):
    """RGNN-Ret.

    ``decomposer`` says where sub-questions come from: ``gold`` takes those of the data set, filled with gold answers.
    ``beta`` weighs a step's own distances against the memory. A ranking is the steps' rankings merged in turns: the
    first of each step, the second of each, without repeats; scores are 1 / place. Further settings are those of
    :class:`~kit.retrievers.gnn_ret.GNNRet`. With ``n_train`` above 0, α and β are learned, from 1 on, for a ``target``:
    a step is to find all supports, its own, or its own and those of later steps.
    """

    name = "rgnn-ret"
    sees_gold = True

    def __init__(
        self,
        encoder: str = DEFAULT_ENCODER,
        graph: str = "entity+structure",
        senders: int = 5,
        layers: int = 1,
        message: str = "min",
        alpha: float = 0.5,
        beta: float = 0.9,
        decomposer: str = "gold",
        n_train: int = 0,
        competitors: int = 10,
        margin: float = 0.01,
        start: float = 1.0,
        target: str = "later",
        seed: int = 0,
    ) -> None:
        super().__init__(encoder, graph, senders, layers, message, alpha, n_train, competitors, margin, start, seed)
        expect_share(beta=beta)
        for value, known, field in ((decomposer, DECOMPOSERS, "decomposer"), (target, TARGETS, "target")):
            if value not in known:
                raise InputError(f"expected one of {', '.join(known)}, not {value!r}", field=field)
        self.decompose, self.target = DECOMPOSERS[decomposer], target
        self.beta = torch.tensor(float(beta))

    @property
    def parameters(self) -> dict[str, Tensor]:
        """What is learned: ``alpha``, one weight a layer, and ``beta``."""
        return {"alpha": self.alphas, "beta": self.beta}

    # ---- retrieval

    def retrieve_many(self, queries: Sequence[Query], k: int) -> list[Ranking]:
        return [merged for merged, _ in self._retrieve(queries, k)]

    def retrieve_steps(self, queries: Sequence[Query], k: int) -> list[list[Ranking]]:
        """For each query the ranking of each of its steps, with scores 1 − distance and without a trace."""
        return [steps for _, steps in self._retrieve(queries, k)]

    def _retrieve(self, queries: Sequence[Query], k: int) -> list[tuple[Ranking, list[Ranking]]]:
        asked = [self.decompose(query) for query in queries]
        vectors = self.vectors_of(asked)
        found: dict[int, tuple[Ranking, list[Ranking]]] = {}
        # Those of the most steps first: at each step the queries that still ask are the first ones.
        order = sorted(range(len(queries)), key=lambda i: -len(asked[i]))
        size = max(1, BLOCK // max(1, 4 * len(self.corpus)))
        for start in range(0, len(order), size):
            block = order[start : start + size]
            found |= zip(block, self._rank([asked[i] for i in block], [vectors[i] for i in block], k))
        return [found[i] for i in range(len(queries))]

    def vectors_of(self, asked: Sequence[Sequence[SubQuestionEvent]]) -> list[np.ndarray]:
        """Unit vectors (steps, dimension) of each question's sub-questions."""
        vectors = self.encode([step.text for steps in asked for step in steps])
        return np.split(vectors, np.cumsum([len(steps) for steps in asked])[:-1]) if asked else []

    def walk(self, distances: Sequence[Tensor], k: int, routes: Sequence[Route] | None = None) -> Iterator[Step]:
        """Eq. 4 step by step: ``distances`` holds h⁰ of each step for the queries that still ask, the first ones."""
        memory = None
        for t, h in enumerate(distances):
            layers = self.propagate(h, self.near(h, k), routes[t] if routes else None)
            before = memory[: len(h)] if memory is not None else None
            memory = h if before is None else self.beta * h + (1 - self.beta) * before  # Eq. 4
            yield Step(h, memory, before, layers)

    def by_step(self, vectors: Sequence[np.ndarray]) -> list[Tensor]:
        """h⁰ of each step, (queries that still ask, passages), for questions sorted by their number of steps."""
        most = max(map(len, vectors))
        return [self.distances(np.stack([own[t] for own in vectors if len(own) > t])) for t in range(most)]

    def _rank(
        self, asked: Sequence[Sequence[SubQuestionEvent]], vectors: Sequence[np.ndarray], k: int
    ) -> list[tuple[Ranking, list[Ranking]]]:
        k = min(k, len(self.corpus))
        walked = list(self.walk(self.by_step(vectors), k))
        rows = [_nearest(step.memory, k) for step in walked]
        merged = [round_robin([of[i] for of in rows[: len(own)]]) for i, own in enumerate(asked)]
        traces = self._traces(asked, walked, np.stack(merged))
        results = []
        for i, own in enumerate(asked):
            steps = [
                Ranking(self.ids(of[i]), 1 - step.memory[i].numpy()[of[i]])
                for step, of in zip(walked[: len(own)], rows)
            ]
            places = 1 / np.arange(1, k + 1, dtype=np.float32)
            results.append((Ranking(self.ids(merged[i]), places, Trace(tuple(traces[i]))), steps))
        return results

    def _traces(
        self, asked: Sequence[Sequence[SubQuestionEvent]], walked: Sequence[Step], rows: np.ndarray
    ) -> list[list[AnyEvent]]:
        """The steps of each question that concern its merged ``rows`` (queries, k)."""
        passages = self.corpus.passages
        traces: list[list[AnyEvent]] = [[] for _ in asked]
        beta, first = self.beta.item(), 0
        for t, step in enumerate(walked):
            own = rows[: len(step.h)]
            told = steps_of(step.layers, step.h.numpy(), own, self.corpus, first)
            last = first + len(step.layers)
            for i, steps in enumerate(told):
                traces[i] += [SubQuestionEvent(first, asked[i][t].text, asked[i][t].answer), *steps]
                if step.before is not None and beta < 1:
                    of = (1 - part[i].numpy()[own[i]] for part in (step.before, step.h, step.memory))
                    columns = zip(own[i].tolist(), *(part.tolist() for part in of))
                    traces[i] += [
                        Message(last, passages[row].id, passages[row].id, value, 1 - beta, before, after)
                        for row, value, before, after in columns
                    ]
            first = last + (step.before is not None and beta < 1)
        return traces

    # ---- training

    def teaching(self, questions: Sequence[Question]) -> Sequence[Question]:
        return [question for question in questions if question.decomposition]

    def losses(self, questions: Sequence[Question]) -> Callable[[], Tensor]:
        """Eqs. 5 and 15: a function of the present weights that gives each question's loss over the indexed corpus."""
        questions = sorted(questions, key=lambda question: -len(question.decomposition))
        distances = self.by_step(self.vectors_of([self.decompose(question.gold_query) for question in questions]))
        routes = [remembered(self.graph) for _ in distances]
        supports = [
            self.mask([self.targets(question, t) for question in questions[: len(h)]]) for t, h in enumerate(distances)
        ]
        lengths = torch.tensor([len(question.decomposition) for question in questions])

        def losses() -> Tensor:
            total = torch.zeros(len(questions))
            for step, own in zip(self.walk([h.clone() for h in distances], 0, routes), supports):
                part = hinge(step.memory, own, self.competitors, self.margin)
                total = total + torch.nn.functional.pad(part, (0, len(total) - len(part)))
            return total / lengths

        return losses

    def targets(self, question: Question, t: int) -> list[str]:
        """The passages that step t, from 0, is to find. Its own support is the data set's label.

        (Appendix B, without labels, gives each step the nearest support that is left.)
        """
        steps = question.decomposition
        generated_evidence = {"all": steps, "own": steps[t : t + 1], "later": steps[t:]}[self.target]
        numbers = {step.support for step in generated_evidence} - {None}
        return [id for number in sorted(numbers) for id in question.supporting[number]]


def round_robin(rankings: Sequence[np.ndarray]) -> np.ndarray:
    """The first of each ranking, then the second of each, without repeats; as long as one of them."""
    return np.array(list(dict.fromkeys(np.stack(rankings, 1).ravel().tolist()))[: len(rankings[0])], int)


def _nearest(h: Tensor, k: int) -> np.ndarray:
    """Rows (queries, k) of the smallest distances; equal ones in corpus order."""
    rows = h.topk(k, largest=False).indices.sort(1).values
    return rows.gather(1, h.gather(1, rows).argsort(stable=True)).numpy()
