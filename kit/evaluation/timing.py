"""What a question costs: the time that a user waits for it, the same way for every method."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from unittest.mock import patch

import numpy as np
import pandas as pd

from kit.corpus import Query, Question
from kit.errors import InputError
from kit.retrievers import KGP, Retriever
from kit.retrievers.gnn_ret import GNNRet, nearest
from kit.text import Encoder, TfidfIndex
from kit.text.encoder import cold_queries
from kit.text.precision import one_thread

PARTS = ("seeding", "matching", "encoding", "rest")  # of the time of a question
_BATCH = 64  # queries at once, where messages are timed
_DEPTH = 10  # passages that are ranked


class Clock:
    """Seconds spent in parts of a retrieval, each without what is spent in another part that it calls."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()
        self._within = [0.0]  # seconds of the parts within each part that is running

    def around(self, part: str, function: Callable) -> Callable:
        """The function, whose time is added to a part's."""

        def run(*args: object, **settings: object) -> object:
            begun = time.perf_counter()
            self._within.append(0.0)
            found = function(*args, **settings)
            whole = time.perf_counter() - begun
            self.seconds[part] += whole - self._within.pop()
            self._within[-1] += whole
            return found

        return run


def time_parts(retriever: Retriever, questions: Sequence[Question], k: int = 30, cold: bool = True) -> pd.DataFrame:
    """The time that a user waits for an indexed retriever to find ``k`` passages, and what it goes to, by question.

    One question after another, on one thread, without a trace; whatever is read for a question is encoded, as if it was
    never asked before. (Not ``cold``, vectors come from the store: where only the other parts matter.) A question that
    does not count goes first, since it also loads what is loaded once. Columns: question, seeding (a walk's keyword
    search), matching (finding its candidates and comparing them), encoding (of whatever is read for the question),
    rest, seconds (all of them), texts (how many are read).
    """
    clock, read, rows = Clock(), set(), []
    encode = clock.around("encoding", Encoder.encode)

    def noted(encoder: Encoder, texts: Sequence[str], **settings: object) -> np.ndarray:
        read.update(texts)
        return encode(encoder, texts, **settings)

    timed = retriever
    if isinstance(retriever, KGP):
        timed = retriever.variant()
        timed.score = clock.around("matching", timed.score)
        timed.neighbours = clock.around("matching", timed.graph.neighbours)  # anew each time
    search = clock.around("seeding", TfidfIndex.scores)
    with one_thread(), patch.object(Encoder, "encode", noted), patch.object(TfidfIndex, "scores", search):
        for question in [questions[-1], *questions]:
            query = query_for(retriever, question)
            clock.seconds.clear()
            read.clear()
            with cold_queries() if cold else nullcontext():
                begun = time.perf_counter()
                timed.retrieve_many([query], k)
                whole = time.perf_counter() - begun
            parts = {part: clock.seconds[part] for part in PARTS[:-1]}
            parts |= {"rest": whole - sum(parts.values()), "seconds": whole, "texts": len(read)}
            rows.append({"question": question.id, **parts})
    return pd.DataFrame(rows[1:])


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
