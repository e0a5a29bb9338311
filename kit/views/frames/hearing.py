"""Frames of rounds in which passages hear of each other through entities (the graph reranker)."""

from msgspec.structs import replace

from kit.methods.trace import Hearing, InitialScore
from kit.views.frames.steps import ReplayStep, Story
from kit.views.replay import clip

_LETTERS = 40  # of a title in a note


class HearingStory(Story):
    """The ranking before any message, then a step per round: who rose, and whom it heard."""

    def read(self) -> list[ReplayStep]:
        scores = {}
        rounds = {}
        for event in self.events:
            if isinstance(event, InitialScore):
                scores[event.passage] = event.score
            elif isinstance(event, Hearing):
                rounds.setdefault(event.round, []).append(event)

        caption = f"{len(scores)} candidates, by their logistic scores."
        steps = [self.step("start", caption, scores)]
        for index, hearings in rounds.items():
            steps.append(self._round(index, hearings, steps[-1]))
        return steps

    def _round(self, index: int, hearings: list[Hearing], before: ReplayStep) -> ReplayStep:
        """The scores after a round; the first of the ranking, with whom they heard most of."""
        scores = {event.passage: event.after for event in hearings}
        step = self.step(
            f"round {index + 1}",
            "",
            scores,
            before,
        )
        first = step.best(self.top)
        arrows = []
        notes = {}
        for event in hearings:
            notes[event.passage] = self._note(event, step)
            if event.passage in first:
                arrows += [(sender.passage, event.passage) for sender in event.senders[:1]]

        risen = max(first, key=step.rise)
        sources = [source for source, target in arrows if target == risen]
        caption = "No passage rises."
        if step.rise(risen) > 0:
            caption = f"“{self._title(risen)}” rises most: {notes[risen]}."
        return replace(
            step,
            caption=caption,
            notes=notes,
            arrows=arrows,
            source="".join(sources),
            roles=dict.fromkeys(sources, "sender"),
            changed=[passage for passage in first if step.rise(passage) > 0],
        )

    def _note(self, event: Hearing, step: ReplayStep) -> str:
        """Where a passage stands, and what it heard."""
        parts = [step.move(event.passage)]
        for sender in event.senders:
            title = self._title(sender.passage)
            parts.append(f"{sender.share:.0%} from “{title}” through {sender.entity}")
        return "; ".join(parts)

    def _title(self, passage: str) -> str:
        return clip(self.corpus[passage].title, _LETTERS)
