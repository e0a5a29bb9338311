"""KGP: from seeds that TF-IDF finds, an agent walks the passage graph (kgp.txt §4, Algorithm 1; 8.2).

The paper's symbols and the names here: G ``graph``; f_GT ``agent``; g, the TF-IDF search, ``tfidf``; V^s the candidates
of the path that has no passage yet; P ``queue``, with C, the candidates of its paths, looked up when it is their turn;
K ``budget``; k, how many passages are retrieved, the length of ``found``. How many neighbours a step chooses has no
symbol there: ``branching``.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from kit.corpus import Benchmark, Corpus, Query
from kit.errors import InputError
from kit.graphs import PassageGraph, build, builders
from kit.retrievers.base import AnyEvent, NodeVisit, Ranking, Retriever, Seed, Trace, expect_whole
from kit.retrievers.kgp_agents import Advice, Agent, DenseAgent, RandomAgent, TfidfAgent, Turn
from kit.retrievers.mdr import MDR, path_text
from kit.retrievers.structure import StructureReader
from kit.retrievers.training import TrainedRetriever
from kit.text import DEFAULT_ENCODER, Encoder, TfidfIndex

GRAPH = "entity+structure"
#: What the sentence encoder reads: the question alone, or with the passages of the path (Eq. 1).
READINGS = {"question": lambda question, passages: question, "path": path_text}


class Path(NamedTuple):
    """Rows of passages in the order of the visits, and what the agent gave each of them."""

    rows: tuple[int, ...] = ()
    scores: tuple[float, ...] = ()


@dataclass
class Walk:
    """How far the walk for one question has come.

    ``similarity`` (passages,) are the TF-IDF cosines to the question; ``ended`` the paths that grow no further;
    ``found`` the distinct rows in the order in which they were met; ``scored`` counts what the agent compared;
    ``steps`` are those of the trace.
    """

    query: Query
    similarity: np.ndarray
    seeds: np.ndarray
    queue: deque[Path] = field(default_factory=lambda: deque([Path()]))
    ended: list[Path] = field(default_factory=list)
    found: dict[int, None] = field(default_factory=dict)
    scored: int = 0
    steps: list[AnyEvent] = field(default_factory=list)


class KGP(Retriever):
    """Algorithm 1 with an agent.

    ``graph`` is a builder's name or a union (:func:`kit.graphs.build`); ``knn`` is built with the agent's encoder,
    where it has one. The seeds are the ⌊``budget`` / ``branching``⌋ passages that TF-IDF puts first (kgp-i16), in the
    order of the agent, which scores them as it does any candidate. From there a path grows by the ``branching`` best
    neighbours of its last passage that it has not visited, to at most ``depth`` passages; another path may have visited
    them, and then they are not counted again (kgp-i31). The walk ends with ``budget`` distinct passages, or where no
    path can grow.

    Paths are ranked by the sum of their scores, each standardised among those of the question's visits, to seeds and to
    neighbours apart (kgp-i18); passages by their first appearance. After them come those that the walk did not find, by
    TF-IDF.

    A question about pages or tables of documents is not walked for: it gets what these hold, each passage with score 1
    and nothing else (§4), so its ranking can be shorter than k.
    """

    agent: Agent

    def __init__(self, graph: str = GRAPH, branching: int = 3, depth: int = 2, budget: int = 30) -> None:
        builders(graph)
        expect_whole(1, branching=branching, depth=depth, budget=budget)
        self.builder, self.branching, self.depth, self.budget = graph, branching, depth, budget

    def index(self, corpus: Corpus) -> None:
        self.corpus, self.tfidf, self.reader = corpus, TfidfIndex(corpus), StructureReader(corpus)
        encoder = {"encoder": self.agent.encoder.name} if isinstance(self.agent, DenseAgent) else {}
        self.walk_on(build(self.builder, corpus, **(encoder if "knn" in self.builder.split("+") else {})))
        self.agent.index(corpus, self.tfidf)

    def walk_on(self, graph: PassageGraph) -> None:
        """Walk this graph of the indexed corpus from now on."""
        self.graph, self._neighbours = graph, lru_cache(maxsize=10_000)(graph.neighbours)

    def retrieve_many(self, queries: Sequence[Query], k: int) -> list[Ranking]:
        return self.reader.rankings(queries, k, self._walk)

    def _walk(self, queries: Sequence[Query], k: int) -> list[Ranking]:
        """The rankings of content questions."""
        if not queries:
            return []
        walks = [self._start(*of) for of in zip(queries, self.tfidf.scores([query.text for query in queries]))]
        # The questions walk abreast, a path each at a time, so that the agent is asked about many at once.
        while active := [walk for walk in walks if walk.queue and len(walk.found) < self.budget]:  # line 5
            self._step(active)
        return [self._ranking(walk, k) for walk in walks]

    def _start(self, query: Query, similarity: np.ndarray) -> Walk:
        n_seeds = max(1, self.budget // self.branching)
        seeds = np.argsort(-similarity, kind="stable")[:n_seeds]  # line 1
        told = [Seed(0, self.corpus.passages[row].id, float(similarity[row])) for row in seeds]
        return Walk(query, similarity, seeds, steps=told)

    def _step(self, walks: Sequence[Walk]) -> None:
        """Lines 6 to 12, for the next path of each walk."""
        paths = [walk.queue.popleft() for walk in walks]
        turns = [Turn(walk.query, path.rows, self._candidates(walk, path)) for walk, path in zip(walks, paths)]
        growing = [i for i, turn in enumerate(turns) if len(turn.candidates)]
        for i in set(range(len(walks))).difference(growing):
            walks[i].ended.append(paths[i])
        for i, advice in zip(growing, self.agent.advise([turns[i] for i in growing]) if growing else ()):
            self._visit(walks[i], paths[i], turns[i].candidates, advice)

    def _candidates(self, walk: Walk, path: Path) -> np.ndarray:
        """The rows that a path may go on to: at first the seeds, then neighbours of its last passage (kgp-i13)."""
        if not path.rows:
            return walk.seeds
        if len(path.rows) == self.depth:
            return np.zeros(0, int)
        near = self._neighbours(path.rows[-1])
        return near[~np.isin(near, path.rows)]

    def _visit(self, walk: Walk, path: Path, candidates: np.ndarray, advice: Advice) -> None:
        walk.scored += len(candidates)
        best = np.argsort(-advice.scores, kind="stable")  # equal ones in the order of the candidates
        ids = [self.corpus.passages[row].id for row in path.rows]
        for place in best[: self.branching if path.rows else len(best)]:
            row, score = int(candidates[place]), float(advice.scores[place])
            walk.queue.append(Path((*path.rows, row), (*path.scores, score)))  # line 9
            walk.found.setdefault(row)  # line 10
            id, source = self.corpus.passages[row].id, ids[-1] if ids else ""
            walk.steps.append(NodeVisit(len(ids), id, source, score, advice.generated_evidence, tuple(ids[:-1])))
            if len(walk.found) == self.budget:  # line 11
                return

    def _ranking(self, walk: Walk, k: int) -> Ranking:
        visits = [step for step in walk.steps if isinstance(step, NodeVisit)]
        scales = [_scale([visit.score for visit in visits if bool(visit.source) == later]) for later in (False, True)]
        paths = [*walk.ended, *walk.queue]
        values = [
            sum((score - scales[place > 0][0]) / scales[place > 0][1] for place, score in enumerate(path.scores))
            for path in paths
        ]
        found: dict[int, float] = {}
        for i in sorted(range(len(paths)), key=lambda i: -values[i]):
            for row in paths[i].rows:
                found.setdefault(row, values[i])
        lowest = min(found.values(), default=0.0)
        for row in np.argsort(-walk.similarity, kind="stable")[:k].tolist() if k > len(found) else ():
            found.setdefault(row, lowest - 1 + min(float(walk.similarity[row]), 1.0))
        rows, scores = list(found)[:k], np.array(list(found.values())[:k])
        trace = Trace(tuple(walk.steps), walk.scored)
        return Ranking(tuple(self.corpus.passages[row].id for row in rows), scores, trace)


def _scale(scores: Sequence[float]) -> tuple[float, float]:
    """Mean and standard deviation; 1 for the latter where all are equal."""
    return (float(np.mean(scores)), float(np.std(scores)) or 1.0) if scores else (0.0, 1.0)


class KGPRandom(KGP):
    """The walk of the random agent (kgp.txt §5.3); another ``seed`` draws another walk."""

    name = "kgp-random"

    def __init__(self, seed: int = 0, **walk: object) -> None:
        super().__init__(**walk)
        expect_whole(0, seed=seed)
        self.agent = RandomAgent(seed)


class KGPTfidf(KGP):
    """The walk of the TF-IDF agent (kgp.txt, Table 2), on the schedule of the others (kgp-i20)."""

    name = "kgp-tfidf"

    def __init__(self, **walk: object) -> None:
        super().__init__(**walk)
        self.agent = TfidfAgent()


class KGPDense(KGP):
    """The walk of a sentence encoder as it comes.

    ``reads`` is what it encodes: ``question``, or ``path``, the question with the passages so far as Eq. 1 has it. The
    latter takes an encoding for each path, a hundred times as long.
    """

    name = "kgp-dense"

    def __init__(self, encoder: str = DEFAULT_ENCODER, reads: str = "question", **walk: object) -> None:
        super().__init__(**walk)
        if reads not in READINGS:
            raise InputError(f"expected one of {', '.join(READINGS)}, not {reads!r}", field="reads")
        self.agent = DenseAgent(Encoder(encoder), READINGS[reads])


class KGPMDR(KGP):
    """The walk of the encoder that :class:`kit.retrievers.mdr.MDR` trains.

    The settings beside KGP's are those of the training: :class:`kit.retrievers.training.TrainedRetriever`.
    """

    name = "kgp-mdr"

    def __init__(self, **settings: object) -> None:
        super().__init__(**{name: value for name, value in settings.items() if name not in TrainedRetriever.defaults()})
        self.mdr = MDR(**{name: value for name, value in settings.items() if name in TrainedRetriever.defaults()})
        self.agent = DenseAgent(self.mdr.encoder, path_text)

    @classmethod
    def settings(cls) -> dict[str, object]:
        return super().defaults() | TrainedRetriever.defaults()

    def fit(self, benchmark: Benchmark) -> None:
        self.mdr.fit(benchmark)
        self.agent = DenseAgent(self.mdr.encoder, path_text)
