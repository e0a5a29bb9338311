"""A retrieval, replayed from its trace: scenes of the passages that matter, for the widget and for print.

Only steps of the trace are read, so any method that tells its scores, senders and messages is shown by the same code;
one that tells its visits is shown as a walk (:mod:`kit.views.walks`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from math import ceil, floor
from typing import TYPE_CHECKING

import networkx as nx
import numpy as np
from msgspec.structs import replace

from kit.corpus import Corpus, Question
from kit.errors import InputError
from kit.evaluation import metrics
from kit.retrievers import Message, NodeVisit, Ranking
from kit.views.layout import Place, beside, spring
from kit.views.links import links, node_of
from kit.views.story import Column, Edge, Entry, Mark, Scale, Scene, Story
from kit.views.turns import Layer, Turn, message_sum, turns_of
from kit.views.walks import WalkTeller

if TYPE_CHECKING:
    from kit.graphs import PassageGraph

_MOST = 40  # nodes of a picture, unless there are more supports and senders
_FEW = 12  # so few passages are all shown
_LIFTED = 8  # of the passages that rise most, so many are drawn even where they do not come near the top


def replay(
    ranking: Ranking,
    corpus: Corpus,
    *,
    question: Question | None = None,
    graph: PassageGraph | None = None,
    distances: bool = True,
    top: int = 10,
) -> Story:
    """The steps that led to a ranking of passages of ``corpus``, as scenes.

    ``question`` marks its supports and counts how many are among the first ``top``. ``graph``, the one that the
    messages went along, gives places and edges; without it only rankings are shown. With ``distances``, scores are told
    as 1 − score, except on a walk, which shows what its agent gave. Drawn are the supports, the senders, the nearest
    before and after, and those that rise most. Where the supports and the nearest before any message stand depends on
    question and graph alone, not on a method's settings. § numbers the passages of a document.
    Raises InputError for a ranking without a trace.
    """
    turns = turns_of(ranking.trace)
    if not turns:
        raise InputError("expected a ranking with the trace of its steps", field="trace")
    if any(isinstance(step, NodeVisit) for step in ranking.trace.events):
        teller = WalkTeller(ranking, corpus, question, graph, top)
    else:
        teller = _Teller(ranking, corpus, question, distances, top, turns)
    drawn = teller.choose() if graph else []
    edges, places = _arrange(drawn, len(teller.base), graph) if graph else ((), {})
    scenes = teller.scenes(drawn, edges)
    listed = (entry.node for scene in scenes for column in scene.columns for entry in column.entries)
    passages = [corpus[id] for id in dict.fromkeys([*drawn, *listed])]
    nodes = []
    for passage in passages:
        node = node_of(passage, places.get(passage.id, (0.5, 0.5)), teller.gold)
        part = f"§{passage.position + 1} " if len(corpus.documents[passage.document]) > 1 else ""
        nodes.append(replace(node, title=f"{part}{passage.title}"))
    asked = f"{question.text}\nAnswer: {question.answer}" if question else ""
    return Story(tuple(nodes), scenes, asked, edges, teller.scale if graph else None)


def _arrange(drawn: Sequence[str], base: int, graph: PassageGraph) -> tuple[tuple[Edge, ...], dict[str, Place]]:
    """The edges between passages, and where these stand.

    Those of the first ``base`` that are joined to one another stand by springs, the others next to their neighbours.
    """
    part = graph.subgraph([graph.corpus.row[id] for id in drawn])
    edges = tuple(
        Edge(edge.source, edge.target, ("graph",), ": ".join(filter(None, (", ".join(edge.kinds), edge.label))))
        for edge in links(part, part.kinds)
    )
    joined = nx.Graph()
    joined.add_nodes_from(drawn)
    joined.add_edges_from((edge.source, edge.target) for edge in edges)
    first = joined.subgraph(drawn[:base])
    core = [id for id in drawn[:base] if first.degree(id)] or drawn[:base]
    firm = nx.Graph()  # built in the order of ``drawn``, which decides how springs come to rest
    firm.add_nodes_from(core)
    firm.add_edges_from((a, b) for a in core for b in core if first.has_edge(a, b))
    places = spring(firm)
    wanted = {}
    for id in [id for id in drawn if id not in places]:
        near = [places[other] for other in joined[id] if other in places]
        wanted[id] = tuple(np.mean(near, axis=0).tolist()) if near else (0.5, 1.0)
    return edges, places | beside(places, wanted)


class _Teller:
    """Goes through the turns of a trace once more and says at each step how matters stand."""

    def __init__(
        self,
        ranking: Ranking,
        corpus: Corpus,
        question: Question | None,
        distances: bool,
        top: int,
        turns: Sequence[Turn],
    ) -> None:
        self.final, self.question, self.distances, self.top, self.turns = ranking.ids, question, distances, top, turns
        self.gold = [id for id in question.supporting_ids if id in corpus] if question else []
        known = {id for turn in turns for id in turn.scores}
        self.ids = sorted(known | set(ranking.ids), key=corpus.row.__getitem__)  # equal scores in corpus order
        self.number = {id: i for i, id in enumerate(self.ids)}
        self.starts = [self._array(turn.scores) for turn in turns]
        self.ends = [self._after(start, turn) for start, turn in zip(self.starts, turns)]
        #: What no setting of a method changes: the supports, and the nearest before any message.
        near = self._best(self._ranks(self.starts[0]), top if len(self.ids) > _FEW else _FEW)
        self.base = list(dict.fromkeys([*self.gold, *near]))
        self.scale = self._scale([score for turn in turns for score in turn.scores.values()])

    # ---- numbers

    def _array(self, scores: Mapping[str, float]) -> np.ndarray:
        found = np.full(len(self.ids), -np.inf)
        found[[self.number[id] for id in scores]] = list(scores.values())
        return found

    def _after(self, start: np.ndarray, turn: Turn) -> np.ndarray:
        scores = start.copy()
        groups = [messages for layer in turn.layers for messages in layer.messages.values()]
        for message in (message for group in [*groups, turn.kept] for message in group):
            scores[self.number[message.target]] = message.after
        return scores

    def _ranks(self, scores: np.ndarray) -> np.ndarray:
        """Places from 1 on."""
        ranks = np.empty(len(scores), int)
        ranks[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
        return ranks

    def _best(self, ranks: np.ndarray, k: int) -> list[str]:
        order = np.argsort(ranks)[:k]
        return [self.ids[i] for i in order]

    def _scale(self, scores: Sequence[float]) -> Scale:
        """From the farthest to the nearest; distances to the next tenth, so that settings hardly change it."""
        far, near = self._told(min(scores)), self._told(max(scores))
        if self.distances:
            far, near = ceil(far * 10 - 1e-9) / 10, floor(near * 10 + 1e-9) / 10
        step = -0.1 if self.distances else 1.0
        return Scale(self._word, far if far != near else near - step, near)

    @property
    def _word(self) -> str:
        return "distance" if self.distances else "score"

    def _told(self, score: float) -> float:
        return float(1 - score if self.distances else score)

    def _text(self, score: float) -> str:
        return f"{self._told(score):.3f}" if self.distances else f"{score:.3g}"

    # ---- which passages

    def choose(self) -> list[str]:
        """The ids to draw, first the base."""
        senders = [seed.passage for turn in self.turns for layer in turn.layers for seed in layer.senders]
        needed = list(dict.fromkeys([*self.base, *senders]))
        others = [*self.final[: self.top]]
        for start, end in zip(self.starts, self.ends):
            before, after = self._ranks(start), self._ranks(end)
            rise = before - after
            others += [*self._best(before, self.top), *self._best(after, self.top)]
            others += [self.ids[i] for i in np.argsort(-rise, kind="stable")[:_LIFTED] if rise[i] > 0]
        return list(dict.fromkeys([*needed, *others]))[: max(_MOST, len(needed))]

    # ---- scenes

    def scenes(self, drawn: Sequence[str], edges: Sequence[Edge]) -> tuple[Scene, ...]:
        self._drawn, self._joined = drawn, {frozenset((edge.source, edge.target)): edge.label for edge in edges}
        found: list[Scene] = []
        for number, (turn, start) in enumerate(zip(self.turns, self.starts), start=1):
            prefix = f"step {number} · " if turn.asked else ""
            asked = f"{turn.asked.text}{f' → {turn.asked.answer}' if turn.asked.answer else ''}" if turn.asked else ""
            self._scores, self._standing = start.copy(), self._ranks(start)
            told = [self._begin(turn)]
            for layer, messages in enumerate(turn.layers, start=1):
                told += self._layer(f"layer {layer}", messages)
            if turn.kept:
                told.append(self._recurrence(turn.kept, number - 1))
            found += [replace(scene, step=prefix + scene.step, asked=asked) for scene in told]
        if any(turn.layers for turn in self.turns):
            found.append(self._result())
        return tuple(found)

    def _begin(self, turn: Turn) -> Scene:
        near = self._scores[[self.number[id] for id in self._best(self._standing, self.top)]]
        what = f"The {self._word} of each passage's own text to the {'sub-question' if turn.asked else 'question'}"
        span = f"{self._text(near[0])} to {self._text(near[-1])} in the first {len(near)}"
        step = "sub-question" if turn.asked else "start" if turn.layers else "ranking"
        return self._scene(step, f"{what}: {span}.", self._standing)

    def _layer(self, name: str, layer: Layer) -> Iterable[Scene]:
        heard = layer.by_target
        missing = {target: len(messages) for target, messages in heard.items()}
        senders = layer.senders
        notes = {
            seed.passage: f"sends {self._text(seed.score)}, its {self._word} before this layer" for seed in senders
        }
        span = f"{self._text(senders[0].score)} to {self._text(senders[-1].score)}"
        caption = f"The {len(senders)} nearest send their {self._word}, {span}; {self._count(heard)}"
        kept = {round(message_sum(messages)[0], 6) for messages in heard.values()}
        if len(kept) == 1:
            mean = any(len(messages) > 1 for messages in heard.values())
            sent = ", m the mean of what it gets" if mean else ""
            caption += f": α · h + (1 − α) · m with α = {_share(kept.pop())}{sent}"
        yield self._scene(f"{name} · senders", f"{caption}.", self._standing, notes, senders=notes)
        for number, seed in enumerate(senders, start=1):
            messages = layer.messages.get(seed.passage, [])
            yield self._message(f"{name} · sender {number} of {len(senders)}", seed.passage, messages, heard, missing)

    def _count(self, targets: Collection[str]) -> str:
        if not targets:
            return "no passage receives"
        drawn = f" ({sum(id in targets for id in self._drawn)} drawn)" if self._drawn else ""
        return f"{len(targets):,} passage{'s' * (len(targets) > 1)}{drawn} receive{'s' * (len(targets) == 1)}"

    def _message(
        self,
        step: str,
        sender: str,
        messages: Sequence[Message],
        heard: Mapping[str, Sequence[Message]],
        missing: dict[str, int],
    ) -> Scene:
        """A sender's messages; a passage that has heard its last sender changes, and ``missing`` counts down."""
        standing, changed, notes = self._standing, [], {}
        for message in messages:
            missing[message.target] -= 1
            if missing[message.target]:
                count = len(heard[message.target])
                notes[message.target] = f"has {count - missing[message.target]} of its {count} messages"
            else:
                changed.append(message.target)
                self._scores[self.number[message.target]] = message.after
        self._standing = self._ranks(self._scores)
        rises = {id: int(standing[self.number[id]] - self._standing[self.number[id]]) for id in changed}
        seen = [id for id in self._drawn if id in rises]
        notes |= {id: f"{self._sum(heard[id])}{self._moved(id, standing)}" for id in seen}
        caption = self._count([message.target for message in messages]).capitalize()
        if messages:
            caption += f" the {self._word} {self._text(messages[0].value)}"
        if len(changed) < len(messages):  # the others wait for further messages
            change = f"{len(changed)} of them change{'s' * (len(changed) == 1)} now" if changed else "none changes yet"
            caption += f"; {change}"
        furthest = max(rises, key=rises.get, default="")
        if furthest and rises[furthest] > 0:
            numbers = f"{self._text(heard[furthest][0].before)} → {self._text(heard[furthest][0].after)}"
            caption += f". Furthest rise: {numbers}{self._moved(furthest, standing)}"
        focus = max(seen, key=lambda id: (id in self.gold, rises[id]), default=sender if self._drawn else "")
        edges = [
            Edge(
                sender,
                message.target,
                ("message",),
                "; ".join(filter(None, (f"sends {self._text(message.value)}", self._link(sender, message.target)))),
                emphasised=True,
                directed=True,
            )
            for message in messages
            if message.target in self._drawn
        ]
        return self._scene(step, f"{caption}.", standing, notes, senders=[sender], edges=edges, focus=focus)

    def _link(self, source: str, target: str) -> str:
        """What joins two passages."""
        return self._joined.get(frozenset((source, target)), "")

    def _recurrence(self, kept: Sequence[Message], before: int) -> Scene:
        standing = self._standing
        for message in kept:
            self._scores[self.number[message.target]] = message.after
        self._standing = self._ranks(self._scores)
        seen = [message for message in kept if message.target in self._drawn]
        notes = {m.target: f"{self._sum([m])}{self._moved(m.target, standing)}" for m in seen}
        shares = {round(1 - message.weight, 6) for message in kept}
        share = f" with β = {_share(shares.pop())}" if len(shares) == 1 else ""
        caption = f"Each passage keeps some of step {before}: β · h + (1 − β) · ĥ{share}, ĥ as it was after that step."
        best = max(seen, key=lambda m: (m.target in self.gold, abs(m.after - m.before)), default=None)
        return self._scene("recurrence", caption, standing, notes, focus=best.target if best else "")

    def _result(self) -> Scene:
        """The ranking that the method returned, and how far each passage moved since the first scene."""
        merged = len(self.turns) > 1
        start = self._ranks(self.starts[0])
        ends = np.stack([self._ranks(end) for end in self.ends])
        best = ends.argmin(axis=0)  # the step in which a passage stood highest: there the merger found it
        self._scores = np.stack(self.ends)[best, np.arange(len(self.ids))]
        self._standing = self._ranks(self._scores)
        if merged:
            merger = dict.fromkeys([*self.final, *self._best(self._standing, len(self.ids))])
            self._standing[[self.number[id] for id in merger]] = np.arange(1, len(self.ids) + 1)
        notes = {}
        for id in self._drawn:
            if (i := self.number.get(id)) is not None:
                where = f" and place {ends[best[i], i]:,} in step {best[i] + 1}; merged" if merged else ""
                notes[id] = f"{self._word} {self._text(self._scores[i])}{where}{self._moved(id, start)}"
        new = len(set(self._best(self._standing, self.top)) - set(self._best(start, self.top)))
        how = "The steps' rankings, merged in turn" if merged else "After all messages"
        caption = f"{how}: {new} of the first {min(self.top, len(self.ids))} are new. The arrows count since the start."
        if self.gold:
            caption += f" At the start {self._found(start)}, now"
        return self._scene("result", caption, start, notes)

    def _scene(
        self,
        step: str,
        caption: str,
        before: np.ndarray,
        notes: Mapping[str, str] | None = None,
        *,
        senders: Collection[str] = (),
        edges: Sequence[Edge] = (),
        focus: str = "",
    ) -> Scene:
        """How matters stand now; moves are counted from the places ``before``."""
        notes, marks = notes or {}, []
        for id in self._drawn:
            i = self.number.get(id)
            if i is None or np.isneginf(self._scores[i]):
                marks.append(Mark(id, "missed", note=f"not among the {len(self.final)} ranked passages"))
                continue
            standing = f"{self._word} {self._text(self._scores[i])}, place {self._standing[i]:,}"
            value = round(self.scale.value(self._told(self._scores[i])), 3)
            marks.append(Mark(id, "sender" if id in senders else "plain", value, notes.get(id, standing)))
        name, entries = "ranking", []
        best = self._best(self._standing, self.top if len(self.ids) > _FEW else _FEW)
        below = sorted((id for id in self.gold if id in self.number and id not in best), key=self._place)
        for id in [*best, *below]:
            i = self.number[id]
            moved = int(before[i] - self._standing[i])
            score = self._told(self._scores[i])
            place = int(self._standing[i]) if id in below else None
            entries.append(Entry(id, round(score, 6) if np.isfinite(score) else None, moved, place))
        if self.gold:
            found = f"{self._found(self._standing)} of {self.question.hops} supports"
            name, caption = f"{found} in the first {self.top}", f"{caption} {found} in the first {self.top}."
        column = Column(name, tuple(entries))
        return Scene(step, caption, tuple(marks), tuple(edges), (column,), focus=focus)

    # ---- words

    def _place(self, id: str) -> int:
        return int(self._standing[self.number[id]])

    def _found(self, ranks: np.ndarray) -> int:
        """How many supports are among the first."""
        return round(metrics.recall_at(self.question, self._best(ranks, self.top), self.top) * self.question.hops)

    def _moved(self, id: str, before: np.ndarray) -> str:
        old, new = int(before[self.number[id]]), self._place(id)
        return f", place {old:,} → {new:,}" if old != new else f", place {new:,}"

    def _sum(self, messages: Sequence[Message]) -> str:
        """The arithmetic of all messages of a round to one passage."""
        share, before, weight, mean = message_sum(messages)
        of = f" ({self._text(mean)}: mean of {len(messages)} senders)" if len(messages) > 1 else ""
        shares = f"{_share(share)} · {self._text(before)} + {_share(weight)} · {self._text(mean)}"
        return f"{shares} = {self._text(messages[0].after)}{of}"


def _share(x: float) -> str:
    return f"{x:.2f}" if abs(x - round(x, 2)) < 1e-6 else f"{x:.3f}"
