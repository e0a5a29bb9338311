"""Where in a ranking the first and the last support of a chain stand."""

from __future__ import annotations

import pandas as pd

from kit.evaluation.experiment import Experiment
from kit.evaluation.metrics import support_ranks


def first_and_last(experiment: Experiment, retriever: str) -> pd.DataFrame:
    """The rank of the first and of the last support of each question whose evidence graph has an edge.

    The first supports are the sources of the graph, which the question leads to; the last are its sinks, which hold the
    answer; the mean rank where there are several. A support that is not in the ranking gets the place after its end.
    Columns: question, hops, first, last.
    """
    rows = []
    for question in experiment.questions:
        if not (question.evidence and question.evidence.edges):
            continue
        ids = experiment.rankings[retriever][question.id].ids
        ranks = [min(rank, len(ids) + 1) for rank in support_ranks(question, ids)]
        graph = question.evidence.to_networkx()
        first = [ranks[node] for node in graph if not graph.in_degree(node)]
        last = [ranks[node] for node in graph if not graph.out_degree(node)]
        means = {"first": sum(first) / len(first), "last": sum(last) / len(last)}
        rows.append({"question": question.id, "hops": question.hops, **means})
    return pd.DataFrame(rows, columns=["question", "hops", "first", "last"])
