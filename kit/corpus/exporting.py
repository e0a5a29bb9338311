"""Benchmarks to files that other programs read: a BEIR folder, TREC qrels; and a folder in the kit's own format."""

import re
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import quote

import msgspec

from kit.corpus.source import SPLITS
from kit.corpus.types import Benchmark, Question
from kit.errors import InputError
from kit.store import atomic_write

EXPORTS = ("kit", "beir", "qrels")
_lines = msgspec.json.Encoder().encode_lines


def export(benchmark: Benchmark, path: str | Path, format: str, split: str = "test") -> Path:
    """Write a benchmark and return the path.

    ``kit`` and ``beir`` are folders, new or empty ones, with all splits. ``qrels`` is a file in TREC's format with the
    questions of ``split``; it is replaced. BEIR and TREC know no alternatives: where several passages carry one
    support, each is a support there.

    Raises InputError: an unknown format or split, nothing to write, or a target that can't be written.
    """
    path = Path(path)
    if format not in EXPORTS:
        raise InputError(f"unknown format {format!r} to export to: expected one of {', '.join(EXPORTS)}")
    if split not in SPLITS:
        raise InputError(f"unknown split {split!r}: expected one of {', '.join(SPLITS)}")
    questions = getattr(benchmark, split)
    if format == "qrels" and not questions:
        raise InputError(f"benchmark {benchmark.name} has no {split} questions to export")
    if format != "qrels" and path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise InputError("expected a new or an empty folder to export to", file=path)
    try:
        if format == "qrels":
            write_qrels(questions, path)
        else:
            files = files_of(benchmark) if format == "kit" else _beir(benchmark)
            for name, content in files.items():
                atomic_write(path / name, content)
    except OSError as error:
        raise InputError(f"cannot be written ({error.strerror or error})", file=path) from None
    return path


def encode_id(id: str) -> str:
    """An id as one field of a TREC file, whose fields are separated by white space.

    White space, control characters and ``%`` are percent-encoded: ``San Jose`` → ``San%20Jose``.
    """
    return re.sub(r"[\s%\x00-\x1f\x7f]", lambda match: quote(match[0]), id)


def write_qrels(questions: Iterable[Question], path: Path) -> None:
    """Write the supports as TREC qrels: ``question 0 passage 1``, a line for each passage that carries a support."""
    lines = [f"{encode_id(q.id)} 0 {encode_id(id)} 1\n" for q in questions for id in q.supporting_ids]
    atomic_write(path, "".join(lines).encode())


def files_of(benchmark: Benchmark) -> dict[str, bytes]:
    """The files of a folder in the kit's own format, by name."""
    splits = {split: questions for split in SPLITS if (questions := getattr(benchmark, split))}
    return {f"{name}.jsonl": _lines(them) for name, them in {"passages": benchmark.corpus.passages, **splits}.items()}


def _beir(benchmark: Benchmark) -> dict[str, bytes]:
    splits = {split: questions for split in SPLITS if (questions := getattr(benchmark, split))}
    documents = [{"_id": it.id, "title": it.title, "text": it.text} for it in benchmark.corpus.passages]
    queries = [{"_id": it.id, "text": it.text} for questions in splits.values() for it in questions]
    files = {"corpus.jsonl": _lines(documents), "queries.jsonl": _lines(queries)}
    for split, questions in splits.items():
        rows = [f"{question.id}\t{id}\t1\n" for question in questions for id in question.supporting_ids]
        files[f"qrels/{split}.tsv"] = "".join(["query-id\tcorpus-id\tscore\n", *rows]).encode()
    return files
