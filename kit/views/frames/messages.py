"""Frames of messages between passages (GNN-Ret, RGNN-Ret), and of a plain search.

A step per sender shows its messages, with the arithmetic at each passage that they reach:

====== ==============================================================
α      1 − Σ ``weight`` of a layer's messages to one passage
h, m   ``before``, and the mean of the ``value`` s by their weights
β, ĥ   the same of a message to itself: its score in the step before
====== ==============================================================
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import chain, groupby, pairwise

import numpy as np
import pandas as pd
from msgspec.structs import replace

from kit.methods.trace import AnyEvent, InitialScore, Message, Seed, SubQuestionEvent
from kit.views.frames.exchanges import in_words
from kit.views.frames.steps import ReplayStep, Story
from kit.views.replay import count


class MessageStory(Story):
    """A turn for each sub-question, or one for all; then what came of them."""

    def read(self) -> list[ReplayStep]:
        starts = [
            position
            for position, event in enumerate(self.events)
            if position == 0 or isinstance(event, SubQuestionEvent)
        ]

        turns = []
        for turn, (start, end) in enumerate(pairwise([*starts, None]), start=1):
            steps = self._turn(self.events[start:end], turn)
            opening = self.events[start]
            if isinstance(opening, SubQuestionEvent):
                sub_question = opening.text
                if opening.answer:
                    sub_question += f" → {opening.answer}"
                steps = [
                    replace(
                        step,
                        name=f"step {turn} · {step.name}",
                        sub_question=sub_question,
                    )
                    for step in steps
                ]
            said = in_words(self.events[start:end])
            steps[0] = replace(steps[0], caption=steps[0].caption + said)
            turns.append(steps)

        if self.has_distances:
            turns.append([self._result(turns)])
        return list(chain(*turns))

    def _turn(self, events: Sequence[AnyEvent], turn: int) -> list[ReplayStep]:
        """Scores of the text alone, the layers of messages, what is kept of the turn before."""
        seeds = [event for event in events if isinstance(event, Seed)]
        texts = [event for event in events if isinstance(event, InitialScore)]
        if not texts:  # of a method that sends no messages
            return [self._start("ranking", "What was found", seeds)]

        steps = [self._start("start", "Before any message", texts)]
        sent = defaultdict(list)  # messages by round
        kept = []
        for event in events:
            if isinstance(event, Message):
                if event.source == event.target:
                    kept.append(event)
                else:
                    sent[event.round].append(event)

        rounds = groupby(seeds, lambda seed: seed.round)
        for layer, (index, senders) in enumerate(rounds, start=1):
            name = f"layer {layer} · sender"
            steps += self._layer(name, senders, sent[index], steps[-1])
        if kept:
            caption = f"β · h + (1 − β) · ĥ, ĥ as it was after step {turn - 1}."
            step = self._deliver(
                "recurrence",
                caption,
                kept,
                kept,
                steps[-1],
            )
            steps.append(step)
        return steps

    def _start(self, name: str, caption: str, events: Sequence[InitialScore | Seed]) -> ReplayStep:
        scores = {event.passage: event.score for event in events}
        nearest = sorted(scores.values(), reverse=True)[: self.top]
        first = self.in_words(nearest[0])
        last = self.in_words(nearest[-1])
        return self.step(
            name,
            f"{caption}: {self.measure} {first} to {last} in the first {len(nearest)}.",
            scores,
        )

    def _layer(
        self,
        name: str,
        seeds: Iterable[Seed],
        messages: list[Message],
        before: ReplayStep,
    ) -> list[ReplayStep]:
        """The senders of a layer, then the messages of each."""
        senders = {seed.passage: self.in_words(seed.score) for seed in seeds}
        n_targets = len({message.target for message in messages})
        caption = (
            f"The {len(senders)} nearest send their {self.measure} to {count(n_targets, 'passage')}"
        )
        if messages:
            target = messages[0].target
            alpha = 1 - sum(message.weight for message in messages if message.target == target)
            caption += f": α · h + (1 − α) · m with α = {alpha:.3g}"

        step = self.step(
            f"{name}s",
            f"{caption}.",
            before.scores,
            roles=dict.fromkeys(senders, "sender"),
            notes={
                sender: f"sends {score}, its {self.measure} before"
                for sender, score in senders.items()
            },
        )
        steps = [step]
        for rank, (sender, score) in enumerate(senders.items(), start=1):
            sent = [message for message in messages if message.source == sender]
            step = self._deliver(
                f"{name} {rank} of {len(senders)}",
                f"Its {self.measure}, {score}, goes to {count(len(sent), 'passage')}.",
                sent,
                messages,
                step,
            )
            step = replace(
                step,
                roles={sender: "sender"},
                source=sender,
                arrows=[(sender, message.target) for message in sent],
            )
            steps.append(step)
        return steps

    def _deliver(
        self,
        name: str,
        caption: str,
        sent: list[Message],
        messages: list[Message],
        before: ReplayStep,
    ) -> ReplayStep:
        """A passage gets its new score with the last of the round's ``messages`` to it."""
        arriving = defaultdict(list)
        for message in messages:
            arriving[message.target].append(message)

        changed = {}
        for message in sent:
            if message is arriving[message.target][-1]:
                changed[message.target] = message.after
        scores = before.scores.to_dict() | changed
        step = self.step(
            name,
            caption,
            scores,
            before,
            changed=list(changed),
        )

        notes = {}
        for message in sent:
            target = message.target
            notes[target] = f"waits for more of its {len(arriving[target])}"
            if target in changed:
                notes[target] = f"{self._sum(message, arriving[target])}, {step.move(target)}"
        return replace(step, notes=notes)

    def _sum(self, message: Message, arriving: Sequence[Message]) -> str:
        """How a passage's new score comes from its old one and all that arrives."""
        weights = [message.weight for message in arriving]
        values = [message.value for message in arriving]
        total = sum(weights)
        mean = np.average(values, weights=weights) if total else np.mean(values)
        before, mean, after = map(self.in_words, (message.before, mean, message.after))
        note = f"{1 - total:.3g} · {before} + {total:.3g} · {mean} = {after}"
        if len(arriving) > 1:
            note += f" ({mean}: mean of {len(arriving)} senders)"
        return note

    def _result(self, turns: Sequence[Sequence[ReplayStep]]) -> ReplayStep:
        """The ranking, with the best score that each passage has in any turn."""
        caption = "After all messages"
        if len(turns) > 1:
            caption = "The rankings of all steps, merged in turn"
        scores = pd.concat([steps[-1].scores for steps in turns], axis=1)
        return ReplayStep(
            "result",
            f"{caption}, compared with the start.",
            scores.max(axis=1),
            self.final_ranks,
            turns[0][0].ranks,
        )
