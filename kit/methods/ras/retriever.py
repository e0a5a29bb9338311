"""RAS: retrieval and structuring in turns (§3): a planner asks, answers become triples.

The paper's symbols and the names here: q_i and g_i are ``text`` and ``triples`` of a
:class:`kit.methods.loops.steps.Step`; G_Q ``graph`` of a
:class:`kit.methods.loops.steps.Trajectory`; p_i a ``Step``, ``NO_RETRIEVAL`` or None; c_i
``scoped``; t_i ``rows``; f_den ``encoder``; k ``top_k``; K/N ``scope``.
"""

from collections import defaultdict
from collections.abc import Sequence
from functools import cache
from typing import Annotated

import numpy as np

from kit.corpus import Benchmark, Corpus
from kit.corpus.types import Questions
from kit.learning.training import HISTORY, History, read_history
from kit.methods.baselines.classic import Dense
from kit.methods.loops.agents import GOLD, MANY_PROMPTS, SmallAgent, agent_of
from kit.methods.loops.fact_reader import FactReader
from kit.methods.loops.loops import Loop
from kit.methods.loops.small_plan import PLANNER
from kit.methods.loops.steps import NO_RETRIEVAL, NextSteps, Step, Trajectories, Trajectory
from kit.methods.ras.themes import Themes
from kit.readers.windows import steps_of
from kit.settings import Positive, Share
from kit.text import ENCODER_SETTINGS, EncoderSettings
from kit.text.placeholders import key_of, linker_of

OUT_OF_SCOPE = 4  # is taken off a cosine: below all that are within
BY_NAME = 2  # is added to a cosine: above all others of the scope


def sub_questions(questions: Questions) -> list[tuple[str, str]]:
    """Gold sub-questions with answers filled in, each with the id of a passage that answers it.

    A question without any stands for itself, once for each support.
    """
    pairs = []
    for question in questions:
        steps = [(step.text, step.supporting[0]) for step in steps_of(question)]
        pairs += steps or [(question.text, carriers) for carriers in question.supporting]
    return [(text, carriers[0]) for text, carriers in pairs]


class RAS(Loop):
    """Rounds of a sub-question, a retrieval and triples; the first asks the question (ras-i01).

    There is no round where the planner wants none. A ranking begins with the passages that answered
    a step; scores are 1 / rank.
    """

    name = "ras"
    index_settings = (*ENCODER_SETTINGS, "planner", "triples")

    class Settings(EncoderSettings, frozen=True):
        planner: Annotated[str, "language model that plans, or gold"] = f"t5:{PLANNER}"
        triples: Annotated[
            str,
            "source of triples: rules or a language model; empty for a planner's own, of a planner "
            "that reads none rules",
        ] = ""
        top_k: Annotated[Positive, "passages of each retrieval that are read"] = 5
        rounds: Annotated[Positive, "retrievals at most"] = 5
        scope: Annotated[Share, "share of the corpus that themes leave to search"] = 1.0
        by_name: Annotated[bool, "passages come first that name what a step asks about"] = False

    #: Sub-questions and the texts that answer them, from which themes learn.
    theme_pairs: Sequence[tuple[str, str]] = ()

    def fit(self, benchmark: Benchmark) -> None:
        """Take sub-questions to learn themes from."""
        self.theme_pairs = [
            (text, benchmark.corpus[id_].full_text) for text, id_ in sub_questions(benchmark.train)
        ]

    @property
    def history(self) -> History:
        """How the small planner learned, by the epoch, where its folder tells.

        ``measured`` is minus the loss on dev.
        """
        folder = getattr(self.agent.model, "folder", None)
        rows = read_history(folder) if folder and (folder / HISTORY).is_file() else ()
        return [{"step": row["epoch"], "measured": -row["dev_loss"]} for row in rows]

    @property
    def sees_gold(self) -> bool:
        return self.settings.planner == GOLD

    def index(self, corpus: Corpus) -> None:
        self.corpus = corpus
        self.inner = Dense(**self.settings.of_encoder())
        self.inner.index(corpus)
        self.encoder = self.inner.encoder
        self.vectors = self.inner.vectors  # f_den(C), (passages, dimension)
        planner = self.settings.planner
        triples = self.settings.triples
        self.agent = agent_of(planner, corpus, triples)
        if isinstance(self.agent, SmallAgent):  # what it asks for, it also reads
            triples = triples or planner
        self.facts = FactReader(corpus, triples or "rules")
        self.themes = cache(self._learn_themes)  # once, when they are wanted; variants share them

        self.linker = linker_of(corpus)
        self.titled = defaultdict(set)  # rows of an entity's passages
        self.naming = defaultdict(set)  # rows of passages that name it
        for row, passage in enumerate(corpus.passages):
            self.titled[key_of(passage.title)].add(row)
            for name in self._names(passage.text):
                self.naming[name].add(row)

    def _names(self, text: str) -> list[str]:
        return [key_of(mention.entity) for mention in self.linker.mentions(text)]

    def _learn_themes(self) -> Themes:
        themes = Themes(self.corpus, self.vectors)
        if self.theme_pairs:
            queries, passages = zip(*self.theme_pairs)
            themes.fit(
                self.encoder.encode(queries, role="query"),
                self.encoder.encode(passages),
                from_vectors=True,
            )
        return themes

    # ---- the loop of RAS, Figure 2

    def ask(self, trajectories: Trajectories) -> NextSteps:
        steps = self.agent.plan(trajectories)  # Eq. 1 in the first round, then Eq. 2
        for index, trajectory in enumerate(trajectories):
            step = steps[index]
            if step and step.text.startswith(NO_RETRIEVAL):
                trajectory.ended = NO_RETRIEVAL
                steps[index] = None
            elif not trajectory.steps:  # whatever else it said (§4, Inference Setting)
                steps[index] = Step(trajectory.query.text)  # q_0 = Q
                trajectory.ended = ""
        return steps

    def answers(self, trajectories: Trajectories) -> list[str]:
        """What the agent concludes from the graphs; a sub-answer is none."""
        self.agent.conclude(trajectories)  # Eqs. 10 and 11
        return [trajectory.answer for trajectory in trajectories]

    def knows(self, trajectory: Trajectory, step: Step) -> bool:
        """The graph may have the answer already."""
        step.answers = step.read(trajectory.graph)
        return bool(step.answers)

    def search(self, trajectories: Trajectories, k: int) -> None:
        """Eqs. 3 to 6: passages within the themes."""
        queries = self.encoder.encode(
            [trajectory.last.text for trajectory in trajectories],
            role="query",
            progress=len(trajectories) > MANY_PROMPTS,
        )
        scores = queries @ self.vectors.T  # Eq. 6, (sub-questions, passages)
        if self.settings.scope < 1:
            scoped = self.themes().scoped(queries, self.settings.scope)  # Eqs. 3 to 5
            scores -= OUT_OF_SCOPE * ~scoped

        for trajectory, score in zip(trajectories, scores):
            if self.settings.by_name and len(trajectory.steps) > 1:
                score[self._rows_by_name(trajectory.last)] += BY_NAME
            nearest = np.argsort(-score, kind="stable")[:k]
            trajectory.last.rows = tuple(nearest.tolist())

    def read(self, trajectories: Trajectories) -> None:
        """Eqs. 7 and 9: the triples of what was found join the graph."""
        self.facts.read(trajectories, self.settings.top_k)

    def _rows_by_name(self, step: Step) -> list[int]:
        """Rows of passages that answer a sub-question, going by the names in it.

        Where an entity is the subject these are its own, where it is the object others that name
        it.
        """
        rows = []
        for hole in step.holes:
            key = key_of(hole.entity)
            if hole.backward:
                rows.append(self.naming[key] - self.titled[key])
            else:
                rows.append(self.titled[key])
        if not step.holes:
            rows = [self.naming[name] | self.titled[name] for name in self._names(step.text)]
        return list(set.intersection(*rows)) if rows else []
