"""A walk through a passage graph, told from its trace: seeds, then each path that grows, and the ranking at the end."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from kit.corpus import Corpus, Question
from kit.evaluation import metrics
from kit.retrievers import Ranking
from kit.views.story import Column, Edge, Entry, Mark, Scale, Scene
from kit.views.turns import Leg, legs_of

if TYPE_CHECKING:
    from kit.graphs import PassageGraph

_MOST = 48  # passages of a picture, unless more were visited
_FRONTIER = 3  # so many candidates of each path are drawn beside those that are visited at some time


class WalkTeller:
    """Says at each step of a walk which path grows, which neighbours it could go on to, and where it goes."""

    def __init__(
        self, ranking: Ranking, corpus: Corpus, question: Question | None, graph: PassageGraph | None, top: int
    ) -> None:
        self.ranking, self.corpus, self.question, self.graph, self.top = ranking, corpus, question, graph, top
        self.gold = [id for id in question.supporting_ids if id in corpus] if question else []
        self.found_by = {seed.passage: seed.score for seed in ranking.trace.seeds}  # the search for seeds
        self.legs = legs_of(ranking.trace)
        begin = [leg for leg in self.legs if not leg.path]
        self.seeds = {visit.passage: visit.score for leg in begin for visit in leg.visits} or self.found_by
        self.seeds_wanted = begin[0].visits[0].generated_evidence if begin else ""
        self.legs = [leg for leg in self.legs if leg.path]
        self.base = list(dict.fromkeys([*self.gold, *self.seeds]))
        self.scale = self._scale()

    def _scale(self) -> Scale:
        scores = [*self.seeds.values(), *(visit.score for leg in self.legs for visit in leg.visits)]
        far, near = min(scores), max(scores)
        return Scale("score", far if far < near else near - 1, near)

    def choose(self) -> list[str]:
        """The ids to draw, first the base."""
        visited = [visit.passage for leg in self.legs for visit in leg.visits]
        needed = list(dict.fromkeys([*self.base, *visited]))
        aside = [id for leg in self.legs for id in [id for id in self._near(leg) if id not in needed][:_FRONTIER]]
        return list(dict.fromkeys([*needed, *aside]))[: max(_MOST, len(needed))]

    def _near(self, leg: Leg) -> list[str]:
        """The candidates of a leg: neighbours of the path's last passage that are not on the path."""
        if self.graph is None:
            return []
        rows = self.graph.neighbours(self.corpus.row[leg.path[-1]])
        return [id for id in (self.corpus.passages[row].id for row in rows) if id not in leg.path]

    # ---- scenes

    def scenes(self, drawn: Sequence[str], edges: Sequence[Edge]) -> tuple[Scene, ...]:
        self._drawn, self._joined = drawn, {frozenset((edge.source, edge.target)): edge.label for edge in edges}
        self._met = dict(self.seeds)  # passages met so far, with the score at their first visit
        self._notes = {id: self._seed_note(id) for id in self.seeds}
        self._children: dict[str, list[str]] = {}  # what was first met from each passage
        found = [self._begin()]
        counts = {leg.round: sum(other.round == leg.round for other in self.legs) for leg in self.legs}
        numbers = dict.fromkeys(counts, 0)
        for leg in self.legs:
            numbers[leg.round] += 1
            found.append(self._grow(leg, f"hop {leg.round} · path {numbers[leg.round]} of {counts[leg.round]}"))
        return (*found, self._result())

    def _seed_note(self, id: str) -> str:
        place = list(self.found_by).index(id) + 1 if id in self.found_by else 0
        return f"scores {_text(self.seeds[id])}; place {place} in the search for seeds"

    def _begin(self) -> Scene:
        caption = f"{_count(len(self.seeds), 'seed')}, found by a search for the question. {self._span(self.seeds)}"
        return self._scene("seeds", caption, self.seeds_wanted, column=self._tree(()))

    def _span(self, scores: Mapping[str, float]) -> str:
        return f"The agent scores them {_text(max(scores.values()))} to {_text(min(scores.values()))}."

    def _grow(self, leg: Leg, step: str) -> Scene:
        before, near = set(self._met), self._near(leg)
        source, told = leg.path[-1], []
        for visit in leg.visits:
            self._met.setdefault(visit.passage, visit.score)
            again = ", met before" if visit.passage in before else ""
            self._notes.setdefault(visit.passage, f"hop {leg.round}: scores {_text(visit.score)}")
            told.append(f"{_text(visit.score)}{again}")
        known = self._children.setdefault(source, [])
        known += [visit.passage for visit in leg.visits if visit.passage not in before]
        notes = {visit.passage: f"visited now: scores {score}" for visit, score in zip(leg.visits, told)}
        frontier = [id for id in near if id in self._drawn]
        most = f" of {_count(len(near), 'neighbour')} ({len(frontier)} drawn)" if near else ""
        caption = f"The path grows by the best{most}: {'; '.join(told)}."
        arrows = [*zip(leg.path, leg.path[1:]), *((source, visit.passage) for visit in leg.visits)]
        edges = [
            Edge(a, b, ("visit",), self._joined.get(frozenset((a, b)), ""), emphasised=a == source, directed=True)
            for a, b in arrows
            if a in self._drawn and b in self._drawn
        ]
        best = next((v.passage for v in leg.visits if v.passage in self.gold), leg.visits[0].passage)
        generated_evidence = leg.visits[0].generated_evidence
        return self._scene(
            step, caption, generated_evidence, leg.path, frontier, edges, self._tree(leg.path), notes, best
        )

    def _result(self) -> Scene:
        """The ranking that the method returned."""
        ids = list(self.ranking.ids)
        places = {id: place for place, id in enumerate(ids, start=1)}
        notes = {id: f"{note}; place {places[id]:,} in the end" for id, note in self._notes.items() if id in places}
        listed = [*ids[: self.top], *(id for id in ids[self.top :] if id in self.gold)]
        scores = dict(zip(ids, self.ranking.scores.tolist()))
        entries = tuple(
            Entry(id, round(scores[id], 6), place=places[id] if places[id] > self.top else None) for id in listed
        )
        name = f"{self._counted(ids[: self.top])} in the first {self.top}" if self.gold else "ranking"
        caption = f"{_count(len(self._met), 'passage')} met on the walk, ranked by the paths on which they came."
        arrows = [(source, id) for source, of in self._children.items() for id in of]
        edges = [Edge(a, b, ("visit",), directed=True) for a, b in arrows if a in self._drawn and b in self._drawn]
        return self._scene("result", caption, edges=edges, column=Column(name, entries), notes=notes)

    def _scene(
        self,
        step: str,
        caption: str,
        generated_evidence: str = "",
        path: Sequence[str] = (),
        frontier: Collection[str] = (),
        edges: Sequence[Edge] = (),
        column: Column | None = None,
        notes: Mapping[str, str] | None = None,
        focus: str = "",
    ) -> Scene:
        marks = []
        for id in self._drawn:
            note = (notes or {}).get(id) or self._notes.get(id, "")
            if id in self._met:
                role = "path" if id in path else "seed" if id in self.seeds else "visited"
                marks.append(Mark(id, role, round(self.scale.value(self._met[id]), 3), note))
            elif id in frontier:
                marks.append(Mark(id, "candidate", note="a candidate, not visited now"))
            elif id in self.gold:
                marks.append(Mark(id, "missed", note="not met so far"))
        if self.gold:
            caption += f" {self._counted(self._met)} met."
        asked = f"Evidence generated_evidence: {generated_evidence}" if generated_evidence else ""
        return Scene(step, caption, tuple(marks), tuple(edges), (column,) if column else (), asked, focus)

    def _tree(self, path: Sequence[str]) -> Column:
        """The seeds, and under each what was first met from it: all of it on the path that grows, else the way to gold.

        A passage stands where it was first met, once.
        """
        entries: list[Entry] = []

        def tell(id: str, depth: int, whole: bool) -> None:
            entries.append(Entry(id, round(self._met[id], 6), indent=depth))
            for child in self._children.get(id, ()):
                if whole or self._leads(child):
                    tell(child, depth + 1, whole)

        for seed in self.seeds:
            tell(seed, 0, seed in path[:1])
        return Column(f"{len(self._met)} met, as a tree", tuple(entries))

    def _leads(self, id: str) -> bool:
        """Whether this passage is gold, or one that was met by way of it."""
        return id in self.gold or any(map(self._leads, self._children.get(id, ())))

    def _counted(self, ids: Collection[str]) -> str:
        found = round(metrics.covered(self.question, set(ids)) * self.question.hops)
        return f"{found} of {self.question.hops} supports"


def _text(score: float) -> str:
    return f"{score:.3g}"


def _count(n: int, word: str) -> str:
    return f"{n:,} {word}{'s' * (n != 1)}"
