"""Readers: from a question and passages to an answer. A language model, or a span head that learns."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import msgspec
import pandas as pd

from kit.corpus import Benchmark
from kit.errors import InputError
from kit.store import Store, content_key, file_digest
from kit.text.encoder import DEFAULT_ENCODER, Encoder
from kit.text.language_models import LanguageModel, language_model
from kit.text.prompts import answer_prompt

if TYPE_CHECKING:
    from kit.text.span_reader import SpanNetwork

KIND, ANSWERS = "readers", "reader-answers"  # in the store
_SAVED_AT_ONCE = 100  # questions between two writes to the store: what an interruption can cost
_RECIPE = "4"  # to be changed with what is learned, so that weights learned otherwise are not found again


def reader(text: str) -> Reader:
    """``extractive``, or a language model as ``language_model`` takes it. Raises :class:`InputError` for others."""
    if text == ExtractiveReader.name:
        return ExtractiveReader()
    if ":" not in text:
        expected = "extractive, or a language model such as server:MODEL"
        raise InputError(f"expected a reader: {expected}; not {text!r}", field="reader")
    return LanguageModelReader(language_model(text))


class Reader:
    """Answers questions from passages, after ``fit``."""

    name: str

    def fit(self, benchmark: Benchmark, more: Sequence[Benchmark] = ()) -> None:
        """Learn from ``benchmark.train`` and that of ``more``, choose on ``benchmark.dev``; by default nothing."""

    def answer(self, questions: Sequence[str], contexts: Sequence[Sequence[str]]) -> list[str]:
        """The answer to each question from its context: the texts of passages, best first; there may be none."""
        raise NotImplementedError

    def usage(self) -> pd.DataFrame | None:
        """:meth:`kit.text.LanguageModel.usage`; None for other readers."""


class LanguageModelReader(Reader):
    """Asks a language model for an answer of less than six words: Listings 3 and 4, and 2 where there is no passage."""

    def __init__(self, model: LanguageModel) -> None:
        self.model, self.name = model, model.name

    def answer(self, questions: Sequence[str], contexts: Sequence[Sequence[str]]) -> list[str]:
        prompts = [answer_prompt(question, context) for question, context in zip(questions, contexts, strict=True)]
        return [answer.text.strip() for answer in self.model.generate(prompts)]

    def usage(self) -> pd.DataFrame:
        return self.model.usage()


class Learning(msgspec.Struct, frozen=True):
    """How to learn: times through the questions, tokens a step, the highest learning rate (AdamW), and the seed."""

    epochs: int = 2
    tokens: int = 2048
    learning_rate: float = 2e-4
    seed: int = 0


class ExtractiveReader(Reader):
    """A span head on the transformer of an encoder (a BERT), trained on supports among passages near to the question.

    Besides a span the answer may be yes, no, or another answer that is common in training and stands in no passage.
    What was learned is found again in the store, and so is every answer.
    """

    name = "extractive"

    def __init__(
        self, encoder: str = DEFAULT_ENCODER, learning: Learning | None = None, store: Store | None = None
    ) -> None:
        self.base, self.learning = Encoder(encoder, store), learning or Learning()

    def fit(self, benchmark: Benchmark, more: Sequence[Benchmark] = ()) -> None:
        """Raises :class:`InputError` where no training question has an answer and supports."""
        if not any(question.answer and question.supporting for question in benchmark.train):
            expected = "expected training questions with answers and supports (--train FILE) for the extractive reader"
            raise InputError(f"{expected}, which learns; found none", record=benchmark.name)
        settings = msgspec.json.encode(self.learning).decode()
        hashes = [each.without_test().hash for each in (benchmark, *more)]
        key = content_key(_RECIPE, self.base.identity, settings, *hashes).hex()
        folder = self.base.store.get_folder(KIND, key)
        if folder is None:
            # Imported here: torch takes seconds, and a reader whose answers are stored does not need it.
            from kit.text.span_reader import train_reader

            folder = train_reader(self.base, [benchmark, *more], self.learning, kind=KIND, key=key)
        self.folder, self.identity = folder, file_digest(folder / "reader.safetensors")
        self.__dict__.pop("model", None)  # that of what was learned before

    @cached_property
    def model(self) -> SpanNetwork:
        from kit.text.span_reader import SpanNetwork

        return SpanNetwork.read(self.folder)

    def answer(self, questions: Sequence[str], contexts: Sequence[Sequence[str]]) -> list[str]:
        asked = list(zip(questions, contexts, strict=True))
        keys = [content_key(self.identity, question, *context) for question, context in asked]
        known = self.base.store.get_many(ANSWERS, keys)
        missing = {key: each for key, each in zip(keys, asked) if key not in known}
        for start in range(0, len(missing), _SAVED_AT_ONCE):
            part = list(missing)[start : start + _SAVED_AT_ONCE]
            answers = self.model.answer(*zip(*map(missing.get, part)))
            new = {key: answer.encode("utf-8", "surrogatepass") for key, answer in zip(part, answers)}
            self.base.store.put_many(ANSWERS, new)
            known |= new
        return [known[key].decode("utf-8", "surrogatepass") for key in keys]
