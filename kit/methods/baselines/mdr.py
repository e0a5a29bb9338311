"""MDR: the next passage is sought with the question and the passages so far (kgp.txt §8.2, Table 4).

One encoder for questions, paths and passages, trained on pairs of a path and the support that comes next. A path is
scored by the sum of its inner products; kgp.txt multiplies them, which puts two negative ones above two positive ones.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Annotated, NamedTuple

import msgspec
import networkx as nx
import numpy as np
from msgspec import Meta

from kit.corpus import Corpus, EvidenceGraph, Passage, Query, Question
from kit.graphs import build, builders
from kit.methods.base import Ranking, as_query
from kit.methods.baselines.dpr import DPR
from kit.methods.trace import NodeVisit, Seed, Trace
from kit.settings import Positive


class Beam(NamedTuple):
    """Rows of passages in the order in which they were found, and the sum of their inner products."""

    rows: tuple[int, ...]
    score: float


class MDR(DPR):
    """Beam search: the ``beam`` passages nearest to the question, then for each path the ``branches`` next ones.

    ``hops`` is the length of a path; before each further hop the ``beam`` best paths are kept. Passages are ranked by
    their first appearance on the paths, best path first, then by their nearness to the question; the best path is the
    ranking's evidence, a chain. A path stops before passages whose inner product is not above ``stop``. With a
    ``graph``, a builder's name or a union, hops after the first go to neighbours of the path's last passage alone
    (kgp-06).
    """

    name = "mdr"
    index_settings = ("encoder", "graph")
    training_settings = ("hops",)

    class Settings(DPR.Settings, frozen=True):
        hops: Positive = 2
        beam: Positive = 4
        branches: Positive = 3
        graph: str = ""
        stop: Annotated[float, Meta(ge=-1, le=1)] = -1.0

        def __post_init__(self) -> None:
            if self.graph:
                builders(self.graph)

    def pairs(self, question: Question, corpus: Corpus) -> list[tuple[str, str]]:
        """The question with its first support, the question and the first with the second, on to ``hops``."""
        found = {}
        for order in orders(question):
            ids = list(dict.fromkeys(question.supporting[place][0] for place in order))
            for hop, id in enumerate(ids[: self.settings.hops]):
                found[path_text(question.text, [corpus[before] for before in ids[:hop]]), id] = None
        return list(found)

    def index(self, corpus: Corpus) -> None:
        super().index(corpus)
        if self.settings.graph:
            self.graph = build(self.settings.graph, corpus)

    def rank(self, queries: Sequence[Query], k: int) -> list[Ranking]:
        return [self._ranking(hops[-1], nearest, k) for hops, nearest in self._search(queries, k)]

    def rank_traced(self, query: Query, k: int) -> Ranking:
        [(hops, nearest)] = self._search([as_query(query)], k)
        return msgspec.structs.replace(self._ranking(hops[-1], nearest, k), trace=self._trace(hops))

    def _search(
        self, queries: Sequence[Query], k: int
    ) -> list[tuple[tuple[list[Beam], ...], list[Beam]]]:
        """For each query the beams after each hop, best first, and the passages nearest to it as beams of one hop."""
        scores, rows = self.nearest.search(self.encoded(queries), max(k, self.settings.beam))
        nearest = [
            [Beam((row,), score) for row, score in zip(*of)]
            for of in zip(rows.tolist(), scores.tolist())
        ]
        hops = [[beams[: self.settings.beam] for beams in nearest]]
        for _ in range(1, self.settings.hops):
            hops.append(self._grow(queries, [beams[: self.settings.beam] for beams in hops[-1]]))
        return list(zip(zip(*hops), nearest))

    def _grow(self, queries: Sequence[Query], kept: Sequence[Sequence[Beam]]) -> list[list[Beam]]:
        """Each query's beams, a hop longer, best first; one that can go nowhere stays as it is."""
        asked = [(query.text, beam.rows) for query, beams in zip(queries, kept) for beam in beams]
        texts = [
            path_text(text, [self.corpus.passages[row] for row in rows]) for text, rows in asked
        ]
        vectors = self.encoder.encode(texts, role="query", progress=False)
        found, longer = iter(self._next([rows for _, rows in asked], vectors)), []
        for beams in kept:
            grown = []
            for beam in beams:
                above = [(row, score) for row, score in next(found) if score > self.settings.stop]
                grown += [Beam((*beam.rows, row), beam.score + score) for row, score in above] or [
                    beam
                ]
            longer.append(sorted(grown, key=lambda beam: -beam.score))
        return longer

    def _next(
        self, paths: Sequence[tuple[int, ...]], vectors: np.ndarray
    ) -> Iterator[list[tuple[int, float]]]:
        """For each path the ``branches`` best passages that are not on it, with their inner products."""
        if self.settings.graph:
            for path, vector in zip(paths, vectors):
                near = self._neighbours(path)
                scores = self.vectors[near] @ vector
                best = np.argsort(-scores, kind="stable")[: self.settings.branches]
                yield list(zip(near[best].tolist(), scores[best].tolist()))
        else:
            longest = max(map(len, paths))
            for path, scores, rows in zip(
                paths, *self.nearest.search(vectors, self.settings.branches + longest)
            ):
                new = [
                    (row, score)
                    for row, score in zip(rows.tolist(), scores.tolist())
                    if row not in path
                ]
                yield new[: self.settings.branches]

    def _neighbours(self, path: tuple[int, ...]) -> np.ndarray:
        near = self.graph.neighbours(path[-1])
        return near[~np.isin(near, path)]

    def _ranking(self, beams: Sequence[Beam], nearest: Sequence[Beam], k: int) -> Ranking:
        """Passages by first appearance (all-i02), then those nearest to the question, scored no higher."""
        best: dict[int, float] = {}
        for beam in (*beams, *nearest):
            for row in beam.rows:
                best.setdefault(row, beam.score)
        scores = np.minimum.accumulate(np.array(list(best.values()), np.float32))[:k]
        chain = min(len(beams[0].rows), len(scores)) if beams else 0
        evidence = EvidenceGraph(chain, tuple(pairwise(range(chain))))
        return Ranking(self.ids(best)[:k], scores, evidence=evidence)

    def _trace(self, hops: Sequence[Sequence[Beam]]) -> Trace:
        events = [Seed(0, self.corpus.passages[beam.rows[0]].id, beam.score) for beam in hops[0]]
        for hop, beams in enumerate(hops[1:], start=1):
            for beam in [beam for beam in beams if len(beam.rows) > hop]:
                *before, source, passage = self.ids(beam.rows)
                events.append(NodeVisit(hop, passage, source, beam.score, before=tuple(before)))
        grown = [beam.rows for beams in hops[:-1] for beam in beams[: self.settings.beam]]
        n, among = len(self.corpus), self.settings.graph
        return Trace(
            tuple(events),
            sum(len(self._neighbours(rows)) if among else n - len(rows) for rows in grown),
        )


def path_text(question: str, passages: Sequence[Passage]) -> str:
    """What the encoder reads to find the passage that comes next: the question, then the passages so far."""
    return "\n".join([question, *(passage.full_text for passage in passages)])


def orders(question: Question) -> Iterator[tuple[int, ...]]:
    """The orders of the supports to learn from: one, or two where the reasoning leaves the order open.

    Of those that the evidence graph allows, these are the nearest to the published order and the farthest from it. A
    data set without such graphs has an order, except for comparison questions (kgp-i32).
    """
    if question.evidence is not None:
        graph = question.evidence.to_networkx()
        found = [
            nx.lexicographical_topological_sort(graph, key) for key in (None, lambda place: -place)
        ]
    else:
        given = range(question.hops)
        found = [given, reversed(given)] if question.type == "comparison" else [given]
    yield from dict.fromkeys(tuple(order) for order in found)
