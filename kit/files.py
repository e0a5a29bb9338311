"""Files that are written: whole or not at all, and known to be writable before any work is done."""

import os
import shutil
import sqlite3
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from safetensors import SafetensorError

from kit.errors import InputError


def atomic_write(path: Path, content: bytes) -> None:
    """Write a file so that a reader sees the old content or the new, never half of it.

    A link stays one: what it leads to is replaced. A device or a pipe gets the content as it is,
    and so does the file that this process prints to. Raises :class:`InputError` where it can't be
    written.
    """
    with refusal_of(path):
        target = Path(os.path.realpath(path))
        target.parent.mkdir(parents=True, exist_ok=True)
        if _is_own_output(path):
            sys.stdout.flush()
            with os.fdopen(1, "wb", closefd=False) as sink:
                sink.write(content)
        elif _is_plain(path):
            _replace(target, content)
        else:
            path.write_bytes(content)


def expect_writable(path: Path) -> None:
    """Raise :class:`InputError` unless a file can be written here, in a folder that exists."""
    target = Path(os.path.realpath(path))
    with refusal_of(path):
        if path.is_dir() or not target.parent.is_dir():
            raise InputError("expected a file in a folder that exists", file=path)
        if path.exists() and not os.access(path, os.W_OK):
            raise PermissionError("write-protected")
        if _is_plain(path):
            tempfile.TemporaryFile(dir=target.parent).close()


def expect_folder(folder: Path, variable: str) -> None:
    """Raise :class:`InputError` unless files can be written in a folder, which is made for them.

    ``variable`` is that of the environment that names another.
    """
    with refusal_of(folder, f"; {variable} names another folder"):
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()


def _is_plain(path: Path) -> bool:
    """Whether the path leads to a file, or to nothing yet; not to a device or a pipe.

    Raises ``OSError`` for links that lead in a circle.
    """
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except FileNotFoundError:
        return True


def _replace(path: Path, content: bytes) -> None:
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".kit-") as temporary:
        written = Path(temporary) / path.name
        with written.open("wb") as sink:
            sink.write(content)
            sink.flush()
            os.fsync(sink.fileno())
        if path.exists():
            shutil.copymode(path, written)
        os.replace(written, path)


def _is_own_output(path: Path) -> bool:
    """Whether this process prints to the file, as ``> FILE`` in a shell makes it."""
    with suppress(OSError):
        return os.path.samestat(os.fstat(1), path.stat())
    return False


@contextmanager
def refusal_of(path: Path, remedy: str = "") -> Iterator[None]:
    """What a disk refuses (it is read-only, full or locked) as one line; it ends in ``remedy``."""
    try:
        yield
    except (OSError, sqlite3.DatabaseError, SafetensorError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"can't be written ({reason}){remedy}", file=path) from None
