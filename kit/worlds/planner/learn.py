"""A small T5 learns from nothing to answer prompts."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from kit.learning.training import PATIENCE, History, Period, train
from kit.methods.loops.agents import LONGEST_PLAN
from kit.store import Store, content_key
from kit.text.placeholders import MOST_NAMES, SUBJECT

if TYPE_CHECKING:
    from tokenizers import Tokenizer

KIND = "planners"  # in the store
TOGETHER = 20  # batches whose prompts are sorted by length: less padding
_RECIPE = "1"  # to be changed with what is learned, so that an interrupted training does not go on otherwise
_PAD, _END, _UNKNOWN, _YEAR = (
    "<pad>",
    "</s>",
    "<unk>",
    "<year>",
)  # no text has a _YEAR: dates are numbered, too
_TOKEN = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*|\d+|[^\w\s]")


class Learning(msgspec.Struct, frozen=True):
    """How to learn: times through the pairs, pairs a step, the highest learning rate (AdamW), and tokens."""

    epochs: int = 11
    batch: int = 32
    learning_rate: float = 2e-3
    longest_prompt: int = 256
    longest_answer: int = LONGEST_PLAN


Pair = tuple[str, str]  # a prompt and its answer


def learn(
    pairs: Sequence[Pair],
    dev: Sequence[Pair],
    words: int,
    shape: dict[str, int],
    settings: Learning,
) -> Path:
    """The folder, in the store, of a T5 of this shape that knows the most frequent ``words`` of the pairs.

    Kept is the epoch with the highest likelihood of the ``dev`` pairs' answers; ``history.json`` is that of
    :func:`kit.learning.training.train`, with ``log_likelihood``: the mean over tokens of the dev answers, in nats.
    """
    import torch
    from transformers import (
        DataCollatorForSeq2Seq,
        PreTrainedTokenizerFast,
        T5Config,
        T5ForConditionalGeneration,
    )

    names = {"pad_token": _PAD, "eos_token": _END, "unk_token": _UNKNOWN}
    known = tokenizer_of(common_words((text for pair in pairs for text in pair), words))
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=known, **names)
    about = {
        "vocab_size": len(tokenizer),
        "pad_token_id": 0,
        "eos_token_id": 1,
        "decoder_start_token_id": 0,
    }
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = T5ForConditionalGeneration(
            T5Config(dropout_rate=0.05, feed_forward_proj="gated-gelu", **about, **shape)
        )
    collate = DataCollatorForSeq2Seq(tokenizer)  # pads; what is padded is neither read nor learned

    def tokens(pairs: Sequence[Pair]) -> list[dict[str, list[int]]]:
        prompts, answers = (
            tokenizer(list(texts), truncation=True, max_length=limit)["input_ids"]
            for texts, limit in zip(zip(*pairs), (settings.longest_prompt, settings.longest_answer))
        )
        return [{"input_ids": prompt, "labels": answer} for prompt, answer in zip(prompts, answers)]

    def batches(items: Sequence, size: int = settings.batch) -> list[Sequence]:
        return [items[start : start + size] for start in range(0, len(items), size)]

    learned, checked = tokens(pairs), tokens(dev)
    lengths = np.array([len(pair["input_ids"]) for pair in learned])

    def epoch(number: int) -> Period:
        """Of every ``TOGETHER`` batches at random, the prompts are put together by length."""
        generator = np.random.default_rng([0, number])
        parts = batches(generator.permutation(len(learned)), TOGETHER * settings.batch)
        rows = [
            rows
            for part in parts
            for rows in batches(part[np.argsort(lengths[part], kind="stable")])
        ]
        mixed = [[learned[row] for row in rows[pick]] for pick in generator.permutation(len(rows))]
        return Period(
            mixed, number * len(mixed), settings.epochs * len(mixed), settings.learning_rate
        )

    def loss(batch: Sequence[dict[str, list[int]]]) -> torch.Tensor:
        return model(**collate(batch)).loss

    def check(step: int) -> dict[str, float]:
        model.eval()
        with torch.inference_mode():
            losses = [loss(batch).item() for batch in batches(checked)]
        counts = [sum(len(pair["labels"]) for pair in batch) for batch in batches(checked)]
        return {
            "log_likelihood": -sum(loss * count for loss, count in zip(losses, counts))
            / sum(counts)
        }

    def write(folder: Path) -> None:
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)

    store, settled = Store(), msgspec.json.encode(settings).decode()
    key = content_key(_RECIPE, json.dumps([words, shape, pairs, dev]), settled).hex()
    periods = [partial(epoch, number) for number in range(settings.epochs)]
    optimiser = torch.optim.AdamW(model.parameters(), weight_decay=0.01)
    told = {
        "store": store,
        "kind": KIND,
        "key": key,
        "write": write,
        "check": check,
        "patience": PATIENCE,
    }
    return store.get_or_make(
        KIND, key, lambda: train(model, optimiser, periods, loss, dropout_seed=0, **told)
    )


def tokenizer_of(words: Iterable[str]) -> Tokenizer:
    """A token a word, of these and of the placeholders; texts are split at spaces."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    placeholders = [SUBJECT, _YEAR, *(f"<n{number}>" for number in range(MOST_NAMES))]
    vocabulary = {
        word: number for number, word in enumerate([_PAD, _END, _UNKNOWN, *placeholders, *words])
    }
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token=_UNKNOWN))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"$A {_END}", special_tokens=[(_END, 1)]
    )
    return tokenizer


def common_words(texts: Iterable[str], most: int) -> list[str]:
    """The most frequent tokens of the texts that occur at least twice; no years."""
    counts = Counter(
        token for text in texts for token in _TOKEN.findall(text) if token == token.lower()
    )
    ordered = sorted((-count, token) for token, count in counts.items() if count > 1)
    return [token for _, token in ordered if not (token.isdecimal() and len(token) == 4)][:most]


def by_epoch(history: History) -> list[dict[str, float]]:
    """A row an epoch: the mean loss of its batches, and the loss on dev after it, in nats a token."""
    _, *measured = (-row["log_likelihood"] for row in history if "loss" not in row)
    losses = np.array_split(
        [row["loss"] for row in history if "loss" in row], len(measured)
    )  # epochs are as long
    rows = enumerate(zip(losses, measured), start=1)
    return [
        {"epoch": epoch, "loss": float(np.mean(of)), "dev_loss": dev_loss}
        for epoch, (of, dev_loss) in rows
    ]
