"""TRANSITION, until QSGNN's and DPR's trainings have moved to :mod:`kit.text.training`."""

import json
from pathlib import Path

from kit.text.training import HISTORY, Checkpoints, read_history, weights

__all__ = ["HISTORY", "Checkpoints", "read_history", "weights", "write_history"]


def write_history(folder: Path, history: list[dict[str, float]]) -> None:
    (folder / HISTORY).write_text(json.dumps(history), "utf-8")
