"""Costly results, computed once and found again by content.

One SQLite file a kind (embeddings, answers of language models …), because its transactions are what we promise: a value
is there whole or not at all, also after a kill, and several processes can share the file. Every row carries a checksum;
a row or a file that is damaged counts as missing, so that it is computed and written again. What must be files (trained
weights) has a folder a key, with the checksums of its files.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sqlite3
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from kit.paths import cache

_CHECKSUMS = "checksums.json"


def content_key(*parts: str) -> bytes:
    """A 16-byte key of the given texts."""
    sink = hashlib.blake2b(digest_size=16)
    for part in parts:
        encoded = part.encode("utf-8", "surrogatepass")
        sink.update(len(encoded).to_bytes(8, "little") + encoded)
    return sink.digest()


def file_digest(path: Path) -> str:
    with path.open("rb") as source:
        return hashlib.file_digest(source, lambda: hashlib.blake2b(digest_size=16)).hexdigest()


def atomic_write(path: Path, content: bytes) -> None:
    """Write a file so that a reader sees the old content or the new, never half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as sink:
            sink.write(content)
            sink.flush()
            os.fsync(sink.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


class Store:
    """Bytes by kind and key, in a folder (by default that of :func:`kit.paths.cache`)."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or cache()

    def get_many(self, kind: str, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """The values that are there and sound, by key."""
        found: dict[bytes, bytes] = {}
        if not self._file(kind).exists():
            return found
        try:
            with self._open(kind) as connection:
                for key in keys:
                    row = connection.execute("SELECT value, checksum FROM entry WHERE key = ?", [key]).fetchone()
                    if row and _checksum(key, row[0]) == row[1]:
                        found[key] = row[0]
        except sqlite3.DatabaseError as error:
            self._give_up(kind, error)
            return {}
        return found

    def put_many(self, kind: str, values: Mapping[bytes, bytes]) -> None:
        """Keep the values, all of them or (if interrupted) none."""
        try:
            self._insert(kind, values)
        except sqlite3.DatabaseError as error:
            self._give_up(kind, error)
            self._insert(kind, values)

    def get_folder(self, kind: str, key: str) -> Path | None:
        """The folder of this key if it is there and all its files are as they were written, else None."""
        folder = self.folder / kind / key
        if not folder.exists():
            return None
        with suppress(OSError, ValueError):
            if json.loads((folder / _CHECKSUMS).read_bytes()) == _checksums(folder):
                return folder
        warnings.warn(f"the stored folder {kind}/{key} is damaged and is made again", stacklevel=2)
        return None

    def put_folder(self, kind: str, key: str, write: Callable[[Path], None]) -> Path:
        """Keep what ``write`` puts into the empty folder that it is given: all of it or (if interrupted) none."""
        folder = self.folder / kind / key
        folder.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{key}."))
        try:
            write(temporary)
            atomic_write(temporary / _CHECKSUMS, json.dumps(_checksums(temporary)).encode())
            os.chmod(temporary, 0o755)
            self.drop_folder(kind, key)
            os.replace(temporary, folder)
        except BaseException:
            shutil.rmtree(temporary, ignore_errors=True)
            raise
        return folder

    def drop_folder(self, kind: str, key: str) -> None:
        """Forget what is kept under this key, if anything is."""
        shutil.rmtree(self.folder / kind / key, ignore_errors=True)

    def _file(self, kind: str) -> Path:
        return self.folder / f"{kind}.sqlite"

    def _insert(self, kind: str, values: Mapping[bytes, bytes]) -> None:
        rows = [(key, value, _checksum(key, value)) for key, value in values.items()]
        with self._open(kind) as connection:
            connection.executemany("INSERT OR REPLACE INTO entry VALUES (?, ?, ?)", rows)

    @contextmanager
    def _open(self, kind: str) -> Iterator[sqlite3.Connection]:
        self.folder.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(self._file(kind), timeout=120)
        try:
            with connection:
                connection.execute("CREATE TABLE IF NOT EXISTS entry (key BLOB PRIMARY KEY, value BLOB, checksum BLOB)")
                yield connection
        finally:
            connection.close()

    def _give_up(self, kind: str, error: sqlite3.DatabaseError) -> None:
        if isinstance(error, sqlite3.OperationalError):  # locked, disk full, read-only: the file itself is sound
            raise error
        warnings.warn(f"the store {self._file(kind).name} is damaged ({error}) and is rebuilt", stacklevel=3)
        self._file(kind).unlink(missing_ok=True)


def _checksum(key: bytes, value: bytes) -> bytes:
    return hashlib.blake2b(key + value, digest_size=8).digest()


def _checksums(folder: Path) -> dict[str, str]:
    """A digest of each file by its path in the folder; that of the digests themselves is left out."""
    files = sorted(file for file in folder.rglob("*") if file.is_file() and file != folder / _CHECKSUMS)
    return {file.relative_to(folder).as_posix(): file_digest(file) for file in files}
