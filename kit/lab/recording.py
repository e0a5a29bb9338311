"""Recorded answers of a chat model, a JSON line each in ``data/answers/``: a class replays them without a key."""

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, ClassVar
from unittest import mock

import msgspec

from kit import paths
from kit.errors import InputError
from kit.store import Store, atomic_write, content_key
from kit.text.language_models import KIND, Answer, ChatServer

#: In a notebook's environment: the file for what its chat models answer.
WANTED = "KIT_RECORD"


class Recorded(Answer, frozen=True, kw_only=True):
    """An answer, by the store's key of its prompt, model and longest answer, as hexadecimal digits."""

    prompt_hash: Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{32}$")]
    model: str
    date: str


def read_recorded(file: Path) -> dict[bytes, bytes]:
    """The lines of a file, by their keys in the store. Raises :class:`InputError` for one that is damaged."""
    lines = {}
    for number, line in enumerate(file.read_bytes().splitlines(), start=1):
        try:
            lines[bytes.fromhex(msgspec.json.decode(line, type=Recorded).prompt_hash)] = line
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise InputError(
                f"expected a recorded answer ({error})", file=f"{file}, line {number}"
            ) from None
    return lines


def store_recorded() -> None:
    """Put all recorded answers into the store, in the place of others to the same prompts: a class sees the same."""
    for file in sorted(paths.ANSWERS.glob("*.jsonl")):
        Store().put_many(KIND, read_recorded(file))


class RecordedServer(ChatServer):
    """Writes down all that it answers, from the store too; all such models of a process have their caps in common."""

    _spent_by_all: ClassVar = {"calls": 0, "tokens": 0}

    def __init__(self, model: str, **settings: object) -> None:
        super().__init__(model, **settings)
        self._spent = self._spent_by_all

    def generate(self, prompts: Sequence[str], *, progress: bool = True) -> list[Answer]:
        answers = super().generate(prompts, progress=progress)
        file = Path(os.environ[WANTED])
        lines, made = {}, {"model": self.name, "date": datetime.now(UTC).date().isoformat()}
        for prompt, answer in zip(prompts, answers):
            key = content_key(self.identity, str(self.longest_answer), prompt)
            lines[key] = msgspec.json.encode(
                {"prompt_hash": key.hex(), **made, **msgspec.structs.asdict(answer)}
            )
        lines |= read_recorded(file) if file.exists() else {}
        atomic_write(file, b"".join(line + b"\n" for _, line in sorted(lines.items())))
        return answers


@contextmanager
def recording(model: str, most_calls: int, most_tokens: int) -> Iterator[Path]:
    """Gives the model's file, to which the notebook that is run meanwhile adds all that servers answer.

    The caps are for all models of that notebook together. Raises :class:`InputError` for what is no server's model.
    """
    kind, _, name = model.partition("@http")[0].partition(":")
    if kind != "server" or not name:
        raise InputError(f"expected server:NAME or server:NAME@URL, not {model!r}", field="model")
    file = paths.ANSWERS / (re.sub(r"[^\w.-]+", "-", name) + ".jsonl")
    told = {
        WANTED: str(file),
        "KIT_MOST_CALLS": str(most_calls),
        "KIT_MOST_TOKENS": str(most_tokens),
    }
    with mock.patch.dict(os.environ, told):
        yield file
