"""Loops of a language model and a retriever (GNN-Ret §3.3, §4.1, Appendices G and I).

They ask, retrieve, read, decide. Each method is a policy of the one :class:`Loop`: what is searched
for next, and when it is enough. RAS (:mod:`kit.methods.ras.retriever`) is such a loop, too.
"""

from collections.abc import Mapping
from typing import Annotated, Literal, Protocol, Self

from msgspec.structs import replace

from kit.corpus import Benchmark, Corpus, Query
from kit.corpus.types import Queries
from kit.methods import method
from kit.methods.base import Ranking, Rankings, Retriever, ranking_from_order
from kit.methods.loops.agents import GOLD, Agent, agent_of
from kit.methods.loops.small_plan import PLANNER
from kit.methods.loops.steps import SUFFICIENT, NextSteps, Step, Trajectories, Trajectory
from kit.methods.trace import GraphGrowth, Seed, SubQuestionEvent, Trace
from kit.settings import BaseSettings, Positive
from kit.text import LanguageModel


class Scorer(Protocol):
    """What tells how probable each answer is by a question's graph, the best first."""

    def scores(self, trajectory: Trajectory) -> Mapping[str, float]: ...


class Loop(Retriever):
    """Rounds of a step that the model wants and a retrieval for it.

    All questions take their steps abreast, so that the model is asked about many at once. A ranking
    begins with the passages that answered a step; then come the first of each retrieval, the second
    of each …; scores are 1 / rank.
    """

    index_settings = ("inner", "model", "examples")

    class Settings(BaseSettings, frozen=True):
        inner: Annotated[str, "name of the retriever that searches"] = "dense"
        model: Annotated[str, "language model that thinks, or gold"] = f"t5:{PLANNER}"
        top_k: Annotated[Positive, "passages of each retrieval that are read"] = 5
        rounds: Annotated[Positive, "retrievals at most"] = 5
        examples: Annotated[
            Literal["", "musique", "2wikimultihopqa"],
            "data set whose demonstrations a chat model is shown",
        ] = ""

        def __post_init__(self) -> None:
            method(self.inner)  # there is such a retriever

    inner: Retriever | None = None
    agent: Agent
    question_first = False  # whether the first search is for the question itself
    answerer: Scorer | None = None  # whose scores a trace is to tell

    @classmethod
    def over(cls, inner: Retriever, agent: Agent) -> Self:
        """This loop with an agent around a retriever that has indexed a corpus."""
        loop = cls()
        loop.inner = inner
        loop.agent = agent
        loop.corpus = inner.corpus
        return loop

    @property
    def sees_gold(self) -> bool:
        return self.settings.model == GOLD

    @property
    def model(self) -> LanguageModel | None:
        """The agent's language model; its ``log`` has each prompt with the answer."""
        return self.agent.model

    def fit(self, benchmark: Benchmark) -> None:
        """Fit the inner retriever."""
        self.inner = method(self.settings.inner)()
        self.inner.fit(benchmark)

    def index(self, corpus: Corpus) -> None:
        super().index(corpus)
        inner = self.inner
        if inner is None or inner.name != self.settings.inner:
            inner = method(self.settings.inner)()
        self.inner = inner.variant(corpus=corpus)
        self.agent = agent_of(self.settings.model, corpus, examples=self.settings.examples)

    def rank(self, queries: Queries, k: int) -> Rankings:
        return self._rankings(self.run(queries, k), k)

    def _rankings(self, trajectories: Trajectories, k: int) -> Rankings:
        """What each found, filled up with what the inner retriever finds for the question."""
        results = [self.ids(trajectory.rows)[:k] for trajectory in trajectories]
        length = min(k, len(self.corpus))
        short = [index for index, ids in enumerate(results) if len(ids) < length]
        if short:
            texts = [[trajectories[index].query.text] for index in short]
            for index, ranking in zip(short, self.inner.retrieve_next(texts, k)):
                results[index] = tuple(dict.fromkeys(results[index] + ranking.ids))[:k]
        rankings = []
        for ids, answer in zip(results, self.answers(trajectories)):
            rankings.append(replace(ranking_from_order(ids), answer=answer))
        return rankings

    def answers(self, trajectories: Trajectories) -> list[str]:
        """What the loop itself says to the questions: its last word, or else its last sub-answer.

        Empty where it says nothing, and where the sub-answers are the data set's own.
        """
        if self.sees_gold:
            return [""] * len(trajectories)
        return [trajectory.answer or trajectory.last_answer for trajectory in trajectories]

    def rank_traced(self, query: Query, k: int) -> Ranking:
        [trajectory] = self.run([query], k)
        [ranking] = self._rankings([trajectory], k)
        events = []
        if trajectory.exchanges and not trajectory.steps:  # asked, a model wanted no retrieval
            decision = trajectory.ended
            events = [SubQuestionEvent(0, decision), *trajectory.exchanges]
            events.append(GraphGrowth(0, (), decision=decision))
        for index, step in enumerate(trajectory.steps):
            events.append(SubQuestionEvent(index, step.text, ", ".join(step.answers)))
            passages = self.ids(step.rows[: self.settings.top_k])
            events += [Seed(index, id_, 1 / rank) for rank, id_ in enumerate(passages, start=1)]
            events += trajectory.exchanges_in(index)
            if trajectory.graph:
                grown = trajectory.up_to(index + 1)
                scores = {}
                if self.answerer and grown.graph:
                    scores = self.answerer.scores(grown)
                events.append(
                    GraphGrowth(
                        index,
                        step.triples,
                        step.answers,
                        grown.ended,
                        tuple(scores.items()),
                    )
                )
        return replace(ranking, trace=Trace(tuple(events)))

    # ---- the loop

    def run(self, queries: Queries, k: int = 0) -> list[Trajectory]:
        """What became of each question.

        A retrieval has the first k passages, or ``top_k`` if these are more.
        """
        trajectories = [Trajectory(query) for query in queries]
        while active := [trajectory for trajectory in trajectories if trajectory.goes_on]:
            searching = self._take_steps(active)
            if searching:
                self.search(searching, max(k, self.settings.top_k))
                self.read(searching)
        for trajectory in trajectories:
            trajectory.ended = trajectory.ended or "no step is left"
        return trajectories

    def _take_steps(self, trajectories: Trajectories) -> list[Trajectory]:
        """Add the next step of each question, or end it; those whose step needs a retrieval."""
        is_first = not trajectories[0].steps  # all have taken equally many
        if is_first and self.question_first:
            steps = [Step(trajectory.query.text) for trajectory in trajectories]
        else:
            steps = self.ask(trajectories)

        searching = []
        for trajectory, step in zip(trajectories, steps):
            if trajectory.is_ended_by(step):
                trajectory.ended = trajectory.ended or SUFFICIENT
            elif self.knows(trajectory, step):
                trajectory.steps.append(step)
            elif trajectory.n_retrievals == self.settings.rounds:
                trajectory.ended = "no retrieval is left"
            else:
                trajectory.steps.append(step)
                searching.append(trajectory)
        return searching

    def ask(self, trajectories: Trajectories) -> NextSteps:
        """The policy: the next step of each question, or None to end it."""
        raise NotImplementedError

    def knows(self, trajectory: Trajectory, step: Step) -> bool:
        """Whether a step needs no retrieval."""
        return False

    def search(self, trajectories: Trajectories, k: int) -> None:
        """Fill in the rows of the last steps."""
        texts = [[step.text for step in trajectory.steps] for trajectory in trajectories]
        for trajectory, ranking in zip(trajectories, self.inner.retrieve_next(texts, k)):
            trajectory.last.rows = tuple(self.corpus.row[id_] for id_ in ranking.ids)

    def read(self, trajectories: Trajectories) -> None:
        """Take in what the last steps found; by default :meth:`ask` does."""


class SelfAsk(Loop):
    """Press et al. (2022): follow-up questions until none is needed.

    Each is answered by what is found for it.
    """

    name = "selfask"

    def ask(self, trajectories: Trajectories) -> NextSteps:
        return self.agent.plan(trajectories, self.name)

    def read(self, trajectories: Trajectories) -> None:
        self.agent.answer(trajectories, self.settings.top_k)


class SelfCritique(SelfAsk):
    """RGNN-Ret's loop (GNN-Ret §3.3): after each answer, do the answers suffice?"""

    name = "self-critique"

    def read(self, trajectories: Trajectories) -> None:
        super().read(trajectories)
        for trajectory, is_enough in zip(trajectories, self.agent.suffices(trajectories)):
            trajectory.ended = SUFFICIENT if is_enough else ""


class IRCoT(Loop):
    """Trivedi et al. (2023): the question is searched for, then each sentence of a thought chain.

    A sentence is thought by all that was found so far. It ends with the answer, or with a thought
    that comes again.
    """

    name = "ircot"
    question_first = True

    def ask(self, trajectories: Trajectories) -> NextSteps:
        return self.agent.think(trajectories, self.settings.top_k)


class IterRetGen(Loop):
    """Shao et al. (2023): the question is searched for with the whole answer of the round before.

    An answer is drafted by what was found last. It ends when a draft comes again, or after
    ``rounds``.
    """

    name = "iter-retgen"
    question_first = True

    def ask(self, trajectories: Trajectories) -> NextSteps:
        return [
            Step(f"{trajectory.query.text} {draft}".strip())
            for trajectory, draft in zip(
                trajectories, self.agent.draft(trajectories, self.settings.top_k)
            )
        ]
