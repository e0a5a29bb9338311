"""RGNN-Ret: GNN-Ret for each sub-question, with a memory of the distances before.

The method of GNN-Ret §3.3 and Appendices A.2 and B:

    ĥ_i^{L,t} = β h_i^{L,t} + (1 − β) ĥ_i^{L,t−1},  ĥ_i^{L,1} = h_i^{L,1}                 (4)
    ℓ = 1/T Σ_t max(0, r + d̄_{Y^{t+}} − d̄_{O/Y^{t+}})                                (5), (15)

The paper's symbols and the names here, beside those of :mod:`kit.methods.gnn_ret.retriever`: q^t,
t = 1 … T, are the ``steps`` of a question; ĥ is ``memory``; β is ``beta``; Y, Y^t and Y^{t+} are
the ``target`` all, own and later.
"""

from collections.abc import Iterator, Sequence
from typing import Annotated, Literal, NamedTuple

import numpy as np
import torch
from msgspec.structs import replace
from numpy import ndarray
from torch import Tensor

from kit.corpus import Corpus, Query, Question
from kit.corpus.types import Queries, Texts
from kit.learning.training import Weights
from kit.methods.base import Ranking, Rankings, ranking_from_order, round_robin
from kit.methods.gnn_ret import printed
from kit.methods.gnn_ret.descent import Loss
from kit.methods.gnn_ret.messages import Logs, nearest
from kit.methods.gnn_ret.retriever import GNNRet, Questions, blocks
from kit.methods.loops.agents import GOLD, agent_of
from kit.methods.loops.loops import SelfCritique
from kit.methods.loops.small_plan import PLANNER
from kit.methods.loops.steps import Step, gold_steps
from kit.methods.trace import Message, SubQuestionEvent, Trace
from kit.settings import Share, Whole
from kit.text import LanguageModel

STEPS_HELD = 4  # steps of a question, about, whose distances are held at once


class RecurrentState(NamedTuple):
    """A batch after a step; distances are of shape (queries, passages)."""

    h: Tensor  # of the network for this step alone
    memory: Tensor  # ĥ
    logs: Logs


class RGNNRet(GNNRet):
    """Sub-questions retrieve one after the other, each by what those before found, too.

    They are the data set's own, or a language model asks and answers them one by one until it says
    that the answers suffice (:class:`SelfCritique`). A ranking is the steps' rankings merged in
    turns: the first of each step, the second of each, without repeats; scores are 1 / rank.
    """

    name = "rgnn-ret"
    learns_from = " with sub-questions"
    index_settings = (*GNNRet.index_settings, "decomposer")
    training_settings = (*GNNRet.training_settings, "target")

    class Settings(GNNRet.Settings, frozen=True):
        beta: Annotated[Share, "weight of a step's own distances against the memory"] = 0.9
        n_candidates: Annotated[
            Whole, "O, passages that supports compete with; 0: chosen on dev questions"
        ] = 10
        target: Annotated[
            Literal["all", "own", "later"], "supports that a step is to find; later: and its own"
        ] = "later"
        decomposer: Annotated[str, "gold, model (the kit's small one) or a model's name"] = GOLD

    @property
    def sees_gold(self) -> bool:
        return self.settings.decomposer == GOLD

    @property
    def model(self) -> LanguageModel | None:
        """The language model that decomposes; its ``log`` has each prompt with the answer."""
        return self.agent.model

    def initial(self) -> Weights:
        """The weights as they are set: ``alpha``, one per layer, and ``beta``."""
        return super().initial() | {"beta": torch.tensor(self.settings.beta)}

    def index(self, corpus: Corpus) -> None:
        super().index(corpus)
        decomposer = self.settings.decomposer
        if decomposer == "model":
            decomposer = f"t5:{PLANNER}"
        self.agent = agent_of(decomposer, corpus)

    # ---- retrieval

    def steps_of(self, queries: Queries) -> list[list[Step]]:
        """The sub-questions of each query."""
        if self.sees_gold:
            return [gold_steps(query) for query in queries]
        trajectories = SelfCritique.over(self, self.agent).run(queries)
        return [trajectory.steps or [Step(trajectory.query.text)] for trajectory in trajectories]

    def rank(self, queries: Queries, k: int) -> Rankings:
        questions = self.steps_of(queries)
        rankings = self.retrieve_steps(questions, k)
        return [self._merged(*of_question) for of_question in zip(questions, rankings)]

    def retrieve_next(self, texts: Sequence[Texts], k: int) -> Rankings:
        steps = [list(map(Step, question_texts)) for question_texts in texts]
        return [rankings[-1] for rankings in self.retrieve_steps(steps, k)]

    def retrieve_steps(self, questions: Sequence[Sequence[Step]], k: int) -> list[Rankings]:
        """The rankings of each question's steps, with scores 1 − distance."""
        vectors = self.vectors_of(questions)
        rankings = [[] for _ in questions]
        # Those of the most steps first: at each step the questions that go on are the first ones.
        order = sorted(
            range(len(questions)),
            key=lambda index: -len(questions[index]),
        )
        for block in blocks(len(order), STEPS_HELD * len(self.corpus)):
            indices = order[block]
            distances = self.by_step([vectors[index] for index in indices])
            for state in self.walk(distances, k):
                for index, ranking in zip(indices, self._rankings(state.memory, k)):
                    rankings[index].append(ranking)
        return rankings

    def vectors_of(self, questions: Sequence[Sequence[Step]]) -> list[ndarray]:
        """Unit vectors (steps, dimension) of each question's steps."""
        vectors = self.encode([step.text for steps in questions for step in steps])
        ends = np.cumsum(list(map(len, questions)))
        return np.split(vectors, ends[:-1])

    def by_step(self, vectors: Sequence[ndarray]) -> list[Tensor]:
        """h⁰ of each step, (questions that go on, passages); questions of most steps come first."""
        distances = []
        for t in range(len(vectors[0])):
            of_step = [steps[t] for steps in vectors if len(steps) > t]
            distances.append(self.distances(np.stack(of_step)))
        return distances

    def walk(self, distances: Sequence[Tensor], k: int) -> Iterator[RecurrentState]:
        """Step by step from h⁰ as of :meth:`by_step`, which is changed in place."""
        beta = self.parameters["beta"]
        memory = None
        for h in distances:
            logs = self.propagate(h, self.dense_rows(h, k))
            if memory is None:
                memory = h
            else:
                memory = beta * h + (1 - beta) * memory[: len(h)]  # Eq. 4
            yield RecurrentState(h, memory, logs)

    def _rankings(self, memory: Tensor, k: int) -> Rankings:
        """The rankings of a step by the distances (queries, passages) that it leaves behind."""
        k = min(k, memory.shape[1])
        rows = memory.topk(k, largest=False).indices.numpy()
        in_corpus_order = nearest(
            memory,
            rows,
            np.zeros(0, int),
            k,
        )
        return self.rankings(memory, in_corpus_order)

    def _merged(self, steps: Sequence[Step], rankings: Sequence[Ranking]) -> Ranking:
        """The rankings of a question's steps in turns; the last sub-answer is the method's own."""
        merged = ranking_from_order(round_robin([ranking.ids for ranking in rankings]))
        if self.sees_gold:
            return merged
        return replace(merged, answer=", ".join(steps[-1].answers))

    # ---- the trace

    def rank_traced(self, query: Query, k: int) -> Ranking:
        [steps] = self.steps_of([query])
        distances = self.by_step(self.vectors_of([steps]))
        initial = [h[0].clone() for h in distances]
        states = list(self.walk(distances, k))
        ranking = self._merged(steps, [self._rankings(state.memory, k)[0] for state in states])

        events = []
        first = 0  # round of the step
        for t, (step, state) in enumerate(zip(steps, states)):
            answer = ", ".join(step.answers)
            events.append(SubQuestionEvent(first, step.text, answer))
            events += self.events(
                ranking.ids,
                initial[t],
                state.logs,
                first,
            )
            first += len(state.logs)
            if t and self.parameters["beta"] < 1:
                events += self._memories(
                    first,
                    ranking.ids,
                    states[t - 1],
                    state,
                )
                first += 1
        return replace(ranking, trace=Trace(tuple(events)))

    def _memories(
        self,
        first: int,
        ids: Texts,
        previous: RecurrentState,
        state: RecurrentState,
    ) -> list[Message]:
        """What each passage's memory adds to its distance in a step."""
        rows = [self.corpus.row[passage] for passage in ids]
        scores = [
            (1 - distances[0].numpy()[rows]).tolist()
            for distances in (previous.memory, state.h, state.memory)
        ]
        weight = 1 - self.parameters["beta"].item()
        return [
            Message(
                first,
                passage,
                passage,
                value,
                weight,
                before,
                after,
            )
            for passage, value, before, after in zip(ids, *scores)
        ]

    # ---- training

    def learnable(self, questions: Questions) -> Questions:
        return [question for question in questions if question.decomposition]

    def losses(self, questions: Questions) -> Loss:
        """A function of the present weights that gives each question's loss (Eqs. 5 and 15)."""
        questions = sorted(questions, key=lambda question: -len(question.decomposition))
        steps = [gold_steps(question.gold_query) for question in questions]
        distances = self.by_step(self.vectors_of(steps))
        lengths = torch.tensor(list(map(len, steps)))  # T
        target = self.settings.target
        supports = self._masks(questions, distances, target)
        own_supports = self._masks(questions, distances, "own")  # Y^t of Eq. 17

        def losses() -> Tensor:
            total = torch.zeros(len(questions))
            states = list(self.walk([h.clone() for h in distances], 0))
            for h0, state, of_step in zip(distances, states, supports):
                loss = self.hinge(state.memory, of_step, h0)
                total[: len(loss)] += loss
            if self.settings.learns_by != "printed":
                return total / lengths
            gradients = self._printed_gradients(states, distances, own_supports)
            return printed.with_gradients(total / lengths, gradients, self.parameters)

        return losses

    def _masks(
        self,
        questions: Questions,
        distances: Sequence[Tensor],
        target: str,
    ) -> list[Tensor]:
        """The supports that each step is to find, (questions that go on, passages)."""
        masks = []
        for t, h in enumerate(distances):
            active = questions[: len(h)]
            masks.append(self.mask([self.targets(question, t, target) for question in active]))
        return masks

    @torch.no_grad()
    def _printed_gradients(
        self,
        states: Sequence[RecurrentState],
        distances: Sequence[Tensor],
        supports: Sequence[Tensor],
    ) -> Weights:
        """Eqs. 16 to 21, then 11 and 12 for each step: a row per question."""
        competitors = []
        of_steps = []
        for state, h0, of_step in zip(states, distances, supports):
            nearest_now = self.competitors(state.memory, h0)
            competitors.append(nearest_now)
            of_steps.append(printed.of_received(nearest_now, of_step, state.logs))

        of_networks = [state.h for state in states]
        memories = [state.memory for state in states]
        of_own, of_beta = printed.of_memory(
            of_steps,
            of_networks,
            memories,
            self.parameters["beta"],
        )

        of_alphas = torch.zeros(len(of_beta), len(self.alphas))
        for state, of_h, nearest_now in zip(states, of_own, competitors):
            counted = of_h * printed.received(nearest_now, state.logs, of_h.shape[1])
            step = printed.of_alphas(counted, state.logs, self.alphas)
            of_alphas[: len(step)] += step
        return {"alpha": of_alphas, "beta": of_beta}

    def targets(self, question: Question, t: int, target: str) -> list[str]:
        """What step t, from 0, is to find by the data set's labels: the ``target`` of a setting.

        The paper has none, and takes the nearest support that is left (Appendix B, gnn-ret-i23).
        """
        steps = question.decomposition
        parts = {
            "all": steps,
            "own": steps[t : t + 1],
            "later": steps[t:],
        }
        supports = {step.support for step in parts[target]} - {None}
        return [passage for index in sorted(supports) for passage in question.supporting[index]]
