"""What a question costs: the time that a user waits for it, the same way for every method."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
import pandas as pd

from kit.corpus import Query, Question
from kit.errors import InputError
from kit.retrievers import Retriever
from kit.retrievers.gnn_ret import GNNRet, nearest
from kit.text.encoder import cold_queries
from kit.text.precision import one_thread

_BATCH = 64  # queries at once, where messages are timed
_DEPTH = 10  # passages that are ranked


def time_questions(retriever: Retriever, questions: Sequence[Question], k: int) -> np.ndarray:
    """Seconds of each question (n,) for an indexed retriever that is to find ``k`` passages.

    One question after another, on one thread, without a trace; whatever is read for a question is encoded, as if it was
    never asked before. A question that does not count goes first, since it also loads what is loaded once.
    """
    taken = []
    with one_thread():
        for question in [questions[-1], *questions]:
            query = query_for(retriever, question)
            with cold_queries():
                begun = time.perf_counter()
                retriever.retrieve_many([query], k)
                taken.append(time.perf_counter() - begun)
    return np.array(taken[1:])


def query_for(retriever: Retriever, question: Question) -> Query:
    """What a retriever may see of a question."""
    return question.gold_query if retriever.sees_gold else question.query


def propagation_times(
    retriever: GNNRet, queries: Sequence[Query], top_ks: Sequence[int], repeats: int = 5
) -> pd.DataFrame:
    """The time of message passing for several numbers of active nodes (K), and that of the dense search before it.

    The retriever is indexed; its other settings stay. On one thread, a row a K and batch of 64 queries: top_k, batch,
    edges (those at the active nodes of a query, each as often as a keyword makes it), and per query, the median of
    ``repeats``: seconds_messages (choosing nodes, passing messages, ranking anew) and seconds_search (distances to all
    passages, and the nearest of them). Making the queries' vectors is apart.
    """
    if not queries or not top_ks or min(top_ks) < 1 or repeats < 1:
        raise InputError("expected queries, numbers of nodes from 1, and at least one repeat", field="top_k")
    vectors = retriever.encode([query.text for query in queries])
    rows = []
    with one_thread():
        for k in top_ks:
            sending = retriever.variant(top_k=k)
            for batch, start in enumerate(range(0, len(vectors), _BATCH)):
                of = vectors[start : start + _BATCH]
                found = [_times(sending, of) for _ in range(repeats)]
                rows.append((k, batch, *np.median(found, axis=0) / len(of)))
    return pd.DataFrame(rows, columns=["top_k", "batch", "edges", "seconds_search", "seconds_messages"])


def _times(retriever: GNNRet, vectors: np.ndarray) -> tuple[float, float, float]:
    """Edges at the active nodes of all layers, seconds of the search and of the messages; all of the whole batch."""
    started = time.perf_counter()
    h = retriever.distances(vectors)
    near = retriever.near(h, _DEPTH)
    searched = time.perf_counter()
    logs = retriever.propagate(h, near)
    nearest(h, near, np.concatenate([log.heard for log in logs]), min(_DEPTH, h.shape[1]))
    passed = time.perf_counter()
    edges = sum(len(retriever.graph.linked(log.active_nodes.ravel())[0]) for log in logs)
    return edges, searched - started, passed - searched
