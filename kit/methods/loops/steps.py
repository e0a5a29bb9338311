"""What a loop of retrieval writes down: sub-questions, what they led to, how far a question is.

A sub-question of the small planner is a triple with a hole, ``<n0> > employer`` (what is the
employer of the first name?) or ``<n0> < employer`` (of whom is it the employer?), so that its
answers can be read off the triples of what was found. A chat model writes sentences.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

import msgspec

from kit.corpus import GoldQuery, PlainTriple, Query, Question
from kit.corpus.types import Indices, Strings
from kit.methods.trace import Exchange
from kit.text.placeholders import key_of

SUBQ = "[SUBQ]"  # the planner's word for going on …
SUFFICIENT = "[SUFFICIENT]"  # … for having enough …
NO_RETRIEVAL = "[NO_RETRIEVAL]"  # … and of a question that needs none (RAS §3.1)
UNREADABLE = "no reply that says what is next"  # in the place of such a word
MOST_STEPS = 12  # per question, those that need no retrieval included


class Hole(msgspec.Struct, frozen=True):
    """A triple with one open end: its subject if ``backward``, else its object."""

    entity: str
    relation: str
    backward: bool = False

    @property
    def text(self) -> str:
        """What is searched for."""
        if self.backward:
            return f"{self.relation} {self.entity}"
        return f"{self.entity} {self.relation}"

    def answers(self, triples: Iterable[PlainTriple]) -> list[str]:
        """The open ends of the triples that fit, without repeats, as they are written first."""
        key = key_of(self.entity)
        answers = {}
        for triple in triples:
            entity, relation, answer = reversed(triple) if self.backward else triple
            if relation == self.relation and key_of(entity) == key:
                answers.setdefault(key_of(answer), answer)
        return list(answers.values())


class Step(msgspec.Struct):
    """A sub-question q_i and what it led to.

    It has ``holes`` where the model writes such. ``rows`` are the passages that were found, best
    first (none where the answer was there already), ``triples`` g_i, what they add to the graph,
    and ``answers`` what was read off.
    """

    text: str
    holes: tuple[Hole, ...] = ()
    rows: Indices = ()
    triples: tuple[PlainTriple, ...] = ()
    answers: Strings = ()

    def read(self, triples: Iterable[PlainTriple]) -> Strings:
        """What fills all holes, by these triples."""
        names, *others = [hole.answers(triples) for hole in self.holes] or [[]]
        for fillers in others:
            keys = set(map(key_of, fillers))
            names = [name for name in names if key_of(name) in keys]
        return tuple(names)

    def is_answered_by(self, triple: PlainTriple) -> bool:
        """Whether one of the answers can be read off this triple."""
        answers = set(self.answers)
        return any(answers.intersection(hole.answers([triple])) for hole in self.holes)

    @property
    def sentence(self) -> str:
        """Sub-question and answers as a statement, for a search."""
        parts = [self.text, *self.answers]
        if any(hole.backward for hole in self.holes):
            parts = [*self.answers, self.text]
        return " ".join(parts)


@dataclass
class Trajectory:
    """A question and how far it has come.

    ``graph`` is G_Q: each triple with the row that said it first. ``ended`` tells what ended it,
    the model's last word or that there were retrievals or steps enough; it is empty until then.
    ``answer`` is what the loop itself says to the question, where it does, and ``exchanges`` are
    what a chat model was asked and replied.
    """

    query: Query
    steps: list[Step] = field(default_factory=list)
    graph: dict[PlainTriple, int] = field(default_factory=dict)
    ended: str = ""
    answer: str = ""
    exchanges: list[Exchange] = field(default_factory=list, compare=False)

    @property
    def last(self) -> Step:
        """The step that was taken last."""
        return self.steps[-1]

    @property
    def last_answer(self) -> str:
        """What answers the step that was taken last, in a line."""
        return ", ".join(self.last.answers) if self.steps else ""

    @property
    def goes_on(self) -> bool:
        """Whether a next step may be taken."""
        return not self.ended and len(self.steps) < MOST_STEPS

    def is_ended_by(self, step: Step | None) -> bool:
        """Whether there is no next step, or it was taken before."""
        return step is None or step.text in [earlier.text for earlier in self.steps]

    @property
    def n_retrievals(self) -> int:
        return sum(bool(step.rows) for step in self.steps)

    @property
    def rows(self) -> list[int]:
        """Passages that answered a step; then the first of each retrieval, the second of each …"""
        rows = []
        for step in self.steps:
            rows += [row for triple, row in self.graph.items() if step.is_answered_by(triple)]

        retrievals = [step.rows for step in self.steps if step.rows]
        for same_rank in zip_longest(*retrievals):
            rows += [row for row in same_rank if row is not None]
        return list(dict.fromkeys(rows))

    def exchanges_in(self, position: int) -> list[Exchange]:
        """What a chat model was asked about a step; of the last, also whether another is needed."""
        last = max(len(self.steps) - 1, 0)
        return [exchange for exchange in self.exchanges if min(exchange.round, last) == position]

    def up_to(self, n: int) -> Trajectory:
        """As it was after n steps."""
        steps = self.steps[:n]
        triples = {triple for step in steps for triple in step.triples}
        ended = self.ended if n >= len(self.steps) else SUBQ
        return Trajectory(
            self.query,
            steps,
            {triple: row for triple, row in self.graph.items() if triple in triples},
            ended,
        )


Trajectories = Sequence[Trajectory]  # of questions that are answered side by side
NextSteps = list[Step | None]  # of each question; None where there is enough


def gold_steps(query: Query) -> list[Step]:
    """The sub-questions of the data set with their answers, each ``#1`` filled with the first.

    Where there are none, the gold triples are asked (subject >> relation), as MuSiQue words such
    sub-questions, and without these the query's text line by line: so one can type sub-questions.
    """
    steps = _labelled_steps(query.question) if isinstance(query, GoldQuery) else []
    if steps:
        return steps
    lines = [line for line in query.text.splitlines() if line.strip()]
    return [Step(line) for line in lines or [query.text]]


def _labelled_steps(question: Question) -> list[Step]:
    parts = question.decomposition
    if parts:
        answers = [part.answer for part in parts]
        return [Step(part.filled(answers), answers=(part.answer,)) for part in parts]
    return [
        Step(f"{subject} >> {relation}", answers=(answer,))
        for subject, relation, answer in question.triples
    ]
