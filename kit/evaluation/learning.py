"""What a method learns, over many draws of its training questions."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd
from tqdm.auto import tqdm

from kit.corpus import Benchmark
from kit.errors import InputError
from kit.retrievers.gnn_ret import GNNRet


def learn_weights(retrievers: Iterable[GNNRet], training: Benchmark) -> pd.DataFrame:
    """Train each of them on ``training``: the weights that come out, a row each.

    Columns: n_train, start, layers, seed (the retriever's settings), weight (``alpha1``, ``alpha2`` …, ``beta``),
    value, loss (the lowest that was met), steps (of gradient descent). Raises InputError where one of them learns from
    no question, or from more than there are.
    """
    rows = []
    retrievers = list(retrievers)
    if not all(retriever.settings.n_train for retriever in retrievers):
        raise InputError("expected at least 1 question to learn from, not 0", field="n_train")
    for retriever in tqdm(retrievers, desc="training", unit="draw"):
        retriever.fit(training)
        history = retriever.history
        settings = retriever.settings
        about = {"n_train": settings.n_train, "start": settings.init_alpha, "layers": settings.layers}
        about |= {"seed": settings.seed, "loss": min(step["loss"] for step in history), "steps": len(history)}
        rows += [{**about, "weight": weight, "value": value} for weight, value in retriever.weights.items()]
    return pd.DataFrame(rows)
