"""Messages and recurrence as frames: scores that change as they arrive, question by question."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from math import ceil, floor
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from msgspec.structs import replace

from kit.corpus import Corpus, Question
from kit.retrievers import InitialScore, Message, Ranking, Seed, SubQuestionEvent
from kit.views.builder import Builder, count
from kit.views.replay import Column, Edge, Frame, NodeState, RankItem, Scale

if TYPE_CHECKING:
    pass

_MOST = 40  # nodes of a picture, unless there are more supports and senders
_FEW = 12  # so few passages are all shown
_LIFTED = 8  # of the passages that rise most, so many are drawn even where they do not come near the top


class Turn:
    """What follows from one question: scores of the text alone, layers of messages, scores kept from before.

    A layer has its senders, and the messages of each.
    """

    def __init__(self, events: Sequence[object]) -> None:
        self.asked = events[0] if isinstance(events[0], SubQuestionEvent) else None
        seeds = [event for event in events if isinstance(event, Seed)]
        messages = [event for event in events if isinstance(event, Message)]
        self.kept = [message for message in messages if message.source == message.target]
        scores = {event.passage: event.score for event in events if isinstance(event, InitialScore)}
        self.scores = scores or {seed.passage: seed.score for seed in seeds}  # of a method that sends no messages
        self.layers: list[dict[Seed, list[Message]]] = []
        for round in dict.fromkeys(seed.round for seed in seeds) if scores else ():
            sent = [message for message in messages if message.round == round and message.source != message.target]
            layer: dict[str, list[Message]] = {}
            for message in sent:
                layer.setdefault(message.source, []).append(message)
            self.layers.append({seed: layer.get(seed.passage, []) for seed in seeds if seed.round == round})


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
            sent = chain.from_iterable(messages for layer in turn.layers for messages in layer.values())
            end.update(pd.Series({message.target: message.after for message in (*sent, *turn.kept)}, dtype=float))
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
        senders = [seed.passage for turn in self.turns for layer in turn.layers for seed in layer]
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
            for number_of_layer, layer in enumerate(turn.layers, start=1):
                frames += self._layer(f"layer {number_of_layer}", layer)
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

    def _layer(self, name: str, layer: Mapping[Seed, list[Message]]) -> Iterator[Frame]:
        """The senders of a layer, then one after the other; a passage changes once it has heard its last sender."""
        heard: dict[str, list[Message]] = {}
        for message in chain.from_iterable(layer.values()):
            heard.setdefault(message.target, []).append(message)
        senders = {seed.passage: self.text(seed.score) for seed in layer}
        notes = {id: f"sends {score}, its {self.word} before this layer" for id, score in senders.items()}
        first, *_, last = [*senders.values()] * 2
        caption = f"The {len(senders)} nearest send their {self.word}, {first} to {last}"
        caption += f"; {count(len(heard), 'passage')} receive{'s' * (len(heard) == 1)}"
        if len(kept := {round(_sum(messages)[0], 6) for messages in heard.values()}) == 1:
            mean = ", m the mean of what it gets" * any(len(messages) > 1 for messages in heard.values())
            caption += f": α · h + (1 − α) · m with α = {_share(kept.pop())}{mean}"
        yield self._frame(f"{name} · senders", caption, self.standing, notes, senders=senders)
        waits = {target: len(messages) for target, messages in heard.items()}
        for number, (seed, messages) in enumerate(layer.items(), start=1):
            for message in messages:
                waits[message.target] -= 1
            due = [message for message in messages if not waits[message.target]]
            caption = f"{self.word.capitalize()} {self.text(seed.score)} goes to {count(len(messages), 'passage')}"
            if len(due) < len(messages):
                caption += f"; {len(due)} of them {'has' if len(due) == 1 else 'have'} all messages now"
            step = f"{name} · sender {number} of {len(layer)}"
            yield self._deliver(step, caption, due, heard, seed, messages)

    def _deliver(
        self,
        step: str,
        caption: str,
        due: Sequence[Message],
        heard: Mapping[str, Sequence[Message]],
        sender: Seed | None = None,
        sent: Sequence[Message] = (),
    ) -> Frame:
        """The targets of messages that are ``due`` get their new scores; those ``sent`` are drawn."""
        before = self.standing
        self.scores[[message.target for message in due]] = [message.after for message in due]
        self.standing = _ranks(self.scores)
        notes = {message.target: f"waits for more of its {len(heard[message.target])} messages" for message in sent}
        changed = {message.target: int(before[message.target] - self.standing[message.target]) for message in due}
        seen = [id for id in self.drawn if id in changed]
        notes |= {id: f"{self._arithmetic(heard[id])}{self._moved(id, before)}" for id in seen}
        own = sender.passage if sender else ""
        focus = max(seen, key=lambda id: (id in self.gold, changed[id]), default=own if self.drawn else "")
        told = f"sends {self.text(sender.score)}" if sender else ""
        edges = self.arrows([(message.source, message.target) for message in sent], "message", told, strong=own)
        return self._frame(step, caption, before, notes, senders=[own], edges=edges, focus=focus)

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


def _share(x: float) -> str:
    return f"{x:.2f}" if abs(x - round(x, 2)) < 1e-6 else f"{x:.3f}"
