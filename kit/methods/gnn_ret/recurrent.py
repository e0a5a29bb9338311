"""RGNN-Ret: GNN-Ret for each sub-question, with a memory of the distances before (gnn-ret.txt §3.3, Appendices A.2, B).

The paper's symbols and the names here, beside those of :mod:`kit.methods.gnn_ret.retriever`: qᵗ, t = 1 … T, are the
``steps`` of a question; ĥ is ``memory``; β ``beta``; Y, Yᵗ and Yᵗ⁺ are the ``target`` all, own and later.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np
import torch
from torch import Tensor

from kit.corpus import Corpus, Query, Question
from kit.methods.base import Ranking, as_query, ranking_from_order, round_robin
from kit.methods.gnn_ret.retriever import BLOCK, GNNRet, MessageLog, hinge, nearest
from kit.methods.loops.agents import GOLD, PLANNER, Step, agent_of, gold_steps
from kit.methods.loops.loops import SelfCritique
from kit.methods.trace import Message, SubQuestionEvent, Trace
from kit.settings import Positive, Share


class RecurrentState(NamedTuple):
    """A batch after a step: the network's distances h, the memory ĥ, and what each layer did."""

    h: Tensor
    memory: Tensor
    logs: list[MessageLog]


class RGNNRet(GNNRet):
    """Sub-questions are those of :func:`gold_steps` where the ``decomposer`` is ``gold``. Else they are asked and
    answered one by one by a language model, until it says that the answers suffice (:class:`SelfCritique`, of at most
    five steps): the kit's small one (``model``) or another, by its name. ``beta`` weighs a step's own distances against
    the memory.

    A ranking is the steps' rankings merged in turns: the first of each step, the second of each, without repeats;
    scores are 1 / place. With ``n_train`` above 0, α and β are learned, from 1 on, for a ``target``: a step is to find
    all supports, its own, or its own and those of later steps.
    """

    name = "rgnn-ret"
    index_settings = (*GNNRet.index_settings, "decomposer")

    class Settings(GNNRet.Settings, frozen=True):
        beta: Share = 0.9
        n_candidates: Positive = 10
        target: Literal["all", "own", "later"] = "later"
        decomposer: str = GOLD

    usage = SelfCritique.usage

    @property
    def sees_gold(self) -> bool:
        return self.settings.decomposer == GOLD

    def index(self, corpus: Corpus) -> None:
        super().index(corpus)
        asked = self.settings.decomposer
        self.agent = agent_of(f"t5:{PLANNER}" if asked == "model" else asked, corpus)

    def initial(self) -> dict[str, Tensor]:
        """What is learned: ``alpha``, one weight a layer, and ``beta``."""
        return super().initial() | {"beta": torch.tensor(self.settings.beta)}

    # ---- retrieval

    def steps_of(self, queries: Sequence[Query]) -> list[list[Step]]:
        """The sub-questions of each query."""
        if self.sees_gold:
            return [gold_steps(query) for query in queries]
        critic = SelfCritique()
        critic.inner, critic.corpus, critic.agent = self, self.corpus, self.agent
        return [of.steps or [Step(of.query.text)] for of in critic.run(queries)]

    def rank(self, queries: Sequence[Query], k: int) -> list[Ranking]:
        found = self.retrieve_steps(self.steps_of(queries), k)
        return [
            ranking_from_order(round_robin([ranking.ids for ranking in steps])) for steps in found
        ]

    def retrieve_next(self, asked: Sequence[Sequence[str]], k: int) -> list[Ranking]:
        return [
            of[-1]
            for of in self.retrieve_steps([[Step(text) for text in texts] for texts in asked], k)
        ]

    def retrieve_steps(self, queries: Sequence[Sequence[Step]], k: int) -> list[list[Ranking]]:
        """The ranking of each of the steps of some questions, with scores 1 − distance."""
        vectors = self.vectors_of(queries)
        found: list[list[Ranking]] = [[] for _ in queries]
        # Those of the most steps first: at each step the queries that still ask are the first ones.
        order = sorted(range(len(queries)), key=lambda i: -len(vectors[i]))
        size = max(1, BLOCK // max(1, 4 * len(self.corpus)))
        for start in range(0, len(order), size):
            block = order[start : start + size]
            for state in self.walk(self.by_step([vectors[i] for i in block]), k):
                for i, ranking in zip(block, self._rankings(state.memory, k)):
                    found[i].append(ranking)
        return found

    def rank_traced(self, query: Query, k: int) -> Ranking:
        [asked] = self.steps_of([as_query(query)])
        distances = self.by_step(self.vectors_of([asked]))
        initial = [h[0].clone() for h in distances]
        states = list(self.walk(distances, k))
        ranking = ranking_from_order(
            round_robin([self._rankings(state.memory, k)[0].ids for state in states])
        )
        rows, beta = [self.corpus.row[id] for id in ranking.ids], self.parameters["beta"].item()
        events, first = [], 0
        for t, (sub_question, before, state) in enumerate(zip(asked, initial, states)):
            events.append(
                SubQuestionEvent(first, sub_question.text, ", ".join(sub_question.answers))
            )
            events += self.events(ranking.ids, before, state.logs, first)
            first += len(state.logs)
            if t and beta < 1:
                parts = states[t - 1].memory, state.h, state.memory
                scores = ((1 - part[0].numpy()[rows]).tolist() for part in parts)
                for id, value, before, after in zip(ranking.ids, *scores):
                    events.append(Message(first, id, id, value, 1 - beta, before, after))
                first += 1
        return Ranking(ranking.ids, ranking.scores, Trace(tuple(events)))

    def vectors_of(self, asked: Sequence[Sequence[Step]]) -> list[np.ndarray]:
        """Unit vectors (steps, dimension) of each question's sub-questions."""
        vectors = self.encode([step.text for steps in asked for step in steps])
        return np.split(vectors, np.cumsum([len(steps) for steps in asked])[:-1]) if asked else []

    def by_step(self, vectors: Sequence[np.ndarray]) -> list[Tensor]:
        """h⁰ of each step, (queries that still ask, passages), for questions sorted by their number of steps."""
        most = max(map(len, vectors))
        return [
            self.distances(np.stack([own[t] for own in vectors if len(own) > t]))
            for t in range(most)
        ]

    def walk(self, distances: Sequence[Tensor], k: int) -> Iterator[RecurrentState]:
        """Eq. 4 step by step: ``distances`` holds h⁰ of each step for the queries that still ask, the first ones."""
        memory, beta = None, self.parameters["beta"]
        for h in distances:
            logs = self.propagate(h, self.near(h, k))
            memory = h if memory is None else beta * h + (1 - beta) * memory[: len(h)]  # Eq. 4
            yield RecurrentState(h, memory, logs)

    def _rankings(self, h: Tensor, k: int) -> list[Ranking]:
        near = h.topk(min(k, h.shape[1]), largest=False).indices.numpy()
        return self.rankings(h, nearest(h, near, np.zeros(0, int), near.shape[1]))

    # ---- training

    def learnable(self, question: Question) -> bool:
        return bool(question.decomposition)

    def losses(self, questions: Sequence[Question]) -> Callable[[], Tensor]:
        """Eqs. 5 and 15: a function of the present weights that gives each question's loss over the indexed corpus."""
        questions = sorted(questions, key=lambda question: -len(question.decomposition))
        distances = self.by_step(
            self.vectors_of([gold_steps(question.gold_query) for question in questions])
        )
        targets = [
            [self.targets(question, t) for question in questions[: len(h)]]
            for t, h in enumerate(distances)
        ]
        supports = [self.mask(ids) for ids in targets]
        lengths = torch.tensor([len(question.decomposition) for question in questions])

        def losses() -> Tensor:
            total = torch.zeros(len(questions))
            for h0, state, own in zip(
                distances, self.walk([h.clone() for h in distances], 0), supports
            ):
                by = h0 if self.settings.competitors == "before" else None
                part = hinge(
                    state.memory, own, self.settings.n_candidates, self.settings.margin, by
                )
                total = total + torch.nn.functional.pad(part, (0, len(total) - len(part)))
            return total / lengths

        return losses

    def targets(self, question: Question, t: int) -> list[str]:
        """What step t, from 0, is to find, by the data set's labels (Appendix B: the nearest support that is left)."""
        steps = question.decomposition
        wanted = {"all": steps, "own": steps[t : t + 1], "later": steps[t:]}[self.settings.target]
        numbers = {step.support for step in wanted} - {None}
        return [id for number in sorted(numbers) for id in question.supporting[number]]
