"""TREC runs, written and read, so that results can be exchanged with other tools.

Ids are encoded as in the qrels (:func:`kit.corpus.exporting.encode_id`). Reading takes ids as written here first,
then as they are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from kit.corpus import Benchmark, Corpus, Query
from kit.corpus.exporting import encode_id
from kit.corpus.records import read_bytes
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
    paths = [path]
    if len(runs) > 1:
        paths = [path.with_name(f"{path.stem}-{re.sub(r'[^A-Za-z0-9._-]+', '-', name)}{path.suffix}") for name in runs]
    if len(set(paths)) < len(paths):
        raise InputError(f"the names {', '.join(runs)} give the same files", file=path)
    for file, (name, rankings) in zip(paths, runs.items()):
        write_run(rankings, file, name)
    return paths


class TrecRun(Retriever):
    """The rankings of a TREC run, evaluated like any retriever. A question that the run leaves out found nothing."""

    def __init__(self, name: str, rankings: Mapping[str, Ranking]) -> None:
        self.name, self.rankings = name, rankings

    def index(self, corpus: Corpus) -> None:
        """Nothing to make ready: the searching was done elsewhere."""

    def retrieve_many(self, queries: Sequence[Query], k: int) -> list[Ranking]:
        nothing = Ranking((), np.zeros(0))
        found = [self.rankings.get(query.id, nothing) for query in queries]
        return [Ranking(ranking.ids[:k], ranking.scores[:k]) for ranking in found]


def read_run(path: Path, benchmark: Benchmark) -> TrecRun:
    """Read a TREC run over the benchmark's passages, under the tag of its first line.

    Passages are ordered by score, then by their printed rank, then by their place in the corpus. Raises InputError for
    a file that can't be read, a malformed line, a question or passage that the benchmark does not have, and a passage
    that stands twice under one question.
    """
    try:
        text = read_bytes(path).decode()
    except UnicodeDecodeError:
        raise InputError("expected a TREC run that can be read: not UTF-8", file=path) from None
    lines = [(number, *line.split()) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
    for number, *fields in lines:
        if len(fields) != 6:
            expected = f"expected 6 fields (question Q0 passage rank score tag), found {len(fields)}"
            raise InputError(expected, file=path, record=number)
    if not lines:
        raise InputError("expected a TREC run, found no line", file=path)
    run = pd.DataFrame(lines, columns=["line", "question", "Q0", "passage", "rank", "score", "tag"])
    tag = run["tag"][0]
    questions = [question.id for question in (*benchmark.test, *benchmark.dev, *benchmark.train)]
    for field, ids in (("question", questions), ("passage", benchmark.corpus.row)):
        known = {id: id for id in ids} | {encode_id(id): id for id in ids}
        _expect(run, ~run[field].isin(known), field, f"a {field} of the benchmark", path)
        run[field] = run[field].map(known)
    for field in ("rank", "score"):
        numbers = pd.to_numeric(run[field], errors="coerce").replace([np.inf, -np.inf], np.nan)
        _expect(run, numbers.isna(), field, "a number", path)
        run[field] = numbers.astype(float)
    for row in run[run.duplicated(["question", "passage"])].head(1).itertuples():
        twice = f"passage {row.passage!r} stands twice under question {row.question!r}"
        raise InputError(twice, file=path, record=row.line)
    run["place"] = run["passage"].map(benchmark.corpus.row)
    run = run.sort_values(["score", "rank", "place"], ascending=[False, True, True], kind="stable")
    by_question = run.groupby("question", sort=False)
    return TrecRun(tag, {id: Ranking(tuple(of["passage"]), of["score"].to_numpy()) for id, of in by_question})


def _expect(run: pd.DataFrame, wrong: pd.Series, field: str, what: str, path: Path) -> None:
    """Tells the first line whose field is wrong."""
    for row in run[wrong].head(1).to_dict("records"):
        raise InputError(f"expected {what}, not {row[field]!r}", file=path, record=row["line"], field=field)
