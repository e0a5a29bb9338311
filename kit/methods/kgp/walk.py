"""KGP: from seeds that TF-IDF finds, an agent walks the passage graph (KGP §4, Algorithm 1).

The paper's symbols and the names here:

- G ``graph``, D ``corpus``, q ``query``
- g, the TF-IDF search, ``tfidf``; V^s ``seeds``
- P ``queue``, of a :class:`WalkPath` P_i each; V'_i are the first of its ``best`` candidates
- C, N ``candidates``: they are looked up when it is their path's turn
- f_GT ``score``; K ``budget``; k, how many passages are retrieved, the length of ``retrieved``
- ``branching`` and ``depth`` have no symbol there

An agent is a subclass that scores candidates by Eq. 1,
s_{j+1} = argmax_{v ∈ N_j} φ(g(X_v), f(q ‖ X_0 … X_j)): from the question and the passages of a
path, in the order of the visits, it makes what it looks for (f), and compares each candidate (g)
with it (φ). The agents are in :mod:`kit.methods.kgp.agents`.
"""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from operator import itemgetter
from typing import Annotated, NamedTuple

import numpy as np
from msgspec.structs import replace
from numpy import ndarray

from kit import timer
from kit.corpus import Corpus, Query
from kit.corpus.types import Indices, Queries
from kit.graphs import PassageGraph, build, builders
from kit.methods.base import Ranking, Rankings, Retriever
from kit.methods.kgp.structure import StructureReader
from kit.methods.trace import NodeVisit, Seed, Trace
from kit.settings import Positive
from kit.text import ENCODER_SETTINGS, Encoder, EncoderSettings, TfidfIndex
from kit.text.tfidf import matching_rows

KEPT_NEIGHBOURS = 10_000  # passages whose neighbours are remembered


class AgentInput(NamedTuple):
    """What an agent judges by: a question, a path's rows (none at the start), its candidates."""

    query: Query
    path: Indices
    candidates: ndarray  # rows


class AgentOutput(NamedTuple):
    """Scores (candidates,), higher is better, and the text that the agent wrote to look for."""

    scores: ndarray
    generated_evidence: str = ""


Inputs = Sequence[AgentInput]
Outputs = list[AgentOutput]


class WalkPath(NamedTuple):
    """Rows in the order of the visits, their scores, and the evidence that chose the last one."""

    rows: Indices = ()
    scores: tuple[float, ...] = ()
    evidence: str = ""


@dataclass
class Walk:
    """How far the walk for one question has come."""

    query: Query
    similarity: ndarray  # (passages,) TF-IDF cosines to the question
    seeds: ndarray  # rows
    queue: deque[WalkPath]
    grown: set[tuple[int, int]] = field(default_factory=set)  # passage and depth where one grows
    retrieved: dict[int, None] = field(default_factory=dict)  # distinct rows
    ended: list[WalkPath] = field(default_factory=list)  # paths that grow no further
    visits: list[WalkPath] = field(default_factory=list)  # paths as they were queued
    n_scored: int = 0  # candidates that the agent compared


class KGP(Retriever):
    """Algorithm 1 with an agent, over a graph of passages.

    The seeds are the ⌊``budget`` / ``branching``⌋ passages that TF-IDF puts first (kgp-i16), in the
    order of the agent, which scores them as it does any candidate. From there a path grows by the
    best neighbours of its last passage that it has not visited; another path may have visited
    them, and then they are not counted again (kgp-i31). Of the paths that reach a passage by
    equally many steps only the first grows on: otherwise a walk would try all paths of a component
    that has fewer passages than the budget. (At the paper's depth of 2 no path is left out.) The
    walk ends with ``budget`` distinct passages, or where no path can grow.

    Paths are ranked by the sum of their scores, each standardised among those of the question's
    visits, to seeds and to neighbours apart (kgp-i18). Passages are ranked by their first
    appearance; after them come, by TF-IDF, those that the walk did not find: a ranking's ``paths``
    tell the ones from the others, and its ``n_walked`` counts them.

    A question about pages or tables is answered by what these hold. Where no passage has a word of
    the question, a walk has no seeds, and nothing is found.
    """

    index_settings = ("graph", *ENCODER_SETTINGS)
    #: The agent's, where it has one; a ``knn`` graph is built with it, or else with that of the
    #: settings.
    encoder: Encoder | None = None
    graph: PassageGraph

    class Settings(EncoderSettings, frozen=True):
        graph: Annotated[str, "builder of the graph, or several, joined by +"] = "entity+structure"
        branching: Annotated[Positive, "neighbours that a path grows by"] = 3
        depth: Annotated[Positive, "passages of a path at most"] = 2
        budget: Annotated[Positive, "distinct passages at which a walk ends"] = 30

        def __post_init__(self) -> None:
            builders(self.graph)  # there are such

    def index(self, corpus: Corpus) -> None:
        self.corpus = corpus
        self.tfidf = TfidfIndex(corpus)
        self.reader = StructureReader(corpus)
        name = self.settings.graph
        if "knn" in name.split("+"):
            settings = (self.encoder or self).settings
            self.graph = build(name, corpus, **settings.of_encoder())
        else:
            self.graph = build(name, corpus)

    def score(self, inputs: Inputs) -> Outputs:
        """The agent, Eq. 1. The inputs are of many questions: it does them all at once."""
        raise NotImplementedError

    def rank(self, queries: Queries, k: int) -> Rankings:
        return self.reader.rankings(queries, k, self._rank_by_content)

    def _rank_by_content(self, queries: Queries, k: int) -> Rankings:
        return [self._ranking(walk, k) for walk in self._walk(queries)]

    def rank_traced(self, query: Query, k: int) -> Ranking:
        if self.reader.structures_in(query.text):
            return super().rank_traced(query, k)
        [walk] = self._walk([query])
        return replace(self._ranking(walk, k), trace=self._trace(walk))

    # ---- Algorithm 1

    def _walk(self, queries: Queries) -> list[Walk]:
        """The walks for questions about content.

        They go abreast, a path each at a time, so that the agent is asked about many at once.
        """
        walks = self._begin(queries)  # lines 1 to 4
        budget = self.settings.budget
        neighbours = self.graph.neighbours
        if not timer.clock():  # where time is taken, neighbours are looked up anew each time
            neighbours = lru_cache(KEPT_NEIGHBOURS)(neighbours)

        while active := [
            walk for walk in walks if walk.queue and len(walk.retrieved) < budget
        ]:  # lines 5 and 11
            growing = []
            for walk in active:
                path = walk.queue.popleft()  # line 6: P_i …
                candidates = self._candidates(walk, path, neighbours)  # … and C_i
                if len(candidates):
                    agent_input = AgentInput(walk.query, path.rows, candidates)
                    growing.append((walk, path, agent_input))
                else:
                    walk.ended.append(path)

            inputs = [agent_input for _, _, agent_input in growing]
            with timer.part("matching"):
                outputs = self.score(inputs) if inputs else []  # line 7, by Eq. 1
            for (walk, path, agent_input), output in zip(growing, outputs):
                self._visit(walk, path, agent_input.candidates, output)  # lines 8 to 12
        return walks  # line 13

    def _begin(self, queries: Queries) -> list[Walk]:
        n_seeds = max(1, self.settings.budget // self.settings.branching)
        similarities = self.tfidf.scores([query.text for query in queries])
        walks = []
        for query, similarity in zip(queries, similarities):
            seeds = matching_rows(similarity, n_seeds)  # line 1: V^s = g(V, X, q)
            # Lines 2 to 4: the path that has no passage yet has the seeds as its candidates, and
            # nothing is retrieved; when it is dequeued, P becomes [{v_i} | v_i ∈ V^s].
            walks.append(Walk(query, similarity, seeds, deque([WalkPath()])))
        return walks

    def _candidates(
        self,
        walk: Walk,
        path: WalkPath,
        neighbours: Callable,
    ) -> ndarray:
        """The rows that a path may go on to (C of lines 3 and 9).

        At first these are the seeds, then neighbours of its last passage (kgp-i13).
        """
        if not path.rows:
            return walk.seeds
        end = (path.rows[-1], len(path.rows))
        if len(path.rows) == self.settings.depth or end in walk.grown:
            return np.zeros(0, int)
        walk.grown.add(end)
        with timer.part("matching"):
            rows = neighbours(path.rows[-1])
        return rows[~np.isin(rows, path.rows)]

    def _visit(
        self,
        walk: Walk,
        path: WalkPath,
        candidates: ndarray,
        output: AgentOutput,
    ) -> None:
        """Lines 8 to 12 for one path."""
        walk.n_scored += len(candidates)
        best = np.argsort(-output.scores, kind="stable")  # equal ones stay in their order
        if path.rows:
            best = best[: self.settings.branching]
        for index in best:  # line 8
            row = int(candidates[index])
            score = float(output.scores[index])
            longer = WalkPath(
                (*path.rows, row),
                (*path.scores, score),
                output.generated_evidence,
            )
            walk.queue.append(longer)  # line 9
            walk.visits.append(longer)
            walk.retrieved.setdefault(row)  # line 10: k ← k + 1
            if len(walk.retrieved) == self.settings.budget:  # line 11
                return  # line 12

    # ---- what a walk found

    def _ranking(self, walk: Walk, k: int) -> Ranking:
        scores = {}
        paths = []
        for value, path in valued_paths(walk):
            paths.append(self.ids(path.rows))
            for row in path.rows:
                scores.setdefault(row, value)

        if k > len(scores):
            lowest = min(scores.values(), default=0.0)
            for row in matching_rows(walk.similarity, k).tolist():
                similarity = min(float(walk.similarity[row]), 1.0)
                scores.setdefault(row, lowest - 1 + similarity)
        return Ranking(
            self.ids(scores)[:k],
            np.array(list(scores.values())[:k]),
            paths=tuple(filter(None, paths)),
        )

    def _trace(self, walk: Walk) -> Trace:
        similarities = walk.similarity[walk.seeds].tolist()
        events = [Seed(0, *seed) for seed in zip(self.ids(walk.seeds), similarities)]
        for path in walk.visits:
            *before, passage = self.ids(path.rows)
            source = before.pop() if before else ""
            events.append(
                NodeVisit(
                    len(path.rows) - 1,
                    passage,
                    source,
                    path.scores[-1],
                    path.evidence,
                    tuple(before),
                )
            )
        return Trace(tuple(events), walk.n_scored)


def valued_paths(walk: Walk) -> list[tuple[float, WalkPath]]:
    """The sum of each path's standardised scores (kgp-i18), and the path; best first."""
    of_seeds = scale([path for path in walk.visits if len(path.rows) == 1])
    of_neighbours = scale([path for path in walk.visits if len(path.rows) > 1])

    valued = []
    for path in (*walk.ended, *walk.queue):
        standardised = []
        for index, score in enumerate(path.scores):
            mean, deviation = of_neighbours if index else of_seeds
            standardised.append((score - mean) / deviation)
        valued.append((sum(standardised), path))
    return sorted(valued, key=itemgetter(0), reverse=True)


def scale(visits: list[WalkPath]) -> tuple[float, float]:
    """Mean and deviation of the visits' scores; a deviation of 0 counts as 1."""
    scores = [path.scores[-1] for path in visits] or [0.0]
    return np.mean(scores), np.std(scores) or 1.0
