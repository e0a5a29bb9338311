"""MDR: the next passage is sought with the question and the passages so far (kgp.txt §8.2, Table 4).

One encoder for questions, paths and passages, trained on pairs of a path and the support that comes next. A path is
scored by the sum of its inner products; kgp.txt multiplies them, which puts two negative ones above two positive ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec
import networkx as nx
import numpy as np

from kit.corpus import Corpus, Passage, Query, Question
from kit.retrievers.base import AnyEvent, NodeVisit, Ranking, Seed, Trace, expect_whole
from kit.retrievers.training import TrainedRetriever

BEAM_MEANWHILE = 5  # in the checks of training: a third of the work


class Path(msgspec.Struct, frozen=True):
    """Rows of passages in the order in which they were found, and the sum of their inner products."""

    rows: tuple[int, ...]
    score: float


class MDR(TrainedRetriever):
    """Beam search: the ``beam`` passages nearest to the question, then for each path the ``branches`` next ones.

    ``hops`` is the length of a path; before each further hop the ``beam`` best paths are kept. Passages are ranked by
    their first appearance on the paths, best path first, then by their nearness to the question. The other settings are
    those of the training: :class:`kit.retrievers.training.TrainedRetriever`.
    """

    name = "mdr"

    def __init__(self, hops: int = 2, beam: int = 15, branches: int = 3, **training: object) -> None:
        super().__init__(**training)
        expect_whole(1, hops=hops, beam=beam, branches=branches)
        self.hops, self.beam, self.branches = hops, beam, branches

    @property
    def taught(self) -> dict[str, int]:
        return {"hops": self.hops, "beam": BEAM_MEANWHILE}

    def pairs(self, question: Question, corpus: Corpus) -> list[tuple[str, str]]:
        """The question with its first support, the question and the first with the second, on to ``hops``."""
        found = []
        for order in orders(question):
            ids = list(dict.fromkeys(question.supporting[place][0] for place in order))
            passages = [corpus[id] for id in ids]
            found += [(path_text(question.text, passages[:hop]), id) for hop, id in enumerate(ids[: self.hops])]
        return list(dict.fromkeys(found))

    def retrieve_many(self, queries: Sequence[Query], k: int) -> list[Ranking]:
        if not queries:
            return []
        vectors = self.encoder.encode([query.text for query in queries], role="query", progress=len(queries) > 64)
        scores, rows = self.nearest.search(vectors, max(k, self.beam))
        paths = [
            [Path((row,), score) for row, score in zip(*both)]
            for both in zip(rows[:, : self.beam].tolist(), scores[:, : self.beam].tolist())
        ]
        steps: list[list[AnyEvent]] = [
            [Seed(0, self.corpus.passages[path.rows[0]].id, path.score) for path in of] for of in paths
        ]
        for hop in range(1, self.hops):
            paths = self._further(queries, [of[: self.beam] for of in paths])
            for of, visits in zip(paths, steps):
                visits += [self._visit(hop, path) for path in of if len(path.rows) > hop]
        return [self._ranking(*of, k) for of in zip(paths, rows, scores, steps)]

    def _further(self, queries: Sequence[Query], paths: Sequence[Sequence[Path]]) -> list[list[Path]]:
        """Each query's paths, a hop longer, best first; a passage comes once on a path.

        A path that has all passages already stays as it is.
        """
        texts = [
            path_text(query.text, [self.corpus.passages[row] for row in path.rows])
            for query, of in zip(queries, paths)
            for path in of
        ]
        vectors = self.encoder.encode(texts, role="query", progress=False)
        longest = max(len(path.rows) for of in paths for path in of)
        found = zip(*self.nearest.search(vectors, self.branches + longest))
        longer = []
        for of in paths:
            extended = []
            for path in of:
                scores, rows = next(found)
                new = [both for both in zip(rows.tolist(), scores.tolist()) if both[0] not in path.rows]
                extended += [Path((*path.rows, row), path.score + score) for row, score in new[: self.branches]]
                extended += [] if new else [path]
            longer.append(sorted(extended, key=lambda path: -path.score))
        return longer

    def _visit(self, hop: int, path: Path) -> NodeVisit:
        *before, source, passage = (self.corpus.passages[row].id for row in path.rows)
        return NodeVisit(hop, passage, source, path.score, before=tuple(before))

    def _ranking(
        self, paths: Sequence[Path], rows: np.ndarray, scores: np.ndarray, steps: Sequence[AnyEvent], k: int
    ) -> Ranking:
        """Passages by first appearance (all-i02), then those nearest to the question, scored no higher."""
        best: dict[int, float] = {}
        for path in paths:
            for row in path.rows:
                best.setdefault(row, path.score)
        for row, score in zip(rows.tolist(), scores.tolist()):
            best.setdefault(row, score)
        ids = tuple(self.corpus.passages[row].id for row in best)[:k]
        values = np.minimum.accumulate(np.array(list(best.values()), np.float32))[:k]
        return Ranking(ids, values, Trace(tuple(steps)))


def path_text(question: str, passages: Sequence[Passage]) -> str:
    """What the encoder reads to find the passage that comes next: the question, then the passages so far."""
    return "\n".join([question, *(passage.full_text for passage in passages)])


def orders(question: Question) -> Iterator[tuple[int, ...]]:
    """The orders of the supports that are taught: one, or two where the reasoning leaves the order open.

    Of the orders that the evidence graph allows, these are the one nearest to the published order and the one farthest
    from it. A data set without such graphs has an order, except for comparison questions (kgp-i32).
    """
    if question.evidence is not None:
        graph = question.evidence.to_networkx()
        found = [
            nx.lexicographical_topological_sort(graph, key=None),
            nx.lexicographical_topological_sort(graph, key=lambda place: -place),
        ]
    else:
        given = range(question.hops)
        found = [given, reversed(given)] if question.type == "comparison" else [given]
    yield from dict.fromkeys(tuple(order) for order in found)
