"""Where in a ranking the first and the last support of a chain stand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from kit.corpus import Question
from kit.evaluation import statistics
from kit.evaluation.experiment import Experiment
from kit.evaluation.metrics import support_ranks

ENDS = ("first", "last")


def first_and_last(experiment: Experiment, retriever: str) -> pd.DataFrame:
    """The rank of the first and of the last support of each question whose evidence graph has an edge.

    The first supports are the sources of the graph, which the question leads to; the last are its sinks, which hold the
    answer; the mean rank where there are several. A support that is not in the ranking gets the place after its end.
    Columns: question, hops, first, last.
    """
    rows = [
        {"question": question.id, "hops": question.hops, **{end: np.mean(ranks) for end, ranks in zip(ENDS, both)}}
        for question, *both in _ranks_of_ends(experiment, retriever)
    ]
    return pd.DataFrame(rows, columns=["question", "hops", *ENDS])


def ends_found(experiment: Experiment, retriever: str, k: int) -> pd.DataFrame:
    """Recall@k of the first supports and of the last ones alone, as :func:`first_and_last` tells them.

    Columns: question, hops, first, last. ``k`` is at most the length of the rankings.
    """
    rows = [
        {"question": question.id, "hops": question.hops}
        | {end: np.mean([rank <= k for rank in ranks]) for end, ranks in zip(ENDS, both)}
        for question, *both in _ranks_of_ends(experiment, retriever)
    ]
    return pd.DataFrame(rows, columns=["question", "hops", *ENDS])


def by_end(experiment: Experiment, retrievers: Sequence[str], k: int) -> pd.DataFrame:
    """Means of :func:`ends_found`, as :func:`kit.views.recall_along` draws them.

    Columns: line (the retriever), support (``first support``, ``last support``), mean, low, high (95 % bootstrap), n.
    """
    rows = []
    for name in retrievers:
        found = ends_found(experiment, name, k)
        for end in ENDS:
            mean, low, high = statistics.interval(found[end].to_numpy(), experiment.seed, draws=experiment.draws)
            row = {"line": name, "support": f"{end} support", "mean": mean, "low": low, "high": high}
            rows.append(row | {"n": len(found)})
    return pd.DataFrame(rows)


def _ranks_of_ends(experiment: Experiment, retriever: str) -> Iterator[tuple[Question, list[float], list[float]]]:
    """Each question whose evidence graph has an edge, with the ranks of its first and of its last supports."""
    for question in experiment.questions:
        if not (question.evidence and question.evidence.edges):
            continue
        ids = experiment.rankings[retriever][question.id].ids
        ranks = [min(rank, len(ids) + 1) for rank in support_ranks(question, ids)]
        graph = question.evidence.to_networkx()
        first = [ranks[node] for node in graph if not graph.in_degree(node)]
        yield question, first, [ranks[node] for node in graph if not graph.out_degree(node)]
