"""Answers written down in a file as they come, a JSON line per answer.

That happens where ``KIT_RECORD`` in the environment names a folder: each model has a file there.
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec.structs import asdict

from kit.errors import InputError
from kit.files import atomic_write
from kit.text.language_models.answers import Answer

KIND = "answers"  # in the store
WANTED = "KIT_RECORD"  # in the environment

Lines = dict[bytes, bytes]  # by their keys in the store


class Recorded(Answer, frozen=True, kw_only=True, omit_defaults=True):
    """An answer, with the key of its prompt, model and longest answer in hexadecimal digits."""

    prompt_hash: Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{32}$")]
    model: str


def recording_file(folder: Path, model: str) -> Path:
    """Where the answers of a model stand, by its name with or without an address."""
    name = model.partition("@http")[0].partition(":")[2]
    return folder / (re.sub(r"[^\w.-]+", "-", name) + ".jsonl")


def read_recorded(file: Path) -> Lines:
    """The lines of a file. Raises :class:`InputError` for a line that is damaged."""
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


def record_if_wanted(model: str, answers: Mapping[bytes, Answer]) -> None:
    """Add the answers of the model of this name to its file, from the store or not."""
    folder = os.environ.get(WANTED)
    if not (folder and answers):
        return

    lines = {}
    for key, answer in answers.items():
        recorded = Recorded(**asdict(answer), prompt_hash=key.hex(), model=model)
        lines[key] = msgspec.json.encode(recorded)
    file = recording_file(Path(folder), model)
    if file.exists():
        lines |= read_recorded(file)
    atomic_write(file, b"".join(line + b"\n" for _, line in sorted(lines.items())))
