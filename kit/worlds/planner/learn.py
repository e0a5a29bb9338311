"""A small T5 learns from nothing to answer prompts."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import torch

from kit.learning.trained import Trained
from kit.learning.training import PATIENCE, History, Period, Slot, Trainer
from kit.methods.loops.small_plan import LONGEST_PLAN
from kit.settings import BaseSettings
from kit.store import Store, content_key
from kit.text.placeholders import MOST_NAMES, SUBJECT

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast, T5ForConditionalGeneration

TOGETHER = 20  # batches whose prompts are sorted by length: less padding
DROPOUT = 0.05
_PAD = "<pad>"
_END = "</s>"
_UNKNOWN = "<unk>"
_YEAR = "<year>"  # in no text: dates are numbered, too
_TOKEN = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*|\d+|[^\w\s]")

Pair = tuple[str, str]  # a prompt and its answer
Pairs = Sequence[Pair]
Tokens = dict[str, list[int]]  # of both: input_ids and labels


class Learning(BaseSettings, frozen=True):
    """How to learn."""

    epochs: Annotated[int, "times through the pairs"] = 11
    batch: Annotated[int, "pairs per step"] = 32
    learning_rate: Annotated[float, "the highest learning rate (AdamW)"] = 2e-3
    longest_prompt: Annotated[int, "tokens of a prompt that are read"] = 256
    longest_answer: Annotated[int, "tokens of an answer that are learned"] = LONGEST_PLAN


class SmallT5(Trained):
    """A T5 of a shape that knows the most frequent ``words`` of what it learns from."""

    kind = "planners"
    name = "t5"
    training_settings = Learning.__struct_fields__

    def __init__(self, words: int, shape: dict[str, int], settings: Learning) -> None:
        self.words = words
        self.shape = shape
        self.settings = settings
        self.store = Store()

    def learn(self, pairs: Pairs, dev: Pairs) -> Path:
        """The folder, in the store, of the model that learned from the pairs.

        Kept is the epoch with the highest likelihood of the ``dev`` pairs' answers. The history has
        ``log_likelihood``: the mean over tokens of the dev answers, in nats.
        """
        data = content_key(json.dumps([pairs, dev])).hex()
        return self.find_or_train(data, lambda slot: self._learn(pairs, dev, slot))

    def key_parts(self) -> Sequence[str]:
        return (json.dumps([self.words, self.shape]),)

    def _learn(self, pairs: Pairs, dev: Pairs, slot: Slot) -> Path:
        texts = (text for pair in pairs for text in pair)
        tokenizer = tokenizer_of(common_words(texts, self.words))
        lesson = _Lesson(
            _untrained(self.shape, len(tokenizer)),
            tokenizer,
            pairs,
            dev,
            self.settings,
        )
        trainer = Trainer(
            lesson.model,
            torch.optim.AdamW(lesson.model.parameters(), weight_decay=0.01),
            lesson.loss,
            check=lesson.check,
            patience=PATIENCE,
            dropout_seed=0,
            write=lesson.write,
        )
        epochs = range(self.settings.epochs)
        return trainer.run([partial(lesson.epoch, epoch) for epoch in epochs], slot)


class _Lesson:
    """What a training goes through: batches of each epoch, their loss, the check after them."""

    def __init__(
        self,
        model: T5ForConditionalGeneration,
        tokenizer: PreTrainedTokenizerFast,
        pairs: Pairs,
        dev: Pairs,
        settings: Learning,
    ) -> None:
        from transformers import DataCollatorForSeq2Seq

        self.model = model
        self.tokenizer = tokenizer
        self.settings = settings
        self.collate = DataCollatorForSeq2Seq(tokenizer)  # what it pads is not learned
        self.learned = self._tokens(pairs)
        self.checked = _batches(self._tokens(dev), settings.batch)
        self.lengths = np.array([len(pair["input_ids"]) for pair in self.learned])

    def _tokens(self, pairs: Pairs) -> list[Tokens]:
        prompts, answers = zip(*pairs)
        inputs = self._ids(prompts, self.settings.longest_prompt)
        labels = self._ids(answers, self.settings.longest_answer)
        return [{"input_ids": prompt, "labels": answer} for prompt, answer in zip(inputs, labels)]

    def _ids(self, texts: Sequence[str], longest: int) -> list[list[int]]:
        tokens = self.tokenizer(list(texts), truncation=True, max_length=longest)
        return tokens["input_ids"]

    def epoch(self, epoch: int) -> Period:
        """Of every ``TOGETHER`` batches at random, the prompts are put together by length."""
        size = self.settings.batch
        generator = np.random.default_rng([0, epoch])
        order = generator.permutation(len(self.learned))
        rows = []  # of each batch
        for part in _batches(order, TOGETHER * size):
            by_length = np.argsort(self.lengths[part], kind="stable")
            rows += _batches(part[by_length], size)

        batches = []
        for index in generator.permutation(len(rows)):
            batches.append([self.learned[row] for row in rows[index]])
        return Period(
            batches,
            epoch * len(batches),
            self.settings.epochs * len(batches),
            self.settings.learning_rate,
        )

    def loss(self, batch: Sequence[Tokens]) -> torch.Tensor:
        """The mean over the answers' tokens, in nats."""
        return self.model(**self.collate(batch)).loss

    def check(self, step: int) -> dict[str, float]:
        self.model.eval()
        total = 0.0
        n_tokens = 0
        for batch in self.checked:
            with torch.inference_mode():
                loss = self.loss(batch).item()
            count = sum(len(pair["labels"]) for pair in batch)
            total += loss * count
            n_tokens += count
        return {"log_likelihood": -total / n_tokens}

    def write(self, folder: Path) -> None:
        self.model.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)


def _untrained(shape: dict[str, int], n_tokens: int) -> T5ForConditionalGeneration:
    from transformers import T5Config, T5ForConditionalGeneration

    config = T5Config(
        dropout_rate=DROPOUT,
        feed_forward_proj="gated-gelu",
        vocab_size=n_tokens,
        pad_token_id=0,
        eos_token_id=1,
        decoder_start_token_id=0,
        **shape,
    )
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return T5ForConditionalGeneration(config)


def _batches(items: Sequence, size: int) -> list[Sequence]:
    return [items[start : start + size] for start in range(0, len(items), size)]


def tokenizer_of(words: Iterable[str]) -> PreTrainedTokenizerFast:
    """One token per word, of these and of the placeholders; texts are split at spaces."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    placeholders = [f"<n{index}>" for index in range(MOST_NAMES)]
    tokens = [_PAD, _END, _UNKNOWN, SUBJECT, _YEAR, *placeholders, *words]
    vocabulary = {token: index for index, token in enumerate(tokens)}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token=_UNKNOWN))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"$A {_END}",
        special_tokens=[(_END, 1)],
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token=_PAD,
        eos_token=_END,
        unk_token=_UNKNOWN,
    )


def common_words(texts: Iterable[str], most: int) -> list[str]:
    """The most frequent tokens of the texts that occur at least twice; no years."""
    counts = Counter()
    for text in texts:
        tokens = _TOKEN.findall(text)
        counts.update(token for token in tokens if token == token.lower())

    repeated = [token for token, count in counts.items() if count > 1]
    ordered = sorted(repeated, key=lambda token: (-counts[token], token))
    words = [token for token in ordered if not (token.isdecimal() and len(token) == 4)]
    return words[:most]


def by_epoch(history: History) -> list[dict[str, float]]:
    """A row per epoch: the mean loss of its batches, and the loss on dev after it.

    Both are in nats per token.
    """
    steps = [row["loss"] for row in history if "loss" in row]
    checks = [row for row in history if "loss" not in row]
    checks.pop(0)  # before the training
    losses = np.array_split(steps, len(checks))  # epochs are as long
    rows = []
    for batches, check in zip(losses, checks):
        rows.append(
            {
                "epoch": len(rows) + 1,
                "loss": float(np.mean(batches)),
                "dev_loss": -check["log_likelihood"],
            }
        )
    return rows
