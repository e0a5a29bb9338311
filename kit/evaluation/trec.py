"""TREC runs for other tools; ids are encoded as in the qrels (:func:`kit.corpus.exporting.encode_id`)."""

import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from kit.corpus.exporting import encode_id
from kit.errors import InputError
from kit.methods import Ranking
from kit.store import atomic_write


def write_runs(runs: Mapping[str, Mapping[str, Ranking]], path: Path) -> None:
    """Write the rankings of retrievers (``Experiment.rankings``) as TREC runs, ``question Q0 passage rank score tag``.

    One retriever's file is ``path`` itself. Several would mix in one file, so its stem is then followed by the name.
    Most tools sort by score and ignore the rank, so scores are written such that none exceeds the one above it.
    """
    endings = {
        name: "-" + re.sub(r"[^A-Za-z0-9._-]+", "-", name) if len(runs) > 1 else "" for name in runs
    }
    if len(set(endings.values())) < len(runs):
        raise InputError(f"the names {', '.join(runs)} give the same files", file=path)
    for name, rankings in runs.items():
        lines = []
        for question, ranking in rankings.items():
            scores = np.minimum.accumulate(np.asarray(ranking.scores, dtype=float)).tolist()
            for rank, (id, score) in enumerate(zip(ranking.ids, scores), start=1):
                lines.append(
                    f"{encode_id(question)} Q0 {encode_id(id)} {rank} {score!r} {encode_id(name)}\n"
                )
        atomic_write(path.with_stem(path.stem + endings[name]), "".join(lines).encode())
