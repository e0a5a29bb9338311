"""The one training loop, by which all that learns does so; and how torch computes.

A training is cut into periods. After each the model is measured on dev questions and a checkpoint
is written, from which an interrupted training goes on to the same result, bit for bit. The weights
that measured best are kept.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor
from torch.nn import Module
from torch.nn.utils import clip_grad_norm_
from torch.optim import Optimizer

from kit.progress import ProgressBar, progress_bar
from kit.store import Store

CHECKPOINTS = "checkpoints"  # in the store
HISTORY = "history.json"  # beside what was trained
STATE = "state.safetensors"  # in a checkpoint
CHECKS = 2  # per epoch: so often the model is measured and a checkpoint written
PATIENCE = 2  # checks in a row that bring nothing better before a training stops
WARM_UP = 0.1  # the share of the steps in which the learning rate rises
LARGEST_GRADIENT = 1.0  # the norm at which gradients are cut

Item = TypeVar("Item")
History = Sequence[dict[str, float]]  # a row per step, and a row per check
Weights = dict[str, Tensor]


class Slot(NamedTuple):
    """Where a training is kept: a folder of the store, by kind and key."""

    store: Store
    kind: str
    key: str


class Period(NamedTuple):
    """What is learned between two checks: batches, one per step, and their share of a schedule."""

    batches: Sequence[Any]
    step: int  # steps of the schedule that went before
    total: int  # steps of the whole schedule
    learning_rate: float  # its highest
    notes: Mapping[str, float] = {}  # for the history's rows of these steps


@dataclass
class Trainer:
    """Trains a model and keeps its best weights.

    Args:
        model: what learns.
        optimiser: of its parameters; a group with a number ``times`` learns so many times as fast.
        loss: the loss of one batch.
        check: measures the model before training (step 0) and after each period; the sum of what it
            finds is the score. Kept are the weights of the highest score, without it the last ones.
        patience: ends the training after so many checks in a row with none better.
        latest_of_equals: of equal scores the latest is kept, not the first.
        dropout_seed: there is dropout only with a seed.
        write: puts the best model into a folder; by default ``weights.safetensors``.
    """

    model: Module
    optimiser: Optimizer
    loss: Callable[[Any], Tensor]
    check: Callable[[int], Mapping[str, float]] | None = None
    patience: int | None = None
    latest_of_equals: bool = False
    dropout_seed: int | None = None
    write: Callable[[Path], None] | None = None

    history: list[dict[str, float]] = field(default_factory=list, init=False)
    best: Weights = field(default_factory=dict, init=False)
    periods_done: int = field(default=0, init=False)

    def run(self, periods: Sequence[Callable[[], Period]], slot: Slot) -> Path:
        """Train through the periods and return the folder in which the best weights are kept.

        Its ``history.json`` has a row per step (``step``, ``loss``, the period's notes) and one per
        check. A training that was interrupted goes on where its last checkpoint stands.
        """
        self._begin(slot)
        with progress_bar(
            initial=self.step,
            desc=f"training ({slot.kind})",
            unit="step",
        ) as bar:
            while self.periods_done < len(periods) and not self._is_stale():
                periods_left = len(periods) - self.periods_done
                self._run_period(periods[self.periods_done], bar, periods_left)
                self._measure()
                self.periods_done += 1
                slot.store.put_folder(CHECKPOINTS, slot.key, self._write_checkpoint)
        return self._keep_best(slot)

    @property
    def step(self) -> int:
        """How many steps were done."""
        return sum("loss" in row for row in self.history)

    def _begin(self, slot: Slot) -> None:
        self.best = weights(self.model)
        checkpoint = slot.store.get_folder(CHECKPOINTS, slot.key)
        if checkpoint:
            self._read_checkpoint(checkpoint)
        if not self.periods_done:
            self._measure()

    def _run_period(self, make: Callable[[], Period], bar: ProgressBar, periods_left: int) -> None:
        with torch.random.fork_rng():
            torch.manual_seed((self.dropout_seed or 0) * 1_000 + self.periods_done)
            period = make()
            bar.total = self.step + len(period.batches) * periods_left  # all are about as long
            self.model.train(self.dropout_seed is not None)

            for i, batch in enumerate(period.batches):
                share = linear_warmup_decay(period.step + i, period.total)
                loss = self._descend(batch, share * period.learning_rate)
                self.history.append(
                    {
                        "step": self.step + 1,
                        **period.notes,
                        "loss": loss,
                    }
                )
                bar.update()

    def _descend(self, batch: Any, learning_rate: float) -> float:
        """One step; the loss before it."""
        for group in self.optimiser.param_groups:
            group["lr"] = learning_rate * group.get("times", 1)
        self.optimiser.zero_grad()
        loss = self.loss(batch)
        loss.backward()
        clip_grad_norm_(self.model.parameters(), LARGEST_GRADIENT)
        self.optimiser.step()
        return loss.item()

    def _measure(self) -> None:
        """Measure the model, and remember its weights if they are the best so far."""
        if self.check:
            self.history.append({"step": self.step, **self.check(self.step)})
        *earlier, score = _scores(self.history) or [0.0]
        highest = max(earlier, default=-np.inf)
        if score > highest or (self.latest_of_equals and score == highest):
            self.best = weights(self.model)

    def _is_stale(self) -> bool:
        """Whether the last ``patience`` checks brought nothing better."""
        scores = _scores(self.history)
        if self.patience is None or not scores:
            return False
        return len(scores) - 1 - np.argmax(scores) >= self.patience

    def _keep_best(self, slot: Slot) -> Path:
        def write_all(folder: Path) -> None:
            if self.write:
                self.write(folder)
            else:
                save_file(self.model.state_dict(), folder / "weights.safetensors")
            (folder / HISTORY).write_text(json.dumps(self.history), "utf-8")

        self.model.load_state_dict(self.best)
        folder = slot.store.put_folder(slot.kind, slot.key, write_all)
        slot.store.drop_folder(CHECKPOINTS, slot.key)
        return folder

    def _write_checkpoint(self, folder: Path) -> None:
        """Weights now and at their best, the optimiser's state, the periods done, the history."""
        parts = {"now": self.model.state_dict(), "best": self.best}
        parts |= self.optimiser.state_dict()["state"]
        tensors = {}
        for part, values in parts.items():
            for name, value in values.items():
                tensors[f"{part}/{name}"] = value.cpu().clone()
        save_file(tensors, folder / STATE)
        (folder / HISTORY).write_text(json.dumps((self.periods_done, self.history)), "utf-8")

    def _read_checkpoint(self, folder: Path) -> None:
        parts = defaultdict(dict)
        for path, value in load_file(folder / STATE).items():
            part, _, name = path.partition("/")
            parts[part][name] = value

        self.model.load_state_dict(parts.pop("now"))
        self.best = parts.pop("best")
        state = {int(part): values for part, values in parts.items()}
        self.optimiser.load_state_dict(self.optimiser.state_dict() | {"state": state})
        self.periods_done, self.history = json.loads((folder / HISTORY).read_text("utf-8"))


def _scores(history: History) -> list[float]:
    """The score of each check."""
    checks = [row for row in history if "loss" not in row]
    return [sum(row[name] for name in row if name != "step") for row in checks]


def linear_warmup_decay(step: int, total: int) -> float:
    """The share of the highest learning rate at a step, from 0: it rises, then falls to 0."""
    rising = max(1, round(WARM_UP * total))
    return min(
        (step + 1) / rising,
        (total - step) / max(1, total - rising),
    )


def parts_of_epoch(items: Sequence[Item], n: int = CHECKS) -> list[Sequence[Item]]:
    """What an epoch goes through, cut into ``n`` periods."""
    cuts = np.linspace(0, len(items), n + 1).round().astype(int)
    return [items[start:end] for start, end in pairwise(cuts)]


def periods_of(parts: Sequence[Sequence[Any]], learning_rate: float) -> list[Callable[[], Period]]:
    """A period of each part that has batches, all on one schedule."""
    *starts, total = np.cumsum([0, *map(len, parts)]).tolist()
    return [
        partial(Period, part, start, total, learning_rate)
        for part, start in zip(parts, starts)
        if part
    ]


def weights(model: Module) -> Weights:
    """A copy that training leaves alone."""
    return {name: weight.detach().cpu().clone() for name, weight in model.state_dict().items()}


def read_weights(folder: Path) -> Weights:
    """The weights that a :class:`Trainer` kept."""
    return load_file(next(folder.glob("*.safetensors")))


def read_history(folder: Path) -> History:
    """How a training went."""
    return json.loads((folder / HISTORY).read_text("utf-8"))


@contextmanager
def one_thread() -> Iterator[None]:
    """torch on one thread: where tensors are small, threads wait more than they work."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
