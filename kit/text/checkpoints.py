"""Where a training stands, written now and then, so that an interrupted one goes on to the same result."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from kit.store import Store

if TYPE_CHECKING:
    import torch
    from torch import Tensor

KIND = "checkpoints"  # in the store
HISTORY = "history.json"  # beside what was trained


class Checkpoints:
    """The checkpoints of one training, of which the last is kept: weights now and at their best, optimiser, history.

    ``most`` is the number of checkpoints that the training writes if nothing stops it.
    """

    def __init__(self, store: Store, key: str, most: int) -> None:
        self.store, self.key, self.most = store, key, most

    def save(
        self,
        number: int,
        module: torch.nn.Module,
        best: dict[str, Tensor],
        optimiser: torch.optim.Optimizer,
        history: list[dict[str, float]],
    ) -> None:
        """Write checkpoint ``number`` (from 1), and forget the one before."""
        state = optimiser.state_dict()["state"]
        moments = {f"{of}.{name}": value for of, values in state.items() for name, value in values.items()}
        parts = {"now": weights(module), "best": best, "moments": moments}

        def write(folder: Path) -> None:
            from safetensors.torch import save_file

            tensors = {f"{part}/{name}": value for part, of in parts.items() for name, value in of.items()}
            save_file({name: value.detach().cpu().clone() for name, value in tensors.items()}, _state(folder))
            write_history(folder, history)

        self.store.put_folder(KIND, self._name(number), write)
        self.store.drop_folder(KIND, self._name(number - 1))

    def load(
        self, module: torch.nn.Module, optimiser: torch.optim.Optimizer
    ) -> tuple[int, dict[str, Tensor], list[dict[str, float]]] | None:
        """Take weights and optimiser to the last sound checkpoint: its number, the best weights, the history."""
        from safetensors.torch import load_file

        for number in range(self.most, 0, -1):
            if folder := self.store.get_folder(KIND, self._name(number)):
                parts: dict[str, dict[str, Tensor]] = {"now": {}, "best": {}, "moments": {}}
                for name, value in load_file(_state(folder)).items():
                    part, _, own = name.partition("/")
                    parts[part][own] = value
                module.load_state_dict(parts["now"])
                state = optimiser.state_dict()
                for name, value in parts["moments"].items():
                    of, _, moment = name.partition(".")
                    state["state"].setdefault(int(of), {})[moment] = value
                optimiser.load_state_dict(state)
                return number, parts["best"], read_history(folder)
        return None

    def forget(self) -> None:
        """Remove them all."""
        for number in range(self.most + 1):
            self.store.drop_folder(KIND, self._name(number))

    def _name(self, number: int) -> str:
        return f"{self.key}-{number}"


def weights(module: torch.nn.Module) -> dict[str, Tensor]:
    """A copy of a module's weights that its training leaves alone."""
    return {name: weight.detach().cpu().clone() for name, weight in module.state_dict().items()}


def write_history(folder: Path, history: list[dict[str, float]]) -> None:
    (folder / HISTORY).write_text(json.dumps(history), "utf-8")


def read_history(folder: Path) -> list[dict[str, float]]:
    return json.loads((folder / HISTORY).read_text("utf-8"))


def _state(folder: Path) -> Path:
    return folder / "state.safetensors"
