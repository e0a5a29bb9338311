"""TREC runs for other tools.

Ids are encoded as in the qrels (:func:`kit.corpus.exporting.encode_id`).
"""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from kit.corpus.exporting import encode_id
from kit.errors import InputError
from kit.files import atomic_write
from kit.methods import Ranking


def write_runs(runs: Mapping[str, Mapping[str, Ranking]], path: Path) -> None:
    """Write the rankings of retrievers (``Experiment.rankings``) as TREC runs.

    A line is ``question Q0 passage rank score tag``; the files are those of :func:`run_files`.
    """
    paths = run_files(runs, path)
    for name, rankings in runs.items():
        lines = []
        for question, ranking in rankings.items():
            lines += _lines(question, ranking, name)
        atomic_write(paths[name], "".join(lines).encode())


def run_files(names: Iterable[str], path: Path) -> dict[str, Path]:
    """The file of each retriever's run: of one, ``path`` itself.

    Several would mix in one file, so its stem is then followed by the name. Raises
    :class:`InputError` for names that give the same files.
    """
    paths = dict.fromkeys(names, path)
    if len(paths) > 1:
        for name in paths:
            ending = re.sub(r"[^A-Za-z0-9._-]+", "-", name)
            paths[name] = path.with_stem(f"{path.stem}-{ending}")
    if len(set(paths.values())) < len(paths):
        raise InputError(f"the names {', '.join(paths)} give the same files", file=path)
    return paths


def _lines(question: str, ranking: Ranking, name: str) -> list[str]:
    """The lines of one question.

    trec_eval sorts by score alone and breaks ties by the name of a passage. So each score is below
    the one above it, if only by the least that it can tell apart.
    """
    highest = np.float32(np.inf)
    lines = []
    for rank, (passage, score) in enumerate(zip(ranking.ids, ranking.scores), start=1):
        score = min(np.float32(score), highest)
        highest = _below(score)
        fields = [
            encode_id(question),
            "Q0",
            encode_id(passage),
            str(rank),
            str(score),
            encode_id(name),
        ]
        lines.append(" ".join(fields) + "\n")
    return lines


def _below(score: np.float32) -> np.float32:
    """The next lower number in single precision, in which trec_eval reads scores.

    Near 0 it is not one of the tiny ones that some processors take for 0.
    """
    return min(np.nextafter(score, np.float32(-np.inf)), score - np.finfo(np.float32).tiny)
