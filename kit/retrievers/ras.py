"""RAS: retrieval and structuring in turns (ras.txt §3): a planner asks, what is found becomes triples of a graph.

The paper's symbols and the names here: q_i and g_i are ``text`` and ``triples`` of a :class:`kit.text.planner.Step`;
G_Q ``graph``, c_i ``scoped``, t_i ``rows``, k ``top_k``, K/N ``scope``. All questions take their steps abreast, so that
models are asked about many at once.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from msgspec.structs import replace

from kit.corpus import Benchmark, Corpus, Query
from kit.retrievers.base import GraphGrowth, Ranking, Seed, SubQuestionEvent, Trace, as_query, in_places
from kit.retrievers.baselines import Dense
from kit.retrievers.rgnn_ret import gold_steps
from kit.settings import Positive, Settings, Share
from kit.text import DEFAULT_ENCODER
from kit.text.placeholders import key_of, linker_of
from kit.text.planner import NO_RETRIEVAL, PLANNER, SUBQ, SUFFICIENT, Planner, Step, planner
from kit.text.prompts import Fact
from kit.text.themes import Themes
from kit.text.triples import extract

GOLD = "gold"
MOST_STEPS = 12  # of a question, those that the graph answers included


@dataclass
class Growing:
    """A question and how far it has come: its steps, its graph G_Q, each triple with the row that said it first, and
    what ended it: the planner's last word, or that it had its retrievals.
    """

    query: Query
    steps: list[Step] = field(default_factory=list)
    graph: dict[Fact, int] = field(default_factory=dict)
    ended: str = ""

    @property
    def n_retrievals(self) -> int:
        return sum(bool(step.rows) for step in self.steps)

    @property
    def rows(self) -> list[int]:
        """What was found: passages that answered a step first, then the first of each retrieval, the second …"""
        telling = [
            row
            for step in self.steps
            for triple, row in self.graph.items()
            if any(set(step.answers).intersection(hole.answers([triple])) for hole in step.holes)
        ]
        found = [step.rows for step in self.steps if step.rows]
        turns = (rows[place] for place in range(max(map(len, found), default=0)) for rows in found if place < len(rows))
        return list(dict.fromkeys([*telling, *turns]))


class GoldPlanner:
    """The sub-questions of the data set, with the answers of those before filled in."""

    def plan(self, asked: Sequence[tuple[Query, Sequence[Step]]]) -> list[Step | None]:
        texts = [[step.text for step in gold_steps(query)] for query, _ in asked]
        return [Step(of[len(steps) - 1]) if 0 < len(steps) <= len(of) else None for of, (_, steps) in zip(texts, asked)]


class RAS(Dense):
    """Rounds of a sub-question, retrieval and triples, at most ``rounds`` retrievals of ``top_k`` passages each.

    The first asks the question itself (ras-i01), unless the planner wants none. ``planner`` is a language model as
    :func:`kit.text.planner.planner` takes it, or ``gold``; ``triples`` a source as :func:`kit.text.triples.extract`
    does. ``scope`` is the share of the corpus that themes leave to search (1: all of it); ``by_name`` puts passages
    first that name what a sub-question knows: of an entity's own ones where it is the subject, of others where it is
    the object. A ranking begins with the passages that answered a step; scores are 1 / place.
    """

    name = "ras"
    indexed_by = ("encoder", "planner", "triples")

    class Settings(Settings, frozen=True):
        encoder: str = DEFAULT_ENCODER
        planner: str = f"t5:{PLANNER}"
        triples: str = f"t5:{PLANNER}"
        top_k: Positive = 5
        rounds: Positive = 5
        scope: Share = 1.0
        by_name: bool = True

    answerer: Any = None  # a GraphAnswerer, whose scores a trace is to tell
    asked: tuple[tuple[str, str], ...] = ()  # sub-questions and the texts that answer them, which themes learn from

    def fit(self, benchmark: Benchmark) -> None:
        """Take sub-questions to learn themes from, or the questions of a data set that has none."""
        asked = []
        for question in benchmark.train:
            answers, steps = [step.answer for step in question.decomposition], question.decomposition
            told = [(it.filled(answers), question.supporting[it.support]) for it in steps if it.support is not None]
            asked += told or [(question.text, carriers) for carriers in question.supporting]
        self.asked = tuple((text, benchmark.corpus[carriers[0]].full_text) for text, carriers in asked)

    @property
    def history(self) -> Sequence[dict[str, float]]:
        """How the planner learned, where it says so."""
        return getattr(self.planner, "history", ())

    def usage(self) -> pd.DataFrame | None:
        """What the planner was used for; ``planner.model.log`` has each prompt with its answer."""
        return None if self.sees_gold else self.planner.model.usage()

    @property
    def sees_gold(self) -> bool:
        return self.settings.planner == GOLD

    def index(self, corpus: Corpus) -> None:
        super().index(corpus)
        self.planner: Planner = GoldPlanner() if self.sees_gold else planner(self.settings.planner, corpus)
        self.linker, self.named, self.own = linker_of(corpus), defaultdict(set), defaultdict(set)
        for row, passage in enumerate(corpus.passages):
            self.own[key_of(passage.title)].add(row)
            for mention in self.linker.mentions(passage.text):
                self.named[key_of(mention.entity)].add(row)
        self.themes = cache(self._learn_themes)  # shared by variants
        self.known: dict[int, tuple[Fact, ...]] = {}

    def _learn_themes(self) -> Themes:
        themes = Themes(self.corpus, self.vectors)
        if self.asked:
            queries, passages = zip(*self.asked)
            themes.fit(self.encoder.encode(queries, role="query"), self.encoder.encode(passages), from_vectors=True)
        return themes

    def retrieve_many(self, queries: Sequence[Query], k: int) -> list[Ranking]:
        dense = super().retrieve_many(queries, k)
        return [self._ranking(of, first, k) for of, first in zip(self.grow(queries), dense)]

    def _ranking(self, of: Growing, dense: Ranking, k: int) -> Ranking:
        return in_places(list(dict.fromkeys([*self.ids(of.rows), *dense.ids]))[:k])

    def explain(self, query: Query | str, k: int) -> Ranking:
        query, events = as_query(query), []
        [of] = self.grow([query])
        for number, step in enumerate(of.steps):
            decision = of.ended if step is of.steps[-1] else SUBQ
            graph = {triple: of.graph[triple] for it in of.steps[: number + 1] for triple in it.triples}
            so_far = Growing(query, of.steps[: number + 1], graph)
            scores = tuple(self.answerer.scores(so_far).items()) if self.answerer and graph else ()
            events.append(SubQuestionEvent(number, step.text, ", ".join(step.answers)))
            events += [Seed(number, id, 1 / place) for place, id in enumerate(self.ids(step.rows), 1)]
            events.append(GraphGrowth(number, step.triples, step.answers, decision, scores))
        [dense] = super().retrieve_many([query], k)
        return replace(self._ranking(of, dense, k), trace=Trace(tuple(events)))

    def grow(self, queries: Sequence[Query]) -> list[Growing]:
        """The loop of ras.txt, Figure 2: what is known of each question in the end."""
        growing = [Growing(query) for query in queries]
        for _ in range(MOST_STEPS):
            asked = [of for of in growing if not of.ended]
            searching = []
            for of, step in zip(asked, self.planner.plan([(of.query, of.steps) for of in asked]) if asked else ()):
                if not of.steps and not (step and step.text == NO_RETRIEVAL):
                    step = Step(of.query.text)  # p_0: the question itself comes first
                if step is None or step.text == NO_RETRIEVAL or step.text in {known.text for known in of.steps}:
                    of.ended = NO_RETRIEVAL if step and step.text == NO_RETRIEVAL else SUFFICIENT
                    continue
                step.answers = step.read(of.graph)
                if not step.answers and of.n_retrievals == self.settings.rounds:
                    of.ended = f"{self.settings.rounds} retrievals are over"
                    continue
                of.steps.append(step)
                if not step.answers:
                    searching.append((of, step))
            self._search(searching)
        return growing

    def _search(self, searching: Sequence[tuple[Growing, Step]]) -> None:
        """Eqs. 3 to 9: passages within the themes, their triples, and what they add to the graph."""
        if not searching:
            return
        texts = [step.text for _, step in searching]
        vectors = self.encoder.encode(texts, role="query", progress=len(texts) > 64)
        scores = vectors @ self.vectors.T  # Eq. 6
        if self.settings.scope < 1:
            scores -= 4 * ~self.themes().scoped(vectors, self.settings.scope)  # Eq. 5: below all that are within
        for (of, step), score in zip(searching, scores):
            if self.settings.by_name and len(of.steps) > 1:
                score[list(self._naming(step))] += 2
            step.rows = tuple(np.argsort(-score, kind="stable")[: self.settings.top_k].tolist())
        self._read({row for _, step in searching for row in step.rows})
        for of, step in searching:
            said = {triple: row for row in reversed(step.rows) for triple in reversed(self.known[row])}
            step.triples = tuple(triple for triple in reversed(said) if triple not in of.graph)
            of.graph |= {triple: said[triple] for triple in step.triples}  # Eq. 9
            step.answers = step.read(of.graph)

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

    def _read(self, rows: Iterable[int]) -> None:
        """Eq. 7, of passages that were not read before."""
        new = sorted(set(rows) - self.known.keys())
        for row, extraction in zip(new, extract(self.corpus, self.settings.triples, new) if new else ()):
            self.known[row] = tuple((it.subject, it.relation, it.object) for it in extraction.triples)
