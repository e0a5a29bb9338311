"""An encoder learns from pairs: the text of a query is to be nearer to its passage than to all others of the batch.

The loss of DPR and MDR (kgp.txt §8.2) is sentence-transformers' multiple-negatives ranking loss: a softmax over the
batch's positives and the sampled negatives, with cosines times 20.
"""

from collections.abc import Callable, Sequence
from typing import Annotated

import msgspec
import numpy as np
import torch

from kit.learning.partly_frozen import PartlyFrozenEncoder
from kit.learning.training import PATIENCE, Period, parts_of_epoch, periods_of, train
from kit.settings import BaseSettings, Positive, Whole
from kit.text.encoder import Encoder

KIND = "trained"  # in the store
Measure = Callable[[Encoder], float]


class Pair(msgspec.Struct, frozen=True):
    """A query's text and rows of passages: the one to find, all that the question needs, and those to sample from.

    No support is ever a negative. Without ``negatives`` the other passages of the batch have to do.
    """

    query: str
    positive: int
    supports: frozenset[int]
    negatives: tuple[int, ...] = ()


class TrainingSettings(BaseSettings, frozen=True):
    """How to learn: times through the pairs, pairs a step, the highest learning rate (AdamW), layers, and tokens.

    That many upper ``layers`` of the network learn, all of it where that is 0 (:class:`kit.learning.partly_frozen.PartlyFrozenEncoder`), from
    the first ``tokens`` of each text.
    """

    epochs: Positive = 1
    batch: Positive = 24
    learning_rate: Annotated[float, msgspec.Meta(gt=0, lt=1)] = 2e-4
    layers: Whole = 3
    tokens: Positive = 64
    seed: Whole = 0


def finetune(
    base: Encoder,
    pairs: Sequence[Pair],
    passages: Sequence[str],
    training: TrainingSettings,
    measure: Measure | None,
    key: str,
) -> Encoder:
    """Train, and keep the model (sentence-transformers, safetensors) under ``key`` in the base's store.

    The model of the highest ``measure`` is kept, which may be the base itself; without ``measure`` the last one.
    """
    # Imported here: it takes seconds, and what is stored does not need it.
    from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss

    learner = PartlyFrozenEncoder(base, training.layers)
    ranking = MultipleNegativesRankingLoss(learner.upper)

    def loss(batch: tuple[Sequence[Pair], Sequence[int]]) -> torch.Tensor:
        asked, negatives = batch
        rows = [*(pair.positive for pair in asked), *negatives]
        queries = learner.vectors([pair.query for pair in asked], "query", training.tokens)
        # The queries' passages, then negatives, if there are any.
        found = learner.vectors([passages[row] for row in rows], tokens=training.tokens)
        return ranking.compute_loss_from_embeddings([queries, *found.split(len(asked))], None)

    # Without dropout: a step takes two thirds of the time.
    adam = torch.optim.AdamW(learner.upper.parameters(), weight_decay=0.01)
    # Before the first step by the base, whose vectors are mostly stored.
    check = (lambda step: {"measured": measure(learner if step else base)}) if measure else None
    told = {
        "store": base.store,
        "kind": KIND,
        "key": key,
        "write": learner.write,
        "patience": PATIENCE,
    }
    folder = train(learner.upper, adam, _periods(pairs, training), loss, check=check, **told)
    learner.keep(folder)
    return learner


def _periods(pairs: Sequence[Pair], training: TrainingSettings) -> list[Callable[[], Period]]:
    """Those of all epochs, each dealt anew."""
    parts: list[Sequence] = []
    for epoch in range(training.epochs):
        dealt = make_batches(pairs, training.batch, np.random.default_rng([training.seed, epoch]))
        steps = enumerate(dealt, sum(map(len, parts)))
        batches = [
            (of, sample_negatives(of, np.random.default_rng([training.seed, step])))
            for step, of in steps
        ]
        parts += parts_of_epoch(batches)
    return periods_of(parts, training.learning_rate)


def make_batches(
    pairs: Sequence[Pair], size: int, generator: np.random.Generator
) -> list[list[Pair]]:
    """The pairs in batches of at most ``size``, in which no pair's passage is a support of another's question.

    Such a passage would be taught as a negative although it is right.
    """
    batches: list[list[Pair]] = []
    for pair in (pairs[pick] for pick in generator.permutation(len(pairs))):
        for batch in (batch for batch in batches if len(batch) < size):
            if all(
                pair.positive not in other.supports and other.positive not in pair.supports
                for other in batch
            ):
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
