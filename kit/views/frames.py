"""A trace as frames: the steps that led to a ranking, for the canvas and for print.

Only the events of the trace are read, so the same code shows any method: one that tells scores, senders and messages,
question by question, or one that tells visits, path by path.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain, pairwise
from math import ceil, floor
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from msgspec.structs import replace

from kit.corpus import Corpus, Question
from kit.errors import InputError
from kit.evaluation import metrics
from kit.retrievers import InitialScore, Message, NodeVisit, Ranking, Seed, SubQuestionEvent
from kit.views.layout import arrange, passage_node
from kit.views.replay import Column, Edge, Frame, NodeState, RankItem, Replay, Scale

if TYPE_CHECKING:
    from kit.graphs import PassageGraph

_MOST, _MOST_OF_WALK = 40, 48  # nodes of a picture, unless there are more supports and senders, or visits
_FEW = 12  # so few passages are all shown
_LIFTED = 8  # of the passages that rise most, so many are drawn even where they do not come near the top
_FRONTIER = 3  # so many candidates of each path are drawn beside those that are visited at some time


def replay(
    ranking: Ranking,
    corpus: Corpus,
    *,
    question: Question | None = None,
    graph: PassageGraph | None = None,
    walked: bool = True,
    distances: bool = True,
    top: int = 10,
) -> Replay:
    """The steps that led to a ranking of passages of ``corpus``.

    ``question`` marks its supports and counts how many are among the first ``top``. ``graph`` gives places and edges;
    without it only rankings are shown. ``walked`` False: the method does not see the graph, it only lies behind. With
    ``distances``, scores are told as 1 − score, except on a walk, which shows what its agent gave. Drawn are the
    supports, the senders, the nearest before and after, and those that rise most. Where the supports and the nearest
    before any message stand depends on question and graph alone, not on a method's settings. § numbers the passages of
    a document. Raises InputError for a ranking without a trace.
    """
    events = ranking.trace.events
    if not events:
        raise InputError("expected a ranking with the trace of its steps", field="trace")
    if any(isinstance(event, NodeVisit) for event in events):
        builder: Builder = WalkBuilder(ranking, corpus, question, graph if walked else None, top)
    else:
        builder = MessageBuilder(ranking, corpus, question, distances, top)
    drawn = builder.choose() if graph else []
    edges, places = arrange(drawn, len(builder.base), graph) if graph else ((), {})
    frames = tuple(builder.frames(drawn, edges))
    listed = (item.node for frame in frames for column in frame.columns for item in column.items)
    nodes = [passage_node(corpus, id, places, builder.gold) for id in dict.fromkeys([*drawn, *listed])]
    asked = f"{question.text}\nAnswer: {question.answer}" if question else ""
    return Replay(tuple(nodes), frames, asked, edges, builder.scale if graph else None)


class Builder:
    """Goes through the events of a trace once more and says at each step how matters stand.

    ``base`` are the passages that are drawn whatever a method's settings, ``scale`` what the colours mean.
    """

    base: list[str]
    scale: Scale

    def __init__(self, ranking: Ranking, corpus: Corpus, question: Question | None, top: int) -> None:
        self.ranking, self.corpus, self.question, self.top = ranking, corpus, question, top
        self.gold = [id for id in question.supporting_ids if id in corpus] if question else []

    def choose(self) -> list[str]:
        """The ids to draw, first the base."""
        raise NotImplementedError

    def frames(self, drawn: Sequence[str], edges: Sequence[Edge]) -> Iterator[Frame]:
        """The frames, in which these passages and edges of the graph are drawn."""
        raise NotImplementedError

    def supports(self, ids: Collection[str]) -> str:
        """How many of the question's supports are among the ids."""
        return (
            f"{round(metrics.covered(self.question, set(ids)) * self.question.hops)} of {self.question.hops} supports"
        )


# ---- messages


class Turn:
    """What follows from one question: scores of the text alone, layers of messages, scores kept from before.

    A layer has its senders, and its messages in the order of their senders.
    """

    def __init__(self, events: Sequence[object]) -> None:
        self.asked = events[0] if isinstance(events[0], SubQuestionEvent) else None
        seeds = [event for event in events if isinstance(event, Seed)]
        messages = [event for event in events if isinstance(event, Message)]
        self.kept = [message for message in messages if message.source == message.target]
        self.scores = {event.passage: event.score for event in events if isinstance(event, InitialScore)}
        self.layers: list[tuple[list[Seed], dict[str, list[Message]]]] = []
        for round in dict.fromkeys(seed.round for seed in seeds) if self.scores else ():
            senders = [seed for seed in seeds if seed.round == round]
            sent: dict[str, list[Message]] = {seed.passage: [] for seed in senders}
            for message in messages:
                if message.round == round and message.source != message.target:
                    sent[message.source].append(message)
            self.layers.append((senders, sent))
        # The seeds of a method that sends no messages are its scores.
        self.scores = self.scores or {seed.passage: seed.score for seed in seeds}

    @property
    def messages(self) -> Iterator[Message]:
        for _, sent in self.layers:
            yield from chain.from_iterable(sent.values())


def turns_of(events: Sequence[object]) -> list[Turn]:
    """The turns of a trace: one a sub-question, or one for all."""
    starts = [number for number, event in enumerate(events) if isinstance(event, SubQuestionEvent) or not number]
    return [Turn(events[start:end]) for start, end in zip(starts, [*starts[1:], len(events)])]


def _ranks(scores: pd.Series) -> pd.Series:
    """Places from 1 on; equal scores in corpus order."""
    return scores.rank(ascending=False, method="first").astype(int)


class MessageBuilder(Builder):
    """Scores that change as messages arrive, or as a recurrence weighs them with those before."""

    def __init__(self, ranking: Ranking, corpus: Corpus, question: Question | None, distances: bool, top: int) -> None:
        super().__init__(ranking, corpus, question, top)
        self.word, self.distances = ("distance", True) if distances else ("score", False)
        self.turns = turns_of(ranking.trace.events)
        known = {id for turn in self.turns for id in turn.scores} | set(ranking.ids)
        ids = sorted(known, key=corpus.row.__getitem__)
        #: The scores before and after each turn; −∞ where it gives none.
        self.starts = [pd.Series(turn.scores, dtype=float).reindex(ids, fill_value=-np.inf) for turn in self.turns]
        self.ends = [start.copy() for start in self.starts]
        for end, turn in zip(self.ends, self.turns):
            after = {message.target: message.after for message in (*turn.messages, *turn.kept)}
            end.update(pd.Series(after, dtype=float))
        self.shown = top if len(ids) > _FEW else _FEW
        self.base = list(dict.fromkeys([*self.gold, *self.first(_ranks(self.starts[0]), self.shown)]))
        # Distances to the next tenth, so that settings hardly change the scale.
        scores = [score for turn in self.turns for score in turn.scores.values()]
        far, near = self.told(min(scores)), self.told(max(scores))
        if distances:
            far, near = ceil(far * 10 - 1e-9) / 10, floor(near * 10 + 1e-9) / 10
        self.scale = Scale(self.word, far if far != near else near - (-0.1 if distances else 1.0), near)

    def told(self, score: float) -> float:
        return float(1 - score if self.distances else score)

    def text(self, score: float) -> str:
        return f"{self.told(score):.3f}" if self.distances else f"{score:.3g}"

    def first(self, standing: pd.Series, k: int) -> list[str]:
        return standing.nsmallest(k).index.tolist()

    def choose(self) -> list[str]:
        senders = [seed.passage for turn in self.turns for layer, _ in turn.layers for seed in layer]
        needed = list(dict.fromkeys([*self.base, *senders]))
        others = [*self.ranking.ids[: self.top]]
        for before, after in zip(map(_ranks, self.starts), map(_ranks, self.ends)):
            fall = (after - before).sort_values(kind="stable")[:_LIFTED]
            others += [*self.first(before, self.top), *self.first(after, self.top), *fall[fall < 0].index]
        return list(dict.fromkeys([*needed, *others]))[: max(_MOST, len(needed))]

    def frames(self, drawn: Sequence[str], edges: Sequence[Edge]) -> Iterator[Frame]:
        self.drawn, self.joined = drawn, {frozenset(edge.ends): edge.label for edge in edges}
        for number, (turn, start) in enumerate(zip(self.turns, self.starts), start=1):
            self.scores, self.standing = start.copy(), _ranks(start)
            frames = [self._begin(turn)]
            for layer, (senders, sent) in enumerate(turn.layers, start=1):
                frames += self._layer(f"layer {layer}", senders, sent)
            if turn.kept:
                told = f"β · h + (1 − β) · ĥ, ĥ as it was after step {number - 1}"
                frames.append(self._deliver("recurrence", told, turn.kept, {m.target: [m] for m in turn.kept}))
            if turn.asked:
                asked = " → ".join(filter(None, (turn.asked.text, turn.asked.answer)))
                frames = [replace(frame, step=f"step {number} · {frame.step}", asked=asked) for frame in frames]
            yield from frames
        if any(turn.layers for turn in self.turns):
            yield self._result()

    def _begin(self, turn: Turn) -> Frame:
        near = [self.text(self.scores[id]) for id in self.first(self.standing, self.top)]
        step = "sub-question" if turn.asked else "start" if turn.layers else "ranking"
        what = f"The {self.word} of each passage's own text to the {'sub-question' if turn.asked else 'question'}"
        return self._frame(step, f"{what}: {near[0]} to {near[-1]} in the first {len(near)}", self.standing)

    def _layer(self, name: str, senders: Sequence[Seed], sent: Mapping[str, list[Message]]) -> Iterator[Frame]:
        """The senders of a layer, then one after the other."""
        heard: dict[str, list[Message]] = {}
        for message in chain.from_iterable(sent.values()):
            heard.setdefault(message.target, []).append(message)
        notes = {seed.passage: f"sends {self.text(seed.score)}, its {self.word} before this layer" for seed in senders}
        span = f"{self.text(senders[0].score)} to {self.text(senders[-1].score)}"
        caption = f"The {len(senders)} nearest send their {self.word}, {span}; {self._received(heard)}"
        if len(kept := {round(_sum(messages)[0], 6) for messages in heard.values()}) == 1:
            mean = ", m the mean of what it gets" * any(len(messages) > 1 for messages in heard.values())
            caption += f": α · h + (1 − α) · m with α = {_share(kept.pop())}{mean}"
        yield self._frame(f"{name} · senders", caption, self.standing, notes, senders=notes)
        waits = {target: len(messages) for target, messages in heard.items()}
        for number, seed in enumerate(senders, start=1):
            messages = sent[seed.passage]
            for message in messages:
                waits[message.target] -= 1
            caption = self._received([message.target for message in messages]).capitalize()
            caption += f" the {self.word} {self.text(seed.score)}" * bool(messages)
            due = [message for message in messages if not waits[message.target]]
            if len(due) < len(messages):
                caption += f"; {len(due)} of them {'has' if len(due) == 1 else 'have'} all messages now"
            step = f"{name} · sender {number} of {len(senders)}"
            yield self._deliver(step, caption, due, heard, seed.passage, messages)

    def _deliver(
        self,
        step: str,
        caption: str,
        due: Sequence[Message],
        heard: Mapping[str, Sequence[Message]],
        sender: str = "",
        messages: Sequence[Message] = (),
    ) -> Frame:
        """The targets of messages that are ``due`` get their new scores; the sender's messages are drawn."""
        before, drawn = self.standing, set(self.drawn)
        self.scores[[message.target for message in due]] = [message.after for message in due]
        self.standing = _ranks(self.scores)
        rises = {message.target: int(before[message.target] - self.standing[message.target]) for message in due}
        notes = {m.target: f"waits for more of its {len(heard[m.target])} messages" for m in messages}
        notes |= {id: f"{self._arithmetic(heard[id])}{self._moved(id, before)}" for id in drawn & rises.keys()}
        focus = [id for id in self.drawn if id in rises]
        edges = []
        for message in messages:
            if message.target in drawn:
                link = self.joined.get(frozenset((sender, message.target)))
                label = "; ".join(filter(None, (f"sends {self.text(message.value)}", link)))
                edges.append(Edge(sender, message.target, ("message",), label, emphasised=True, directed=True))
        told = max(focus, key=lambda id: (id in self.gold, rises[id]), default=sender if self.drawn else "")
        return self._frame(step, caption, before, notes, senders=[sender], edges=tuple(edges), focus=told)

    def _result(self) -> Frame:
        """The ranking that the method returned, and how far each passage moved since the first frame."""
        start, ids = _ranks(self.starts[0]), self.starts[0].index
        places = np.stack([_ranks(end) for end in self.ends])
        best = places.argmin(axis=0)  # the turn in which a passage stood highest: there a merger finds it
        self.scores = pd.Series(np.stack(self.ends)[best, np.arange(len(ids))], ids)
        self.standing = _ranks(self.scores)
        how = "After all messages"
        if len(self.turns) > 1:
            order = list(dict.fromkeys([*self.ranking.ids, *self.standing.sort_values().index]))
            self.standing = pd.Series(range(1, len(order) + 1), order).reindex(ids)
            how = "The steps' rankings, merged in turn"
        drawn = [id for id in self.drawn if id in start]
        notes = {id: f"{self.word} {self.text(self.scores[id])}{self._moved(id, start)}" for id in drawn}
        new = len(set(self.first(self.standing, self.top)) - set(self.first(start, self.top)))
        caption = f"{how}: {new} of the first {min(self.top, len(ids))} are new. The arrows count since the start"
        return self._frame("result", caption, start, notes)

    def _frame(
        self,
        step: str,
        caption: str,
        before: pd.Series,
        notes: Mapping[str, str] | None = None,
        *,
        senders: Collection[str] = (),
        **told: Any,
    ) -> Frame:
        """How matters stand now; moves are counted from the places ``before``."""
        states, scores, places = [], self.scores.to_dict(), self.standing.to_dict()
        for id in self.drawn:
            if np.isneginf(score := scores.get(id, -np.inf)):
                states.append(NodeState(id, "missed", note=f"not among the {len(self.ranking.ids)} ranked passages"))
            else:
                note = (notes or {}).get(id, f"{self.word} {self.text(score)}, place {places[id]:,}")
                role = "sender" if id in senders else "plain"
                states.append(NodeState(id, role, self.scale.value(self.told(score)), note))
        best = self.first(self.standing, self.shown)
        below = sorted((id for id in self.gold if id in places and id not in best), key=places.__getitem__)
        items = []
        for id in [*best, *below]:
            score = round(self.told(scores[id]), 6) if np.isfinite(scores[id]) else None
            items.append(RankItem(id, score, int(before[id] - places[id]), places[id] if id in below else None))
        name = f"{self.supports(self.first(self.standing, self.top))} in the first {self.top}" if self.gold else ""
        caption = f"{caption}. {name}." if name else f"{caption}."
        return Frame(step, caption, tuple(states), columns=(Column(name or "ranking", tuple(items)),), **told)

    def _received(self, targets: Collection[str]) -> str:
        drawn = f" ({sum(id in targets for id in self.drawn)} drawn)" if self.drawn and targets else ""
        count = _count(len(targets), "passage") if targets else "no passage"
        return f"{count}{drawn} receive{'s' * (len(targets) < 2)}"

    def _moved(self, id: str, before: pd.Series) -> str:
        old, new = before[id], self.standing[id]
        return f", place {old:,} → {new:,}" if old != new else f", place {new:,}"

    def _arithmetic(self, messages: Sequence[Message]) -> str:
        """The arithmetic of all messages of a round to one passage."""
        share, before, weight, mean = _sum(messages)
        told = f" ({self.text(mean)}: mean of {len(messages)} senders)" if len(messages) > 1 else ""
        shares = f"{_share(share)} · {self.text(before)} + {_share(weight)} · {self.text(mean)}"
        return f"{shares} = {self.text(messages[0].after)}{told}"


def _sum(messages: Sequence[Message]) -> tuple[float, float, float, float]:
    """What all messages of a round to one passage come to: its share, its score before, their share, their mean value.

    The score after is share · before + share · mean.
    """
    weights, values = [message.weight for message in messages], [message.value for message in messages]
    mean = float(np.average(values, weights=weights if sum(weights) else None))
    return 1 - sum(weights), messages[0].before, sum(weights), mean


# ---- walks


class WalkBuilder(Builder):
    """Seeds, then each path that grows: the neighbours that it could go on to, and where it goes."""

    def __init__(
        self, ranking: Ranking, corpus: Corpus, question: Question | None, graph: PassageGraph | None, top: int
    ) -> None:
        super().__init__(ranking, corpus, question, top)
        self.graph = graph
        self.found_by = {seed.passage: seed.score for seed in ranking.trace.seeds}  # the search for seeds
        #: The visits by which a path grows, by round and the passages of the path so far; none where paths begin.
        self.legs: dict[tuple[int, tuple[str, ...]], list[NodeVisit]] = {}
        for event in ranking.trace.events:
            if isinstance(event, NodeVisit):
                path = (*event.before, event.source) if event.source else ()
                self.legs.setdefault((event.round, path), []).append(event)
        begin = [visit for (_, path), visits in self.legs.items() if not path for visit in visits]
        self.legs = {leg: visits for leg, visits in self.legs.items() if leg[1]}
        self.seeds = {visit.passage: visit.score for visit in begin} or self.found_by
        self.evidence = begin[0].generated_evidence if begin else ""
        self.base = list(dict.fromkeys([*self.gold, *self.seeds]))
        scores = [*self.seeds.values(), *(visit.score for visits in self.legs.values() for visit in visits)]
        far, near = min(scores), max(scores)
        self.scale = Scale("score", far if far < near else near - 1, near)

    def choose(self) -> list[str]:
        needed = dict.fromkeys([*self.base, *(visit.passage for visits in self.legs.values() for visit in visits)])
        aside = [id for _, path in self.legs for id in [id for id in self._near(path) if id not in needed][:_FRONTIER]]
        return list(dict.fromkeys([*needed, *aside]))[: max(_MOST_OF_WALK, len(needed))]

    def _near(self, path: Sequence[str]) -> list[str]:
        """The candidates of a path: neighbours of its last passage that are not on it."""
        rows = self.graph.neighbours(self.corpus.row[path[-1]]) if self.graph else ()
        return [id for id in (self.corpus.passages[row].id for row in rows) if id not in path]

    def frames(self, drawn: Sequence[str], edges: Sequence[Edge]) -> Iterator[Frame]:
        self.drawn, self.joined = drawn, {frozenset(edge.ends): edge.label for edge in edges}
        self.met = dict(self.seeds)  # passages met so far, with the score at their first visit
        places = {id: place for place, id in enumerate(self.found_by, start=1)}
        self.notes = {
            id: f"scores {score:.3g}; place {places.get(id, 0)} in the search for seeds"
            for id, score in self.seeds.items()
        }
        self.children: dict[str, list[str]] = {}  # what was first met from each passage
        best, least = max(self.seeds.values()), min(self.seeds.values())
        caption = f"{_count(len(self.seeds), 'seed')}, found by a search for the question."
        caption += f" The agent scores them {best:.3g} to {least:.3g}."
        yield self._frame("seeds", caption, evidence=self.evidence, column=self._tree(()))
        rounds = [round for round, _ in self.legs]
        for number, ((round, path), visits) in enumerate(self.legs.items()):
            of_round = rounds[:number].count(round) + 1
            yield self._grow(f"hop {round} · path {of_round} of {rounds.count(round)}", round, path, visits)
        yield self._result()

    def _grow(self, step: str, round: int, path: Sequence[str], visits: Sequence[NodeVisit]) -> Frame:
        before, near, source = set(self.met), self._near(path), path[-1]
        told = {}
        for visit in visits:
            self.met.setdefault(visit.passage, visit.score)
            self.notes.setdefault(visit.passage, f"hop {round}: scores {visit.score:.3g}")
            told[visit.passage] = f"{visit.score:.3g}{', met before' * (visit.passage in before)}"
        self.children.setdefault(source, []).extend(id for id in told if id not in before)
        frontier = [id for id in near if id in self.drawn]
        most = f" of {_count(len(near), 'neighbour')} ({len(frontier)} drawn)" if near else ""
        arrows = [*pairwise(path), *((source, id) for id in told)]
        return self._frame(
            step,
            f"The path grows by the best{most}: {'; '.join(told.values())}.",
            evidence=visits[0].generated_evidence,
            path=path,
            frontier=frontier,
            edges=self._arrows(arrows, strong=source),
            column=self._tree(path),
            notes={id: f"visited now: scores {score}" for id, score in told.items()},
            focus=next((id for id in told if id in self.gold), visits[0].passage),
        )

    def _result(self) -> Frame:
        """The ranking that the method returned."""
        ids, scores = self.ranking.ids, self.ranking.scores.tolist()
        items, notes = [], {}
        for place, (id, score) in enumerate(zip(ids, scores), start=1):
            if id in self.notes:
                notes[id] = f"{self.notes[id]}; place {place:,} in the end"
            if place <= self.top or id in self.gold:
                items.append(RankItem(id, round(score, 6), place=place if place > self.top else None))
        name = f"{self.supports(ids[: self.top])} in the first {self.top}" if self.gold else "ranking"
        caption = f"{_count(len(self.met), 'passage')} met on the walk, ranked by the paths on which they came."
        arrows = [(source, id) for source, ids in self.children.items() for id in ids]
        return self._frame(
            "result", caption, edges=self._arrows(arrows), column=Column(name, tuple(items)), notes=notes
        )

    def _frame(
        self,
        step: str,
        caption: str,
        *,
        column: Column,
        evidence: str = "",
        path: Sequence[str] = (),
        frontier: Collection[str] = (),
        edges: Sequence[Edge] = (),
        notes: Mapping[str, str] | None = None,
        focus: str = "",
    ) -> Frame:
        states, notes = [], self.notes | dict(notes or {})
        for id in self.drawn:
            if id in self.met:
                role = "path" if id in path else "seed" if id in self.seeds else "visited"
                states.append(NodeState(id, role, self.scale.value(self.met[id]), notes.get(id, "")))
            elif id in frontier:
                states.append(NodeState(id, "candidate", note="a candidate, not visited now"))
            elif id in self.gold:
                states.append(NodeState(id, "missed", note="not met so far"))
        if self.gold:
            caption += f" {self.supports(self.met)} met."
        asked = f"Generated evidence: {evidence}" if evidence else ""
        return Frame(step, caption, tuple(states), tuple(edges), (column,), asked, focus)

    def _arrows(self, ends: Sequence[tuple[str, str]], strong: str = "") -> list[Edge]:
        return [
            Edge(a, b, ("visit",), self.joined.get(frozenset((a, b)), ""), emphasised=a == strong, directed=True)
            for a, b in ends
            if a in self.drawn and b in self.drawn
        ]

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


def _share(x: float) -> str:
    return f"{x:.2f}" if abs(x - round(x, 2)) < 1e-6 else f"{x:.3f}"


def _count(n: int, word: str) -> str:
    return f"{n:,} {word}{'s' * (n != 1)}"
