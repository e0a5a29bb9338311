"""A trace as frames: the steps that led to a ranking, for the canvas and for print.

A trace is read once, as :class:`Step` s: a method tells scores, senders and messages, question by question, or the
visits of a walk. What to draw and how to say it is then the same for all methods.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count as counter
from itertools import groupby, pairwise
from math import ceil, floor
from typing import TYPE_CHECKING, Any

import msgspec
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

_MOST = 40  # nodes of a picture, unless there are more supports, senders and visits
_FEW = 12  # so few passages are all listed
_LIFTED = 8  # of the passages that rise most in a turn, so many are drawn even where they do not come near the top
_CANDIDATES = 3  # of each path, drawn beside what is visited


class Step(msgspec.Struct, frozen=True):
    """One step, whatever the method: the scores after it (−∞: not met), and what it does to passages."""

    name: str
    caption: str
    scores: pd.Series
    places: pd.Series
    before: pd.Series  # the places that moves are counted from
    roles: dict[str, str] = msgspec.field(default_factory=dict)
    notes: dict[str, str] = msgspec.field(default_factory=dict)
    arrows: Sequence[tuple[str, str]] = ()
    source: str = ""  # whose arrows stand out
    told: str = ""  # of the arrows
    changed: Sequence[str] = ()
    asked: str = ""
    turn: int = 0


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
    ``distances``, scores are told as 1 − score, except on a walk. Where the supports and the nearest before any message
    stand depends on question and graph alone, not on settings. Raises InputError for a ranking without a trace.
    """
    if not ranking.trace.events:
        raise InputError("expected a ranking with the trace of its steps", field="trace")
    story = _Story(ranking, corpus, question, top, distances)
    story.read(graph if walked else None)
    drawn, base = story.choose() if graph else ([], 0)
    edges, places = arrange(drawn, base, graph) if graph else ((), {})
    frames = tuple(story.frame(step, drawn, edges) for step in story.steps)
    listed = (item.node for frame in frames for item in frame.columns[0].items)
    nodes = [passage_node(corpus, id, places, story.gold) for id in dict.fromkeys([*drawn, *listed])]
    asked = f"{question.text}\nAnswer: {question.answer}" if question else ""
    return Replay(tuple(nodes), frames, asked, edges, story.scale if graph else None)


class _Story:
    """Reads a trace as steps, and draws them as frames."""

    def __init__(self, ranking: Ranking, corpus: Corpus, question: Question | None, top: int, distances: bool) -> None:
        self.ranking, self.corpus, self.question, self.top = ranking, corpus, question, top
        self.gold = [id for id in question.supporting_ids if id in corpus] if question else []
        events = ranking.trace.events
        named = {getattr(event, "passage", None) or getattr(event, "target", None) for event in events}
        self.ids = sorted((named | set(ranking.ids)) - {None}, key=corpus.row.__getitem__)
        self.shown = top if len(self.ids) > _FEW else _FEW
        self.walk = any(isinstance(event, NodeVisit) for event in events)
        self.distances = distances and not self.walk
        self.word = "distance" if self.distances else "score"

    def read(self, graph: PassageGraph | None) -> None:
        """The steps of the trace, and what their scores range over; ``graph`` is the one that is walked, if any."""
        self.steps = list(self._walk(graph) if self.walk else self._turns())
        self.told = [step for step in self.steps if step.name != "result"]
        scores = np.concatenate([step.scores[np.isfinite(step.scores)] for step in self.told])
        far, near = self.number(scores.min()), self.number(scores.max())
        if self.distances:  # to the next tenth, so that settings hardly change the scale
            far, near = ceil(far * 10 - 1e-9) / 10, floor(near * 10 + 1e-9) / 10
        self.scale = Scale(self.word, far if far != near else near - (-0.1 if self.distances else 1.0), near)

    def number(self, score: float) -> float:
        return float(1 - score if self.distances else score)

    def say(self, score: float) -> str:
        return f"{self.number(score):.3f}" if self.distances else f"{score:.3g}"

    def supports(self, ids: Sequence[str]) -> str:
        """How many of the question's supports are among the ids."""
        hops = self.question.hops
        return f"{round(metrics.covered(self.question, set(ids)) * hops)} of {hops} supports"

    # ---- messages and recurrence

    def _turns(self) -> Iterator[Step]:
        """A turn for each sub-question, or one for all: scores of the text alone, layers of messages, scores kept."""
        events, turns = self.ranking.trace.events, []
        for event in events:
            if isinstance(event, SubQuestionEvent) or not turns:
                turns.append([])
            turns[-1].append(event)
        steps: list[Step] = []
        for number, turn in enumerate(turns):
            asked = turn[0] if isinstance(turn[0], SubQuestionEvent) else None
            for step in self._turn(turn, number):
                if asked:
                    question = " → ".join(filter(None, (asked.text, asked.answer)))
                    step = replace(step, name=f"step {number + 1} · {step.name}", asked=question)
                steps.append(replace(step, turn=number))
        yield from steps
        if any(isinstance(event, Message) for event in events):
            ends = [list(turn)[-1] for _, turn in groupby(steps, key=lambda step: step.turn)]
            best = np.stack([end.places for end in ends]).argmin(axis=0)  # there a merger of the turns finds a passage
            scores = np.stack([end.scores for end in ends])[best, np.arange(len(self.ids))]
            how = "After all messages" if len(ends) == 1 else "The steps' rankings, merged in turn"
            yield self._result(f"{how}; moves count since the start.", pd.Series(scores, self.ids), steps[0].places)

    def _turn(self, events: Sequence[object], number: int) -> Iterator[Step]:
        scored = {event.passage: event.score for event in events if isinstance(event, InitialScore)}
        seeds = [event for event in events if isinstance(event, Seed)]
        sent = [event for event in events if isinstance(event, Message)]
        kept = [message for message in sent if message.source == message.target]
        given = scored or {seed.passage: seed.score for seed in seeds}  # of a method that sends no messages
        scores = pd.Series(given, dtype=float).reindex(self.ids, fill_value=-np.inf)
        places = _places(scores)
        near = [self.say(scores[id]) for id in places.nsmallest(min(self.top, len(given))).index]
        caption = f"The {self.word} of each passage's own text: {near[0]} to {near[-1]} in the first {len(near)}."
        name = "sub-question" if isinstance(events[0], SubQuestionEvent) else "start" if scored else "ranking"
        yield Step(name, caption, scores, places, places)
        layers = groupby(seeds if scored else (), key=lambda seed: seed.round)
        for part, (round, senders) in zip(map("layer {}".format, counter(1)), layers):
            senders = list(senders)
            messages = [it for it in sent if it.round == round and it.source != it.target]
            heard = _by_target(messages)
            notes = {seed.passage: f"sends {self.say(seed.score)}, its {self.word} before" for seed in senders}
            caption = f"The {len(senders)} nearest send their {self.word} to {count(len(heard), 'passage')}"
            if len(shares := {_share(_sum(own)[0]) for own in heard.values()}) == 1:
                mean = ", m the mean" * any(len(own) > 1 for own in heard.values())
                caption += f": α · h + (1 − α) · m with α = {shares.pop()}{mean}"
            roles = dict.fromkeys(notes, "sender")
            yield Step(f"{part} · senders", f"{caption}.", scores, places, places, roles, notes)
            for i, seed in enumerate(senders, start=1):
                own = [message for message in messages if message.source == seed.passage]
                name = f"{part} · sender {i} of {len(senders)}"
                caption = f"{self.word.capitalize()} {self.say(seed.score)} goes to {count(len(own), 'passage')}."
                step = self._deliver(name, caption, own, heard, scores, places)
                told, roles = f"sends {self.say(seed.score)}", {seed.passage: "sender"}
                arrows = [(message.source, message.target) for message in own]
                yield replace(step, roles=roles, source=seed.passage, told=told, arrows=arrows)
                scores, places = step.scores, step.places
        if kept:
            caption = f"β · h + (1 − β) · ĥ, ĥ as it was after step {number}."
            yield self._deliver("recurrence", caption, kept, _by_target(kept), scores, places)

    def _deliver(
        self,
        name: str,
        caption: str,
        sent: Sequence[Message],
        heard: dict[str, list[Message]],
        scores: pd.Series,
        before: pd.Series,
    ) -> Step:
        """A passage gets its new score with the last of its messages."""
        due = [message for message in sent if heard[message.target][-1] is message]
        scores = scores.copy()
        scores[[message.target for message in due]] = [message.after for message in due]
        places, notes = _places(scores), {m.target: f"waits for more of its {len(heard[m.target])}" for m in sent}
        for message in due:
            share, weight, mean = _sum(of := heard[message.target])
            told = f"{_share(share)} · {self.say(message.before)} + {_share(weight)} · {self.say(mean)}"
            told += f" = {self.say(message.after)}"
            told += f" ({self.say(mean)}: mean of {len(of)} senders)" if len(of) > 1 else ""
            notes[message.target] = f"{told}, {_move(before[message.target], places[message.target])}"
        return Step(name, caption, scores, places, before, {}, notes, changed=[message.target for message in due])

    # ---- walks and beams

    def _walk(self, graph: PassageGraph | None) -> Iterator[Step]:
        """Seeds, then each path that grows: where it could go on, and where it goes."""
        legs: dict[tuple[int, tuple[str, ...]], list[NodeVisit]] = {}
        for event in self.ranking.trace.events:
            if isinstance(event, NodeVisit):
                legs.setdefault((event.round, (*event.before, event.source) if event.source else ()), []).append(event)
        begin = legs.pop((0, ()), [])
        met = {event.passage: event.score for event in begin or self.ranking.trace.seeds}
        roles, arrows = dict.fromkeys(met, "seed"), []
        most, least = max(met.values()), min(met.values())
        caption = f"{count(len(met), 'seed')}, found by a search for the question: score {most:.3g} to {least:.3g}."

        def step(name: str, caption: str, roles: dict[str, str], visits: Sequence[NodeVisit], **more: Any) -> Step:
            scores = pd.Series(met, dtype=float).reindex(self.ids, fill_value=-np.inf)
            places, evidence = _places(scores), visits[0].generated_evidence if visits else ""
            asked = f"Generated evidence: {evidence}" if evidence else ""
            caption += f" {self.supports(met)} met." if self.gold else ""
            return Step(name, caption, scores, places, places, dict(roles), asked=asked, **more)

        yield step("seeds", caption, roles, begin)
        rounds = [round for round, _ in legs]
        for number, ((round, path), visits) in enumerate(legs.items()):
            rows = graph.neighbours(self.corpus.row[path[-1]]) if graph else ()
            near = [id for id in (self.corpus.passages[row].id for row in rows) if id not in path]
            told = {visit.passage: f"{visit.score:.3g}{', met before' * (visit.passage in met)}" for visit in visits}
            arrows += [(path[-1], id) for id in told if id not in met]
            for visit in visits:
                met.setdefault(visit.passage, visit.score)
                roles.setdefault(visit.passage, "visited")
            among = f" of {count(len(near), 'neighbour')}" if near else ""
            caption = f"The path grows by the best{among}: {'; '.join(told.values())}."
            on_path = dict.fromkeys(near, "candidate") | roles | dict.fromkeys(path, "path")
            name = f"hop {round} · path {rounds[:number].count(round) + 1} of {rounds.count(round)}"
            notes = {id: f"visited now: scores {score}" for id, score in told.items()}
            ways = [*pairwise(path), *((path[-1], id) for id in told)]
            yield step(name, caption, on_path, visits, notes=notes, arrows=ways, source=path[-1], changed=list(told))
        caption = f"{count(len(met), 'passage')} met on the walk, ranked by the paths on which they came."
        scores = pd.Series(dict(zip(self.ranking.ids, self.ranking.scores.tolist()))).reindex(self.ids)
        yield replace(self._result(caption, scores.fillna(-np.inf)), roles=roles, arrows=arrows)

    # ---- any method

    def _result(self, caption: str, scores: pd.Series, before: pd.Series | None = None) -> Step:
        """The ranking that the method returned."""
        order = list(dict.fromkeys([*self.ranking.ids, *_places(scores).sort_values().index]))
        places = pd.Series(range(1, len(order) + 1), order).reindex(self.ids)
        return Step("result", caption, scores, places, places if before is None else before)

    def choose(self) -> tuple[list[str], int]:
        """What is drawn, and how many of these whatever the method's settings."""
        first = self.steps[0]
        base = list(dict.fromkeys([*self.gold, *self._best(first, self.shown)]))
        own = [id for step in self.steps for id, role in step.roles.items() if role != "candidate"]
        needed = list(dict.fromkeys([*base, *own]))
        others = [] if self.walk else [*self.ranking.ids[: self.top]]
        for step in self.steps:
            aside = [id for id, role in step.roles.items() if role == "candidate" and id not in needed]
            others += aside[:_CANDIDATES]
        for _, turn in groupby([] if self.walk else self.told, key=lambda step: step.turn):
            before, *_, after = [*turn] * 2
            fall = (after.places - before.places).sort_values(kind="stable")[:_LIFTED]
            others += [*self._best(before, self.top), *self._best(after, self.top), *fall[fall < 0].index]
        return list(dict.fromkeys([*needed, *others]))[: max(_MOST, len(needed))], len(base)

    def _best(self, step: Step, k: int) -> list[str]:
        return step.places[np.isfinite(step.scores)].nsmallest(k).index.tolist()

    def frame(self, step: Step, drawn: Sequence[str], edges: Sequence[Edge]) -> Frame:
        """The step as a picture: states of the nodes that are drawn, arrows between them, and the ranking."""
        scores, places, states = step.scores.to_dict(), step.places.to_dict(), []
        for id in drawn:
            role = step.roles.get(id, "plain")
            if np.isfinite(score := scores.get(id, -np.inf)):
                place = places[id] if step.name != "result" else None
                standing = f"place {place:,}" if place else _move(step.before[id], places[id])
                note = step.notes.get(id, f"{self.word} {self.say(score)}, {standing}")
                states.append(NodeState(id, role, self.scale.value(self.number(score)), note))
            elif role == "candidate":
                states.append(NodeState(id, role, note="a candidate, not visited now"))
            elif id in self.gold or not self.walk:
                states.append(NodeState(id, "missed", note="not met so far" if self.walk else "not ranked"))
        best = self._best(step, self.shown)
        met = [id for id in self.gold if np.isfinite(scores.get(id, -np.inf))]
        below = sorted(set(met) - set(best), key=places.__getitem__)
        items = []
        for id in [*best, *below]:
            moved, place = int(step.before[id] - places[id]), places[id] if id in below else None
            items.append(RankItem(id, round(self.number(scores[id]), 6), moved, place))
        name = f"{self.supports(self._best(step, self.top))} in the first {self.top}" if self.gold else ""
        caption = step.caption if self.walk or not name else f"{step.caption} {name}."
        shown = {state.node for state in states}
        joined = {frozenset(edge.ends): edge.label for edge in edges}
        kind = "visit" if self.walk else "message"
        arrows = tuple(
            Edge(
                *way,
                (kind,),
                "; ".join(filter(None, (step.told, joined.get(frozenset(way))))),
                way[0] == step.source,
                True,
            )
            for way in step.arrows
            if shown.issuperset(way)
        )
        seen = [id for id in step.changed if id in shown]
        own = step.source if step.source in shown else ""
        focus = max(seen, key=lambda id: (id in self.gold, step.before[id] - places[id]), default=own)
        column = Column(name or "ranking", tuple(items))
        return Frame(step.name, caption, tuple(states), arrows, (column,), step.asked, focus)


def count(n: int, word: str) -> str:
    return f"{n:,} {word}{'s' * (n != 1)}"


def _places(scores: pd.Series) -> pd.Series:
    """Places from 1 on; equal scores in corpus order."""
    return scores.rank(ascending=False, method="first").astype(int)


def _move(old: int, new: int) -> str:
    return f"place {old:,} → {new:,}" if old != new else f"place {new:,}"


def _by_target(messages: Sequence[Message]) -> dict[str, list[Message]]:
    heard: dict[str, list[Message]] = {}
    for message in messages:
        heard.setdefault(message.target, []).append(message)
    return heard


def _sum(messages: Sequence[Message]) -> tuple[float, float, float]:
    """All messages of a round to one passage: the share of its own score, theirs, and their mean value."""
    weights, values = [message.weight for message in messages], [message.value for message in messages]
    mean = float(np.average(values, weights=weights if sum(weights) else None))
    return 1 - sum(weights), sum(weights), mean


def _share(x: float) -> str:
    return f"{x:.2f}" if abs(x - round(x, 2)) < 1e-6 else f"{x:.3f}"
