"""MDR: question and passages so far together seek the next passage (KGP §8.2, Table 4).

One encoder for questions, paths and passages, trained on pairs of a path and the support that comes
next. A path is scored by the sum of its inner products; KGP multiplies them, which puts two
negative ones above two positive ones.
"""

from collections.abc import Iterator, Sequence
from itertools import chain, pairwise
from typing import Annotated, NamedTuple

import networkx as nx
import numpy as np
from msgspec import Meta
from numpy import ndarray

from kit.corpus import Corpus, EvidenceGraph, Passage, Query, Question
from kit.corpus.types import Queries
from kit.graphs import build, builders
from kit.methods.base import Ranking, Rankings
from kit.methods.baselines.dpr import DPR
from kit.methods.trace import NodeVisit, Seed, Trace
from kit.settings import Positive
from kit.text import ENCODER_SETTINGS

Candidates = tuple[list[int], list[float]]  # passages that may come next, and inner products


class Beam(NamedTuple):
    """A path: rows of passages in the order of the hops, and the sum of their inner products."""

    rows: tuple[int, ...]
    score: float


class BeamSearch(NamedTuple):
    """The search of one query."""

    hops: tuple[list[Beam], ...]  # the beams after each hop, best first
    nearest: list[Beam]  # the passages nearest to the query, as beams of one hop


class MDR(DPR):
    """Beam search: the passages nearest to the question, then the next ones for each path.

    Passages are ranked by their first appearance on the paths, best path first, then by their
    nearness to the question. The best path is the ranking's evidence, a chain.
    """

    name = "mdr"
    index_settings = (*ENCODER_SETTINGS, "graph")
    training_settings = (*DPR.training_settings, "hops")

    class Settings(DPR.Settings, frozen=True):
        hops: Annotated[Positive, "passages on a path"] = 3
        beam: Annotated[Positive, "best paths kept before each further hop; kgp.txt has 15"] = 4
        branches: Annotated[Positive, "next passages for each path"] = 3
        graph: Annotated[
            str, "builder or union, along which later hops go to neighbours alone (kgp-06)"
        ] = ""
        stop: Annotated[
            float, Meta(ge=-1, le=1), "a path goes on where the inner product is above this"
        ] = -1.0

        def __post_init__(self) -> None:
            if self.graph:
                builders(self.graph)  # there is such a graph

    def pairs(self, question: Question, corpus: Corpus) -> list[tuple[str, str]]:
        """The question with its first support, both with the second, on to ``hops``."""
        pairs = {}
        for order in orders(question):
            supports = list(dict.fromkeys(question.supporting[i][0] for i in order))
            for hop, support in enumerate(supports[: self.settings.hops]):
                path = [corpus[earlier] for earlier in supports[:hop]]
                pairs[path_text(question.text, path), support] = None
        return list(pairs)

    def index(self, corpus: Corpus) -> None:
        super().index(corpus)
        if self.settings.graph:
            self.graph = build(self.settings.graph, corpus)

    def rank(self, queries: Queries, k: int) -> Rankings:
        return [self._ranking(search, k, Trace()) for search in self._search(queries, k)]

    def rank_traced(self, query: Query, k: int) -> Ranking:
        [search] = self._search([query], k)
        return self._ranking(search, k, self._trace(search.hops))

    # ---- the search

    def _search(self, queries: Queries, k: int) -> list[BeamSearch]:
        scores, rows = self.nearest.search(
            self.encoded(queries),
            max(k, self.settings.beam),
        )
        nearest = []
        for query_rows, query_scores in zip(rows.tolist(), scores.tolist()):
            paths = zip(query_rows)  # of one passage each
            nearest.append(list(map(Beam, paths, query_scores)))

        kept = list(map(self._kept, nearest))
        hops = [kept]
        for _ in range(1, self.settings.hops):
            grown = self._grow(queries, kept)
            hops.append(grown)
            kept = list(map(self._kept, grown))
        return list(map(BeamSearch, zip(*hops), nearest))

    def _kept(self, beams: list[Beam]) -> list[Beam]:
        return beams[: self.settings.beam]

    def _grow(self, queries: Queries, kept: list[list[Beam]]) -> list[list[Beam]]:
        """Each query's beams, longer by each of the best candidates that are not on them.

        The best beams come first; one that can go nowhere stays as it is.
        """
        texts = []
        for query, beams in zip(queries, kept):
            for beam in beams:
                passages = [self.corpus.passages[row] for row in beam.rows]
                texts.append(path_text(query.text, passages))
        vectors = self.encoder.encode(
            texts,
            role="query",
            progress=False,
        )
        find = self._neighbours_of if self.settings.graph else self._nearest_to
        candidates = find(list(chain.from_iterable(kept)), vectors)

        grown = []
        for beams in kept:
            longer = []
            for beam, (rows, scores) in zip(beams, candidates):
                scored = [pair for pair in zip(rows, scores) if pair[0] not in beam.rows]
                prolonged = []
                for row, score in scored[: self.settings.branches]:
                    if score > self.settings.stop:
                        path = (*beam.rows, row)
                        prolonged.append(Beam(path, beam.score + score))
                longer += prolonged or [beam]
            longer.sort(key=lambda beam: -beam.score)
            grown.append(longer)
        return grown

    def _neighbours_of(self, beams: list[Beam], vectors: ndarray) -> Iterator[Candidates]:
        """The candidates of each path among the neighbours of its last passage, best first."""
        for beam, vector in zip(beams, vectors):
            neighbours = self._neighbours(beam)
            scores = self.vectors[neighbours] @ vector
            best = np.argsort(-scores, kind="stable")
            yield neighbours[best].tolist(), scores[best].tolist()

    def _nearest_to(self, beams: list[Beam], vectors: ndarray) -> Iterator[Candidates]:
        """The candidates of each path among all passages, best first."""
        longest = max(len(beam.rows) for beam in beams)
        scores, rows = self.nearest.search(vectors, self.settings.branches + longest)
        yield from zip(rows.tolist(), scores.tolist())

    def _neighbours(self, beam: Beam) -> ndarray:
        """The rows of the neighbours of a path's last passage that are not on it."""
        neighbours = self.graph.neighbours(beam.rows[-1])
        return neighbours[~np.isin(neighbours, beam.rows)]

    # ---- what comes of it

    def _ranking(self, search: BeamSearch, k: int, trace: Trace) -> Ranking:
        """Passages by first appearance (all-i02), then the nearest, scored no higher."""
        beams = search.hops[-1]
        best = {}
        for beam in (*beams, *search.nearest):
            for row in beam.rows:
                best.setdefault(row, beam.score)
        scores = np.fromiter(best.values(), np.float32)
        scores = np.minimum.accumulate(scores)[:k]

        length = min(len(beams[0].rows), len(scores)) if beams else 0
        evidence = EvidenceGraph(length, tuple(pairwise(range(length))))
        return Ranking(
            self.ids(best)[:k],
            scores,
            trace,
            evidence,
            paths=tuple(self.ids(beam.rows) for beam in beams),
        )

    def _trace(self, hops: Sequence[Sequence[Beam]]) -> Trace:
        events = []
        for beam in hops[0]:
            [passage] = self.ids(beam.rows)
            events.append(Seed(0, passage, beam.score))
        for hop, beams in enumerate(hops[1:], start=1):
            for beam in beams:
                if len(beam.rows) > hop:
                    *before, source, passage = self.ids(beam.rows)
                    visit = NodeVisit(
                        hop,
                        passage,
                        source,
                        beam.score,
                        before=tuple(before),
                    )
                    events.append(visit)

        n_scored = len(self.corpus)  # in the first hop
        for beams in hops[:-1]:
            for beam in self._kept(beams):
                if self.settings.graph:
                    n_scored += len(self._neighbours(beam))
                else:
                    n_scored += len(self.corpus) - len(beam.rows)
        return Trace(tuple(events), n_scored)


def path_text(question: str, passages: Sequence[Passage]) -> str:
    """What the encoder reads to find the next passage: the question, then the passages so far.

    The latest stands first: where all are longer than an encoder reads, the oldest is cut.
    """
    return "\n".join([question, *(passage.full_text for passage in reversed(passages))])


def orders(question: Question) -> Iterator[tuple[int, ...]]:
    """The orders of the supports to learn from: one, or two where the reasoning leaves it open.

    Of those that the evidence graph allows, these are the nearest to the published order and the
    farthest from it. A data set without such graphs has one order, except for comparison questions
    (kgp-i32).
    """
    if question.evidence is not None:
        graph = question.evidence.to_networkx()
        allowed = [
            nx.lexicographical_topological_sort(graph),
            nx.lexicographical_topological_sort(graph, key=lambda support: -support),
        ]
    else:
        published = range(question.hops)
        allowed = [published]
        if question.type == "comparison":
            allowed.append(reversed(published))
    yield from dict.fromkeys(tuple(order) for order in allowed)
