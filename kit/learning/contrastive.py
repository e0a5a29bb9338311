"""An encoder learns from pairs: a query is to be nearer to its passage than to others of the batch.

The loss of DPR and MDR (kgp.txt §8.2) is sentence-transformers' multiple-negatives ranking loss: a
softmax over the batch's positives and the sampled negatives, with cosines times 20.
"""

from collections.abc import Callable, Sequence
from typing import Annotated

import msgspec
from numpy.random import Generator, default_rng
from torch import Tensor
from torch.optim import AdamW

from kit.corpus.types import Indices, Texts
from kit.learning.partly_frozen import PartlyFrozenEncoder
from kit.learning.training import PATIENCE, Period, Slot, Trainer, parts_of_epoch, periods_of
from kit.settings import Positive, Whole
from kit.text.encoder import Encoder, EncoderSettings

Measure = Callable[[Encoder], float]


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


class TrainingSettings(EncoderSettings, frozen=True):
    """Which encoder learns from pairs, and how, by AdamW."""

    epochs: Annotated[Positive, "times through the pairs"] = 1
    batch: Annotated[Positive, "pairs per step"] = 24
    learning_rate: Annotated[float, msgspec.Meta(gt=0, lt=1), "the highest learning rate"] = 2e-4
    layers: Annotated[Whole, "upper layers of the network that learn (0: all)"] = 3
    tokens: Annotated[Positive, "tokens of each text that are read, the first ones"] = 64
    seed: Annotated[Whole, "by which pairs and negatives are drawn"] = 0


def finetune(
    base: Encoder,
    pairs: Sequence[Pair],
    passages: Texts,
    training: TrainingSettings,
    measure: Measure | None,
    slot: Slot,
) -> Encoder:
    """Train, and keep the model (sentence-transformers, safetensors) in ``slot``.

    The model of the highest ``measure`` is kept, which may be the base itself; without ``measure``
    the last one.
    """
    # Imported here: it takes seconds, and what is stored does not need it.
    from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss

    learner = PartlyFrozenEncoder(base, training.layers)
    ranking = MultipleNegativesRankingLoss(learner.upper)

    def loss(batch: tuple[list[Pair], list[int]]) -> Tensor:
        asking, negatives = batch
        rows = [pair.positive for pair in asking] + negatives
        # (pairs, dimension), and as many positives, then negatives, if there are any
        queries = learner.vectors(
            [pair.query for pair in asking],
            "query",
            training.tokens,
        )
        candidates = learner.vectors([passages[row] for row in rows], tokens=training.tokens)
        return ranking.compute_loss_from_embeddings([queries, *candidates.split(len(asking))], None)

    def check(step: int) -> dict[str, float]:
        # Before the first step by the base, whose vectors are mostly stored.
        encoder = learner if step else base
        return {"measured": measure(encoder)}

    # Without dropout: a step takes two thirds of the time.
    trainer = Trainer(
        learner.upper,
        AdamW(learner.upper.parameters(), weight_decay=0.01),
        loss,
        patience=PATIENCE,
        write=learner.write,
    )
    if measure:
        trainer.check = check
    learner.keep(trainer.run(_periods(pairs, training), slot))
    return learner


def _periods(pairs: Sequence[Pair], training: TrainingSettings) -> list[Callable[[], Period]]:
    """Those of all epochs, each dealt anew."""
    parts = []
    for epoch in range(training.epochs):
        dealt = make_batches(
            pairs,
            training.batch,
            default_rng([training.seed, epoch]),
        )
        batches = []
        for step, batch in enumerate(dealt, sum(map(len, parts))):
            generator = default_rng([training.seed, step])
            batches.append((batch, sample_negatives(batch, generator)))
        parts += parts_of_epoch(batches)
    return periods_of(parts, training.learning_rate)


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
