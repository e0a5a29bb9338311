"""Benchmarks to files: a folder in the kit's own format, a BEIR folder, TREC qrels."""

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import msgspec

from kit.corpus.types import Benchmark, Questions
from kit.errors import InputError, known_names
from kit.files import atomic_write

EXPORTS = ("kit", "beir", "qrels")

_json_lines = msgspec.json.Encoder().encode_lines


def export(
    benchmark: Benchmark,
    path: str | Path,
    data_format: str,
    split: str = "test",
) -> Path:
    """Write a benchmark and return the path.

    ``kit`` and ``beir`` are new or empty folders; they take all splits. ``qrels`` is a file in
    TREC's format, with a line ``question 0 passage 1`` per support of the questions of ``split``.
    It replaces a file that is there. BEIR and TREC know no alternatives: where several passages
    carry one support, each is a support there.

    Raises InputError: an unknown format, a split without questions, or a target that can't be
    written.
    """
    path = Path(path)
    if data_format not in EXPORTS:
        raise InputError(
            f"unknown format {data_format!r} to export to: "
            f"expected one of {known_names(EXPORTS, data_format)}"
        )
    if data_format == "qrels":
        if split not in benchmark.splits:
            raise InputError(f"benchmark {benchmark.name} has no {split} questions to export")
        lines = [
            f"{encode_id(question_id)} 0 {encode_id(passage_id)} 1\n"
            for question_id, passage_id in _judged_pairs(benchmark.splits[split])
        ]
        files = {"": "".join(lines).encode()}  # the path is the file itself
    else:
        if path.exists() and (not path.is_dir() or any(path.iterdir())):
            raise InputError("expected a new or an empty folder to export to", file=path)
        files = files_of(benchmark) if data_format == "kit" else _beir_files(benchmark)

    for name, content in files.items():
        atomic_write(path / name, content)
    return path


def encode_id(name: str) -> str:
    """An id as one field of a TREC file, whose fields are separated by white space.

    White space, control characters and ``%`` are percent-encoded: ``San Jose`` → ``San%20Jose``.
    """
    return re.sub(r"[\s%\x00-\x1f\x7f]", lambda match: quote(match[0]), name)


def files_of(benchmark: Benchmark) -> dict[str, bytes]:
    """The files of a folder in the kit's own format, by name."""
    records = {"passages": benchmark.corpus.passages, **benchmark.splits}
    return {f"{name}.jsonl": _json_lines(content) for name, content in records.items()}


def _beir_files(benchmark: Benchmark) -> dict[str, bytes]:
    documents = [
        {"_id": passage.id, "title": passage.title, "text": passage.text}
        for passage in benchmark.corpus.passages
    ]
    files = {"corpus.jsonl": _json_lines(documents)}
    queries = []
    for split, questions in benchmark.splits.items():
        queries += [{"_id": question.id, "text": question.text} for question in questions]
        rows = "query-id\tcorpus-id\tscore\n"
        for question_id, passage_id in _judged_pairs(questions):
            rows += f"{question_id}\t{passage_id}\t1\n"
        files[f"qrels/{split}.tsv"] = rows.encode()
    files["queries.jsonl"] = _json_lines(queries)
    return files


def _judged_pairs(questions: Questions) -> Iterator[tuple[str, str]]:
    """Each question's id with that of each passage that carries a support of it."""
    for question in questions:
        for passage_id in question.supporting_ids:
            yield question.id, passage_id
