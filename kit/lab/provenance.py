"""Where a result comes from, written beside it."""

import platform
import subprocess
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

import kit
from kit.corpus import Benchmark
from kit.files import atomic_write
from kit.paths import ROOT
from kit.text.encoder import DEFAULT_ENCODER

#: What results depend on, in the checkout.
_MATTERS = ("kit", "notebooks", "data", "pyproject.toml")
_PATIENCE = 20  # seconds until git is given up


def provenance(benchmark: Benchmark, encoder: str = DEFAULT_ENCODER) -> dict[str, Any]:
    """The code, the data and the encoder of a result.

    ``commit`` and ``changed``, whether what results depend on differs from it, are None where git
    is missing, refuses or hangs, or there is no checkout: that never stops a run.
    """
    commit, changed = _checkout()
    return {
        "kit": kit.__version__,
        "commit": commit,
        "changed": changed,
        "python": platform.python_version(),
        "encoder": Path(encoder).name,
        "data": benchmark.name,
        "data_hash": benchmark.hash,
        "setting": benchmark.setting,
        "passages": len(benchmark.corpus),
    }


def _checkout() -> tuple[str | None, bool | None]:
    """The commit of the checkout, and whether what matters differs from it."""
    status = _git("status", "--porcelain=v2", "--branch", "--", *_MATTERS)
    if status is None:
        return None, None
    lines = status.splitlines()
    return lines[0].split()[-1], any(not line.startswith("#") for line in lines)


def committed(file: Path) -> str | None:
    """A file as the commit of the checkout has it; None where it has none."""
    if not file.is_relative_to(ROOT):
        return None
    return _git("show", f"HEAD:{file.relative_to(ROOT).as_posix()}")


def _git(*arguments: str) -> str | None:
    """What git says of the checkout; None where it says nothing."""
    command = ["git", f"--git-dir={ROOT / '.git'}", f"--work-tree={ROOT}", *arguments]
    with suppress(OSError, subprocess.SubprocessError):
        return subprocess.run(
            command,
            capture_output=True,
            encoding="utf-8",
            timeout=_PATIENCE,
            check=True,
            cwd=ROOT,
        ).stdout
    return None


def write_json(path: Path, value: object) -> None:
    """Write a value as JSON, whole or not at all."""
    content = msgspec.json.format(msgspec.json.encode(value), indent=1)
    atomic_write(path, content + b"\n")


def write_result(
    file: Path,
    result: Mapping[str, object],
    benchmark: Benchmark,
    settings: Mapping[str, Any],
    start: float,
) -> None:
    """Write a command's result, and where it comes from, as JSON.

    ``start`` is when the command began, a time of ``time.perf_counter``.
    """
    origin = provenance(benchmark, settings.get("encoder", DEFAULT_ENCODER))
    origin["settings"] = settings
    origin["seconds"] = round(time.perf_counter() - start, 2)
    write_json(file, {**result, "provenance": origin})
