"""A sequence-to-sequence model learns to answer prompts, as the writer of evidence does and the planner."""

import copy
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np

from kit.store import content_key
from kit.text.language_models import Names, SequenceToSequence, vocabulary_beside_names
from kit.text.training import PATIENCE, Period, train

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


Pair = tuple[str, str]  # a prompt and its answer


def finetune(
    base: SequenceToSequence, pairs: Sequence[Pair], dev: Sequence[Pair], settings: Finetuning
) -> SequenceToSequence:
    """Fine-tune ``base`` on pairs; the epoch with the highest likelihood of the ``dev`` pairs' answers is kept.

    The weights are found again in the base's store by the base's content, the pairs and the settings. The returned
    model's folder also holds the history of :func:`kit.text.training.train`, with ``log_likelihood``: the mean over
    tokens of the dev answers, in nats.
    """
    written = [msgspec.json.encode(part).decode() for part in (settings, pairs, dev)]
    key = content_key(_RECIPE, base.identity, *written).hex()
    folder = base.store.get_folder(KIND, key) or _train(base, pairs, dev, settings, key)
    lengths = {"longest_prompt": settings.longest_prompt, "longest_answer": settings.longest_answer}
    return SequenceToSequence(str(folder), store=base.store, **lengths)


def _train(
    base: SequenceToSequence, pairs: Sequence[Pair], dev: Sequence[Pair], settings: Finetuning, key: str
) -> Path:
    import torch
    from transformers import DataCollatorForSeq2Seq

    tokenizer, model = copy.deepcopy(base.loaded)  # the base's own stay what they are
    collate = DataCollatorForSeq2Seq(tokenizer)  # pads; what is padded is neither read nor learned
    vocabulary = vocabulary_beside_names(tokenizer, model)

    def tokens(pairs: Sequence[tuple[str, str]]) -> list[dict[str, list[int]]]:
        if vocabulary:
            own = [Names(vocabulary) for _ in pairs]
            pairs = [(of.hide(one, learn=True), of.hide(two, learn=False)) for of, (one, two) in zip(own, pairs)]
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
        generator = np.random.default_rng([settings.seed, number])
        parts = batches(generator.permutation(len(learned)), TOGETHER * settings.batch)
        rows = [rows for part in parts for rows in batches(part[np.argsort(lengths[part], kind="stable")])]
        mixed = [[learned[row] for row in rows[pick]] for pick in generator.permutation(len(rows))]
        return Period(mixed, number * len(mixed), settings.epochs * len(mixed), settings.learning_rate)

    def loss(batch: Sequence[dict[str, list[int]]]) -> torch.Tensor:
        return model(**collate(batch).to(model.device)).loss

    def check(step: int) -> dict[str, float]:
        model.eval()
        with torch.inference_mode():
            losses = [loss(batch).item() for batch in batches(checked)]
        counts = [sum(len(pair["labels"]) for pair in batch) for batch in batches(checked)]
        return {"log_likelihood": -sum(loss * count for loss, count in zip(losses, counts)) / sum(counts)}

    def write(folder: Path) -> None:
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)

    return train(
        model,
        torch.optim.AdamW(model.parameters(), weight_decay=0.01),
        [lambda number=number: epoch(number) for number in range(settings.epochs)],
        loss,
        store=base.store,
        kind=KIND,
        key=key,
        write=write,
        check=check,
        patience=PATIENCE,
        dropout_seed=settings.seed,
    )
