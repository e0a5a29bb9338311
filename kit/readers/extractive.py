"""Readers: from a question and passages to an answer. A language model, or a span head that learns where it stands."""

from collections.abc import Container, Iterable, Sequence
from copy import deepcopy
from functools import lru_cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence
from transformers import PreTrainedTokenizerBase

from kit.corpus import Benchmark, Corpus, Question
from kit.errors import InputError
from kit.learning.training import (
    CHECKS,
    Item,
    Period,
    mixed_precision,
    parts_of_epoch,
    read_trained,
    train,
)
from kit.readers.scoring import f1, normalise
from kit.settings import BaseSettings, Positive, Whole, check
from kit.store import content_key
from kit.text.encoder import DEFAULT_ENCODER, Encoder
from kit.text.language_models import LanguageModel
from kit.text.prompts import answer_prompt
from kit.text.tfidf import TfidfIndex

KIND, ANSWERS = "readers", "reader-answers"  # in the store
SAVED_AT_ONCE = 100  # questions between two writes to the store: what an interruption can cost
_RECIPE = (
    "5"  # to be changed with what is learned, so that weights learned otherwise are not found again
)

CLOSED = "yes no 0 1 2 3 4"  # a text of answers that stand in no passage
LONGEST = 4096  # tokens of a window, forty short passages
LONGEST_TEXT = 512  # tokens of a text that are read: a BERT has positions for so many
LONGEST_SPAN = 30  # tokens of an answer
N_KEPT = 2_000  # texts whose states are kept: 0.2 GB at a width of 384
TOKENS_AT_ONCE = 4096

N_NEAR = 10  # passages nearest to a question, from which distractors are drawn
N_SHOWN = 5  # passages up to which distractors join the supports
DEV_QUESTIONS = 64  # how a reader is chosen: F1 on supports among distractors
HEAD_RATE = 10  # times the learning rate, for the head, which starts from nothing


class Reader:
    """Answers questions from passages, after ``fit``."""

    name: str
    model: LanguageModel | None = None

    def fit(self, benchmark: Benchmark) -> None:
        """Learn from ``benchmark.train``, choose on ``benchmark.dev``; by default nothing."""

    def answer(self, questions: Sequence[str], contexts: Sequence[Sequence[str]]) -> list[str]:
        """The answer to each question from its context: the texts of passages, best first; there may be none."""
        raise NotImplementedError

    def usage(self) -> pd.DataFrame | None:
        """:meth:`kit.text.LanguageModel.usage`; None for other readers."""
        return self.model.usage() if self.model else None


class LanguageModelReader(Reader):
    """Asks a language model for an answer of less than six words: Listings 3 and 4, and 2 where there is no passage."""

    def __init__(self, model: LanguageModel) -> None:
        self.model, self.name = model, model.name

    def answer(self, questions: Sequence[str], contexts: Sequence[Sequence[str]]) -> list[str]:
        prompts = [
            answer_prompt(question, context)
            for question, context in zip(questions, contexts, strict=True)
        ]
        return [answer.text.strip() for answer in self.model.generate(prompts)]


class Window:
    """What is read at once: ``[CLS] question [SEP] [CLS] CLOSED [SEP] [CLS] passage [SEP] …``, up to ``LONGEST``.

    ``ids`` has the tokens of each text. Of all tokens ``piece`` has the number of its text, and ``places`` its
    characters there; ``opens`` and ``closes`` are the tokens with which words begin and end. In training ``spans`` has
    all places of the answer.
    """

    spans: Sequence[tuple[int, int]] = ()

    def __init__(
        self, tokenizer: PreTrainedTokenizerBase, question: str, passages: Sequence[str]
    ) -> None:
        texts = [question, CLOSED, *passages]
        read = tokenizer(
            texts, truncation=True, max_length=LONGEST_TEXT, return_offsets_mapping=True
        )
        sizes = [len(ids) for ids in read["input_ids"]]
        n = int((np.cumsum(sizes) <= LONGEST).sum())
        self.texts, self.ids = texts[:n], list(map(tuple, read["input_ids"][:n]))
        self.piece, self.places = (
            np.repeat(range(n), sizes[:n]),
            np.concatenate(read["offset_mapping"][:n]),
        )
        numbers = np.array(
            [-1 if word is None else word for row in range(n) for word in read.word_ids(row)]
        )
        inside, changes = numbers >= 0, np.diff(numbers) != 0
        self.opens = np.flatnonzero(inside & np.append(True, changes))
        self.closes = np.flatnonzero(inside & np.append(changes, True))

    def __len__(self) -> int:
        return len(self.piece)

    def text(self, first: int, last: int) -> str:
        """The text from one token to another of the same piece."""
        return self.texts[self.piece[first]][self.places[first, 0] : self.places[last, 1]]

    def candidates(self) -> tuple[np.ndarray, np.ndarray]:
        """First and last tokens of all that can be an answer: whole words of one text, not too many."""
        starts, ends = np.meshgrid(self.opens, self.closes, indexing="ij")
        allowed = (
            (starts <= ends)
            & (ends < starts + LONGEST_SPAN)
            & (self.piece[starts] == self.piece[ends])
        )
        return starts[allowed], ends[allowed]

    def find(self, answers: Iterable[str], texts: Container[str]) -> list[tuple[int, int]]:
        """First and last tokens where one of the answers stands in one of the texts: in whole words, in any case."""
        wanted = {answer.lower() for answer in answers}
        starts, ends = self.candidates()
        # Of the many candidates those of the right lengths.
        near = np.isin(self.places[ends, 1] - self.places[starts, 0], list(map(len, wanted)))
        found = [
            span
            for span in zip(starts[near].tolist(), ends[near].tolist())
            if self.text(*span).lower() in wanted
        ]
        return [(first, last) for first, last in found if self.texts[self.piece[first]] in texts]

    def best_span(self, first: np.ndarray, last: np.ndarray) -> str:
        """The likeliest span, by the logarithms of the probabilities of its ends."""
        starts, ends = self.candidates()
        best = np.argmax(first[starts] + last[ends])
        return self.text(starts[best], ends[best])


def batches_by_length(
    windows: Iterable[Window], n_tokens: int = TOKENS_AT_ONCE
) -> list[list[Window]]:
    """Batches of at most ``n_tokens`` with their padding, or of one window; the longest windows come first."""
    batches: list[list[Window]] = []
    for window in sorted(windows, key=len, reverse=True):
        if not batches or len(batches[-1][0]) * (len(batches[-1]) + 1) > n_tokens:
            batches.append([])
        batches[-1].append(window)
    return batches


class SpanNetwork(nn.Module):
    """Log probabilities of a span's first and last token.

    The lower half of the encoder's BERT stays what it is and reads the question and each passage by itself; the upper
    half learns and reads all of them together (Cao et al. 2020, DeFormer): less than half the time, and no limit of 512
    tokens.
    """

    def __init__(self, encoder: Encoder, seed: int) -> None:
        super().__init__()
        transformer = encoder.model[0]
        self.bert, self.tokenizer = deepcopy(transformer.auto_model).eval(), transformer.tokenizer
        self.half = len(self.bert.encoder.layer) // 2
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            self.ends = nn.Linear(self.bert.config.hidden_size, 2)
        self.to(self.bert.device)
        self.lower = lru_cache(N_KEPT)(
            self._lower
        )  # passages come back with other questions, in other windows

    @torch.no_grad()
    def _lower(self, ids: tuple[int, ...]) -> Tensor:
        """(tokens, width), in half precision; one text at a time, so that the others of a batch don't matter."""
        states = self.bert.embeddings(torch.tensor([ids], device=self.bert.device))
        for layer in self.bert.encoder.layer[: self.half]:
            states = layer(states)
        return states[0].bfloat16()

    @mixed_precision()
    def forward(self, windows: Sequence[Window]) -> tuple[Tensor, Tensor]:
        """First and last, both (windows, tokens)."""
        texts = [torch.cat([self.lower(ids) for ids in window.ids]) for window in windows]
        states = pad_sequence(texts, batch_first=True).float()
        read = pad_sequence(
            [text.new_ones(len(text), dtype=torch.bool) for text in texts], batch_first=True
        )
        for layer in self.bert.encoder.layer[self.half :]:
            states = layer(states, attention_mask=read[:, None, None])
        return (
            self.ends(states).float().masked_fill(~read[..., None], -1e4).log_softmax(1).unbind(-1)
        )

    @torch.no_grad()
    def answer(self, questions: Sequence[str], contexts: Sequence[Sequence[str]]) -> list[str]:
        """The best answer to each question from its context."""
        asked = [Window(self.tokenizer, *each) for each in zip(questions, contexts, strict=True)]
        found: dict[Window, str] = {}
        for batch in batches_by_length(asked):
            first, last = (ends.cpu().numpy() for ends in self(batch))
            found |= {window: window.best_span(*ends) for window, *ends in zip(batch, first, last)}
        return [found[window] for window in asked]


def loss_of(windows: Sequence[Window], first: Tensor, last: Tensor) -> Tensor:
    """Minus the mean log-likelihood of a right span, summed over all places where it stands."""
    likelihoods = []
    for row, window in enumerate(windows):
        starts, ends = map(list, zip(*window.spans))
        likelihoods.append(torch.logsumexp(first[row, starts] + last[row, ends], 0))
    return -torch.stack(likelihoods).mean()


class Lesson(NamedTuple):
    """A question, and the texts of its supports and of the passages nearest to it."""

    question: Question
    supports: list[str]
    near: list[str]

    def window(
        self, tokenizer: PreTrainedTokenizerBase, generator: np.random.Generator
    ) -> Window | None:
        """Each time with other distractors, or none, in another order; None where the answer is nowhere."""
        texts = [*self.supports, *_shuffled(self.near, generator)]
        n_shown = max(len(self.supports), generator.integers(N_SHOWN + 1))
        window = Window(tokenizer, self.question.text, _shuffled(texts[:n_shown], generator))
        # It counts where it stands in the question or a support, not in a distractor.
        answers, places = self.question.answers, {self.question.text, *self.supports}
        if (closed := normalise(answers[0])) in CLOSED.split():
            answers, places = [closed], {CLOSED}
        window.spans = window.find(answers, places)
        return window if window.spans else None


def with_steps(questions: Sequence[Question]) -> list[Question]:
    """The questions, and each step of a decomposition as one: it needs one passage, where the question needs several.

    Those without an answer or supports are left out.
    """
    found: dict[tuple[str, str], Question] = {}
    for question in questions:
        answers = [step.answer for step in question.decomposition]
        asked = [
            (step.filled(answers), step)
            for step in question.decomposition
            if step.support is not None
        ]
        steps = [
            Question("", text, step.answer, (question.supporting[step.support],))
            for text, step in asked
        ]
        for each in (question, *steps):
            if each.answer and each.supporting:
                found.setdefault((each.text, each.answer), each)
    return list(found.values())


def lessons_of(questions: Sequence[Question], corpus: Corpus) -> list[Lesson]:
    lessons, texts = [], [passage.full_text for passage in corpus.passages]
    nearest = TfidfIndex(corpus).nearest([question.text for question in questions], N_NEAR)
    for question, rows in zip(questions, nearest):
        supports = [corpus[id].full_text for id in question.supporting_ids]
        lessons.append(
            Lesson(question, supports, [texts[row] for row in rows if texts[row] not in supports])
        )
    return lessons


class ExtractiveReader(Reader):
    """Copies its answer from the passages, the question or ``CLOSED``; it learns on supports among distractors.

    What was learned is found again in the store, and so is every answer.
    """

    name = "extractive"

    class Settings(BaseSettings, frozen=True):
        encoder: str = DEFAULT_ENCODER
        epochs: Positive = 2
        tokens: Positive = 2048  # of a step
        learning_rate: float = 2e-4
        seed: Whole = 0

    def __init__(self, **settings: object) -> None:
        self.settings = check(self.Settings, settings, "the extractive reader")
        self.encoder = Encoder(self.settings.encoder)
        self.store = self.encoder.store

    def fit(self, benchmark: Benchmark) -> None:
        """Raises :class:`InputError` where no training question has an answer and supports."""
        questions = with_steps(benchmark.train)
        if not questions:
            expected = "expected training questions with answers and supports (--train FILE) for the extractive reader"
            raise InputError(f"{expected}, which learns; found none", record=benchmark.name)
        told = _RECIPE, self.encoder.identity, repr(self.settings), benchmark.without_test().hash
        key = content_key(*told).hex()
        self.network = SpanNetwork(self.encoder, self.settings.seed)
        folder = self.store.get_or_make(KIND, key, lambda: self._train(questions, benchmark, key))
        learned, self.history = read_trained(folder)
        self.network.load_state_dict(learned)
        self.identity = folder.name

    def _train(self, questions: Sequence[Question], benchmark: Benchmark, key: str) -> Path:
        network, settings = self.network, self.settings
        lessons = lessons_of(questions, benchmark.corpus)
        dev = [question for question in benchmark.dev if question.answer and question.supporting]
        dev = lessons_of(
            _shuffled(dev, np.random.default_rng(settings.seed))[:DEV_QUESTIONS], benchmark.corpus
        )

        def period(number: int) -> Period:
            epoch, part = divmod(number, CHECKS)
            order = parts_of_epoch(
                _shuffled(lessons, np.random.default_rng([settings.seed, epoch]))
            )[part]
            generator = np.random.default_rng([settings.seed, epoch, part])
            windows = [
                window
                for lesson in order
                if (window := lesson.window(network.tokenizer, generator))
            ]
            batches = batches_by_length(windows, settings.tokens)
            # The periods have nearly as many batches each, and how many is not known before they are drawn.
            total = settings.epochs * CHECKS * len(batches)
            return Period(
                _shuffled(batches, generator), number * len(batches), total, settings.learning_rate
            )

        def measure(step: int) -> dict[str, float]:
            generator = np.random.default_rng(settings.seed)
            contexts = [
                _shuffled([*lesson.supports, *lesson.near][:N_SHOWN], generator) for lesson in dev
            ]
            answers = network.answer([lesson.question.text for lesson in dev], contexts)
            scores = [f1(answer, lesson.question.answers) for answer, lesson in zip(answers, dev)]
            return {"measured": float(np.mean(scores))}

        upper = {"params": network.bert.encoder.layer[network.half :].parameters()}
        ends = {"params": network.ends.parameters(), "times": HEAD_RATE}
        adam = torch.optim.AdamW([upper, ends], weight_decay=0.01)
        periods = [partial(period, number) for number in range(settings.epochs * CHECKS)]
        told = {"store": self.store, "kind": KIND, "key": key, "check": measure if dev else None}
        return train(
            network, adam, periods, lambda windows: loss_of(windows, *network(windows)), **told
        )

    def answer(self, questions: Sequence[str], contexts: Sequence[Sequence[str]]) -> list[str]:
        asked = list(zip(questions, contexts, strict=True))
        keys = [content_key(self.identity, question, *context) for question, context in asked]
        known = self.store.get_many(ANSWERS, keys)
        missing = {key: each for key, each in zip(keys, asked) if key not in known}
        for start in range(0, len(missing), SAVED_AT_ONCE):
            part = list(missing)[start : start + SAVED_AT_ONCE]
            answers = self.network.answer(*zip(*map(missing.get, part)))
            new = {
                key: answer.encode("utf-8", "surrogatepass") for key, answer in zip(part, answers)
            }
            self.store.put_many(ANSWERS, new)
            known |= new
        return [known[key].decode("utf-8", "surrogatepass") for key in keys]


def _shuffled(items: Sequence[Item], generator: np.random.Generator) -> list[Item]:
    return [items[place] for place in generator.permutation(len(items))]
