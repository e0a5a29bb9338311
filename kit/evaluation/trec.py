"""TREC runs, written and read, so that results can be exchanged with other tools.

Ids are encoded as in the qrels (:func:`kit.corpus.exporting.encode_id`). Reading takes ids as written here first,
then as they are.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from kit.corpus import Benchmark, Corpus, Query
from kit.corpus.exporting import encode_id
from kit.errors import InputError
from kit.retrievers import Ranking, Retriever
from kit.store import atomic_write


def write_run(rankings: Mapping[str, Ranking], path: Path, tag: str) -> None:
    """Write rankings by question id as a TREC run: ``question Q0 passage rank score tag``.

    Most tools sort by score and ignore the rank, so scores are written such that none exceeds the one above it.
    """
    lines = []
    for question, ranking in rankings.items():
        scores = np.minimum.accumulate(np.asarray(ranking.scores, dtype=float))
        for rank, (id, score) in enumerate(zip(ranking.ids, scores.tolist()), start=1):
            lines.append(f"{encode_id(question)} Q0 {encode_id(id)} {rank} {score!r} {encode_id(tag)}\n")
    atomic_write(path, "".join(lines).encode())


def write_runs(runs: Mapping[str, Mapping[str, Ranking]], path: Path) -> list[Path]:
    """Write the rankings of several retrievers (``Experiment.rankings``), a file each, and return the files.

    One retriever's file is ``path`` itself. Several would mix in one file, so its stem is then followed by the name.
    """
    if len(runs) == 1:
        paths = [path]
    else:
        paths = [path.with_name(f"{path.stem}-{re.sub(r'[^A-Za-z0-9._-]+', '-', name)}{path.suffix}") for name in runs]
    if len(set(paths)) < len(paths):
        raise InputError(f"the names {', '.join(runs)} give the same files", file=path)
    for file, (name, rankings) in zip(paths, runs.items()):
        write_run(rankings, file, name)
    return paths


class Run(Retriever):
    """The rankings of a TREC run, evaluated like any retriever. A question that the run leaves out found nothing."""

    def __init__(self, name: str, rankings: Mapping[str, Ranking]) -> None:
        self.name, self.rankings = name, rankings

    def index(self, corpus: Corpus) -> None:
        """Nothing to make ready: the searching was done elsewhere."""

    def retrieve_many(self, queries: Sequence[Query], k: int) -> list[Ranking]:
        nothing = Ranking((), np.zeros(0))
        found = [self.rankings.get(query.id, nothing) for query in queries]
        return [Ranking(ranking.ids[:k], ranking.scores[:k]) for ranking in found]


def read_run(path: Path, benchmark: Benchmark) -> Run:
    """Read a TREC run over the benchmark's passages, under the tag of its first line.

    Passages are ordered by score, then by their printed rank, then by their place in the corpus. Raises InputError for
    a file that can't be read, a malformed line, a question or passage that the benchmark does not have, and a passage
    that stands twice under one question.
    """
    questions = _by_field(question.id for question in (*benchmark.test, *benchmark.dev, *benchmark.train))
    passages = _by_field(benchmark.corpus.row)
    rows: dict[str, dict[str, tuple[float, float, int]]] = {}
    tag = ""
    for number, line in enumerate(_lines(path), start=1):
        if not line.strip():
            continue
        fields = line.split()
        if len(fields) != 6:
            raise InputError(
                f"expected 6 fields (question Q0 passage rank score tag), found {len(fields)}", file=path, record=number
            )
        question = _known(questions, fields[0], "question", path, number)
        passage = _known(passages, fields[2], "passage", path, number)
        rank, score = _number(fields[3], "rank", path, number), _number(fields[4], "score", path, number)
        found = rows.setdefault(question, {})
        if passage in found:
            raise InputError(f"passage {passage!r} stands twice under question {question!r}", file=path, record=number)
        found[passage] = (-score, rank, benchmark.corpus.row[passage])
        tag = tag or fields[5]
    if not rows:
        raise InputError("expected a TREC run, found no line", file=path)
    rankings = {}
    for question, found in rows.items():
        order = sorted(found, key=found.__getitem__)
        rankings[question] = Ranking(tuple(order), np.array([-found[passage][0] for passage in order]))
    return Run(tag, rankings)


def _lines(path: Path) -> list[str]:
    try:
        return Path(path).read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise InputError(f"expected a TREC run that can be read: {reason}", file=path) from None


def _by_field(ids: Iterable[str]) -> dict[str, str]:
    """A field of a file to the id that it means."""
    ids = list(ids)
    return {id: id for id in ids} | {encode_id(id): id for id in ids}


def _known(ids: Mapping[str, str], field: str, what: str, path: Path, line: int) -> str:
    if field not in ids:
        raise InputError(f"expected a {what} of the benchmark, not {field!r}", file=path, record=line, field=what)
    return ids[field]


def _number(text: str, field: str, path: Path, line: int) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise InputError(f"expected a number, not {text!r}", file=path, record=line, field=field)
    return number
