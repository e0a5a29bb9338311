"""An encoder learns from pairs: the text of a query is to be nearer to its passage than to all others of the batch.

The loss of DPR and MDR (kgp.txt §8.2) is sentence-transformers' multiple-negatives ranking loss: a softmax over the
batch's positives and the sampled negatives, with cosines times 20. The loop is our own: the library's trainer needs two
more packages, and more lines to be told where to sample, measure and go on.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import numpy as np
from tqdm.auto import tqdm

from kit.text.checkpoints import Checkpoints, weights, write_history
from kit.text.encoder import Encoder
from kit.text.precision import mixed_precision

if TYPE_CHECKING:
    import torch
    from sentence_transformers import SentenceTransformer

KIND = "trained"  # in the store
CHECKS = 2  # an epoch: the model is measured and a checkpoint written so often
_TOGETHER = 12  # texts that are encoded at once
PATIENCE = 2  # checks in a row that bring nothing better before training stops
WARM_UP = 0.1  # the share of the steps in which the learning rate rises; then it falls to 0, both in a straight line


class Pair(msgspec.Struct, frozen=True):
    """A query's text and the row of the passage that it is to find.

    ``supports`` holds the rows of all passages that the question needs: none of them is ever a negative.
    ``negatives`` are the rows to sample a negative from; without any, those of the batch have to do.
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
    """Train, and keep the model under ``key`` among what is ``trained`` in the base's store: its folder.

    The folder has the model (sentence-transformers, safetensors) and ``history.json``: a row a step (``step``, from 1,
    and ``loss``) and a row a check (``step`` and ``measured``). ``measure`` tells how good an encoder is (higher is
    better). The model that it likes best is kept, which may be the base itself, and training stops when ``PATIENCE``
    checks in a row find none better; without ``measure`` the last one is kept. An interrupted training goes on from its
    last check, to the same result.
    """
    run = _Run(base, pairs, passages, training, key)
    run.resume()
    run.train(measure)
    folder = base.store.put_folder(KIND, key, run.write)
    run.checkpoints.forget()
    return folder


class _Run:
    """A training under way: all of its state, and how that is written and read."""

    def __init__(
        self,
        base: Encoder,
        pairs: Sequence[Pair],
        passages: Sequence[str],
        training: Training,
        key: str,
    ) -> None:
        # Imported here: torch takes seconds, and what is stored does not need it.
        import torch
        from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss

        from kit.text.attention import fuse_attention

        self.pairs, self.passages, self.training = pairs, passages, training
        self.base, self.model = base, copy.deepcopy(base.model)  # the encoder's own stays what it is
        fuse_attention(self.model)
        self.loss = MultipleNegativesRankingLoss(self.model)
        self.optimiser = torch.optim.AdamW(self.model.parameters(), weight_decay=0.01)
        self.periods = plan(pairs, training)
        self.total = sum(map(len, self.periods))
        self.checkpoints = Checkpoints(base.store, key, len(self.periods))
        self.best = weights(self.model)
        self.history: list[dict[str, float]] = []
        self.done = 0  # periods

    def train(self, measure: Callable[[Encoder], float] | None) -> None:
        """Go on from here to the end."""
        with tqdm(total=self.total, initial=self.step, desc="training", unit="step") as bar:
            if measure and not self.history:
                self._check(measure, self.base)  # whose vectors may be at hand
            while self.done < len(self.periods) and not self._stale():
                self._period(self.periods[self.done], bar)
                self.done += 1
                if measure:
                    self._check(measure, LiveEncoder(self.model))
                else:
                    self.best = weights(self.model)
                self.checkpoints.save(self.done, self.model, self.best, self.optimiser, self.history)

    @property
    def step(self) -> int:
        return sum("loss" in row for row in self.history)

    def _period(self, batches: Sequence[Sequence[Pair]], bar: tqdm) -> None:
        import torch

        # Without dropout: a step takes two thirds of the time, and nothing in it is random.
        self.model.eval()
        for batch in batches:
            step = self.step
            for group in self.optimiser.param_groups:
                group["lr"] = self.training.learning_rate * slope(step, self.total)
            with mixed_precision():  # the encoder alone: a loss in bfloat16 has two digits
                vectors = self._vectors(batch, step)
            loss = self.loss.compute_loss_from_embeddings([part.float() for part in vectors], None)
            self.optimiser.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.optimiser.step()
            self.history.append({"step": step + 1, "loss": loss.item()})
            bar.set_postfix(loss=f"{loss.item():.3f}")
            bar.update()

    def _vectors(self, batch: Sequence[Pair], step: int) -> list[torch.Tensor]:
        """Vectors (pairs, dimension) of the queries, of their passages, and of the sampled negatives if any are."""
        import torch

        negatives = sample_negatives(batch, np.random.default_rng([self.training.seed, step]))
        rows = [*(pair.positive for pair in batch), *negatives]
        query, document = (self.model.prompts.get(role) or "" for role in ("query", "document"))
        texts = [query + pair.query for pair in batch] + [document + self.passages[row] for row in rows]
        # By length and few at once, so that hardly any padding is computed.
        order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
        parts = []
        for start in range(0, len(order), _TOGETHER):
            tokens = self.model.preprocess([texts[place] for place in order[start : start + _TOGETHER]])
            parts.append(self.model(send_to(tokens, self.model.device))["sentence_embedding"])
        vectors = torch.cat(parts)[np.argsort(order)]
        return list(vectors.split(len(batch)))

    def _check(self, measure: Callable[[Encoder], float], encoder: Encoder) -> None:
        now = measure(encoder)
        if now > max(self._measured(), default=-np.inf):
            self.best = weights(self.model)
        self.history.append({"step": self.step, "measured": now})

    def _measured(self) -> list[float]:
        return [row["measured"] for row in self.history if "measured" in row]

    def _stale(self) -> bool:
        measured = self._measured()
        return bool(measured) and len(measured) - 1 - int(np.argmax(measured)) >= PATIENCE

    # ---- what is written

    def write(self, folder: Path) -> None:
        """The best model and the history."""
        self.model.load_state_dict(self.best)
        self.model.save_pretrained(str(folder), create_model_card=False)
        write_history(folder, self.history)

    def resume(self) -> None:
        """Go to where the last sound checkpoint left off, if there is one."""
        if found := self.checkpoints.load(self.model, self.optimiser):
            self.done, self.best, self.history = found


def send_to(tokens: Mapping[str, object], device: torch.device) -> dict[str, object]:
    """What a tokenizer gave, with its tensors on the device."""
    return {name: value.to(device) if hasattr(value, "to") else value for name, value in tokens.items()}


def slope(step: int, total: int) -> float:
    """The share of the highest learning rate at a step, from 0."""
    rising = max(1, round(WARM_UP * total))
    return min((step + 1) / rising, (total - step) / max(1, total - rising))


def plan(pairs: Sequence[Pair], training: Training) -> list[list[list[Pair]]]:
    """The batches of all epochs, cut into the periods between two checks."""
    periods = []
    for epoch in range(training.epochs):
        batches = deal(pairs, training.batch, np.random.default_rng([training.seed, epoch]))
        cuts = np.linspace(0, len(batches), CHECKS + 1).round().astype(int)
        periods += [batches[start:end] for start, end in pairwise(cuts) if end > start]
    return periods


def deal(pairs: Sequence[Pair], size: int, generator: np.random.Generator) -> list[list[Pair]]:
    """The pairs in batches of at most ``size``, in which no pair's passage is a support of another's question.

    Such a passage would be taught as a negative although it is right.
    """
    filling: list[list[Pair]] = []
    batches: list[list[Pair]] = []
    for pick in generator.permutation(len(pairs)):
        pair = pairs[pick]
        for batch in filling:
            if all(pair.positive not in other.supports and other.positive not in pair.supports for other in batch):
                batch.append(pair)
                break
        else:
            batch = [pair]
            filling.append(batch)
            batches.append(batch)
        if len(batch) == size:
            filling.remove(batch)
    return [batches[pick] for pick in generator.permutation(len(batches))]


def sample_negatives(batch: Sequence[Pair], generator: np.random.Generator) -> list[int]:
    """A negative of each pair that has any to offer, none of them a support of any question in the batch."""
    supports = frozenset().union(*(pair.supports for pair in batch))
    offers = [[row for row in pair.negatives if row not in supports] for pair in batch]
    drawn = [int(generator.choice(offer)) for offer in offers if offer]
    # The loss wants as many as there are pairs: each is a negative for all of them, whoever brought it.
    return [drawn[place % len(drawn)] for place in range(len(batch))] if drawn else []
