"""A reader that copies its answer, and learns where it stands."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import numpy as np
from numpy.random import default_rng
from torch.optim import AdamW
from transformers import PreTrainedTokenizerBase

from kit.corpus import Benchmark
from kit.corpus.types import Texts
from kit.errors import InputError
from kit.learning.trained import Trained
from kit.learning.training import CHECKS, Period, Slot, Trainer, parts_of_epoch, read_weights
from kit.readers.base import Contexts, Reader
from kit.readers.scoring import f1
from kit.readers.span_network import SpanNetwork
from kit.readers.windows import (
    N_SHOWN,
    ReadingExample,
    batches_by_length,
    examples_of,
    shuffled,
    with_steps,
)
from kit.settings import BaseSettings, Positive, Whole, check, signature
from kit.store import content_key
from kit.text.encoder import DEFAULT_ENCODER, Encoder

ANSWERS = "reader-answers"  # in the store …
AS_BYTES = ("utf-8", "surrogatepass")  # … in this encoding
SAVED_AT_ONCE = 100  # questions between two writes to the store: what an interruption can cost
DEV_QUESTIONS = 64  # by whose F1, on supports among distractors, a reader is chosen
HEAD_RATE = 10  # times the learning rate, for the head, which starts from nothing


class ExtractiveReader(Trained, Reader):
    """Copies its answer from the passages, the question or ``CLOSED_TEXT``.

    It learns on supports among distractors. What was learned is found again in the store, and so is
    every answer.
    """

    name = "extractive"
    kind = "readers"
    training_settings = ("epochs", "tokens", "learning_rate", "seed")

    class Settings(BaseSettings, frozen=True):
        encoder: Annotated[str, "name or folder of the encoder that reads"] = DEFAULT_ENCODER
        epochs: Annotated[Positive, "times through the training questions"] = 2
        tokens: Annotated[Positive, "tokens per step, padding included"] = 2048
        learning_rate: Annotated[float, "the highest learning rate of the encoder"] = 2e-4
        seed: Annotated[Whole, "of the head's first weights and of what is drawn"] = 0

    __signature__ = signature(Settings)

    def __init__(self, **settings: object) -> None:
        self.settings = check(
            self.Settings,
            settings,
            "the extractive reader",
        )
        self.encoder = Encoder(self.settings.encoder)
        self.store = self.encoder.store

    def answer(self, questions: Texts, contexts: Contexts) -> list[str]:
        """The likeliest spans, from the store where they are known."""
        self.expect_fit()
        pairs = list(zip(questions, contexts, strict=True))
        keys = [content_key(self.identity, question, *context) for question, context in pairs]
        answers = self.store.get_many(ANSWERS, keys)

        missing = {key: pair for key, pair in zip(keys, pairs) if key not in answers}
        waiting = list(missing)
        for start in range(0, len(waiting), SAVED_AT_ONCE):
            batch = waiting[start : start + SAVED_AT_ONCE]
            texts = self.network.answer(*zip(*map(missing.get, batch)))
            encoded = [text.encode(*AS_BYTES) for text in texts]
            made = dict(zip(batch, encoded))
            self.store.put_many(ANSWERS, made)
            answers |= made
        return [answers[key].decode(*AS_BYTES) for key in keys]

    # ---- how it learns

    def key_parts(self) -> Texts:
        return [self.encoder.identity]

    def expect_training(self, benchmark: Benchmark) -> None:
        """Raises :class:`InputError` where no training question has an answer and supports."""
        if not with_steps(benchmark.train):
            raise InputError(
                "expected training questions with answers and supports (--train FILE) "
                "for the extractive reader, which learns; found none",
                record=benchmark.name,
            )

    def train(self, benchmark: Benchmark, slot: Slot) -> Path:
        """Learn by windows of questions and steps, chosen by F1 on dev questions."""
        seed = self.settings.seed
        network = SpanNetwork(self.encoder, seed)
        examples = examples_of(with_steps(benchmark.train), benchmark.corpus)
        usable = [question for question in benchmark.dev if question.answer and question.supporting]
        chosen = shuffled(usable, default_rng(seed))[:DEV_QUESTIONS]
        dev = examples_of(chosen, benchmark.corpus)

        upper = {"params": network.upper.parameters()}
        ends = {"params": network.ends.parameters(), "times": HEAD_RATE}
        optimiser = AdamW([upper, ends], weight_decay=0.01)
        trainer = Trainer(network, optimiser, network.loss)
        if dev:
            trainer.check = lambda step: {"measured": mean_f1(network, dev, seed)}

        periods = [
            partial(self._period, examples, network.tokenizer, index)
            for index in range(self.settings.epochs * CHECKS)
        ]
        return trainer.run(periods, slot)

    def _period(
        self,
        examples: Sequence[ReadingExample],
        tokenizer: PreTrainedTokenizerBase,
        index: int,
    ) -> Period:
        """A part of an epoch, with windows of its own."""
        epoch, part = divmod(index, CHECKS)
        order = shuffled(examples, default_rng([self.settings.seed, epoch]))
        generator = default_rng([self.settings.seed, epoch, part])
        drawn = [example.window(tokenizer, generator) for example in parts_of_epoch(order)[part]]
        windows = [window for window in drawn if window is not None]
        batches = batches_by_length(windows, self.settings.tokens)

        # The periods have nearly as many batches each, and how many is not known before.
        return Period(
            shuffled(batches, generator),
            index * len(batches),
            self.settings.epochs * CHECKS * len(batches),
            self.settings.learning_rate,
        )

    def restore(self, folder: Path) -> None:
        self.network = SpanNetwork(self.encoder, self.settings.seed)
        self.network.load_state_dict(read_weights(folder))
        self.identity = folder.name


def mean_f1(
    network: SpanNetwork,
    examples: Sequence[ReadingExample],
    seed: int,
) -> float:
    """The mean F1 of a network's answers from supports among distractors."""
    generator = default_rng(seed)
    contexts = []
    for example in examples:
        texts = [*example.supports, *example.nearest]
        contexts.append(shuffled(texts[:N_SHOWN], generator))
    answers = network.answer([example.question.text for example in examples], contexts)
    pairs = zip(answers, examples)
    return float(np.mean([f1(answer, example.question.answers) for answer, example in pairs]))
