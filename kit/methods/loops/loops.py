"""Loops of a language model and a retriever: ask, retrieve, read, decide (gnn-ret.txt §3.3, §4.1, Appendices G and I).

Each method is a policy of the one :class:`Loop`: what is searched for next, and when it is enough. All questions take
their steps abreast, so that models are asked about many at once. RAS (:mod:`kit.methods.ras.retriever`) is such a loop, too.
"""

from collections.abc import Sequence
from typing import Any

import pandas as pd
from msgspec.structs import replace

from kit.corpus import Benchmark, Corpus, Query
from kit.methods.base import Ranking, Retriever, as_query, ranking_from_order
from kit.methods.loops.agents import (
    GOLD,
    MOST_STEPS,
    PLANNER,
    SUFFICIENT,
    Agent,
    Step,
    Trajectory,
    agent_of,
)
from kit.methods.trace import GraphGrowth, Seed, SubQuestionEvent, Trace
from kit.settings import BaseSettings, Positive


class Loop(Retriever):
    """At most ``rounds`` retrievals by ``inner``, a retriever of the kit by its name; of each, ``top_k`` are read.

    ``model`` is ``gold`` (the data's sub-questions and answers) or a language model as
    :func:`kit.methods.loops.agents.agent_of` takes it. A ranking begins with the passages that answered a step, then come
    the first of each retrieval, the second of each …; scores are 1 / place.
    """

    index_settings = ("inner", "model")

    class Settings(BaseSettings, frozen=True):
        inner: str = "dense"
        model: str = f"t5:{PLANNER}"
        top_k: Positive = 5
        rounds: Positive = 5

        def __post_init__(self) -> None:
            _method(self.inner)  # there is such a retriever

    inner: Retriever | None = None
    agent: Agent
    question_first = False  # whether the first search is for the question itself
    answerer: Any = None  # of RAS: a GraphAnswerer, whose scores a trace is to tell

    @property
    def sees_gold(self) -> bool:
        return self.settings.model == GOLD

    def usage(self) -> pd.DataFrame | None:
        """What the model was asked; ``agent.model.log`` has each prompt with its answer."""
        return self.agent.model and self.agent.model.usage()

    def fit(self, benchmark: Benchmark) -> None:
        """Fit the inner retriever."""
        self.inner = _method(self.settings.inner)()
        self.inner.fit(benchmark)

    def index(self, corpus: Corpus) -> None:
        super().index(corpus)
        kept = self.inner and self.inner.name == self.settings.inner
        self.inner = (self.inner if kept else _method(self.settings.inner)()).variant(corpus=corpus)
        self.agent = agent_of(self.settings.model, corpus)

    def rank(self, queries: Sequence[Query], k: int) -> list[Ranking]:
        return self._rankings(self.run(queries, k), k)

    def _rankings(self, found: Sequence[Trajectory], k: int) -> list[Ranking]:
        """What each found, filled up with what the inner retriever finds for the question itself."""
        ids = [list(self.ids(of.rows))[:k] for of in found]
        short = [place for place, of in enumerate(ids) if len(of) < min(k, len(self.corpus))]
        more = (
            self.inner.retrieve_next([[found[place].query.text] for place in short], k)
            if short
            else ()
        )
        for place, ranking in zip(short, more):
            ids[place] = list(dict.fromkeys([*ids[place], *ranking.ids]))[:k]
        return [ranking_from_order(of) for of in ids]

    def rank_traced(self, query: Query, k: int) -> Ranking:
        [of], events = self.run([as_query(query)], k), []
        for number, step in enumerate(of.steps):
            events.append(SubQuestionEvent(number, step.text, ", ".join(step.answers)))
            found = self.ids(step.rows[: self.settings.top_k])
            events += [Seed(number, id, 1 / place) for place, id in enumerate(found, start=1)]
            if of.graph:
                then = of.up_to(number + 1)
                scores = (
                    tuple(self.answerer.scores(then).items())
                    if self.answerer and then.graph
                    else ()
                )
                events.append(GraphGrowth(number, step.triples, step.answers, then.ended, scores))
        return replace(self._rankings([of], k)[0], trace=Trace(tuple(events)))

    # ---- the loop

    def run(self, queries: Sequence[Query], k: int = 0) -> list[Trajectory]:
        """What became of each question; a retrieval has the first k passages, or ``top_k`` if these are more."""
        trajectories = [Trajectory(query) for query in queries]
        # All that go on have taken equally many steps.
        while going := [of for of in trajectories if not of.ended and len(of.steps) < MOST_STEPS]:
            begun, searching = bool(going[0].steps), []
            steps = (
                self.ask(going)
                if begun or not self.question_first
                else [Step(of.query.text) for of in going]
            )
            for of, step in zip(going, steps):
                if step is None or step.text in {known.text for known in of.steps}:
                    of.ended = of.ended or SUFFICIENT
                elif self.knows(of, step):
                    of.steps.append(step)
                elif of.n_retrievals == self.settings.rounds:
                    of.ended = "no retrieval is left"
                else:
                    of.steps.append(step)
                    searching.append(of)
            if searching:
                self.search(searching, max(k, self.settings.top_k))
                self.read(searching)
        for of in trajectories:
            of.ended = of.ended or "no step is left"
        return trajectories

    def ask(self, going: Sequence[Trajectory]) -> list[Step | None]:
        """The policy: the next step of each question, or None to end it."""
        raise NotImplementedError

    def knows(self, of: Trajectory, step: Step) -> bool:
        """Whether a step needs no retrieval."""
        return False

    def search(self, searching: Sequence[Trajectory], k: int) -> None:
        """Fill in the rows of the last steps."""
        asked = [[step.text for step in of.steps] for of in searching]
        for of, ranking in zip(searching, self.inner.retrieve_next(asked, k)):
            of.steps[-1].rows = tuple(self.corpus.row[id] for id in ranking.ids)

    def read(self, searching: Sequence[Trajectory]) -> None:
        """Take in what was found; by default :meth:`ask` does."""


class SelfAsk(Loop):
    """Press et al. (2022): follow-up questions, each answered by what is found for it, until none is needed."""

    name = "selfask"

    def ask(self, going: Sequence[Trajectory]) -> list[Step | None]:
        return self.agent.plan(going, self.name)

    def read(self, searching: Sequence[Trajectory]) -> None:
        self.agent.answer(searching, self.settings.top_k)


class SelfCritique(SelfAsk):
    """RGNN-Ret's loop (gnn-ret.txt §3.3): after each answer the model is asked whether the answers suffice."""

    name = "self-critique"

    def read(self, searching: Sequence[Trajectory]) -> None:
        super().read(searching)
        for of, enough in zip(searching, self.agent.suffices(searching)):
            of.ended = SUFFICIENT if enough else ""


class IRCoT(Loop):
    """Trivedi et al. (2023): the question is searched for, then each new sentence of a chain of thought.

    A sentence is thought by all that was found so far. It ends with the answer, or a thought that comes again.
    """

    name = "ircot"
    question_first = True

    def ask(self, going: Sequence[Trajectory]) -> list[Step | None]:
        return self.agent.think(going, self.settings.top_k)


class IterRetGen(Loop):
    """Shao et al. (2023): the question is searched for with the whole answer of the round before.

    An answer is drafted by what was found last. It ends when a draft comes again, or after ``rounds``.
    """

    name = "iter-retgen"
    question_first = True

    def ask(self, going: Sequence[Trajectory]) -> list[Step | None]:
        drafts = self.agent.draft(going, self.settings.top_k)
        return [Step(f"{of.query.text} {draft}".strip()) for of, draft in zip(going, drafts)]


def _method(name: str) -> type[Retriever]:
    from kit.methods import method  # which knows this module's methods, too

    return method(name)
