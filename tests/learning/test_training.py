"""The training loop: what is kept, when it stops, and that it goes on to the same result."""

import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
import torch

from kit.learning.training import (
    Period,
    Slot,
    Trainer,
    linear_warmup_decay,
    read_history,
    read_weights,
    weights,
)
from kit.precision import mixed_precision
from kit.store import Store

N = 4  # periods, of three steps each


class ToyTraining:
    """Half of its weights dropped, it learns to say 1."""

    def __init__(self, folder: Path, breaks_at: int = 0) -> None:
        self.slot = Slot(Store(folder), "trained", "key")
        self.breaks_at = breaks_at
        self.checked = []
        with torch.random.fork_rng():
            torch.manual_seed(0)
            self.model = torch.nn.Sequential(torch.nn.Linear(8, 1), torch.nn.Dropout(0.5))
        self.steps = 0

    def loss(self, batch: int) -> torch.Tensor:
        self.steps += 1
        if self.steps == self.breaks_at:
            raise KeyboardInterrupt
        return (self.model(torch.full((4, 8), batch / 10)) - 1).square().mean()

    def train(self, scores: list[float] | None = None, **settings: object) -> Path:
        def check(step: int) -> dict[str, float]:
            self.checked.append((step, weights(self.model)))
            return {"one": scores[step // 3], "two": 0.5}

        trainer = Trainer(
            self.model,
            torch.optim.AdamW(self.model.parameters(), weight_decay=0.01),
            self.loss,
            check=check if scores else None,
            dropout_seed=0,
            **settings,
        )
        starts = range(0, 3 * N, 3)
        periods = [partial(Period, (1, 2, 3), start, 3 * N, 0.1, {"stage": 7}) for start in starts]
        return trainer.run(periods, self.slot)


def same(a: dict[str, torch.Tensor], b: dict[str, torch.Tensor]) -> bool:
    return a.keys() == b.keys() and all(a[name].equal(b[name]) for name in a)


def test_the_learning_rate_rises_for_a_tenth_of_the_steps_and_falls_to_nothing() -> None:
    assert [linear_warmup_decay(step, 20) for step in (0, 1, 2, 11, 19)] == pytest.approx(
        [0.5, 1, 1, 0.5, 1 / 18]
    )
    assert linear_warmup_decay(0, 1) == 1


def test_the_history_has_every_step_and_every_check(tmp_path: Path) -> None:
    rows = read_history(ToyTraining(tmp_path).train([0, 1, 2, 3, 4]))
    steps = [row for row in rows if "loss" in row]
    assert [row["step"] for row in steps] == list(range(1, 13))
    assert {row["stage"] for row in steps} == {7}
    assert [row for row in rows if "loss" not in row][1] == {"step": 3, "one": 1, "two": 0.5}
    assert sum(row["loss"] for row in steps[-3:]) < sum(row["loss"] for row in steps[:3])


@pytest.mark.parametrize(
    ("scores", "settings", "kept", "checks"),
    [
        ([0, 3, 3, 2, 1], {}, 1, 5),
        ([0, 3, 3, 2, 1], {"latest_of_equals": True}, 2, 5),
        ([4, 3, 3, 2, 1], {}, 0, 5),
        ([4, 3, 2, 5, 6], {"patience": 2}, 0, 3),
        ([0, 1, 0, 2, 1], {"patience": 2}, 3, 5),
    ],
)
def test_the_best_weights_are_kept_and_patience_ends(
    tmp_path: Path, scores: list[float], settings: dict[str, object], kept: int, checks: int
) -> None:
    learner = ToyTraining(tmp_path)
    folder = learner.train(scores, **settings)
    assert [step for step, _ in learner.checked] == [0, 3, 6, 9, 12][:checks]
    assert same(read_weights(folder), learner.checked[kept][1])
    assert same(read_weights(folder), weights(learner.model))


@pytest.mark.parametrize("scores", [None, [0, 3, 1, 2, 2]])
def test_an_interrupted_training_ends_as_if_it_never_was(
    tmp_path: Path, scores: list[float] | None
) -> None:
    whole = ToyTraining(tmp_path / "a").train(scores)
    with pytest.raises(KeyboardInterrupt):
        ToyTraining(tmp_path / "b", breaks_at=8).train(scores)
    files = [file for file in (tmp_path / "b" / "checkpoints" / "key").iterdir() if file.is_file()]
    assert {file.suffix for file in files} == {".json", ".safetensors"}  # nothing is a pickle
    assert Store(tmp_path / "b").get_folder("trained", "key") is None
    again = ToyTraining(tmp_path / "b")
    resumed = again.train(scores)
    assert again.steps == 6  # of twelve
    assert same(read_weights(resumed), read_weights(whole)) and read_history(
        resumed
    ) == read_history(whole)
    assert not any((tmp_path / "b" / "checkpoints").iterdir())


@pytest.mark.parametrize("given", ["", "ACTIVE"])
def test_threads_wait_asleep_unless_told_otherwise(given: str) -> None:
    """OpenMP reads them once, when torch or faiss is loaded: ``import kit`` sets them before."""
    names = ("OMP_WAIT_POLICY", "KMP_BLOCKTIME")
    environment = {name: value for name, value in os.environ.items() if name not in names}
    if given:
        environment["OMP_WAIT_POLICY"] = given
    loaded = "'torch' in sys.modules, 'faiss' in sys.modules"
    show = f"import kit, os, sys; print(*map(os.environ.get, {names}), {loaded})"
    shown = subprocess.run(
        [sys.executable, "-c", show], env=environment, capture_output=True, text=True, check=True
    )
    assert shown.stdout.split() == [given or "PASSIVE", "0", "False", "False"]


def test_products_in_half_precision_are_near_those_in_full_and_weights_stay_full() -> None:
    layer = torch.nn.Linear(8, 8)
    rows = torch.linspace(-1, 1, 16).reshape(2, 8)
    full = layer(rows)
    with mixed_precision():
        half = layer(rows)
    units = torch.cpu.get_capabilities()
    quick = torch.cuda.is_available() or units.get("amx_bf16")
    assert half.dtype == (torch.bfloat16 if quick else torch.float32)
    torch.testing.assert_close(half.float(), full, atol=0.02, rtol=0.02)
    half.float().sum().backward()
    assert layer.weight.dtype == layer.weight.grad.dtype == torch.float32
