"""An encoder learns from pairs: a query is to be nearer to its passage than to others of the batch.

The loss of DPR and MDR (KGP §8.2) is sentence-transformers' multiple-negatives ranking loss: a
softmax over the batch's positives and the sampled negatives, with cosines times 20.
"""

from collections.abc import Callable, Sequence
from math import ceil
from pathlib import Path
from typing import Annotated

import msgspec
import torch
from numpy.random import Generator, default_rng
from torch import Tensor
from torch.optim import AdamW

from kit.corpus.types import Indices, Texts
from kit.learning.low_rank import learn_in_low_rank, merge
from kit.learning.partly_frozen import PartlyFrozenEncoder, padded
from kit.learning.training import (
    CHECKS,
    PATIENCE,
    Period,
    Slot,
    Trainer,
    parts_of_epoch,
    periods_of,
)
from kit.settings import Positive, Whole
from kit.text.encoder import Encoder, EncoderSettings

LONGEST_PERIOD = 75  # steps from check to check
Batch = tuple[list["Pair"], list[int]]  # pairs, and rows of their negatives


class Pair(msgspec.Struct, frozen=True):
    """A query's text and rows of passages: the one to find, all supports, and possible negatives.

    No support is ever a negative. Without ``negatives`` the other passages of the batch have to do.
    """

    query: str
    positive: int
    supports: frozenset[int]
    negatives: Indices = ()

    def clashes(self, other: "Pair") -> bool:
        """Whether one's passage is a support of the other's question."""
        return self.positive in other.supports or other.positive in self.supports

    def moved(self, n: int) -> "Pair":
        """The pair where ``n`` passages stand before those of its corpus."""
        return Pair(
            self.query,
            self.positive + n,
            frozenset(row + n for row in self.supports),
            tuple(row + n for row in self.negatives),
        )


class TrainingSettings(EncoderSettings, frozen=True):
    """Which encoder learns from pairs, and how, by AdamW."""

    epochs: Annotated[Whole, "times through the pairs (0: nothing is learned)"] = 1
    batch: Annotated[Positive, "pairs per step"] = 24
    learning_rate: Annotated[float, msgspec.Meta(gt=0, lt=1), "the highest learning rate"] = 1e-3
    layers: Annotated[Whole, "upper layers of the network that learn (0: all)"] = 3
    rank: Annotated[Whole, "rank of the change of a matrix that learns (0: any)"] = 32
    seed: Annotated[Whole, "by which pairs and negatives are drawn"] = 0


def finetune(
    base: Encoder,
    pairs: Sequence[Pair],
    dev: Sequence[Pair],
    passages: Texts,
    training: TrainingSettings,
    slot: Slot,
) -> Encoder:
    """Train, and keep the model (sentence-transformers, safetensors) in ``slot``.

    The model with the least loss of the ``dev`` pairs is kept, which may be the base itself;
    without such pairs the last one. ``measured`` in the history is minus that loss.
    """
    # Imported here: it takes seconds, and what is stored does not need it.
    from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss

    learner = PartlyFrozenEncoder(base, training.layers)
    if training.rank:
        learn_in_low_rank(learner.upper, training.rank, training.seed)
    ranking = MultipleNegativesRankingLoss(learner.upper)

    def loss(batch: Batch) -> Tensor:
        asking, negatives = batch
        rows = [pair.positive for pair in asking] + negatives
        # (pairs, dimension), and as many positives, then negatives, if there are any
        queries = pooled(learner, [pair.query for pair in asking], "query")
        candidates = pooled(learner, [passages[row] for row in rows], "document")
        return ranking.compute_loss_from_embeddings([queries, *candidates.split(len(asking))], None)

    dev_batches = _with_negatives(dev, training)

    @torch.no_grad()
    def check(_: int) -> dict[str, float]:
        losses = [loss(batch).item() * len(batch[0]) for batch in dev_batches]
        return {"measured": -sum(losses) / len(dev)}

    def write(folder: Path) -> None:
        merge(learner.upper)
        learner.write(folder)

    learning = [weight for weight in learner.upper.parameters() if weight.requires_grad]
    # Without dropout: a step takes two thirds of the time.
    trainer = Trainer(
        learner.upper,
        AdamW(learning, weight_decay=0.01),
        loss,
        patience=PATIENCE,
        write=write,
    )
    if dev:
        trainer.check = check
    learner.keep(trainer.run(_periods(pairs, training), slot))
    return learner


def pooled(learner: PartlyFrozenEncoder, texts: Texts, role: str) -> Tensor:
    """Vectors (texts, dimension): the states of all tokens that search reads, as it pools them."""
    states, is_token = padded(learner.states(texts, role))
    output = {"token_embeddings": states, "attention_mask": is_token.long()}
    for module in list(learner.upper)[1:]:
        output = module(output)
    return output["sentence_embedding"]


def _periods(pairs: Sequence[Pair], training: TrainingSettings) -> list[Callable[[], Period]]:
    """Those of all epochs, each dealt anew."""
    parts = []
    for epoch in range(training.epochs):
        n_before = sum(map(len, parts))
        batches = _with_negatives(pairs, training, epoch, n_before)
        n_checks = max(CHECKS, ceil(len(batches) / LONGEST_PERIOD))
        parts += parts_of_epoch(batches, n_checks)
    return periods_of(parts, training.learning_rate)


def _with_negatives(
    pairs: Sequence[Pair],
    training: TrainingSettings,
    epoch: int = 0,
    n_before: int = 0,
) -> list[Batch]:
    """The batches of an epoch that so many precede, and negatives drawn for them."""
    dealt = make_batches(
        pairs,
        training.batch,
        default_rng([training.seed, epoch]),
    )
    batches = []
    for step, batch in enumerate(dealt, n_before):
        generator = default_rng([training.seed, step])
        batches.append((batch, sample_negatives(batch, generator)))
    return batches


def make_batches(
    pairs: Sequence[Pair],
    size: int,
    generator: Generator,
) -> list[list[Pair]]:
    """The pairs in batches of at most ``size``, in which no passage supports another's question.

    Such a passage would be taught as a negative although it is right.
    """
    batches = []
    for pick in generator.permutation(len(pairs)):
        pair = pairs[pick]
        for batch in batches:
            if len(batch) < size and not any(map(pair.clashes, batch)):
                batch.append(pair)
                break
        else:
            batches.append([pair])
    return [batches[pick] for pick in generator.permutation(len(batches))]


def sample_negatives(batch: Sequence[Pair], generator: Generator) -> list[int]:
    """A negative of each pair that has any to offer, none a support of any question in the batch.

    There are as many as pairs, as the loss wants, or none. Each is a negative for all pairs,
    whoever brought it.
    """
    supports = frozenset().union(*(pair.supports for pair in batch))
    drawn = []
    for pair in batch:
        candidates = [row for row in pair.negatives if row not in supports]
        if candidates:
            drawn.append(int(generator.choice(candidates)))

    if not drawn:
        return []
    return [drawn[i % len(drawn)] for i in range(len(batch))]
