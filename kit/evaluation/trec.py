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


def write_runs(runs: Mapping[str, Mapping[str, Ranking]], path: Path) -> None:
    """Write the rankings of retrievers (``Experiment.rankings``) as TREC runs, ``question Q0 passage rank score tag``.

    One retriever's file is ``path`` itself. Several would mix in one file, so its stem is then followed by the name.
    Most tools sort by score and ignore the rank, so scores are written such that none exceeds the one above it.
    """
    endings = {name: "-" + re.sub(r"[^A-Za-z0-9._-]+", "-", name) if len(runs) > 1 else "" for name in runs}
    if len(set(endings.values())) < len(runs):
        raise InputError(f"the names {', '.join(runs)} give the same files", file=path)
    for name, rankings in runs.items():
        lines = []
        for question, ranking in rankings.items():
            scores = np.minimum.accumulate(np.asarray(ranking.scores, dtype=float)).tolist()
            for rank, (id, score) in enumerate(zip(ranking.ids, scores), start=1):
                lines.append(f"{encode_id(question)} Q0 {encode_id(id)} {rank} {score!r} {encode_id(name)}\n")
        atomic_write(path.with_stem(path.stem + endings[name]), "".join(lines).encode())


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
        try:
            question, _, passage, _, score, _ = line.decode().split()
            scores, id = found.setdefault(known[0][question], {}), known[1][passage]
            if id in scores or not math.isfinite(float(score)):
                raise ValueError
            scores[id] = float(score)
        except (KeyError, ValueError):
            expected = "expected question Q0 passage rank score tag, in UTF-8, with ids of the benchmark"
            told = f"{expected}, a passage once a question, not {line.decode(errors='replace').strip()!r}"
            raise InputError(told, file=path, record=number) from None
    if not found:
        raise InputError("expected a TREC run, found no line", file=path)
    return TrecRun(found)
