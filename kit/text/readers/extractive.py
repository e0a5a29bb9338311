"""An extractive reader: it points at the answer in the passages (or in the question), or says yes, no or how many."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from kit.corpus import Benchmark
from kit.errors import InputError
from kit.store import Store, content_key
from kit.text.encoder import DEFAULT_ENCODER, Encoder
from kit.text.readers.base import Reader
from kit.text.training import read_history

if TYPE_CHECKING:
    from kit.text.readers.span_model import SpanModel

KIND = "readers"  # in the store
ANSWERS = "reader-answers"  # in the store
_SAVED_AT_ONCE = 100  # questions between two writes to the store: what an interruption can cost
_RECIPE = "2"  # to be changed with what is learned, so that weights learned otherwise are not found again


class Learning(msgspec.Struct, frozen=True):
    """How to learn: times through the questions, tokens a step, the highest learning rate (AdamW), and the seed."""

    epochs: int = 2
    tokens: int = 2048
    learning_rate: float = 2e-4
    seed: int = 0


class ExtractiveReader(Reader):
    """A span head on the transformer of an encoder (a BERT), trained on supports among passages near to the question.

    Besides a span the answer may be yes, no, or another answer that is common in training and stands in no passage. The
    same training is found again in the store, and so is every answer, by the weights, the question and its context.
    ``history`` tells each step of the training (``step``, ``loss``) and each check (``step``, ``em``, ``f1`` on dev).
    """

    name = "extractive"

    def __init__(
        self, encoder: str = DEFAULT_ENCODER, learning: Learning | None = None, store: Store | None = None
    ) -> None:
        self.base, self.learning = Encoder(encoder, store), learning or Learning()
        self.folder: Path | None = None
        self.history: list[dict[str, float]] = []

    def fit(self, benchmark: Benchmark, more: Sequence[Benchmark] = ()) -> None:
        """Raises :class:`InputError` where no training question has an answer and supports."""
        if not any(question.answer and question.supporting for question in benchmark.train):
            raise InputError(
                "expected training questions with answers and supports (--train FILE) for the extractive reader, which "
                "learns; found none",
                record=benchmark.name,
            )
        settings = msgspec.json.encode(self.learning).decode()
        hashes = [each.without_test().hash for each in (benchmark, *more)]
        key = content_key(_RECIPE, self.base.identity, settings, *hashes).hex()
        self.folder = self.base.store.get_folder(KIND, key) or self._train([benchmark, *more], key)
        self.history = read_history(self.folder)
        for learned in ("identity", "model"):
            self.__dict__.pop(learned, None)

    def _train(self, benchmarks: Sequence[Benchmark], key: str) -> Path:
        # Imported here: torch takes seconds, and a reader whose answers are stored does not need it.
        from kit.text.readers.training import train_reader

        return train_reader(self.base, benchmarks, self.learning, key)

    @cached_property
    def identity(self) -> str:
        """The content of the weights."""
        if self.folder is None:
            raise InputError("the extractive reader has to learn before it answers: fit(benchmark)")
        with (self.folder / "reader.safetensors").open("rb") as source:
            return hashlib.file_digest(source, "blake2b").hexdigest()

    @cached_property
    def model(self) -> SpanModel:
        from kit.text.readers.span_model import SpanModel

        assert self.folder is not None  # identity is asked first
        return SpanModel.read(self.folder)

    def answer(self, questions: Sequence[str], contexts: Sequence[Sequence[str]]) -> list[str]:
        store = self.base.store
        asked = {
            content_key(self.identity, question, *context): (question, context)
            for question, context in zip(questions, contexts, strict=True)
        }
        known = store.get_many(ANSWERS, list(asked))
        missing = [key for key in asked if key not in known]
        for start in range(0, len(missing), _SAVED_AT_ONCE):
            part = missing[start : start + _SAVED_AT_ONCE]
            found = self.model.answer(*zip(*(asked[key] for key in part)))
            new = {key: answer.encode("utf-8", "surrogatepass") for key, answer in zip(part, found)}
            store.put_many(ANSWERS, new)
            known |= new
        keys = (content_key(self.identity, question, *context) for question, context in zip(questions, contexts))
        return [known[key].decode("utf-8", "surrogatepass") for key in keys]
