"""Where in a ranking the first and the last support of a chain stand."""

from __future__ import annotations

import numpy as np
import pandas as pd

from kit.evaluation.experiment import Experiment
from kit.evaluation.metrics import support_ranks


def ends_of_chains(experiment: Experiment, retriever: str, k: int | None = None) -> pd.DataFrame:
    """The rank of the first and of the last support of each question whose evidence graph has an edge.

    The first supports are the sources of the graph, which the question leads to; the last are its sinks, which hold the
    answer; the mean rank where there are several. A support that is not in the ranking gets the place after its end.
    With ``k``: Recall@k of the first supports and of the last ones alone. Columns: question, hops, first, last.
    """
    rows = []
    for question in experiment.questions:
        if question.evidence and question.evidence.edges:
            ids = experiment.rankings[retriever][question.id].ids
            ranks = np.minimum(support_ranks(question, ids), len(ids) + 1)
            ranks = ranks if k is None else ranks <= k
            graph = question.evidence.to_networkx()
            first = np.mean([ranks[node] for node in graph if not graph.in_degree(node)])
            last = np.mean([ranks[node] for node in graph if not graph.out_degree(node)])
            rows.append((question.id, question.hops, first, last))
    return pd.DataFrame(rows, columns=["question", "hops", "first", "last"])
