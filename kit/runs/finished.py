"""What is known of a finished notebook, so that it need not be run again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

import msgspec

from kit.paths import ROOT
from kit.store import atomic_write

_SOURCES = {".py", ".js", ".css", ".csv", ".toml"}


class Finished(msgspec.Struct, frozen=True):
    """A finished run: the key of what it was made from, and the files that it left with their digests.

    Paths are relative to the folder under which the run wrote.
    """

    key: str
    outputs: dict[str, str]

    def holds(self, key: str, root: Path) -> bool:
        """Whether the run was of the same content and all that it left under ``root`` is there, unchanged."""
        return self.key == key and all(
            (root / path).is_file() and file_digest(root / path) == digest for path, digest in self.outputs.items()
        )


def read_finished(path: Path) -> Finished | None:
    """The account in this file; None when there is none, or none that can be read."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Finished)
    except (FileNotFoundError, msgspec.MsgspecError):
        return None


def write_finished(path: Path, key: str, files: Iterable[Path], root: Path) -> None:
    outputs = {file.relative_to(root).as_posix(): file_digest(file) for file in files}
    atomic_write(path, msgspec.json.format(msgspec.json.encode(Finished(key, outputs)), indent=1) + b"\n")


def file_digest(path: Path) -> str:
    with path.open("rb") as source:
        return hashlib.file_digest(source, lambda: hashlib.blake2b(digest_size=16)).hexdigest()


def code_digest() -> str:
    """A digest of the package's own source: any change makes every notebook, and every cell of a sweep, run again."""
    sink = hashlib.blake2b(digest_size=16)
    for path in sorted((ROOT / "kit").rglob("*")):
        if path.suffix in _SOURCES:
            sink.update(f"{path.relative_to(ROOT).as_posix()} {file_digest(path)}\n".encode())
    return sink.hexdigest()
