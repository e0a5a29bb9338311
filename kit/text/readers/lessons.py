"""What a reader learns from: questions, their steps, and passages in which to look for the answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from kit.corpus import Corpus, Question
from kit.text.readers.network import NOWHERE, SPAN
from kit.text.readers.span_model import SpanModel
from kit.text.readers.windows import Tokens, Window
from kit.text.scoring import contains, normalise
from kit.text.tfidf import TfidfIndex

OFFERED = 10  # passages nearest to a question, from which distractors are drawn
FILLED = 512  # tokens up to which distractors join the supports, at most: about five passages of an encyclopaedia
HIDDEN = 0.1  # the share of questions that are shown without what answers them
COMMON = 0.01  # the share of questions from which on an answer that no support holds is a closed one


class Lesson(NamedTuple):
    """A question or a step of one, its answers, and the rows of its supports and of the passages nearest to it."""

    question: str
    answers: tuple[str, ...]
    supports: tuple[int, ...]
    near: tuple[int, ...]
    step: bool

    def moved(self, by: int) -> Lesson:
        """The same with its rows moved: those of a corpus that comes after ``by`` other passages."""
        supports, near = (tuple(row + by for row in rows) for rows in (self.supports, self.near))
        return self._replace(supports=supports, near=near)


class Example(NamedTuple):
    """A window with what is to be found in it: the kind of answer, and all of its places if it is a span."""

    window: Window
    kind: int
    spans: tuple[tuple[int, int], ...] = ()


def lessons(questions: Sequence[Question], corpus: Corpus, *, steps: bool) -> list[Lesson]:
    """A lesson a question that has an answer and supports; with ``steps``, one also for each step of a decomposition.

    A step teaches on one passage what a question needs several for. ``#1`` in its text becomes the first step's answer.
    """
    found: dict[tuple[str, str], tuple[str, tuple[str, ...], tuple[str, ...], bool]] = {}
    for question in questions:
        if question.answer and question.supporting:
            answers = (question.answer, *question.aliases)
            found[question.text, question.answer] = (question.text, answers, question.supporting_ids, False)
        for step in question.decomposition if steps else ():
            if step.answer and step.support is not None:
                text = step.filled([each.answer for each in question.decomposition])
                taught = (text, (step.answer,), question.supporting[step.support], True)
                found.setdefault((text, step.answer), taught)
    near = TfidfIndex(corpus).nearest([text for text, *_ in found.values()], OFFERED)
    made = []
    for (text, answers, ids, step), rows in zip(found.values(), near):
        supports = tuple(corpus.row[id] for id in ids)
        made.append(Lesson(text, answers, supports, tuple(row for row in rows if row not in supports), step))
    return made


def closed_answers(taught: Sequence[Lesson], texts: Sequence[str]) -> tuple[str, ...]:
    """The answers that are no span: yes and no, and common ones that the supports mostly don't hold, such as counts."""
    counts, missing = Counter[str](), Counter[str]()
    for lesson in taught:
        answer = normalise(lesson.answers[0])
        counts[answer] += 1
        missing[answer] += not any(contains(texts[row], lesson.answers[:1]) for row in lesson.supports)
    common = [
        answer
        for answer, count in counts.items()
        if answer and count >= max(2, COMMON * len(taught)) and 2 * missing[answer] > count
    ]
    return ("yes", "no", *sorted(set(common) - {"yes", "no"}))


class Examples:
    """Examples of lessons, drawn anew each time: other distractors, another order, sometimes without the answer."""

    def __init__(self, model: SpanModel, questions: dict[str, Tokens], passages: Sequence[Tokens]) -> None:
        self.model, self.questions, self.passages = model, questions, passages

    def draw(self, lesson: Lesson, generator: np.random.Generator) -> list[Example]:
        """The examples of a lesson: mostly one, several where its passages fill several windows."""
        closed = self.closed(lesson)
        holding = self._holding(lesson, closed, generator)
        hidden = not lesson.step and generator.random() < HIDDEN
        shown = [row for row in lesson.supports if not (hidden and row in holding)]
        rows = self.with_distractors(shown, lesson, generator)
        windows = self.model.windows(self.questions[lesson.question], [self.passages[row] for row in rows])
        if closed is not None:
            kind = closed if len(windows) == 1 and not hidden else NOWHERE
            return [Example(window, kind) for window in windows]
        if hidden:
            return [Example(window, NOWHERE) for window in windows]
        return [self._with_spans(window, lesson, shown) for window in windows] if holding else []

    def closed(self, lesson: Lesson) -> int | None:
        """The kind of the lesson's answer where it is a closed one."""
        answer = normalise(lesson.answers[0])
        return NOWHERE + 1 + self.model.closed.index(answer) if answer in self.model.closed else None

    def _holding(self, lesson: Lesson, closed: int | None, generator: np.random.Generator) -> set[int]:
        """The supports without which there is no answer: any one where it is closed, else those that it stands in."""
        if closed is not None:
            return {int(generator.choice(lesson.supports))}
        return {row for row in lesson.supports if contains(self.passages[row].text, lesson.answers)}

    def with_distractors(self, shown: Sequence[int], lesson: Lesson, generator: np.random.Generator) -> list[int]:
        """The rows in any order, with passages near to the question up to a size drawn anew, so that some have none."""
        rows = list(dict.fromkeys(shown))
        filled = len(self.questions[lesson.question].ids) + sum(len(self.passages[row].ids) for row in rows)
        most = generator.uniform(0, FILLED)
        for row in generator.permutation(lesson.near):
            filled += len(self.passages[row].ids)
            if filled > most:
                break
            rows.append(int(row))
        return [rows[place] for place in generator.permutation(len(rows))]

    def _with_spans(self, window: Window, lesson: Lesson, supports: Sequence[int]) -> Example:
        sources = {lesson.question, *(self.passages[row].text for row in supports)}
        spans = [
            span for span in window.occurrences(lesson.answers) if window.sources[window.texts[span[0]]] in sources
        ]
        return Example(window, SPAN, tuple(spans)) if spans else Example(window, NOWHERE)
