"""A trace as frames: read once, as :class:`Step` s, and then drawn and told in the same way for all methods."""

from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from typing import Any

import msgspec
import numpy as np
import pandas as pd
from msgspec.structs import replace

from kit.corpus import Corpus, Question
from kit.errors import InputError
from kit.evaluation import metrics
from kit.graphs import PassageGraph
from kit.methods import Ranking
from kit.methods.trace import (
    AnyEvent,
    Expansion,
    GraphGrowth,
    InitialScore,
    Merge,
    Message,
    NodeVisit,
    Seed,
    SubQuestionEvent,
)
from kit.views.evidence import evidence_replay, growth_replay
from kit.views.graph_page import arrange
from kit.views.replay import Column, Edge, Frame, NodeState, RankItem, Replay, Scale, count

_MOST = 40  # nodes of a picture, unless there are more supports, senders and visits
_FEW = 12  # so few passages are all listed
_RECEIVERS = 3  # of a sender, drawn even where they do not come near the top


class Step(msgspec.Struct, frozen=True):
    """One step, whatever the method: the scores after it (−∞: not met), their places, and what it does to passages."""

    name: str
    caption: str
    scores: pd.Series
    places: pd.Series
    before: pd.Series  # the places that moves are counted from
    roles: dict[str, str] = {}
    notes: dict[str, str] = {}
    arrows: Sequence[tuple[str, str]] = ()
    source: str = ""  # whose arrows stand out
    changed: Sequence[str] = ()
    asked: str = ""

    def best(self, k: int | None = None) -> list[str]:
        """The first k passages that were met."""
        return self.places[np.isfinite(self.scores)].sort_values().index[:k].tolist()

    def move(self, id: str) -> str:
        old, new = self.before[id], self.places[id]
        return f"place {old:,} → {new:,}" if old != new else f"place {new:,}"


def replay(
    ranking: Ranking,
    corpus: Corpus,
    question: Question | None = None,
    graph: PassageGraph | None = None,
    top: int = 10,
) -> Replay:
    """The steps that led to a ranking of passages of ``corpus``.

    ``question`` marks its supports and counts how many are among the first ``top``. ``graph`` gives places and edges;
    without it only rankings are shown. Scores that messages carry are told as distances, 1 − score. Supports and the
    nearest before any message, as far as they are joined, stand where question and graph say, whatever the settings.
    Raises InputError for a ranking without a trace.
    """
    if not ranking.trace.events:
        raise InputError("expected a ranking with the trace of its steps", field="trace")
    if any(isinstance(event, Expansion | Merge) for event in ranking.trace.events):
        return evidence_replay(ranking, corpus, question)
    if any(isinstance(event, GraphGrowth) for event in ranking.trace.events):
        return growth_replay(ranking, corpus, question)
    story = _Story(ranking, corpus, question, top)
    drawn, base = story.choose() if graph else ([], 0)
    edges, places = arrange(drawn, base, graph) if graph else ((), {})
    frames = [story.frame(step, drawn, edges) for step in story.steps]
    return Replay.of(
        frames, corpus, question, places, edges=edges, scale=story.scale if graph else None
    )


class _Story:
    """Reads a trace as steps, and draws them as frames."""

    def __init__(
        self, ranking: Ranking, corpus: Corpus, question: Question | None, top: int
    ) -> None:
        self.ranking, self.question, self.top = ranking, question, top
        self.events = ranking.trace.events
        self.gold = [id for id in question.supporting_ids if id in corpus] if question else []
        passages = {
            event.passage
            for event in self.events
            if isinstance(event, InitialScore | Seed | NodeVisit)
        }
        self.ids = sorted(passages.union(ranking.ids), key=corpus.row.__getitem__)
        self.final = pd.Series(range(1, len(ranking.ids) + 1), ranking.ids).reindex(
            self.ids, fill_value=len(self.ids)
        )
        self.shown = top if len(self.ids) > _FEW else _FEW
        self.walk, self.distances = (
            any(isinstance(it, kind) for it in self.events) for kind in (NodeVisit, Message)
        )
        self.word = "distance" if self.distances else "score"
        self.steps = [*(self._walk() if self.walk else self._turns())]
        scores = pd.concat([step.scores for step in self.steps if step.name != "result"])
        scores = scores[np.isfinite(scores)]
        self.scale = Scale(self.word, self.number(scores.min()), self.number(scores.max()))

    def number(self, score: float) -> float:
        return round(float(1 - score if self.distances else score), 6)

    def say(self, score: float) -> str:
        return f"{self.number(score):.3f}" if self.distances else f"{score:.3g}"

    def step(
        self,
        name: str,
        caption: str,
        scores: dict[str, float],
        before: Step | None = None,
        **more: Any,
    ) -> Step:
        """A step to these scores; equal ones stand in corpus order."""
        told = pd.Series(scores, self.ids, dtype=float).fillna(-np.inf)
        places = told.rank(ascending=False, method="first").astype(int)
        return Step(name, caption, told, places, before.places if before else places, **more)

    def _turns(self) -> Iterator[Step]:
        """A turn for each sub-question, or one for all; then what came of them."""
        starts = [
            i for i, event in enumerate(self.events) if not i or isinstance(event, SubQuestionEvent)
        ]
        told = []
        for number, (start, end) in enumerate(pairwise([*starts, None]), start=1):
            steps, asked = [*self._turn(self.events[start:end], number)], self.events[start]
            if isinstance(asked, SubQuestionEvent):
                question = " → ".join(filter(None, (asked.text, asked.answer)))
                steps = [
                    replace(step, name=f"step {number} · {step.name}", asked=question)
                    for step in steps
                ]
            told.append(steps)
            yield from steps
        if self.distances:
            how = "After all messages" if len(told) == 1 else "The steps' rankings, merged in turn"
            scores = pd.concat([steps[-1].scores for steps in told], axis=1).max(axis=1)
            yield Step(
                "result",
                f"{how}; moves count since the start.",
                scores,
                self.final,
                told[0][0].places,
            )

    def _turn(self, events: Sequence[AnyEvent], number: int) -> Iterator[Step]:
        """Scores of the text alone, layer by layer the messages of each sender, and what is kept of the turn before."""
        scored = {event.passage: event.score for event in events if isinstance(event, InitialScore)}
        seeds = [event for event in events if isinstance(event, Seed)]
        sent = [event for event in events if isinstance(event, Message)]
        given = scored or {
            seed.passage: seed.score for seed in seeds
        }  # of a method that sends no messages
        near = [self.say(score) for score in sorted(given.values(), reverse=True)[: self.top]]
        what = (
            f"The {self.word} of each passage's own text"
            if scored
            else f"The {self.word}s of what was found"
        )
        caption = f"{what}: {near[0]} to {near[-1]} in the first {len(near)}."
        yield (step := self.step("start" if scored else "ranking", caption, given))
        for layer, (round, of_layer) in enumerate(
            groupby(seeds if scored else (), lambda seed: seed.round), start=1
        ):
            senders = {seed.passage: self.say(seed.score) for seed in of_layer}
            messages = [it for it in sent if it.round == round and it.source != it.target]
            n = len({message.target for message in messages})
            caption = f"The {len(senders)} nearest send their {self.word} to {count(n, 'passage')}"
            if messages:
                alpha = 1 - sum(
                    message.weight for message in messages if message.target == messages[0].target
                )
                caption += f": α · h + (1 − α) · m with α = {alpha:.3g}"
            notes = {id: f"sends {told}, its {self.word} before" for id, told in senders.items()}
            roles, name = dict.fromkeys(senders, "sender"), f"layer {layer} · sender"
            yield self.step(f"{name}s", f"{caption}.", step.scores, roles=roles, notes=notes)
            for i, (id, told) in enumerate(senders.items(), start=1):
                own = [message for message in messages if message.source == id]
                caption = f"{self.word.capitalize()} {told} goes to {count(len(own), 'passage')}."
                step = self._deliver(f"{name} {i} of {len(senders)}", caption, own, messages, step)
                yield replace(
                    step, roles={id: "sender"}, source=id, arrows=[(id, it.target) for it in own]
                )
        if kept := [message for message in sent if message.source == message.target]:
            caption = f"β · h + (1 − β) · ĥ, ĥ as it was after step {number - 1}."
            yield self._deliver("recurrence", caption, kept, kept, step)

    def _deliver(
        self, name: str, caption: str, sent: list[Message], among: list[Message], before: Step
    ) -> Step:
        """A passage gets its new score with the last of its messages."""
        heard: dict[str, list[Message]] = {}
        for message in among:
            heard.setdefault(message.target, []).append(message)
        due = {
            message.target: message.after
            for message in sent
            if heard[message.target][-1] is message
        }
        step = self.step(name, caption, before.scores.to_dict() | due, before, changed=[*due])
        notes = {}
        for message in sent:
            id, of = message.target, heard[message.target]
            weights, values = [it.weight for it in of], [it.value for it in of]
            mean = self.say(np.average(values, weights=weights if sum(weights) else None))
            told = (
                f"{1 - sum(weights):.3g} · {self.say(message.before)} + {sum(weights):.3g} · {mean}"
            )
            told += f" = {self.say(message.after)}{f' ({mean}: mean of {len(of)} senders)' * (len(of) > 1)}"
            notes[id] = (
                f"{told}, {step.move(id)}" if id in due else f"waits for more of its {len(of)}"
            )
        return replace(step, notes=notes)

    def _walk(self) -> Iterator[Step]:
        """Seeds, then each path that grows: where it could go on, and where it goes."""
        legs: dict[tuple[int, tuple[str, ...]], list[NodeVisit]] = {}
        for event in self.events:
            if isinstance(event, NodeVisit):
                legs.setdefault(
                    (event.round, (*event.before, event.source) if event.source else ()), []
                ).append(event)
        met = {event.passage: event.score for event in legs.pop((0, ()), self.ranking.trace.seeds)}
        roles, arrows = dict.fromkeys(met, "seed"), []
        best, last = max(met.values()), min(met.values())
        caption = f"{count(len(met), 'seed')}, found by a search for the question: score {best:.3g} to {last:.3g}."
        yield self.step("seeds", caption, met, roles=roles)
        rounds = [round for round, _ in legs]
        for number, ((round, path), visits) in enumerate(legs.items()):
            told = {
                visit.passage: f"{visit.score:.3g}{', met before' * (visit.passage in met)}"
                for visit in visits
            }
            arrows += [(path[-1], id) for id in told if id not in met]
            met = {visit.passage: visit.score for visit in visits} | met
            roles = dict.fromkeys(told, "visited") | roles
            name = f"hop {round} · path {rounds[:number].count(round) + 1} of {rounds.count(round)}"
            step = self.step(
                name,
                f"The path grows by the best: {'; '.join(told.values())}.",
                met,
                changed=[*told],
            )
            notes = {id: f"visited now: scores {score}" for id, score in told.items()}
            ways = [*pairwise(path), *((path[-1], id) for id in told)]
            asked = (
                f"Generated evidence: {visits[0].generated_evidence}"
                if visits[0].generated_evidence
                else ""
            )
            on_path = roles | dict.fromkeys(path, "path")
            yield replace(
                step, roles=on_path, notes=notes, arrows=ways, source=path[-1], asked=asked
            )
        caption = f"{count(len(met), 'passage')} met on the walk, {self.ranking.trace.n_scored:,} compared."
        scores = pd.Series(self.ranking.scores, self.ranking.ids, dtype=float).reindex(
            self.ids, fill_value=-np.inf
        )
        yield Step("result", caption, scores, self.final, self.final, roles, arrows=arrows)

    def choose(self) -> tuple[list[str], int]:
        """What is drawn, and how many of these whatever the method's settings."""
        base = dict.fromkeys([*self.gold, *self.steps[0].best(self.shown)])
        needed = dict.fromkeys([*base, *(id for step in self.steps for id in step.roles)])
        others = [] if self.walk else [*self.ranking.ids[: self.top]]
        for step in () if self.walk else self.steps:
            others += [
                *step.best(self.top),
                *sorted(step.changed, key=step.places.get)[:_RECEIVERS],
            ]
        return list(dict.fromkeys([*needed, *others]))[: max(_MOST, len(needed))], len(base)

    def frame(self, step: Step, drawn: Sequence[str], edges: Sequence[Edge]) -> Frame:
        """The step as a picture: states of the nodes that are drawn, arrows between them, and the ranking."""
        ranked, states, items, arrows = step.best(), {}, [], []
        for id in drawn:
            role, score = step.roles.get(id, "plain"), step.scores.get(id, -np.inf)
            if np.isfinite(score):
                note = step.notes.get(id) or f"{self.word} {self.say(score)}, {step.move(id)}"
                states[id] = NodeState(id, role, self.scale.value(self.number(score)), note)
            elif id in self.gold or not self.walk:
                states[id] = NodeState(id, "missed")
        moved = (step.before - step.places).to_dict()
        for id in [*ranked[: self.shown], *(id for id in ranked[self.shown :] if id in self.gold)]:
            place = None if step.places[id] == len(items) + 1 else int(step.places[id])
            items.append(RankItem(id, self.number(step.scores[id]), int(moved[id]), place))
        joined = {frozenset(edge.ends): edge.label for edge in edges}
        for way in step.arrows:
            if states.keys() >= {*way}:
                kinds, label = (
                    ("visit" if self.walk else "message",),
                    joined.get(frozenset(way), ""),
                )
                arrows.append(
                    Edge(*way, kinds, label, emphasised=way[0] == step.source, directed=True)
                )
        name = (
            f"{supports(self.question, ranked[: self.top])} in the first {self.top}"
            if self.gold
            else "ranking"
        )
        told = (
            f"{supports(self.question, ranked)} met"
            if self.walk and self.gold and step.name != "result"
            else name
        )
        seen = [id for id in step.changed or [step.source] if id in states]
        focus = max(seen, key=lambda id: (id in self.gold, moved[id]), default="")
        column, caption = (
            Column(name, tuple(items)),
            f"{step.caption} {told}." if self.gold else step.caption,
        )
        return Frame(
            step.name, caption, tuple(states.values()), tuple(arrows), (column,), step.asked, focus
        )


def supports(question: Question, ids: Sequence[str]) -> str:
    """How many of the question's supports are among the ids."""
    return f"{round(metrics.covered(question, ids) * question.hops)} of {question.hops} supports"
