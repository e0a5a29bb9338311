"""TREC runs, written and read, so that results can be exchanged with other tools.

Ids are encoded as in the qrels (:func:`kit.corpus.exporting.encode_id`); reading takes others as they are, too.
"""

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from kit.corpus import Benchmark, Query
from kit.corpus.exporting import encode_id
from kit.corpus.records import read_bytes
from kit.errors import InputError
from kit.retrievers import Ranking, Retriever
from kit.store import atomic_write


def write_runs(runs: Mapping[str, Mapping[str, Ranking]], path: Path) -> list[Path]:
    """Write the rankings of retrievers (``Experiment.rankings``) as TREC runs, ``question Q0 passage rank score tag``.

    One retriever's file is ``path`` itself. Several would mix in one file, so its stem is then followed by the name.
    Most tools sort by score and ignore the rank, so scores are written such that none exceeds the one above it.
    """
    names = {name: f"{path.stem}-{re.sub(r'[^A-Za-z0-9._-]+', '-', name)}{path.suffix}" for name in runs}
    paths = [path.with_name(file) for file in names.values()] if len(runs) > 1 else [path]
    if len(set(paths)) < len(runs):
        raise InputError(f"the names {', '.join(runs)} give the same files", file=path)
    for file, (name, rankings) in zip(paths, runs.items()):
        lines = []
        for question, ranking in rankings.items():
            scores = np.minimum.accumulate(np.asarray(ranking.scores, dtype=float)).tolist()
            for rank, (id, score) in enumerate(zip(ranking.ids, scores), start=1):
                lines.append(f"{encode_id(question)} Q0 {encode_id(id)} {rank} {score!r} {encode_id(name)}\n")
        atomic_write(file, "".join(lines).encode())
    return paths


class TrecRun(Retriever):
    """What a TREC run found, evaluated like any retriever: scores by question and passage; nothing is indexed."""

    def __init__(self, scores: Mapping[str, Mapping[str, float]]) -> None:
        self.scores = scores

    def retrieve_many(self, queries: Sequence[Query], k: int) -> list[Ranking]:
        found = []
        for scores in (self.scores.get(query.id, {}) for query in queries):
            ids = sorted(scores, key=scores.get, reverse=True)[:k]
            found.append(Ranking(tuple(ids), np.array([scores[id] for id in ids])))
        return found


def read_run(path: Path, benchmark: Benchmark) -> TrecRun:
    """Read a TREC run over the benchmark's passages. Raises InputError for the first line that is wrong."""
    asked = [question.id for question in (*benchmark.test, *benchmark.dev, *benchmark.train)]
    known = [{id: id for id in ids} | {encode_id(id): id for id in ids} for ids in (asked, benchmark.corpus.row)]
    found: dict[str, dict[str, float]] = {}
    for number, line in enumerate(read_bytes(path).split(b"\n"), start=1):
        if not line.strip():
            continue
        field, expected = None, "question Q0 passage rank score tag, in UTF-8"
        try:
            question, _, passage, _, score, _ = line.decode().split()
            field, expected = "question", "a question of the benchmark"
            scores = found.setdefault(known[0][question], {})
            field, expected = "passage", "a passage of the benchmark, once under a question"
            if (id := known[1][passage]) in scores:
                raise ValueError
            field, expected = "score", "a number"
            scores[id] = float(score)
            if not math.isfinite(scores[id]):
                raise ValueError
        except (KeyError, ValueError):
            told = f"expected {expected}, not {line.decode(errors='replace').strip()!r}"
            raise InputError(told, file=path, record=number, field=field) from None
    if not found:
        raise InputError("expected a TREC run, found no line", file=path)
    return TrecRun(found)
