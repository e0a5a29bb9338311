"""Recorded answers of a chat model, so that a class replays them without a key.

They stand in ``data/answers/``, a JSON line per answer.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from os import environ
from pathlib import Path
from typing import Annotated, ClassVar

import msgspec
from msgspec.structs import asdict

from kit import paths
from kit.corpus.types import Texts
from kit.errors import InputError
from kit.lab.environment import environment
from kit.store import Store, atomic_write, content_key
from kit.text.language_models import KIND, MODELS, Answer, ChatServer

#: In a notebook's environment: the file for what its chat models answer.
WANTED = "KIT_RECORD"


class Recorded(Answer, frozen=True, kw_only=True):
    """An answer, with the key of its prompt, model and longest answer in hexadecimal digits."""

    prompt_hash: Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{32}$")]
    model: str
    date: str


def read_recorded(file: Path) -> dict[bytes, bytes]:
    """The lines of a file, by their keys in the store.

    Raises :class:`InputError` for a line that is damaged.
    """
    lines = {}
    for line_number, line in enumerate(file.read_bytes().splitlines(), start=1):
        try:
            recorded = msgspec.json.decode(line, type=Recorded)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise InputError(
                f"expected a recorded answer ({error})",
                file=f"{file}, line {line_number}",
            ) from None
        lines[bytes.fromhex(recorded.prompt_hash)] = line
    return lines


def store_recorded() -> None:
    """Put all recorded answers into the store, so that a class sees the same.

    They take the place of other answers to the same prompts.
    """
    for file in sorted(paths.ANSWERS.glob("*.jsonl")):
        Store().put_many(KIND, read_recorded(file))


def record_if_wanted() -> None:
    """In a notebook that ``kit record`` runs, let servers write down what they answer."""
    if WANTED in environ:
        MODELS["server"] = RecordedServer


class RecordedServer(ChatServer):
    """A server that writes down all that it answers, from the store too.

    All such models of a process have their caps in common.
    """

    _spent_by_all: ClassVar = {"calls": 0, "tokens": 0}

    def __init__(self, model: str, **settings: object) -> None:
        super().__init__(model, **settings)
        self._spent = self._spent_by_all

    def generate(self, prompts: Texts, *, progress: bool = True) -> list[Answer]:
        answers = super().generate(prompts, progress=progress)
        file = Path(environ[WANTED])
        today = datetime.now(UTC).date().isoformat()

        lines = {}
        for prompt, answer in zip(prompts, answers):
            key = content_key(self.identity, str(self.longest_answer), prompt)
            origin = {"prompt_hash": key.hex(), "model": self.name, "date": today}
            lines[key] = msgspec.json.encode(origin | asdict(answer))
        if file.exists():
            lines |= read_recorded(file)
        atomic_write(file, b"".join(line + b"\n" for _, line in sorted(lines.items())))
        return answers


@contextmanager
def recording(model: str, most_calls: int, most_tokens: int) -> Iterator[Path]:
    """Gives the model's file, to which the notebook that is run meanwhile adds its answers.

    The caps are for all models of that notebook together. Raises :class:`InputError` for what is
    no server's model.
    """
    kind, _, name = model.partition("@http")[0].partition(":")
    if kind != "server" or not name:
        raise InputError(f"expected server:NAME or server:NAME@URL, not {model!r}", field="model")

    file = paths.ANSWERS / (re.sub(r"[^\w.-]+", "-", name) + ".jsonl")
    with environment(
        {
            WANTED: str(file),
            "KIT_MOST_CALLS": str(most_calls),
            "KIT_MOST_TOKENS": str(most_tokens),
        }
    ):
        yield file
