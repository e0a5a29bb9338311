"""What a layer of message passing did, and how it is told in a trace."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from kit.corpus import Corpus
from kit.retrievers.base import AnyEvent, InitialScore, Message, Seed


@dataclass(frozen=True)
class Layer:
    """What one layer did: the ``sending`` rows with their ``distance`` (queries, K), nearest first, and its messages.

    Of the messages, each array (messages,), ``source`` and ``target`` are places. The target's distance went from
    ``before`` to ``after``, in which the source's ``value`` counts with ``weight``.
    """

    sending: np.ndarray
    distance: np.ndarray
    source: np.ndarray
    target: np.ndarray
    value: np.ndarray
    weight: np.ndarray
    before: np.ndarray
    after: np.ndarray


def steps_of(
    layers: Sequence[Layer], h: np.ndarray, rows: np.ndarray, corpus: Corpus, first: int = 0
) -> list[list[AnyEvent]]:
    """The steps of each query that concern its ranked ``rows`` (queries, k); ``h`` are the distances after all layers.

    First what each ranked passage's text alone is worth; then for each layer, a round counted from ``first``, its
    senders and the messages to ranked passages. Scores are 1 − distance.
    """
    queries, n = h.shape
    places = rows + n * np.arange(queries)[:, None]
    number = np.zeros(queries * n, np.int32)  # of a place among the ranked ones, from 1; 0: not ranked
    number[places] = np.arange(1, places.size + 1).reshape(places.shape)
    distance, kept = h.ravel()[places].ravel(), []
    for layer in reversed(layers):  # back to what it was before any message
        kept.insert(0, np.flatnonzero(number[layer.target]))
        distance[number[layer.target[kept[0]]] - 1] = layer.before[kept[0]]
    passages = corpus.passages
    steps: list[list[AnyEvent]] = [
        [InitialScore(first, passages[row].id, 1 - value) for row, value in zip(own, values)]
        for own, values in zip(rows.tolist(), distance.reshape(rows.shape).tolist())
    ]
    for round, (layer, of) in enumerate(zip(layers, kept), start=first):
        for own, senders, values in zip(steps, layer.sending.tolist(), layer.distance.tolist()):
            own += [Seed(round, passages[row].id, 1 - value) for row, value in zip(senders, values)]
        for query, message in zip((layer.target[of] // n).tolist(), _messages(round, layer, of, corpus)):
            steps[query].append(message)
    return steps


def _messages(round: int, layer: Layer, of: np.ndarray, corpus: Corpus) -> Iterator[Message]:
    n, passages = len(corpus), corpus.passages
    columns = (layer.source[of] % n, layer.target[of] % n, layer.value[of], layer.weight[of], layer.before[of])
    for source, target, value, weight, before, after in zip(*(c.tolist() for c in columns), layer.after[of].tolist()):
        yield Message(round, passages[source].id, passages[target].id, 1 - value, weight, 1 - before, 1 - after)
