"""Benchmarks to files that other programs read: a BEIR folder, TREC qrels; and a folder in the kit's own format."""

import re
from pathlib import Path
from urllib.parse import quote

import msgspec

from kit.corpus.types import Benchmark
from kit.errors import InputError
from kit.store import atomic_write

EXPORTS = ("kit", "beir", "qrels")
_lines = msgspec.json.Encoder().encode_lines


def export(benchmark: Benchmark, path: str | Path, format: str, split: str = "test") -> Path:
    """Write a benchmark and return the path.

    ``kit`` and ``beir`` are folders, new or empty ones, with all splits. ``qrels`` is a file in TREC's format with the
    questions of ``split``, ``question 0 passage 1`` a line; it is replaced. BEIR and TREC know no alternatives: where
    several passages carry one support, each is a support there.
    Raises InputError: an unknown format, a split without questions, or a target that can't be written.
    """
    path = Path(path)
    if format not in EXPORTS:
        raise InputError(
            f"unknown format {format!r} to export to: expected one of {', '.join(EXPORTS)}"
        )
    if format == "qrels" and split not in benchmark.splits:
        raise InputError(f"benchmark {benchmark.name} has no {split} questions to export")
    if format != "qrels" and path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise InputError("expected a new or an empty folder to export to", file=path)
    if format == "qrels":
        pairs = [
            (question.id, id)
            for question in benchmark.splits[split]
            for id in question.supporting_ids
        ]
        lines = [f"{encode_id(question)} 0 {encode_id(id)} 1\n" for question, id in pairs]
        files = {"": "".join(lines).encode()}  # the path is the file itself
    else:
        files = files_of(benchmark) if format == "kit" else _beir(benchmark)
    try:
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


def files_of(benchmark: Benchmark) -> dict[str, bytes]:
    """The files of a folder in the kit's own format, by name."""
    records = {"passages": benchmark.corpus.passages, **benchmark.splits}
    return {f"{name}.jsonl": _lines(them) for name, them in records.items()}


def _beir(benchmark: Benchmark) -> dict[str, bytes]:
    documents = [
        {"_id": it.id, "title": it.title, "text": it.text} for it in benchmark.corpus.passages
    ]
    queries = [
        {"_id": it.id, "text": it.text}
        for questions in benchmark.splits.values()
        for it in questions
    ]
    files = {"corpus.jsonl": _lines(documents), "queries.jsonl": _lines(queries)}
    for split, questions in benchmark.splits.items():
        rows = [
            f"{question.id}\t{id}\t1\n" for question in questions for id in question.supporting_ids
        ]
        files[f"qrels/{split}.tsv"] = "".join(["query-id\tcorpus-id\tscore\n", *rows]).encode()
    return files
