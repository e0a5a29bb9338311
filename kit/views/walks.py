"""Walks and beams as frames: seeds, then each path that grows, and the ranking at the end."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any

from kit.corpus import Corpus, Question
from kit.retrievers import NodeVisit, Ranking
from kit.views.builder import Builder, count
from kit.views.replay import Column, Edge, Frame, NodeState, RankItem, Scale

if TYPE_CHECKING:
    from kit.graphs import PassageGraph

_MOST = 48  # passages of a picture, unless more were visited
_FRONTIER = 3  # so many candidates of each path are drawn beside those that are visited at some time


class WalkBuilder(Builder):
    """Seeds, then each path that grows: the neighbours that it could go on to, and where it goes."""

    def __init__(
        self, ranking: Ranking, corpus: Corpus, question: Question | None, graph: PassageGraph | None, top: int
    ) -> None:
        super().__init__(ranking, corpus, question, top)
        self.graph = graph
        #: The visits by which a path grows, by round and the passages of the path so far; none where paths begin.
        self.legs: dict[tuple[int, tuple[str, ...]], list[NodeVisit]] = {}
        for event in ranking.trace.events:
            if isinstance(event, NodeVisit):
                path = (*event.before, event.source) if event.source else ()
                self.legs.setdefault((event.round, path), []).append(event)
        begin = self.legs.pop((0, ()), [])
        self.seeds = {event.passage: event.score for event in begin or ranking.trace.seeds}
        self.evidence = begin[0].generated_evidence if begin else ""
        self.visits = list(chain.from_iterable(self.legs.values()))
        self.base = list(dict.fromkeys([*self.gold, *self.seeds]))
        scores = [*self.seeds.values(), *(visit.score for visit in self.visits)]
        far, near = min(scores), max(scores)
        self.scale = Scale("score", far if far < near else near - 1, near)

    def choose(self) -> list[str]:
        needed = dict.fromkeys([*self.base, *(visit.passage for visit in self.visits)])
        aside = [id for _, path in self.legs for id in [id for id in self._near(path) if id not in needed][:_FRONTIER]]
        return list(dict.fromkeys([*needed, *aside]))[: max(_MOST, len(needed))]

    def _near(self, path: Sequence[str]) -> list[str]:
        """The candidates of a path: neighbours of its last passage that are not on it."""
        rows = self.graph.neighbours(self.corpus.row[path[-1]]) if self.graph else ()
        return [id for id in (self.corpus.passages[row].id for row in rows) if id not in path]

    def frames(self, drawn: Sequence[str], edges: Sequence[Edge]) -> Iterator[Frame]:
        self.drawn, self.joined = drawn, {frozenset(edge.ends): edge.label for edge in edges}
        self.met = dict(self.seeds)  # passages met so far, with the score at their first visit
        self.notes = {id: f"a seed: scores {score:.3g}" for id, score in self.seeds.items()}
        self.children: dict[str, list[str]] = {}  # what was first met from each passage
        caption = f"{count(len(self.seeds), 'seed')}, found by a search for the question. They score"
        caption += f" {max(self.seeds.values()):.3g} to {min(self.seeds.values()):.3g}."
        yield self._frame("seeds", caption, self._tree(()), self.evidence)
        rounds, word = [round for round, _ in self.legs], "neighbour"
        for number, ((round, path), visits) in enumerate(self.legs.items()):
            before, near, source = set(self.met), self._near(path), path[-1]
            told = {}
            for visit in visits:
                self.met.setdefault(visit.passage, visit.score)
                self.notes.setdefault(visit.passage, f"hop {round}: scores {visit.score:.3g}")
                told[visit.passage] = f"{visit.score:.3g}{', met before' * (visit.passage in before)}"
            self.children.setdefault(source, []).extend(id for id in told if id not in before)
            yield self._frame(
                f"hop {round} · path {rounds[:number].count(round) + 1} of {rounds.count(round)}",
                f"The path grows by the best{f' of {count(len(near), word)}' if near else ''}: "
                f"{'; '.join(told.values())}.",
                self._tree(path),
                visits[0].generated_evidence,
                path,
                near,
                {id: f"visited now: scores {score}" for id, score in told.items()},
                edges=self.arrows([*pairwise(path), *((source, id) for id in told)], "visit", strong=source),
                focus=next((id for id in told if id in self.gold), visits[0].passage),
            )
        yield self._result()

    def _result(self) -> Frame:
        """The ranking that the method returned."""
        items, notes, ids = [], {}, self.ranking.ids
        for place, (id, score) in enumerate(zip(ids, self.ranking.scores.tolist()), start=1):
            if id in self.notes:
                notes[id] = f"{self.notes[id]}; place {place:,} in the end"
            if place <= self.top or id in self.gold:
                items.append(RankItem(id, round(score, 6), place=place if place > self.top else None))
        name = f"{self.supports(ids[: self.top])} in the first {self.top}" if self.gold else "ranking"
        caption = f"{count(len(self.met), 'passage')} met on the walk, ranked by the paths on which they came."
        edges = self.arrows([(source, id) for source, met in self.children.items() for id in met], "visit")
        return self._frame("result", caption, Column(name, tuple(items)), notes=notes, edges=edges)

    def _frame(
        self,
        step: str,
        caption: str,
        column: Column,
        evidence: str = "",
        path: Sequence[str] = (),
        near: Collection[str] = (),
        notes: Mapping[str, str] | None = None,
        **told: Any,
    ) -> Frame:
        states, notes = [], self.notes | dict(notes or {})
        for id in self.drawn:
            if id in self.met:
                role = "path" if id in path else "seed" if id in self.seeds else "visited"
                states.append(NodeState(id, role, self.scale.value(self.met[id]), notes[id]))
            elif id in near:
                states.append(NodeState(id, "candidate", note="a candidate, not visited now"))
            elif id in self.gold:
                states.append(NodeState(id, "missed", note="not met so far"))
        caption += f" {self.supports(self.met)} met." if self.gold else ""
        asked = f"Generated evidence: {evidence}" if evidence else ""
        return Frame(step, caption, tuple(states), columns=(column,), asked=asked, **told)

    def _tree(self, path: Sequence[str]) -> Column:
        """The seeds, and under each what was first met from it: all of it on the path that grows, else the way to gold.

        A passage stands where it was first met, once.
        """

        def leads(id: str) -> bool:
            """Whether this passage is gold, or one that was met by way of it."""
            return id in self.gold or any(map(leads, self.children.get(id, ())))

        def below(id: str, depth: int, whole: bool) -> Iterator[RankItem]:
            yield RankItem(id, round(self.met[id], 6), indent=depth)
            for child in self.children.get(id, ()):
                if whole or leads(child):
                    yield from below(child, depth + 1, whole)

        items = chain.from_iterable(below(seed, 0, seed in path[:1]) for seed in self.seeds)
        return Column(f"{len(self.met)} met, as a tree", tuple(items))
