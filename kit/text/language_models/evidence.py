"""A sequence-to-sequence model learns to write the next evidence: kgp.txt §8.1–8.2, Listing 1."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import numpy as np
from tqdm.auto import tqdm

from kit.corpus import Benchmark
from kit.errors import InputError
from kit.store import content_key
from kit.text.checkpoints import Checkpoints, weights, write_history
from kit.text.contrastive import slope
from kit.text.language_models.evidence_pairs import evidence_pairs
from kit.text.language_models.names import Names
from kit.text.language_models.sequence_to_sequence import SequenceToSequence, vocabulary_beside_names

if TYPE_CHECKING:
    from torch import Tensor

KIND = "evidence-writers"  # in the store
TOGETHER = 20  # batches whose prompts are sorted by length: less padding
PATIENCE = 2  # epochs in a row with no lower loss on dev before training stops
_RECIPE = "2"  # to be changed with what is learned, so that weights learned otherwise are not found again


class Finetuning(msgspec.Struct, frozen=True):
    """How to learn: times through the pairs, pairs a step, the highest learning rate (AdamW), tokens, and the seed."""

    epochs: int = 10
    batch: int = 16
    learning_rate: float = 1e-4
    longest_prompt: int = 512
    longest_answer: int = 64
    seed: int = 0


def train_evidence_writer(
    base: SequenceToSequence,
    benchmark: Benchmark,
    settings: Finetuning | None = None,
    more: Sequence[Benchmark] = (),
) -> SequenceToSequence:
    """Fine-tune ``base`` on the training questions; the epoch with the lowest loss on the dev questions is kept.

    The training questions of ``more`` benchmarks are learned from too, and their dev questions left alone. The weights
    are found again in the base's store by the base's content, the pairs and the settings. An interrupted training goes
    on after its last epoch, to the same result. The folder of the returned model also holds ``history.json``: a row an
    epoch with ``epoch``, ``loss`` (mean over batches) and ``dev_loss`` (mean over tokens), in nats a token.
    Raises :class:`InputError` where there is no question to train on or none in dev.
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
        folder = _Run(base, pairs, dev, settings, key).to_the_end()
    return SequenceToSequence(
        str(folder), longest_prompt=settings.longest_prompt, longest_answer=settings.longest_answer, store=store
    )


class _Run:
    """A training under way: its state, and how that is written and read."""

    def __init__(
        self,
        base: SequenceToSequence,
        pairs: Sequence[tuple[str, str]],
        dev: Sequence[tuple[str, str]],
        settings: Finetuning,
        key: str,
    ) -> None:
        import torch

        self.settings, self.store, self.key = settings, base.store, key
        self.tokenizer, self.model = base.load()
        self.optimiser = torch.optim.AdamW(self.model.parameters(), weight_decay=0.01)
        self.pairs, self.dev = self._tokens(pairs), self._tokens(dev)
        self.steps_an_epoch = -(-len(pairs) // settings.batch)
        self.checkpoints = Checkpoints(base.store, key, settings.epochs)
        self.best = weights(self.model)
        self.history: list[dict[str, float]] = []

    def to_the_end(self) -> Path:
        """Train on from the last checkpoint, if there is one, and keep the best weights."""
        if found := self.checkpoints.load(self.model, self.optimiser):
            _, self.best, self.history = found
        with tqdm(
            total=self.settings.epochs * self.steps_an_epoch,
            initial=len(self.history) * self.steps_an_epoch,
            desc="training",
            unit="step",
        ) as bar:
            while len(self.history) < self.settings.epochs and not self._stale():
                epoch = len(self.history)
                loss, dev_loss = self._epoch(epoch, bar), self._dev_loss()
                if dev_loss < min((row["dev_loss"] for row in self.history), default=np.inf):
                    self.best = weights(self.model)
                self.history.append({"epoch": epoch + 1, "loss": loss, "dev_loss": dev_loss})
                bar.set_postfix(loss=f"{loss:.2f}", dev=f"{dev_loss:.2f}")
                self.checkpoints.save(epoch + 1, self.model, self.best, self.optimiser, self.history)
        folder = self.store.put_folder(KIND, self.key, self._write)
        self.checkpoints.forget()
        return folder

    def _stale(self) -> bool:
        losses = [row["dev_loss"] for row in self.history]
        return bool(losses) and len(losses) - 1 - int(np.argmin(losses)) >= PATIENCE

    # ---- learning

    def _epoch(self, epoch: int, bar: tqdm) -> float:
        import torch

        losses = []
        self.model.train()
        # Dropout is seeded by the epoch, so that a training that goes on is the one that was never stopped.
        with torch.random.fork_rng():
            torch.manual_seed(self.settings.seed * 1_000 + epoch)
            for number, batch in enumerate(self._shuffled(epoch)):
                rate = slope(epoch * self.steps_an_epoch + number, self.settings.epochs * self.steps_an_epoch)
                for group in self.optimiser.param_groups:
                    group["lr"] = self.settings.learning_rate * rate
                loss = self.model(**self._padded([self.pairs[place] for place in batch])).loss
                self.optimiser.zero_grad()
                loss.backward()
                torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
                self.optimiser.step()
                losses.append(loss.item())
                bar.update()
        return float(np.mean(losses))

    def _dev_loss(self) -> float:
        import torch

        self.model.eval()
        total, tokens = 0.0, 0
        with torch.inference_mode():
            for batch in self._batches(np.arange(len(self.dev))):
                padded = self._padded([self.dev[place] for place in batch])
                count = int((padded["labels"] >= 0).sum())
                total += self.model(**padded).loss.item() * count
                tokens += count
        return total / tokens

    def _batches(self, order: np.ndarray) -> Iterator[np.ndarray]:
        return (order[start : start + self.settings.batch] for start in range(0, len(order), self.settings.batch))

    def _shuffled(self, epoch: int) -> list[np.ndarray]:
        """The batches of an epoch: of every ``TOGETHER`` batches at random, the prompts are put together by length."""
        generator = np.random.default_rng([self.settings.seed, epoch])
        order, size = generator.permutation(len(self.pairs)), TOGETHER * self.settings.batch
        lengths = np.array([len(prompt) for prompt, _ in self.pairs])
        parts = [order[start : start + size] for start in range(0, len(order), size)]
        batches = [batch for part in parts for batch in self._batches(part[np.argsort(lengths[part], kind="stable")])]
        return [batches[pick] for pick in generator.permutation(len(batches))]

    def _tokens(self, pairs: Sequence[tuple[str, str]]) -> list[tuple[list[int], list[int]]]:
        limits = (self.settings.longest_prompt, self.settings.longest_answer)
        if vocabulary := vocabulary_beside_names(self.tokenizer, self.model):
            own = [Names(vocabulary) for _ in pairs]
            pairs = [(of.hide(one, learn=True), of.hide(two, learn=False)) for of, (one, two) in zip(own, pairs)]
        prompts, answers = (
            self.tokenizer(list(texts), truncation=True, max_length=limit)["input_ids"]
            for texts, limit in zip(zip(*pairs), limits)
        )
        return list(zip(prompts, answers))

    def _padded(self, pairs: Sequence[tuple[list[int], list[int]]]) -> dict[str, Tensor]:
        """Prompts and answers of one length each; padding is not read, nor is it learned (-100)."""
        import torch

        prompts, answers = zip(*pairs)
        longest = max(map(len, prompts)), max(map(len, answers))
        pad = self.tokenizer.pad_token_id
        tensors = {
            "input_ids": [prompt + [pad] * (longest[0] - len(prompt)) for prompt in prompts],
            "attention_mask": [[1] * len(prompt) + [0] * (longest[0] - len(prompt)) for prompt in prompts],
            "labels": [answer + [-100] * (longest[1] - len(answer)) for answer in answers],
        }
        return {name: torch.tensor(rows, device=self.model.device) for name, rows in tensors.items()}

    # ---- what is written

    def _write(self, folder: Path) -> None:
        self.model.load_state_dict(self.best)
        self.model.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)
        write_history(folder, self.history)
