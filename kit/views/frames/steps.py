"""The steps of a trace: read once, and drawn in the same way for all methods."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
import pandas as pd
from msgspec.structs import replace

from kit.corpus import Corpus, Question
from kit.corpus.types import Texts
from kit.evaluation import metrics
from kit.graphs import PassageGraph
from kit.methods.base import Ranking
from kit.methods.trace import InitialScore, Message, NodeVisit, Seed
from kit.views.layout import arrange
from kit.views.names import with_minus
from kit.views.replay import Column, Edge, Frame, NodeState, RankItem, Replay, Scale

_MOST = 40  # nodes of a picture, unless there are more supports, senders and visits
_FEW = 12  # so few passages are all listed
_RECEIVERS = 3  # of a sender, drawn even where they do not come near the top
UNMET = -np.inf  # the score of a passage that was not met


class ReplayStep(msgspec.Struct, frozen=True):
    """One step, whatever the method: the scores after it (−∞: not met), and what it does."""

    name: str
    caption: str
    scores: pd.Series
    ranks: pd.Series
    ranks_before: pd.Series  # those that moves are counted from
    roles: dict[str, str] = {}
    notes: dict[str, str] = {}
    arrows: Sequence[tuple[str, str]] = ()
    source: str = ""  # whose arrows stand out
    changed: Texts = ()
    sub_question: str = ""

    def best(self, k: int | None = None) -> list[str]:
        """The first k passages that were met."""
        met = self.ranks[np.isfinite(self.scores)]
        return met.sort_values().index[:k].tolist()

    def rise(self, passage: str) -> int:
        """How many ranks a passage rose; negative where it fell."""
        return int(self.ranks_before[passage] - self.ranks[passage])

    def move(self, passage: str) -> str:
        """Where a passage stands after the step, and before it if that is elsewhere."""
        after = f"{self.ranks[passage]:,}"
        if self.rise(passage):
            return f"place {self.ranks_before[passage]:,} → {after}"
        return f"place {after}"


class Story:
    """Reads a trace as steps, and draws them as frames.

    A subclass says how its kind of trace is read (:meth:`read`).
    """

    arrow_kind = "message"
    is_walk = False  # of a walk, only what was met is drawn

    def __init__(
        self, ranking: Ranking, corpus: Corpus, question: Question | None, top: int
    ) -> None:
        self.ranking = ranking
        self.corpus = corpus
        self.question = question
        self.top = top
        self.events = ranking.trace.events

        supports = question.supporting_ids if question else ()
        self.supports = [passage for passage in supports if passage in corpus]

        passages = set(ranking.ids)
        for event in self.events:
            if isinstance(event, InitialScore | Seed | NodeVisit):
                passages.add(event.passage)
        self.passages = sorted(passages, key=corpus.row.__getitem__)
        n = len(passages)
        self.n_listed = top if n > _FEW else _FEW
        ranks = pd.Series(range(1, len(ranking.ids) + 1), ranking.ids)
        self.final_ranks = ranks.reindex(self.passages, fill_value=n)

        self.has_distances = any(isinstance(event, Message) for event in self.events)
        self.measure = "distance" if self.has_distances else "score"
        self.steps = self.read()

        scores = pd.concat([step.scores for step in self.steps if step.name != "result"])
        met = scores[np.isfinite(scores)]
        self.scale = Scale(
            self.measure,
            self.measured(met.min()),
            self.measured(met.max()),
        )

    def read(self) -> list[ReplayStep]:
        """The steps that the events tell of."""
        raise NotImplementedError

    def replay(self, graph: PassageGraph | None) -> Replay:
        """The steps as frames over a graph; without one, only their rankings."""
        if not graph:
            frames = [self._frame(step, (), ()) for step in self.steps]
            return Replay.from_frames(frames, self.corpus, self.question, {}, by_rank=True)

        drawn, n_fixed = self._choose()
        edges, positions = arrange(drawn, n_fixed, len(self.supports), graph)
        return Replay.from_frames(
            [self._frame(step, drawn, edges) for step in self.steps],
            self.corpus,
            self.question,
            positions,
            edges=edges,
            scale=self.scale,
            by_rank=True,
        )

    # ---- what the steps are made with

    def measured(self, score: float) -> float:
        """A score as it is shown."""
        if self.has_distances:
            score = 1 - score
        return round(float(score), 6)

    def in_words(self, score: float) -> str:
        words = f"{self.measured(score):.3f}" if self.has_distances else f"{score:.3g}"
        return with_minus(words)

    def step(
        self,
        name: str,
        caption: str,
        scores: Mapping[str, float] | pd.Series,
        previous: ReplayStep | None = None,
        **fields: Any,
    ) -> ReplayStep:
        """A step to these scores; equal ones stand in corpus order."""
        every = pd.Series(scores, self.passages, dtype=float).fillna(UNMET)
        ranks = every.rank(ascending=False, method="first").astype(int)
        before = previous.ranks if previous else ranks
        return ReplayStep(name, caption, every, ranks, before, **fields)

    # ---- how they are drawn

    def _choose(self) -> tuple[list[str], int]:
        """What is drawn, and how many of these whatever the method's settings."""
        fixed = dict.fromkeys([*self.supports, *self.steps[0].best(self.n_listed)])
        needed = list(fixed)
        others = []
        if not self.is_walk:
            others += self.ranking.ids[: self.top]
        for step in self.steps:
            needed += step.roles
            if not self.is_walk:
                receivers = sorted(step.changed, key=step.ranks.get)
                others += step.best(self.top)
                others += receivers[:_RECEIVERS]

        most = max(_MOST, len(set(needed)))
        drawn = dict.fromkeys(needed + others)
        return list(drawn)[:most], len(fixed)

    def _frame(self, step: ReplayStep, drawn: Texts, edges: Sequence[Edge]) -> Frame:
        """The step as a picture: its nodes, the arrows between them, and the ranking."""
        states = self._states(step, drawn)
        ranking = tuple(self._ranking(step))
        shown = {part.node for part in states or ranking}
        heading = "ranking"
        caption = step.caption
        if self.supports:
            first = step.best(self.top)
            heading = f"{covered_supports(self.question, first)} in the first {self.top}"
            success = heading
            if self.is_walk and step.name != "result":
                success = f"{covered_supports(self.question, step.best())} met"
            caption += f" {success}."

        changed = [passage for passage in step.changed or [step.source] if passage in shown]
        focus = max(
            changed,
            key=lambda passage: (passage in self.supports, step.rise(passage)),
            default="",
        )
        return Frame(
            step.name,
            caption,
            tuple(states),
            tuple(self._arrows(step, shown, edges)),
            (Column(heading, ranking),),
            step.sub_question,
            focus,
        )

    def _states(self, step: ReplayStep, drawn: Texts) -> list[NodeState]:
        states = []
        for passage in drawn:
            score = step.scores.get(passage, UNMET)
            if np.isfinite(score):
                note = f"{self.measure} {self.in_words(score)}, {step.move(passage)}"
                state = NodeState(
                    passage,
                    step.roles.get(passage, "plain"),
                    self.scale.value(self.measured(score)),
                    step.notes.get(passage, note),
                )
                states.append(state)
            elif passage in self.supports or not self.is_walk:
                states.append(NodeState(passage, "missed"))
        return states

    def _arrows(self, step: ReplayStep, shown: set[str], edges: Sequence[Edge]) -> Iterator[Edge]:
        """The arrows of the step, each with the label of the edge that it goes along."""
        labels = {frozenset(edge.ends): edge.label for edge in edges}
        for ends in step.arrows:
            if shown.issuperset(ends):
                yield Edge(
                    *ends,
                    (self.arrow_kind,),
                    labels.get(frozenset(ends), ""),
                    emphasised=ends[0] == step.source,
                    directed=True,
                )

    def _ranking(self, step: ReplayStep) -> Iterator[RankItem]:
        """The first passages of the ranking, and supports that come later."""
        position = 0
        for index, passage in enumerate(step.best()):
            if index < self.n_listed or passage in self.supports:
                position += 1
                rank = int(step.ranks[passage])
                item = RankItem(
                    passage,
                    self.measured(step.scores[passage]),
                    step.rise(passage),
                )
                yield item if rank == position else replace(item, rank=rank)


def covered_supports(question: Question, passages: Texts) -> str:
    """How many of the question's supports are among the passages."""
    n_covered = round(metrics.covered(question, passages) * question.hops)
    return f"{n_covered} of {question.hops} supports"
