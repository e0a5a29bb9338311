"""Frames of walks from passage to passage (KGP §5; MDR), a step per path that grows."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise

import pandas as pd

from kit.methods.trace import NodeVisit
from kit.views.frames.steps import UNMET, ReplayStep, Story
from kit.views.replay import count


class WalkStory(Story):
    """Seeds, then each path that grows: where it could go on, and where it goes."""

    arrow_kind = "visit"
    is_walk = True

    def read(self) -> list[ReplayStep]:
        legs = defaultdict(list)  # the visits of a hop, by the path that grows
        for event in self.events:
            if isinstance(event, NodeVisit):
                path = ()
                if event.source:
                    path = (*event.before, event.source)
                legs[event.round, path].append(event)

        seeds = legs.pop((0, ()), self.ranking.trace.seeds)
        self.met = {event.passage: event.score for event in seeds}
        self.roles = dict.fromkeys(self.met, "seed")
        self.first_visits = []
        steps = [self._start()]
        hops = [hop for hop, _ in legs]
        for index, ((hop, path), visits) in enumerate(legs.items()):
            rank = hops[:index].count(hop) + 1
            name = f"hop {hop} · path {rank} of {hops.count(hop)}"
            steps.append(self._grow(name, path, visits))
        return [*steps, self._result()]

    def _start(self) -> ReplayStep:
        scores = self.met.values()
        caption = f"{count(len(scores), 'seed')}, found by a search for the question"
        return self.step(
            "seeds",
            f"{caption}: score {self.in_words(max(scores))} to {self.in_words(min(scores))}.",
            self.met,
            roles=self.roles,
        )

    def _grow(self, name: str, path: tuple[str, ...], visits: Sequence[NodeVisit]) -> ReplayStep:
        """A path goes on to the passages that scored best."""
        end = path[-1]
        scores = {}
        n_met = 0
        for visit in visits:
            scores[visit.passage] = self.in_words(visit.score)
            if visit.passage in self.met:
                scores[visit.passage] += ", met before"
                n_met += 1
        before = f", {n_met} of them met before" if n_met else ""

        arrows = [(end, passage) for passage in scores]
        self.first_visits += [arrow for arrow in arrows if arrow[1] not in self.met]
        self.met = {visit.passage: visit.score for visit in visits} | self.met
        self.roles = dict.fromkeys(scores, "visited") | self.roles
        evidence = visits[0].generated_evidence
        if evidence:
            evidence = f"Generated evidence: {evidence}"
        return self.step(
            name,
            f"The path goes on to {count(len(scores), 'passage')}{before}.",
            self.met,
            changed=list(scores),
            roles=self.roles | dict.fromkeys(path, "path"),
            notes={passage: f"visited now: scores {score}" for passage, score in scores.items()},
            arrows=[*pairwise(path), *arrows],
            source=end,
            sub_question=evidence,
        )

    def _result(self) -> ReplayStep:
        # Paths are ranked by sums of standardised scores, another scale than that of the steps: a
        # passage keeps the score that it was met with, and one that fills up the ranking the least.
        scores = pd.Series(min(self.met.values()), self.ranking.ids, dtype=float)
        scores.update(pd.Series(self.met, dtype=float))
        caption = f"{count(len(self.met), 'passage')} met on the walk"
        return ReplayStep(
            "result",
            f"{caption}, {self.ranking.trace.n_scored:,} compared.",
            scores.reindex(self.passages, fill_value=UNMET),
            self.final_ranks,
            self.final_ranks,
            self.roles,
            arrows=self.first_visits,
        )
