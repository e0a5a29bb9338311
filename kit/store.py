"""Costly results, computed once and found again by content.

Each kind (embeddings, answers of language models …) has an SQLite file, because its transactions
are what we promise: a value is there whole or not at all, also after a kill, and several processes
can share the file. They are kept by a rollback journal: it works on network file systems, where a
write-ahead log does not, and for batches of vectors it is as fast. What must be files (trained
weights) has a folder per key. Whatever is damaged, by its checksum, counts as missing and is made
again.
"""

import hashlib
import json
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, closing, suppress
from functools import lru_cache, partial
from hashlib import blake2b
from pathlib import Path
from typing import TypeVar

from filelock import FileLock

from kit.errors import note
from kit.files import expect_folder, refusal_of
from kit.paths import cache

Result = TypeVar("Result")

_CHECKSUMS = "checksums.json"
_KEYS_AT_ONCE = 10_000  # SQLite takes up to 32,766
_PATIENCE = 120  # seconds until a file is given up that another process has locked
_CREATE = "CREATE TABLE IF NOT EXISTS entry (key BLOB PRIMARY KEY, value BLOB, checksum BLOB)"
_INSERT = "INSERT OR REPLACE INTO entry VALUES (?, ?, ?)"
_SELECT = "SELECT key, value, checksum FROM entry WHERE key IN ({})"


def content_key(*parts: str) -> bytes:
    """A 16-byte key of the given texts."""
    sink = blake2b(digest_size=16)
    for part in parts:
        encoded = part.encode("utf-8", "surrogatepass")
        sink.update(len(encoded).to_bytes(8, "little") + encoded)
    return sink.digest()


def file_digest(path: Path, n_bytes: int = 16) -> str:
    """A digest of the content; in one process a file that does not change is read once."""
    status = path.stat()
    return _digest(path.absolute(), n_bytes, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=1_024)
def _digest(path: Path, n_bytes: int, changed: int, size: int) -> str:
    with path.open("rb") as source:
        return hashlib.file_digest(source, partial(blake2b, digest_size=n_bytes)).hexdigest()


class Store:
    """Bytes by kind and key, in a folder (by default that of :func:`kit.paths.cache`).

    Raises :class:`InputError` where the disk refuses: it is read-only, full or locked.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or cache()

    def expect_writable(self) -> None:
        """Raise before work whose result could not be kept."""
        expect_folder(self.folder, "KIT_CACHE")

    def get_many(self, kind: str, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """The values that are there and sound, by key."""

        def select(connection: sqlite3.Connection) -> dict[bytes, bytes]:
            values = {}
            for start in range(0, len(keys), _KEYS_AT_ONCE):
                part = keys[start : start + _KEYS_AT_ONCE]
                query = _SELECT.format(", ".join("?" * len(part)))
                for key, value, checksum in connection.execute(query, part):
                    if checksum == _checksum(key, value):
                        values[key] = value
            return values

        with self._refusal():
            if not self._file(kind).exists():
                return {}
            return self._transaction(kind, select)

    def put_many(self, kind: str, values: Mapping[bytes, bytes]) -> None:
        """Keep the values, all of them or (if interrupted) none."""
        rows = [(key, value, _checksum(key, value)) for key, value in values.items()]
        with self._refusal():
            self.folder.mkdir(parents=True, exist_ok=True)
            self._transaction(kind, lambda connection: connection.executemany(_INSERT, rows))

    def get_folder(self, kind: str, key: str) -> Path | None:
        """The folder of this key; None unless it is there, with all files as they were written."""
        folder = self.folder / kind / key
        if not folder.exists():
            return None
        with suppress(OSError, ValueError):
            if json.loads((folder / _CHECKSUMS).read_bytes()) == _checksums(folder):
                return folder
        note(f"the stored folder {kind}/{key} is damaged and is made again")
        return None

    def get_or_make(self, kind: str, key: str, make: Callable[[], Path]) -> Path:
        """The folder of this key, which ``make`` puts here if it is not here yet.

        Other processes that want it wait for it.
        """
        lock = self.folder / kind / f"{key}.lock"
        with self._refusal():
            lock.parent.mkdir(parents=True, exist_ok=True)
            lock.touch()  # raises where FileLock might wait for ever
            waiting = FileLock(lock).acquire()
        with waiting:
            return self.get_folder(kind, key) or make()

    def put_folder(self, kind: str, key: str, write: Callable[[Path], None]) -> Path:
        """Keep what ``write`` puts into the empty folder that it is given.

        All of it is kept or (if interrupted) none.
        """
        folder = self.folder / kind / key
        with self._refusal():
            folder.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{key}.") as temporary:
                written = Path(temporary) / key
                written.mkdir()
                write(written)
                checksums = json.dumps(_checksums(written))
                (written / _CHECKSUMS).write_text(checksums, "utf-8")
                self.drop_folder(kind, key)
                os.replace(written, folder)
        return folder

    def drop_folder(self, kind: str, key: str) -> None:
        """Forget what is kept under this key, if anything is."""
        shutil.rmtree(self.folder / kind / key, ignore_errors=True)

    def _file(self, kind: str) -> Path:
        return self.folder / f"{kind}.sqlite"

    def _refusal(self) -> AbstractContextManager[None]:
        return refusal_of(self.folder, "; KIT_CACHE names another folder")

    def _transaction(
        self,
        kind: str,
        work: Callable[[sqlite3.Connection], Result],
    ) -> Result:
        """What ``work`` does with a kind's table: all of it or nothing.

        A file that is damaged is begun anew.
        """
        file = self._file(kind)
        try:
            with closing(sqlite3.connect(file, timeout=_PATIENCE)) as connection, connection:
                connection.execute(_CREATE)
                return work(connection)
        except sqlite3.DatabaseError as error:
            if type(error) is not sqlite3.DatabaseError:  # locked, full …: the file itself is sound
                raise
            note(f"the store {file.name} is damaged ({error}) and is rebuilt")
        file.unlink(missing_ok=True)  # another process may have done it
        return self._transaction(kind, work)


def _checksum(key: bytes, value: bytes) -> bytes:
    return blake2b(key + value, digest_size=8).digest()


def _checksums(folder: Path) -> dict[str, str]:
    """A digest of each file by its path in the folder, but for that of the digests themselves."""
    checksums = {}
    for file in sorted(folder.rglob("*")):
        name = file.relative_to(folder).as_posix()
        if file.is_file() and name != _CHECKSUMS:
            checksums[name] = file_digest(file)
    return checksums
