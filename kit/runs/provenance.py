"""Where a result comes from, and the record that a notebook leaves beside its figures."""

from __future__ import annotations

import hashlib
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

import msgspec

import kit
from kit.corpus import Benchmark
from kit.evaluation.claims import Record
from kit.paths import ROOT
from kit.store import atomic_write, file_digest
from kit.text.encoder import DEFAULT_ENCODER

Plain = str | int | float | bool | None
_SOURCES = {".py", ".js", ".css", ".csv", ".toml"}


class Provenance(msgspec.Struct, frozen=True, kw_only=True):
    """What has to be the same for the numbers to be the same, and when and in what time they were made.

    ``data`` is the benchmark's name and ``data_hash`` the digest of its content (passages, questions, setting, unit);
    ``training`` and ``training_hash`` are those of the questions that were learned from, empty where nothing was.
    ``code_hash`` is that of the code that measured (:func:`kit.evaluation.claims.code_hash`).
    ``commit`` is None outside a checkout, and ``changed`` says whether code, notebooks or data differed from it.
    """

    kit: str
    commit: str | None
    changed: bool | None
    python: str
    encoder: str
    data: str
    data_hash: str
    setting: str
    unit: str
    passages: int
    questions: int
    scale: str
    seed: int
    parameters: Mapping[str, Plain]
    finished: str = ""
    seconds: float = 0
    training: str = ""
    training_hash: str = ""
    code_hash: str = ""


def read_figures(path: Path) -> tuple[str, ...]:
    """The figures that the record in this file names; none when there is no record, or none that can be read."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Record).figures
    except (FileNotFoundError, msgspec.MsgspecError):
        return ()


def write_json(path: Path, value: object, indent: int = 1) -> None:
    atomic_write(path, msgspec.json.format(msgspec.json.encode(value), indent=indent) + b"\n")


def code_digest() -> str:
    """A digest of the package's source and the generators': a change makes every notebook and sweep run again."""
    sink = hashlib.blake2b(digest_size=16)
    for path in sorted([*(ROOT / "kit").rglob("*"), *(ROOT / "data").glob("*/make/**/*")]):
        if path.suffix in _SOURCES:
            sink.update(f"{path.relative_to(ROOT).as_posix()} {file_digest(path)}\n".encode())
    return sink.hexdigest()


def commit() -> tuple[str | None, bool | None]:
    """The checked-out commit, and whether what results depend on was changed since; (None, None) without a checkout."""
    head = _git("rev-parse", "HEAD") if (ROOT / ".git").exists() else None
    changes = _git("status", "--porcelain", "--", "kit", "notebooks", "data", "pyproject.toml") if head else None
    return head, None if changes is None else bool(changes)


def _git(*arguments: str) -> str | None:
    """What git prints, or None when it is missing, refuses or hangs: provenance never stops a run."""
    try:
        done = subprocess.run(["git", "-C", ROOT, *arguments], capture_output=True, text=True, timeout=20, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def write_result(
    file: Path, result: Mapping[str, object], benchmark: Benchmark, settings: Mapping[str, object], begun: float
) -> None:
    """Write a command's result, and where it comes from, as JSON; ``begun`` is a time of ``time.perf_counter``."""
    head, changed = commit()
    provenance = {
        "kit": kit.__version__,
        "commit": head,
        "changed": changed,
        "data_hash": benchmark.hash,
        "encoder": settings.get("encoder", DEFAULT_ENCODER),
        "settings": settings,
        "seconds": round(time.perf_counter() - begun, 2),
    }
    write_json(file, {**result, "provenance": provenance}, indent=2)
