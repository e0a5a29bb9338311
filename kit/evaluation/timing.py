"""What message passing costs beside the search that it starts from (gnn-ret.txt §7)."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
import pandas as pd

from kit.corpus import Query
from kit.errors import InputError
from kit.retrievers.gnn_ret import GNNRet, nearest
from kit.text import Encoder
from kit.text.precision import one_thread

_BATCH = 64  # queries at once, as evaluate asks them
_DEPTH = 10  # passages that are ranked


def encoding_time(encoder: Encoder, queries: Sequence[Query], repeats: int = 5) -> float:
    """Seconds a query to make its vector, on one thread, in batches of 64; the median of ``repeats``."""
    if not queries or repeats < 1:
        raise InputError("expected queries and at least one repeat", field="queries")
    texts, taken = [query.text for query in queries], []
    encode = encoder.model.encode_query  # past the store, which may have the vectors already
    with one_thread():
        for _ in range(repeats):
            begun = time.perf_counter()
            encode(texts, batch_size=_BATCH, normalize_embeddings=True, show_progress_bar=False)
            taken.append(time.perf_counter() - begun)
    return float(np.median(taken)) / len(texts)


def propagation_times(
    retriever: GNNRet, queries: Sequence[Query], senders: Sequence[int], repeats: int = 5
) -> pd.DataFrame:
    """The time of message passing for several numbers of senders (K), and that of the dense search before it.

    The retriever is indexed; its other settings stay. On one thread, a row a K and batch of 64 queries: senders, batch,
    edges (those at the senders of a query, each as often as a keyword makes it), and per query, the median of
    ``repeats``: seconds_messages (choosing senders, passing messages, ranking anew) and seconds_search (distances to
    all passages, and the nearest of them). Making the queries' vectors is apart: :func:`encoding_time`.
    """
    if not queries or not senders or min(senders) < 1 or repeats < 1:
        raise InputError("expected queries, numbers of senders from 1, and at least one repeat", field="senders")
    vectors = retriever.encode([query.text for query in queries])
    rows = []
    with one_thread():
        for k in senders:
            sending = retriever.variant(top_k=k)
            for batch, start in enumerate(range(0, len(vectors), _BATCH)):
                of = vectors[start : start + _BATCH]
                found = [_times(sending, of) for _ in range(repeats)]
                edges, search, messages = np.median(found, axis=0) / len(of)
                row = {"senders": k, "batch": batch, "edges": edges}
                rows.append(row | {"seconds_messages": messages, "seconds_search": search})
    return pd.DataFrame(rows)


def _times(retriever: GNNRet, vectors: np.ndarray) -> tuple[float, float, float]:
    """Edges at the senders of all layers, seconds of the search, seconds of the messages; all of the whole batch."""
    started = time.perf_counter()
    h = retriever.distances(vectors)
    near = retriever.near(h, _DEPTH)
    searched = time.perf_counter()
    logs = retriever.propagate(h, near)
    nearest(h, near, np.concatenate([log.heard for log in logs]), min(_DEPTH, h.shape[1]))
    passed = time.perf_counter()
    edges = sum(len(retriever.graph.linked(log.active_nodes.ravel())[0]) for log in logs)
    return edges, searched - started, passed - searched
