"""A trace put in order: of messages, who sent what to whom on which question; of a walk, which path grew by what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from kit.retrievers import InitialScore, Message, NodeVisit, Seed, SubQuestionEvent, Trace


@dataclass
class Layer:
    """Messages that pass at once, by the id of their source; the senders stand in their order."""

    senders: list[Seed] = field(default_factory=list)
    messages: dict[str, list[Message]] = field(default_factory=dict)

    @property
    def by_target(self) -> dict[str, list[Message]]:
        """The messages by the id of their target, in the order of their senders."""
        found: dict[str, list[Message]] = {}
        for sender in self.senders:
            for message in self.messages.get(sender.passage, ()):
                found.setdefault(message.target, []).append(message)
        return found


@dataclass
class Turn:
    """What follows from one question: scores of the text alone, layers of messages, scores kept from before."""

    asked: SubQuestionEvent | None = None
    scores: dict[str, float] = field(default_factory=dict)
    layers: list[Layer] = field(default_factory=list)
    kept: list[Message] = field(default_factory=list)


def turns_of(trace: Trace) -> list[Turn]:
    """The turns of a trace: one a sub-question, or one for all.

    The seeds of a method that sends no messages are its scores.
    """
    turns: list[Turn] = []
    rounds: dict[int, Layer] = {}
    for step in trace.events:
        if isinstance(step, SubQuestionEvent) or not turns:
            turns.append(Turn(step if isinstance(step, SubQuestionEvent) else None))
        turn = turns[-1]
        if isinstance(step, InitialScore):
            turn.scores[step.passage] = step.score
        elif isinstance(step, Message) and step.source == step.target:
            turn.kept.append(step)
        elif isinstance(step, Seed | Message):
            if step.round not in rounds:
                rounds[step.round] = Layer()
                turn.layers.append(rounds[step.round])
            layer = rounds[step.round]
            if isinstance(step, Seed):
                layer.senders.append(step)
            else:
                layer.messages.setdefault(step.source, []).append(step)
    for turn in turns:
        if not turn.scores:
            turn.scores = {seed.passage: seed.score for layer in turn.layers for seed in layer.senders}
            turn.layers = []
    return turns


def message_sum(messages: Sequence[Message]) -> tuple[float, float, float, float]:
    """What all messages of a round to one passage come to: its share, its score before, their share, their mean value.

    The score after is share · before + share · mean.
    """
    weight = sum(message.weight for message in messages)
    values = [message.value for message in messages]
    weights = [message.weight for message in messages] if weight else [1.0] * len(values)
    mean = sum(w * v for w, v in zip(weights, values)) / sum(weights)
    return 1 - weight, messages[0].before, weight, mean


@dataclass
class Leg:
    """The visits by which one path grows; ``path`` are its passages so far, none where paths begin."""

    round: int
    path: tuple[str, ...]
    visits: list[NodeVisit] = field(default_factory=list)


def legs_of(trace: Trace) -> list[Leg]:
    """The legs of a walk in the order of their first visits."""
    legs: dict[tuple[int, tuple[str, ...]], Leg] = {}
    for step in trace.events:
        if isinstance(step, NodeVisit):
            key = step.round, ((*step.before, step.source) if step.source else ())
            legs.setdefault(key, Leg(*key)).visits.append(step)
    return list(legs.values())
