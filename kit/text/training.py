"""The one training loop: DPR and MDR, the reader, the writer of evidence and QSGNN learn by it.

A training is cut into periods. After each the model is measured on dev questions and a checkpoint is written, from
which an interrupted training goes on to the same result, bit for bit. The weights that measured best are kept.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from tqdm.auto import tqdm

from kit.store import Store

if TYPE_CHECKING:
    from torch import Tensor
    from torch.nn import Module
    from torch.optim import Optimizer

    Weights = dict[str, Tensor]

KIND = "checkpoints"  # in the store
HISTORY = "history.json"  # beside what was trained
CHECKS = 2  # an epoch: the model is measured and a checkpoint written so often
PATIENCE = 2  # checks in a row that bring nothing better before a training stops
WARM_UP = 0.1  # the share of the steps in which the learning rate rises

Item = TypeVar("Item")
History = list[dict[str, float]]


class Period(NamedTuple):
    """What is learned between two checks: batches, one a step, and their place in a schedule of the learning rate."""

    batches: Sequence[Any]
    step: int  # steps of the schedule that went before
    total: int  # steps of the whole schedule
    learning_rate: float  # its highest
    notes: Mapping[str, float] = {}  # for the history's rows of these steps


def train(
    model: Module,
    optimiser: Optimizer,
    periods: Sequence[Callable[[], Period]],
    loss: Callable[[Any], Tensor],
    *,
    store: Store,
    kind: str,
    key: str,
    write: Callable[[Path], None],
    check: Callable[[int], Mapping[str, float]] | None = None,
    patience: int | None = None,
    latest_of_equals: bool = False,
    dropout: bool = False,
    seed: int = 0,
    desc: str = "training",
) -> Path:
    """Train, and keep what ``write`` puts into a folder of the store, under ``kind`` and ``key``: that folder.

    Each period is drawn when it begins, and ``loss`` is that of one of its batches. Gradients are cut at norm 1; a
    group of the optimiser's parameters with a number ``times`` learns so many times as fast. ``check`` measures the
    model after a number of steps, before training (0) and after each period: the sum of what it finds is the score,
    higher is better. ``write`` finds the model with the weights of the best score (of equals the first or the latest),
    without ``check`` with the last ones. ``patience`` ends the training after so many checks with none better.

    The folder also has ``history.json``: a row a step (``step``, from 1, ``loss`` and the period's notes) and a row a
    check (``step`` and what was measured). Nothing but ``dropout`` is drawn by torch, seeded by ``seed`` and period.
    """
    import torch

    checkpoints = Checkpoints(store, key, len(periods))
    history: History = []
    best, done, step = weights(model), 0, 0

    def measure() -> Weights:
        if check is None:
            return weights(model)
        row = {"step": step, **check(step)}
        before, now = max(_scores(history), default=-np.inf), _score(row)
        history.append(row)
        return weights(model) if now > before or (latest_of_equals and now == before) else best

    if found := checkpoints.load(model, optimiser):
        done, best, history = found
        step = sum("loss" in row for row in history)
    else:
        best = measure()
    with tqdm(initial=step, desc=desc, unit="step") as bar:
        while done < len(periods) and not _stale(history, patience):
            with torch.random.fork_rng():
                torch.manual_seed(seed * 1_000 + done)
                period = periods[done]()
                bar.total = step + len(period.batches) * (len(periods) - done)  # periods are about as long
                model.train(dropout)
                for number, batch in enumerate(period.batches):
                    rate = period.learning_rate * linear_warmup_decay(period.step + number, period.total)
                    value = _learn(model, optimiser, loss(batch), rate)
                    step += 1
                    history.append({"step": step, **period.notes, "loss": value})
                    bar.set_postfix(loss=f"{value:.3f}", refresh=False)
                    bar.update()
            best, done = measure(), done + 1
            checkpoints.save(done, model, best, optimiser, history)

    def write_all(folder: Path) -> None:
        write(folder)
        (folder / HISTORY).write_text(json.dumps(history), "utf-8")

    model.load_state_dict(best)
    folder = store.put_folder(kind, key, write_all)
    checkpoints.forget()
    return folder


def _learn(model: Module, optimiser: Optimizer, loss: Tensor, rate: float) -> float:
    import torch

    for group in optimiser.param_groups:
        group["lr"] = rate * group.get("times", 1)
    optimiser.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimiser.step()
    return loss.item()


def _score(row: Mapping[str, float]) -> float:
    return sum(value for name, value in row.items() if name != "step")


def _scores(history: History) -> list[float]:
    return [_score(row) for row in history if "loss" not in row]


def _stale(history: History, patience: int | None) -> bool:
    scores = _scores(history)
    return patience is not None and bool(scores) and len(scores) - 1 - int(np.argmax(scores)) >= patience


def linear_warmup_decay(step: int, total: int) -> float:
    """The share of the highest learning rate at a step, from 0: it rises, then falls to 0, both in a straight line."""
    rising = max(1, round(WARM_UP * total))
    return min((step + 1) / rising, (total - step) / max(1, total - rising))


def parts_of_epoch(items: Sequence[Item]) -> list[Sequence[Item]]:
    """What an epoch goes through, cut into ``CHECKS`` periods."""
    cuts = np.linspace(0, len(items), CHECKS + 1).round().astype(int)
    return [items[start:end] for start, end in pairwise(cuts)]


def weights(model: Module) -> Weights:
    """A copy of a model's weights that its training leaves alone."""
    return {name: _copy(weight) for name, weight in model.state_dict().items()}


def _copy(value: Tensor) -> Tensor:
    return value.detach().cpu().clone()


def read_history(folder: Path) -> History:
    return json.loads((folder / HISTORY).read_text("utf-8"))


class Checkpoints:
    """Where a training stands: weights now and at their best, optimiser, history; of all periods the last is kept."""

    def __init__(self, store: Store, key: str, n_periods: int) -> None:
        self.store, self.key, self.n_periods = store, key, n_periods

    def save(self, number: int, model: Module, best: Weights, optimiser: Optimizer, history: History) -> None:
        """Write checkpoint ``number`` (from 1), and forget the one before."""
        state = optimiser.state_dict()["state"]
        moments = {f"{of}.{name}": value for of, values in state.items() for name, value in values.items()}
        parts = {"now": weights(model), "best": best, "moments": moments}

        def write(folder: Path) -> None:
            from safetensors.torch import save_file

            tensors = {f"{part}/{name}": _copy(value) for part, of in parts.items() for name, value in of.items()}
            save_file(tensors, folder / "state.safetensors")
            (folder / HISTORY).write_text(json.dumps(history), "utf-8")

        self.store.put_folder(KIND, self._name(number), write)
        self.store.drop_folder(KIND, self._name(number - 1))

    def load(self, model: Module, optimiser: Optimizer) -> tuple[int, Weights, History] | None:
        """Take model and optimiser to the last sound checkpoint: its number, the best weights, the history."""
        from safetensors.torch import load_file

        for number in range(self.n_periods, 0, -1):
            if folder := self.store.get_folder(KIND, self._name(number)):
                parts: dict[str, Weights] = {"now": {}, "best": {}, "moments": {}}
                for name, value in load_file(folder / "state.safetensors").items():
                    part, _, own = name.partition("/")
                    parts[part][own] = value
                model.load_state_dict(parts["now"])
                state = optimiser.state_dict()
                for name, value in parts["moments"].items():
                    of, _, moment = name.partition(".")
                    state["state"].setdefault(int(of), {})[moment] = value
                optimiser.load_state_dict(state)
                return number, parts["best"], read_history(folder)
        return None

    def forget(self) -> None:
        """Remove them all."""
        for number in range(self.n_periods + 1):
            self.store.drop_folder(KIND, self._name(number))

    def _name(self, number: int) -> str:
        return f"{self.key}-{number}"
