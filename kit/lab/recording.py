"""Recorded answers of a language model, so that a class replays them without a key.

They stand in ``data/answers/``, a JSON line per answer.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kit import paths
from kit.errors import InputError
from kit.lab.environment import environment
from kit.store import Store
from kit.text.language_models import language_model
from kit.text.language_models.recorded import KIND, WANTED, read_recorded, recording_file


def store_recorded() -> None:
    """Put all recorded answers into the store, so that a class sees the same.

    They take the place of other answers to the same prompts.
    """
    for file in sorted(paths.ANSWERS.glob("*.jsonl")):
        Store().put_many(KIND, read_recorded(file))


@contextmanager
def recording(model: str, most_calls: int, most_tokens: int) -> Iterator[Path]:
    """Gives the model's file, to which the notebook that is run meanwhile adds its answers.

    The caps are for all models of that notebook together. Raises :class:`InputError` for a model
    that needs no recording.
    """
    asked_model = language_model(model)
    if asked_model.replay or not asked_model.is_recorded:
        raise InputError(
            f"expected server:NAME, server:NAME@URL or hf:NAME, not {model!r}", field="model"
        )

    with environment(
        {
            WANTED: str(paths.ANSWERS.resolve()),
            "KIT_MOST_CALLS": str(most_calls),
            "KIT_MOST_TOKENS": str(most_tokens),
        }
    ):
        yield recording_file(paths.ANSWERS, asked_model.name)
