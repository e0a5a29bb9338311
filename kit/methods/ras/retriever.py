"""RAS: retrieval and structuring in turns (ras.txt §3): a planner asks, what is found becomes triples of a graph.

The paper's symbols and the names here: q_i and g_i are ``text`` and ``triples`` of a
:class:`kit.methods.loops.agents.Step`; G_Q ``graph`` of a :class:`kit.methods.loops.agents.Trajectory`, c_i ``scoped``, t_i
``rows``, k ``top_k``, K/N ``scope``.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cache

import numpy as np

from kit.corpus import Benchmark, Corpus, Question
from kit.learning.training import HISTORY, read_history
from kit.methods.baselines.classic import Dense
from kit.methods.loops.agents import GOLD, PLANNER, FactReader, Step, Trajectory, agent_of
from kit.methods.loops.loops import Loop
from kit.methods.ras.themes import Themes
from kit.settings import BaseSettings, Positive, Share
from kit.text import DEFAULT_ENCODER
from kit.text.placeholders import key_of, linker_of

NO_RETRIEVAL = "[NO_RETRIEVAL]"  # what a planner says of a question that needs none


def sub_questions(questions: Sequence[Question]) -> list[tuple[str, str]]:
    """Gold sub-questions with answers filled in, or the questions where there are none, each with its passage's id."""
    asked = []
    for question in questions:
        answers, steps = [step.answer for step in question.decomposition], question.decomposition
        told = [
            (it.filled(answers), question.supporting[it.support])
            for it in steps
            if it.support is not None
        ]
        asked += told or [(question.text, carriers) for carriers in question.supporting]
    return [(text, carriers[0]) for text, carriers in asked]


class RAS(Loop):
    """Rounds of a sub-question, retrieval and triples, at most ``rounds`` retrievals of ``top_k`` passages each.

    The first asks the question itself (ras-i01), unless the planner wants none. ``planner`` is ``gold`` or a language
    model as :func:`kit.methods.loops.agents.agent_of` takes it; ``triples`` a source as :func:`kit.text.triples.extract`
    does. ``scope`` is the share of the corpus that themes leave to search (1: all of it); ``by_name`` puts passages
    first that name what a sub-question knows: of an entity's own ones where it is the subject, of others where it is
    the object. A ranking begins with the passages that answered a step; scores are 1 / place.
    """

    name = "ras"
    index_settings = ("encoder", "planner", "triples")

    class Settings(BaseSettings, frozen=True):
        encoder: str = DEFAULT_ENCODER
        planner: str = f"t5:{PLANNER}"
        triples: str = f"t5:{PLANNER}"
        top_k: Positive = 5
        rounds: Positive = 5
        scope: Share = 1.0
        by_name: bool = True

    asked: Sequence[
        tuple[str, str]
    ] = ()  # sub-questions and the texts that answer them, which themes learn from

    def fit(self, benchmark: Benchmark) -> None:
        """Take sub-questions to learn themes from."""
        self.asked = [
            (text, benchmark.corpus[id].full_text) for text, id in sub_questions(benchmark.train)
        ]

    @property
    def history(self) -> Sequence[dict[str, float]]:
        """How the small planner learned, where its folder tells: ``measured``, minus the loss on dev, by the epoch."""
        folder = getattr(self.agent.model, "folder", None)
        rows = read_history(folder) if folder and (folder / HISTORY).is_file() else ()
        return [{"step": row["epoch"], "measured": -row["dev_loss"]} for row in rows]

    @property
    def sees_gold(self) -> bool:
        return self.settings.planner == GOLD

    def index(self, corpus: Corpus) -> None:
        self.inner = Dense(encoder=self.settings.encoder)
        self.inner.index(corpus)
        self.corpus, self.encoder, self.vectors = corpus, self.inner.encoder, self.inner.vectors
        self.agent = agent_of(self.settings.planner, corpus, self.settings.triples)
        self.facts = FactReader(corpus, self.settings.triples)
        self.linker, self.named, self.own = linker_of(corpus), defaultdict(set), defaultdict(set)
        for row, passage in enumerate(corpus.passages):
            self.own[key_of(passage.title)].add(row)
            for mention in self.linker.mentions(passage.text):
                self.named[key_of(mention.entity)].add(row)
        self.themes = cache(self._learn_themes)  # shared by variants

    def _learn_themes(self) -> Themes:
        themes = Themes(self.corpus, self.vectors)
        if self.asked:
            queries, passages = zip(*self.asked)
            themes.fit(
                self.encoder.encode(queries, role="query"),
                self.encoder.encode(passages),
                from_vectors=True,
            )
        return themes

    # ---- the loop of ras.txt, Figure 2

    def ask(self, going: Sequence[Trajectory]) -> list[Step | None]:
        steps = self.agent.plan(going)  # Eqs. 1 and 2
        for place, (of, step) in enumerate(zip(going, steps)):
            if step and step.text.startswith(NO_RETRIEVAL):
                of.ended, steps[place] = NO_RETRIEVAL, None
            elif not of.steps:
                steps[place] = Step(of.query.text)
        return steps

    def knows(self, of: Trajectory, step: Step) -> bool:
        """The graph may have the answer already."""
        step.answers = step.read(of.graph)
        return bool(step.answers)

    def search(self, searching: Sequence[Trajectory], k: int) -> None:
        """Eqs. 3 to 6: passages within the themes."""
        texts = [of.steps[-1].text for of in searching]
        vectors = self.encoder.encode(texts, role="query", progress=len(texts) > 64)
        scores = vectors @ self.vectors.T  # Eq. 6
        if self.settings.scope < 1:
            scores -= 4 * ~self.themes().scoped(
                vectors, self.settings.scope
            )  # Eq. 5: below all that are within
        for of, score in zip(searching, scores):
            if self.settings.by_name and len(of.steps) > 1:
                score[list(self._naming(of.steps[-1]))] += 2
            of.steps[-1].rows = tuple(
                np.argsort(-score, kind="stable")[: self.settings.top_k].tolist()
            )

    def read(self, searching: Sequence[Trajectory]) -> None:
        self.facts.read(searching, self.settings.top_k)  # Eqs. 7 and 9

    def _naming(self, step: Step) -> Iterable[int]:
        """Rows of passages that a sub-question is answered by, going by the names in it."""
        rows = []
        for hole in step.holes:
            own, named = self.own[key_of(hole.entity)], self.named[key_of(hole.entity)]
            rows.append(named - own if hole.backward else own)
        if not step.holes:
            names = [key_of(mention.entity) for mention in self.linker.mentions(step.text)]
            rows = [self.named[name] | self.own[name] for name in names]
        return set.intersection(*rows) if rows else ()
