"""A reader learns: the likelihood of the right answers in windows with distractors, and of "nowhere" without them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from kit.corpus import Benchmark, Corpus, Question
from kit.text.encoder import Encoder
from kit.text.precision import mixed_precision
from kit.text.scoring import contains, exact_match, f1, normalise
from kit.text.span_model import NOWHERE, SPAN, Batch, SpanModel, SpanNetwork, Window, by_length, tokenise
from kit.text.tfidf import TfidfIndex
from kit.text.training import CHECKS, Period, parts_of_epoch, train

N_DISTRACTORS = 10  # passages nearest to a question, from which distractors are drawn
FILLED = 512  # tokens up to which distractors join the supports, at most: about five passages of an encyclopaedia
HIDDEN = 0.1  # the share of questions that are shown without what answers them
COMMON = 0.01  # the share of questions from which on an answer that no support holds is a closed one
DEV_QUESTIONS, DEV_PASSAGES = 64, 5  # how a reader is chosen: EM and F1 on supports among distractors
HEAD_RATE = 10  # times the learning rate, for the heads, which start from nothing


class Lesson(NamedTuple):
    """A question or a step of one, its answers, and the rows of its supports and of the passages nearest to it."""

    question: str
    answers: tuple[str, ...]
    supports: tuple[int, ...]
    near: tuple[int, ...]
    step: bool


class Example(NamedTuple):
    """A window with what is to be found in it: the kind of answer, and all of its places if it is a span."""

    window: Window
    kind: int
    spans: tuple[tuple[int, int], ...] = ()


def train_reader(
    base: Encoder,
    benchmarks: Sequence[Benchmark],
    *,
    epochs: int,
    tokens: int,
    learning_rate: float,
    seed: int,
    kind: str,
    key: str,
) -> Path:
    """Train on the encoder's transformer and keep the reader in the encoder's store: its folder.

    All benchmarks' training questions are learned from, the first one's dev questions are chosen on. It has the history
    of :func:`kit.text.training.train` too, with ``em`` and ``f1`` of dev questions.
    """
    lessons = Lessons(base, benchmarks, seed)
    network = lessons.model.network
    heads = (network.ends, network.kinds, network.marks)
    groups = [
        {"params": network.upper.parameters()},
        {"params": [each for part in heads for each in part.parameters()], "times": HEAD_RATE},
    ]

    def period(number: int) -> Period:
        batches = lessons.batches(*divmod(number, CHECKS), tokens)
        # The periods have nearly as many batches each, and how many is not known before they are drawn.
        return Period(batches, number * len(batches), epochs * CHECKS * len(batches), learning_rate)

    def loss(batch: Sequence[Example]) -> Tensor:
        with mixed_precision():
            parts = network(Batch([example.window for example in batch], network.device))
        return loss_of(batch, *parts)

    return train(
        network,
        torch.optim.AdamW(groups, weight_decay=0.01),
        [partial(period, number) for number in range(epochs * CHECKS)],
        loss,
        store=base.store,
        kind=kind,
        key=key,
        write=lessons.model.write,
        check=lessons.check if lessons.dev else None,
        latest_of_equals=True,
        desc="training the reader",
    )


def loss_of(batch: Sequence[Example], first: Tensor, last: Tensor, kinds: Tensor) -> Tensor:
    """Minus the mean log-likelihood: of the kind, and of a span the sum over all places where it stands."""
    losses = []
    for number, example in enumerate(batch):
        loss = -kinds[number, example.kind]
        if example.kind == SPAN:
            starts, ends = (list(places) for places in zip(*example.spans))
            loss = loss - torch.logsumexp(first[number, starts] + last[number, ends], 0)
        losses.append(loss)
    return torch.stack(losses).mean()


def lessons_of(questions: Sequence[Question], corpus: Corpus, *, steps: bool, before: int = 0) -> list[Lesson]:
    """A lesson a question that has an answer and supports; with ``steps``, one also for each step of a decomposition.

    A step teaches on one passage what a question needs several for. ``#1`` in its text becomes the first step's answer.
    Rows are those of a corpus that comes after ``before`` other passages.
    """
    found: dict[tuple[str, str], tuple[tuple[str, ...], tuple[str, ...], bool]] = {}
    for question in questions:
        if question.answer and question.supporting:
            answers = (question.answer, *question.aliases)
            found[question.text, question.answer] = (answers, question.supporting_ids, False)
        for step in question.decomposition if steps else ():
            if step.answer and step.support is not None:
                text = step.filled([each.answer for each in question.decomposition])
                found.setdefault((text, step.answer), ((step.answer,), question.supporting[step.support], True))
    near = TfidfIndex(corpus).nearest([text for text, _ in found], N_DISTRACTORS)
    made = []
    for (text, _), (answers, ids, step), rows in zip(found, found.values(), near):
        supports = [corpus.row[id] for id in ids]
        others = [row + before for row in rows if row not in supports]
        made.append(Lesson(text, answers, tuple(row + before for row in supports), tuple(others), step))
    return made


def closed_answers(lessons: Sequence[Lesson], texts: Sequence[str]) -> tuple[str, ...]:
    """The answers that are no span: yes and no, and common ones that the supports mostly don't hold, such as counts."""
    counts, missing = Counter[str](), Counter[str]()
    for lesson in lessons:
        answer = normalise(lesson.answers[0])
        counts[answer] += 1
        missing[answer] += not any(contains(texts[row], lesson.answers[:1]) for row in lesson.supports)
    common = [
        answer
        for answer, count in counts.items()
        if answer and count >= max(2, COMMON * len(lessons)) and 2 * missing[answer] > count
    ]
    return ("yes", "no", *sorted(set(common) - {"yes", "no"}))


class Lessons:
    """What is learned from and chosen on. Examples are drawn anew each time: other distractors, another order."""

    def __init__(self, base: Encoder, benchmarks: Sequence[Benchmark], seed: int) -> None:
        self.seed = seed
        self.train: list[Lesson] = []
        self.texts: list[str] = []  # of the passages of all benchmarks
        for each in benchmarks:
            self.train += lessons_of(each.train, each.corpus, steps=True, before=len(self.texts))
            self.texts += (passage.full_text for passage in each.corpus.passages)
        dev = lessons_of(benchmarks[0].dev, benchmarks[0].corpus, steps=False)
        self.dev = [dev[pick] for pick in sorted(np.random.default_rng(seed).permutation(len(dev))[:DEV_QUESTIONS])]
        closed = closed_answers([lesson for lesson in self.train if not lesson.step], self.texts)
        transformer = base.model[0]
        network = SpanNetwork(transformer.auto_model, len(closed), seed)
        self.model = SpanModel(transformer.tokenizer, network, closed)
        texts = list(dict.fromkeys([*(lesson.question for lesson in [*self.train, *self.dev]), *self.texts]))
        self.tokens = dict(zip(texts, tokenise(transformer.tokenizer, texts)))

    def check(self, step: int) -> dict[str, float]:
        """Answers to the dev questions from their supports among distractors."""
        generator = np.random.default_rng(self.seed)
        contexts = [
            [self.texts[row] for row in generator.permutation([*lesson.supports, *lesson.near][:DEV_PASSAGES])]
            for lesson in self.dev
        ]
        answers = self.model.answer([lesson.question for lesson in self.dev], contexts, progress=False)
        return {
            name: float(np.mean([measure(one, of.answers) for one, of in zip(answers, self.dev)]))
            for name, measure in (("em", exact_match), ("f1", f1))
        }

    def batches(self, epoch: int, part: int, size: int) -> list[list[Example]]:
        """The batches of a period, of ``size`` tokens: windows of one length together, in any order."""
        order = np.random.default_rng([self.seed, epoch]).permutation(len(self.train))
        generator = np.random.default_rng([self.seed, epoch, part])
        picks = parts_of_epoch(order)[part]
        drawn = [example for pick in picks for example in self.examples(self.train[pick], generator)]
        batches = by_length([(example, example.window) for example in drawn], size)
        return [[example for example, _ in batches[pick]] for pick in generator.permutation(len(batches))]

    def examples(self, lesson: Lesson, generator: np.random.Generator) -> list[Example]:
        """The examples of a lesson: mostly one, several where its passages fill several windows."""
        answer = normalise(lesson.answers[0])
        closed = NOWHERE + 1 + self.model.closed.index(answer) if answer in self.model.closed else None
        # The supports without which there is no answer: any one where it is closed, else those that it stands in.
        if closed is not None:
            holding = {int(generator.choice(lesson.supports))}
        else:
            holding = {row for row in lesson.supports if contains(self.texts[row], lesson.answers)}
        hidden = not lesson.step and generator.random() < HIDDEN
        shown = [row for row in lesson.supports if not (hidden and row in holding)]
        rows = self.with_distractors(shown, lesson, generator)
        tokens = [self.tokens[self.texts[row]] for row in rows]
        windows = self.model.windows(self.tokens[lesson.question], tokens)
        if closed is not None or hidden:
            whole = closed is not None and not hidden and len(windows) == 1
            return [Example(window, closed if whole else NOWHERE) for window in windows]
        return [self._with_spans(window, lesson) for window in windows] if holding else []

    def with_distractors(self, shown: Sequence[int], lesson: Lesson, generator: np.random.Generator) -> list[int]:
        """The rows in any order, with passages near to the question up to a size drawn anew, so that some have none."""
        rows = list(dict.fromkeys(shown))
        size = len(self.tokens[lesson.question].ids) + sum(len(self.tokens[self.texts[row]].ids) for row in rows)
        most = generator.uniform(0, FILLED)
        for row in generator.permutation(lesson.near):
            size += len(self.tokens[self.texts[row]].ids)
            if size > most:
                break
            rows.append(int(row))
        return [rows[place] for place in generator.permutation(len(rows))]

    def _with_spans(self, window: Window, lesson: Lesson) -> Example:
        """The answer counts where it stands in the question or a support, not in a distractor."""
        sources = {lesson.question, *(self.texts[row] for row in lesson.supports)}
        spans = [
            span for span in window.occurrences(lesson.answers) if window.sources[window.texts[span[0]]] in sources
        ]
        return Example(window, SPAN, tuple(spans)) if spans else Example(window, NOWHERE)
