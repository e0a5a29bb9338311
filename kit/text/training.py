"""The one training loop, by which all that learns does so; and how torch computes.

A training is cut into periods. After each the model is measured on dev questions and a checkpoint is written, from
which an interrupted training goes on to the same result, bit for bit. The weights that measured best are kept.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor
from torch.nn import Module
from torch.optim import Optimizer
from tqdm.auto import tqdm

from kit.store import Store

CHECKPOINTS = "checkpoints"  # in the store
HISTORY = "history.json"  # beside what was trained
CHECKS = 2  # an epoch: the model is measured and a checkpoint written so often
PATIENCE = 2  # checks in a row that bring nothing better before a training stops
WARM_UP = 0.1  # the share of the steps in which the learning rate rises

Item = TypeVar("Item")
History = list[dict[str, float]]
Weights = dict[str, Tensor]


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
    write: Callable[[Path], None] | None = None,
    check: Callable[[int], Mapping[str, float]] | None = None,
    patience: int | None = None,
    latest_of_equals: bool = False,
    dropout_seed: int | None = None,
) -> Path:
    """Train, and keep the weights, or what ``write`` makes of them, in a folder of the store by ``kind`` and ``key``.

    ``loss`` is that of one batch; gradients are cut at norm 1; a group of the optimiser's parameters with a number
    ``times`` learns so many times as fast. ``check`` measures the model before training (step 0) and after each period:
    the sum of what it finds is the score. Kept are the weights of the highest score, without ``check`` the last
    ones. ``patience`` ends the training after so many checks with none better. There is dropout only with a seed.
    ``history.json`` gets a row a step (``step``, ``loss``, the period's notes) and a row a check.
    """
    history: History = []
    best, done = weights(model), 0

    def measure() -> None:
        nonlocal best
        if check:
            history.append({"step": step, **check(step)})
        *before, now = _scores(history) or [0.0]
        highest = max(before, default=-np.inf)
        if now > highest or (latest_of_equals and now == highest):
            best = weights(model)

    if folder := store.get_folder(CHECKPOINTS, key):
        done, history, best = _read_checkpoint(model, optimiser, folder)
    step = sum("loss" in row for row in history)
    if not done:
        measure()
    with tqdm(initial=step, desc=f"training ({kind})", unit="step") as bar:
        while done < len(periods) and not _stale(_scores(history), patience):
            with torch.random.fork_rng():
                torch.manual_seed((dropout_seed or 0) * 1_000 + done)
                period = periods[done]()
                bar.total = step + len(period.batches) * (len(periods) - done)  # periods are about as long
                model.train(dropout_seed is not None)
                for number, batch in enumerate(period.batches):
                    rate = period.learning_rate * linear_warmup_decay(period.step + number, period.total)
                    for group in optimiser.param_groups:
                        group["lr"] = rate * group.get("times", 1)
                    optimiser.zero_grad()
                    found = loss(batch)
                    found.backward()
                    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                    optimiser.step()
                    step += 1
                    history.append({"step": step, **period.notes, "loss": found.item()})
                    bar.update()
            measure()
            done += 1
            store.put_folder(CHECKPOINTS, key, partial(_write_checkpoint, model, optimiser, (done, history), best))

    def write_all(folder: Path) -> None:
        write(folder) if write else save_file(model.state_dict(), folder / "weights.safetensors")
        (folder / HISTORY).write_text(json.dumps(history), "utf-8")

    model.load_state_dict(best)
    folder = store.put_folder(kind, key, write_all)
    store.drop_folder(CHECKPOINTS, key)
    return folder


def _scores(history: History) -> list[float]:
    """Of each check."""
    return [sum(row[name] for name in row if name != "step") for row in history if "loss" not in row]


def _stale(scores: Sequence[float], patience: int | None) -> bool:
    return patience is not None and bool(scores) and len(scores) - 1 - int(np.argmax(scores)) >= patience


def linear_warmup_decay(step: int, total: int) -> float:
    """The share of the highest learning rate at a step, from 0: it rises, then falls to 0, both in a straight line."""
    rising = max(1, round(WARM_UP * total))
    return min((step + 1) / rising, (total - step) / max(1, total - rising))


def parts_of_epoch(items: Sequence[Item]) -> list[Sequence[Item]]:
    """What an epoch goes through, cut into ``CHECKS`` periods."""
    cuts = np.linspace(0, len(items), CHECKS + 1).round().astype(int)
    return [items[start:end] for start, end in pairwise(cuts)]


def periods_of(parts: Sequence[Sequence[Any]], learning_rate: float) -> list[Callable[[], Period]]:
    """One of each part that has batches, on one schedule for all of them."""
    starts = np.cumsum([0, *map(len, parts)]).tolist()
    return [partial(Period, part, start, starts[-1], learning_rate) for part, start in zip(parts, starts) if part]


def weights(model: Module) -> Weights:
    """A copy that training leaves alone."""
    return {name: weight.detach().cpu().clone() for name, weight in model.state_dict().items()}


def read_trained(folder: Path) -> tuple[Weights, History]:
    """The weights that :func:`train` kept, and how it went."""
    return load_file(next(folder.glob("*.safetensors"))), read_history(folder)


def read_history(folder: Path) -> History:
    return json.loads((folder / HISTORY).read_text("utf-8"))


def _write_checkpoint(model: Module, optimiser: Optimizer, told: tuple, best: Weights, folder: Path) -> None:
    """Where a training stands: weights now and at their best, the optimiser's state, periods that are done, history."""
    parts = {"now": model.state_dict(), "best": best} | optimiser.state_dict()["state"]
    tensors = {f"{part}/{name}": value.cpu().clone() for part, of in parts.items() for name, value in of.items()}
    save_file(tensors, folder / "state.safetensors")
    (folder / HISTORY).write_text(json.dumps(told), "utf-8")


def _read_checkpoint(model: Module, optimiser: Optimizer, folder: Path) -> tuple[int, History, Weights]:
    """Takes model and optimiser there; how many periods are done, the history, the best weights."""
    parts: dict[str, Weights] = defaultdict(dict)
    for name, value in load_file(folder / "state.safetensors").items():
        part, _, own = name.partition("/")
        parts[part][own] = value
    model.load_state_dict(parts.pop("now"))
    best = parts.pop("best")
    optimiser.load_state_dict(optimiser.state_dict() | {"state": {int(part): of for part, of in parts.items()}})
    return *json.loads((folder / HISTORY).read_text("utf-8")), best


@contextmanager
def mixed_precision() -> Iterator[None]:
    """Matrix products in bfloat16 on a CUDA device or a CPU with AMX, in float32 elsewhere; weights stay float32.

    To be entered anew for each step: what PyTorch has cast of the weights is kept until the end.
    """
    cuda = torch.cuda.is_available()
    quick = cuda or torch.cpu.get_capabilities().get("amx_bf16", False)
    with torch.autocast("cuda" if cuda else "cpu", torch.bfloat16, enabled=quick):
        yield


@contextmanager
def one_thread() -> Iterator[None]:
    """torch on one thread: where tensors are small, threads wait more than they work."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
