"""Benchmarks to files that other programs read: HotpotQA JSON, a BEIR folder, TREC qrels."""

from __future__ import annotations

import itertools
import re
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from urllib.parse import quote

import msgspec

from kit.corpus.source import SPLITS
from kit.corpus.types import Benchmark, Corpus, Question
from kit.errors import InputError
from kit.store import atomic_write

CONTEXT = 10  # paragraphs of a HotpotQA question, at least, where the corpus has as many


def export(benchmark: Benchmark, path: str | Path, format: str, split: str = "test") -> Path:
    """Write a benchmark, whole or not at all, and return the path.

    ``hotpotqa`` (a file, the questions of ``split``), ``beir`` (a folder, all splits) or ``qrels`` (a file in TREC's
    format, ``split``). A file is replaced; a folder must be new or empty.

    Raises:
        InputError: an unknown format or split, nothing to write, a target of the wrong kind, or a benchmark that the
            format can't hold.
    """
    path = Path(path)
    if format not in EXPORTS:
        raise InputError(f"unknown format {format!r} to export to: expected one of {', '.join(EXPORTS)}")
    if split not in SPLITS:
        raise InputError(f"unknown split {split!r}: expected one of {', '.join(SPLITS)}")
    questions = getattr(benchmark, split)
    if format != "beir" and not questions:
        raise InputError(f"benchmark {benchmark.name} has no {split} questions to export")
    if format != "beir" and path.is_dir():
        raise InputError("expected a file to export to, this is a folder", file=path)
    try:
        EXPORTS[format](benchmark, path, questions)
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


def _hotpotqa(benchmark: Benchmark, path: Path, questions: Sequence[Question]) -> None:
    """Each paragraph is one sentence, which ``supporting_facts`` names, so supports come back exactly.

    HotpotQA has no corpus beside the questions: in the pooled setting their contexts together hold the whole corpus.
    It names a paragraph by its title: a later one with a support's title gets a number, "Title (2)".
    """
    if benchmark.unit != "paragraph":
        raise InputError("HotpotQA's format names paragraphs by title: load with unit paragraph to export to it")
    if any(len(carriers) > 1 for question in questions for carriers in question.supporting):
        raise InputError("HotpotQA's format has one paragraph a support, some here have several")
    if benchmark.collections is None:
        contexts = _dealt(benchmark.corpus, questions)
    else:
        contexts = [[passage.id for passage in benchmark.collection(question).passages] for question in questions]
    titles = _titles(benchmark.corpus, {id for question in questions for id in question.supporting_ids})
    written = [
        {
            "_id": question.id,
            "question": question.text,
            "answer": question.answer,
            "type": question.type,
            "level": "",
            "supporting_facts": [(titles[id], 0) for id in question.supporting_ids],
            "context": [(titles[id], [benchmark.corpus[id].text]) for id in context],
        }
        for question, context in zip(questions, contexts)
    ]
    atomic_write(path, msgspec.json.encode(written))


def _dealt(corpus: Corpus, questions: Sequence[Question]) -> list[list[str]]:
    """Passages' ids for each question, its supports first: the others in turn, then any up to :data:`CONTEXT`."""
    contexts = [dict.fromkeys(question.supporting_ids) for question in questions]
    supports = set().union(*contexts)
    for context, id in zip(itertools.cycle(contexts), (id for id in corpus.row if id not in supports)):
        context[id] = None
    ids = itertools.cycle(corpus.row)
    for context in contexts:
        while len(context) < min(CONTEXT, len(corpus)):
            context[next(ids)] = None
    return [list(context) for context in contexts]


def _titles(corpus: Corpus, supports: set[str]) -> dict[str, str]:
    """Passage id to a title that no support shares with another passage."""
    titles = {passage.id: passage.title for passage in corpus.passages}
    shared, taken, seen = {titles[id] for id in supports}, set(titles.values()), set()
    for id, title in titles.items():
        if title in seen:
            titles[id] = next(it for n in itertools.count(2) if (it := f"{title} ({n})") not in taken)
            taken.add(titles[id])
        elif title in shared:
            seen.add(title)
    return titles


def _beir(benchmark: Benchmark, path: Path, questions: Sequence[Question]) -> None:
    """All splits. BEIR knows no alternatives: where several passages carry one support, each is a support there."""
    if path.exists() and not (path.is_dir() and not any(path.iterdir())):
        raise InputError("expected a new or an empty folder to export to", file=path)
    splits = {name: getattr(benchmark, name) for name in SPLITS if getattr(benchmark, name)}
    documents = [{"_id": it.id, "title": it.title, "text": it.text} for it in benchmark.corpus.passages]
    queries = [{"_id": it.id, "text": it.text} for part in splits.values() for it in part]
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}.") as temporary:
        folder = Path(temporary) / "whole"
        (folder / "qrels").mkdir(parents=True)
        (folder / "corpus.jsonl").write_bytes(msgspec.json.Encoder().encode_lines(documents))
        (folder / "queries.jsonl").write_bytes(msgspec.json.Encoder().encode_lines(queries))
        for name, part in splits.items():
            rows = [f"{question.id}\t{id}\t1\n" for question in part for id in question.supporting_ids]
            (folder / "qrels" / f"{name}.tsv").write_text("".join(["query-id\tcorpus-id\tscore\n", *rows]))
        folder.replace(path)


EXPORTS: dict[str, Callable[[Benchmark, Path, Sequence[Question]], None]] = {
    "hotpotqa": _hotpotqa,
    "beir": _beir,
    "qrels": lambda benchmark, path, questions: write_qrels(questions, path),
}
