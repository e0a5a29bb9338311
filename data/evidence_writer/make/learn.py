"""A sequence-to-sequence model learns to write the next evidence: kgp.txt §8.1–8.2, Listing 1."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from kit.corpus import Benchmark
from kit.errors import InputError
from kit.store import content_key
from kit.text.language_models import SequenceToSequence, vocabulary_beside_names
from kit.text.numbered_names import Names
from kit.text.training import PATIENCE, Period, train

from .pairs import evidence_pairs

if TYPE_CHECKING:
    from torch import Tensor

KIND = "evidence-writers"  # in the store
TOGETHER = 20  # batches whose prompts are sorted by length: less padding
_RECIPE = "3"  # to be changed with what is learned, so that weights learned otherwise are not found again


class Finetuning(msgspec.Struct, frozen=True):
    """How to learn: times through the pairs, pairs a step, the highest learning rate (AdamW), tokens, and the seed."""

    epochs: int = 10
    batch: int = 16
    learning_rate: float = 1e-4
    longest_prompt: int = 512
    longest_answer: int = 64
    seed: int = 0


def finetune(
    base: SequenceToSequence,
    benchmark: Benchmark,
    settings: Finetuning | None = None,
    more: Sequence[Benchmark] = (),
) -> SequenceToSequence:
    """Fine-tune ``base`` on the training questions; the epoch with the highest likelihood of dev questions is kept.

    The training questions of ``more`` benchmarks are learned from too, and their dev questions left alone. The weights
    are found again in the base's store by the base's content, the pairs and the settings. The returned model's folder
    also holds the history of :func:`kit.text.training.train`, with ``log_likelihood``: the mean over tokens of the dev
    questions' evidence, in nats. Raises :class:`InputError` where there is no question to train on or none in dev.
    """
    settings, store = settings or Finetuning(), base.store
    pairs = [pair for each in (benchmark, *more) for pair in evidence_pairs(each.train, each.corpus)]
    dev = evidence_pairs(benchmark.dev, benchmark.corpus)
    if not pairs or not dev:
        raise InputError("expected training questions and dev questions (--train FILE)", record=benchmark.name)
    written = [msgspec.json.encode(part).decode() for part in (settings, pairs, dev)]
    key = content_key(_RECIPE, base.identity, *written).hex()
    folder = store.get_folder(KIND, key)
    if folder is None:
        import torch

        trainer = _Trainer(base, pairs, dev, settings)
        folder = train(
            trainer.model,
            torch.optim.AdamW(trainer.model.parameters(), weight_decay=0.01),
            [partial(trainer.epoch, number) for number in range(settings.epochs)],
            trainer.loss,
            store=store,
            kind=KIND,
            key=key,
            write=trainer.write,
            check=trainer.check,
            patience=PATIENCE,
            dropout=True,
            seed=settings.seed,
        )
    return SequenceToSequence(
        str(folder), longest_prompt=settings.longest_prompt, longest_answer=settings.longest_answer, store=store
    )


class _Trainer:
    """What a training of :func:`kit.text.training.train` asks for."""

    def __init__(
        self,
        base: SequenceToSequence,
        pairs: Sequence[tuple[str, str]],
        dev: Sequence[tuple[str, str]],
        settings: Finetuning,
    ) -> None:
        from transformers import DataCollatorForSeq2Seq

        self.settings = settings
        self.tokenizer, self.model = base.load()
        self.collate = DataCollatorForSeq2Seq(self.tokenizer)  # pads; what is padded is neither read nor learned
        self.pairs, self.dev = self._tokens(pairs), self._tokens(dev)

    def epoch(self, number: int) -> Period:
        """Of every ``TOGETHER`` batches at random, the prompts are put together by length."""
        generator = np.random.default_rng([self.settings.seed, number])
        order, size = generator.permutation(len(self.pairs)), TOGETHER * self.settings.batch
        lengths = np.array([len(pair["input_ids"]) for pair in self.pairs])
        parts = [order[start : start + size] for start in range(0, len(order), size)]
        batches = [batch for part in parts for batch in self._batches(part[np.argsort(lengths[part], kind="stable")])]
        batches = [[self.pairs[place] for place in batches[pick]] for pick in generator.permutation(len(batches))]
        return Period(batches, number * len(batches), self.settings.epochs * len(batches), self.settings.learning_rate)

    def loss(self, batch: Sequence[dict[str, list[int]]]) -> Tensor:
        return self.model(**self.collate(batch).to(self.model.device)).loss

    def check(self, step: int) -> dict[str, float]:
        import torch

        self.model.eval()
        batches = [[self.dev[place] for place in places] for places in self._batches(np.arange(len(self.dev)))]
        counts = [sum(len(pair["labels"]) for pair in batch) for batch in batches]
        with torch.inference_mode():
            losses = [self.loss(batch).item() for batch in batches]
        return {"log_likelihood": -sum(loss * count for loss, count in zip(losses, counts)) / sum(counts)}

    def write(self, folder: Path) -> None:
        self.model.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)

    def _batches(self, order: np.ndarray) -> Iterator[np.ndarray]:
        return (order[start : start + self.settings.batch] for start in range(0, len(order), self.settings.batch))

    def _tokens(self, pairs: Sequence[tuple[str, str]]) -> list[dict[str, list[int]]]:
        limits = (self.settings.longest_prompt, self.settings.longest_answer)
        if vocabulary := vocabulary_beside_names(self.tokenizer, self.model):
            own = [Names(vocabulary) for _ in pairs]
            pairs = [(of.hide(one, learn=True), of.hide(two, learn=False)) for of, (one, two) in zip(own, pairs)]
        prompts, answers = (
            self.tokenizer(list(texts), truncation=True, max_length=limit)["input_ids"]
            for texts, limit in zip(zip(*pairs), limits)
        )
        return [{"input_ids": prompt, "labels": answer} for prompt, answer in zip(prompts, answers)]
