"""An encoder learns from pairs: the text of a query is to be nearer to its passage than to all others of the batch.

The loss of DPR and MDR (kgp.txt §8.2) is sentence-transformers' multiple-negatives ranking loss: a softmax over the
batch's positives and the sampled negatives, with cosines times 20.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from kit.text.encoder import Encoder
from kit.text.precision import mixed_precision
from kit.text.training import PATIENCE, Period, parts_of_epoch, train

if TYPE_CHECKING:
    import torch
    from sentence_transformers import SentenceTransformer

KIND = "trained"  # in the store
_TOGETHER = 12  # texts that are encoded at once


class Pair(msgspec.Struct, frozen=True):
    """A query's text and rows of passages: the one to find, all that the question needs, and those to sample from.

    No support is ever a negative. Without ``negatives`` the other passages of the batch have to do.
    """

    query: str
    positive: int
    supports: frozenset[int]
    negatives: tuple[int, ...] = ()


class Training(msgspec.Struct, frozen=True):
    """How to learn: times through the pairs, pairs a step, the highest learning rate (AdamW), and the seed."""

    epochs: int
    batch: int
    learning_rate: float
    seed: int


class LiveEncoder(Encoder):
    """A model that still changes, in an encoder's place: its vectors are not stored."""

    def __init__(self, model: SentenceTransformer) -> None:
        self.name, self.model = "in training", model

    def encode(self, texts: Sequence[str], *, role: str = "document", progress: bool = True) -> np.ndarray:
        encode = self.model.encode_query if role == "query" else self.model.encode_document
        with mixed_precision():
            return encode(list(texts), batch_size=_TOGETHER, normalize_embeddings=True, show_progress_bar=False)


def finetune(
    base: Encoder,
    pairs: Sequence[Pair],
    passages: Sequence[str],
    training: Training,
    measure: Callable[[Encoder], float] | None,
    key: str,
) -> Path:
    """Train, and keep the model (sentence-transformers, safetensors) under ``key`` in the base's store: its folder.

    The model of the highest ``measure`` is kept, which may be the base itself; without ``measure`` the last one.
    """
    # Imported here: torch takes seconds, and what is stored does not need it.
    import torch
    from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss
    from sentence_transformers.util import batch_to_device

    model = copy.deepcopy(base.model)  # the encoder's own stays what it is
    ranking = MultipleNegativesRankingLoss(model)
    query, document = (model.prompts.get(role) or "" for role in ("query", "document"))

    def loss(batch: tuple[Sequence[Pair], Sequence[int]]) -> torch.Tensor:
        asked, negatives = batch
        rows = [*(pair.positive for pair in asked), *negatives]
        texts = [query + pair.query for pair in asked] + [document + passages[row] for row in rows]
        # By length and few at once, so that hardly any padding is computed.
        order, parts = sorted(range(len(texts)), key=lambda place: len(texts[place])), []
        with mixed_precision():  # the encoder alone: a loss in bfloat16 has two digits
            for start in range(0, len(order), _TOGETHER):
                tokens = model.preprocess([texts[place] for place in order[start : start + _TOGETHER]])
                parts.append(model(batch_to_device(tokens, model.device))["sentence_embedding"])
        vectors = torch.cat(parts)[np.argsort(order)].float()  # queries, their passages, negatives if there are any
        return ranking.compute_loss_from_embeddings(vectors.split(len(asked)), None)

    def check(step: int) -> dict[str, float]:
        return {"measured": measure(LiveEncoder(model) if step else base)}  # the base's vectors may be at hand

    # Without dropout: a step takes two thirds of the time.
    return train(
        model,
        torch.optim.AdamW(model.parameters(), weight_decay=0.01),
        _periods(pairs, training),
        loss,
        store=base.store,
        kind=KIND,
        key=key,
        write=lambda folder: model.save_pretrained(str(folder), create_model_card=False),
        check=check if measure else None,
        patience=PATIENCE,
    )


def _periods(pairs: Sequence[Pair], training: Training) -> list[Callable[[], Period]]:
    """Those of all epochs, each dealt anew."""
    parts: list[list] = []
    step = 0
    for epoch in range(training.epochs):
        batches = []
        for batch in make_batches(pairs, training.batch, np.random.default_rng([training.seed, epoch])):
            batches.append((batch, sample_negatives(batch, np.random.default_rng([training.seed, step]))))
            step += 1
        parts += filter(None, parts_of_epoch(batches))
    starts = np.cumsum([0, *map(len, parts)]).tolist()
    return [partial(Period, part, start, step, training.learning_rate) for part, start in zip(parts, starts)]


def make_batches(pairs: Sequence[Pair], size: int, generator: np.random.Generator) -> list[list[Pair]]:
    """The pairs in batches of at most ``size``, in which no pair's passage is a support of another's question.

    Such a passage would be taught as a negative although it is right.
    """
    batches: list[list[Pair]] = []
    for pair in (pairs[pick] for pick in generator.permutation(len(pairs))):
        for batch in (batch for batch in batches if len(batch) < size):
            if all(pair.positive not in other.supports and other.positive not in pair.supports for other in batch):
                batch.append(pair)
                break
        else:
            batches.append([pair])
    return [batches[pick] for pick in generator.permutation(len(batches))]


def sample_negatives(batch: Sequence[Pair], generator: np.random.Generator) -> list[int]:
    """A negative of each pair that has any to offer, none of them a support of any question in the batch."""
    supports = frozenset().union(*(pair.supports for pair in batch))
    offers = [[row for row in pair.negatives if row not in supports] for pair in batch]
    drawn = [int(generator.choice(offer)) for offer in offers if offer]
    # The loss wants as many as there are pairs: each is a negative for all of them, whoever brought it.
    return [drawn[place % len(drawn)] for place in range(len(batch))] if drawn else []
