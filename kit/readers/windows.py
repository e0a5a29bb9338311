"""What the extractive reader reads at once, and what it learns from."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy import ndarray
from numpy.random import Generator

from kit.corpus import Corpus, Question
from kit.corpus.types import Questions, Texts
from kit.learning.training import Item
from kit.readers.scoring import normalise
from kit.text.tfidf import TfidfIndex

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

CLOSED_TEXT = "yes no 0 1 2 3 4"  # the answers that stand in no passage
LONGEST_WINDOW = 4096  # tokens: forty short passages
LONGEST_TEXT = 512  # tokens of a text that are read: a BERT has positions for so many
LONGEST_SPAN = 30  # tokens of an answer
TOKENS_AT_ONCE = 4096

N_NEAREST = 10  # passages nearest to a question, from which distractors are drawn
N_SHOWN = 5  # passages up to which distractors join the supports


class Window:
    """``[CLS] question [SEP] [CLS] CLOSED_TEXT [SEP] [CLS] passage [SEP] …``

    It ends before the passage with which it would have more than ``longest`` tokens.

    ``ids`` has the tokens of each of the ``texts``. For each token of the window ``rows`` has the
    row of its text, ``characters`` where it begins and ends there. ``word_starts`` and
    ``word_ends`` are the tokens with which words begin and end. In training, ``spans`` has all
    first and last tokens of the answer.
    """

    spans: Sequence[tuple[int, int]] = ()

    def __init__(
        self,
        tokenizer: PreTrainedTokenizerBase,
        question: str,
        passages: Texts,
        longest: int = LONGEST_WINDOW,
    ) -> None:
        texts = [question, CLOSED_TEXT, *passages]
        encodings = tokenizer(
            texts,
            truncation=True,
            max_length=LONGEST_TEXT,
        ).encodings
        ends = np.cumsum(list(map(len, encodings)))
        encodings = encodings[: int((ends <= longest).sum())]

        self.texts = texts[: len(encodings)]
        self.ids = [tuple(encoding.ids) for encoding in encodings]
        self.rows = np.repeat(range(len(encodings)), list(map(len, encodings)))  # (tokens,)
        characters = [encoding.offsets for encoding in encodings]
        self.characters = np.concatenate(characters)  # (tokens, 2)

        words = []  # the word of each token; -1 for [CLS] and [SEP]
        for encoding in encodings:
            words += [-1 if word is None else word for word in encoding.word_ids]
        in_word = np.array(words) >= 0
        changes = np.diff(words) != 0
        self.word_starts = np.flatnonzero(in_word & np.append(True, changes))
        self.word_ends = np.flatnonzero(in_word & np.append(changes, True))

    def __len__(self) -> int:
        return len(self.rows)

    def text(self, first: int, last: int) -> str:
        """The text from one token to another of the same text."""
        start = self.characters[first, 0]
        end = self.characters[last, 1]
        return self.texts[self.rows[first]][start:end]

    def candidates(self) -> tuple[ndarray, ndarray]:
        """First and last tokens of all that can be an answer: whole words of one text, not many."""
        starts, ends = np.meshgrid(
            self.word_starts,
            self.word_ends,
            indexing="ij",
        )
        is_short = (starts <= ends) & (ends < starts + LONGEST_SPAN)
        allowed = is_short & (self.rows[starts] == self.rows[ends])
        return starts[allowed], ends[allowed]

    def find(self, answers: Iterable[str], texts: Container[str]) -> list[tuple[int, int]]:
        """First and last tokens where an answer stands in one of the texts.

        It is found as whole words, in any case of letters.
        """
        wanted = {answer.lower() for answer in answers}
        starts, ends = self.candidates()
        # Of the many candidates those of the right lengths.
        lengths = self.characters[ends, 1] - self.characters[starts, 0]
        fitting = np.isin(lengths, list(map(len, wanted)))

        spans = []
        for first, last in zip(starts[fitting].tolist(), ends[fitting].tolist()):
            is_answer = self.text(first, last).lower() in wanted
            if is_answer and self.texts[self.rows[first]] in texts:
                spans.append((first, last))
        return spans

    def best_span(self, first: ndarray, last: ndarray) -> str:
        """The likeliest span's text, by the log probabilities of its ends, (tokens,) each."""
        starts, ends = self.candidates()
        best = np.argmax(first[starts] + last[ends])
        return self.text(starts[best], ends[best])


def batches_by_length(
    windows: Iterable[Window], n_tokens: int = TOKENS_AT_ONCE
) -> list[list[Window]]:
    """Batches of at most ``n_tokens`` with their padding, or of one window; the longest first."""
    batches = []
    room = 0  # windows that the last batch has room for
    for window in sorted(windows, key=len, reverse=True):
        if not room:
            batches.append([])
            room = max(1, n_tokens // len(window))
        batches[-1].append(window)
        room -= 1
    return batches


class ReadingExample(NamedTuple):
    """A question, and the texts of its supports and of the passages nearest to it."""

    question: Question
    supports: list[str]
    nearest: list[str]

    def window(self, tokenizer: PreTrainedTokenizerBase, generator: Generator) -> Window | None:
        """Each time with other distractors, or none, in another order.

        None where the answer is nowhere.
        """
        texts = [*self.supports, *shuffled(self.nearest, generator)]
        n_shown = max(len(self.supports), generator.integers(N_SHOWN + 1))
        window = Window(
            tokenizer,
            self.question.text,
            shuffled(texts[:n_shown], generator),
        )

        closed_answer = normalise(self.question.answer)
        if closed_answer in CLOSED_TEXT.split():
            window.spans = window.find([closed_answer], {CLOSED_TEXT})
        else:
            # It counts where it stands in the question or a support, not in a distractor.
            texts_that_count = {self.question.text, *self.supports}
            window.spans = window.find(self.question.answers, texts_that_count)
        return window if window.spans else None


def examples_of(questions: Questions, corpus: Corpus) -> list[ReadingExample]:
    """What to learn from, for each question."""
    texts = [passage.full_text for passage in corpus.passages]
    nearest = TfidfIndex(corpus).nearest([question.text for question in questions], N_NEAREST)
    examples = []
    for question, rows in zip(questions, nearest):
        supports = [corpus[id_].full_text for id_ in question.supporting_ids]
        distractors = [texts[row] for row in rows if texts[row] not in supports]
        examples.append(ReadingExample(question, supports, distractors))
    return examples


def with_steps(questions: Questions) -> list[Question]:
    """The questions, and each step of their decompositions as one.

    A step needs one passage, where a question needs several. Those without an answer or supports
    are left out.
    """
    distinct = {}
    for question in questions:
        for asking in (question, *steps_of(question)):
            if asking.answer and asking.supporting:
                distinct.setdefault((asking.text, asking.answer), asking)
    return list(distinct.values())


def steps_of(question: Question) -> list[Question]:
    """The steps of a decomposition that have a support, gold answers filled in, as questions."""
    answers = [step.answer for step in question.decomposition]
    steps = []
    for step in question.decomposition:
        if step.support is not None:
            support = question.supporting[step.support]
            steps.append(
                Question(
                    "",
                    step.filled(answers),
                    step.answer,
                    (support,),
                )
            )
    return steps


def shuffled(items: Sequence[Item], generator: Generator) -> list[Item]:
    """The items in an order that the generator draws."""
    return [items[pick] for pick in generator.permutation(len(items))]
