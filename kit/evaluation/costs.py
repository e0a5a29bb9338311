"""What a query costs with several methods, among ever more passages."""

from collections.abc import Mapping, Sequence

import pandas as pd
from pandas import DataFrame

from kit.corpus import Benchmark
from kit.corpus.types import Questions
from kit.evaluation.timing import growing_collections, time_parts
from kit.methods import Retriever


def costs_of(
    methods: Mapping[str, Retriever],
    benchmark: Benchmark,
    questions: Questions,
    sizes: Sequence[int] = (),
    seed: int = 0,
) -> DataFrame:
    """The time of each query with each method, in parts, among so many passages.

    Each of the ``sizes`` below that of the corpus is a part of it that holds the supports of the
    questions; the whole corpus comes last. A row per method, size and question, with the columns of
    :func:`kit.evaluation.time_parts`, and passages and retriever.
    """
    corpus = benchmark.corpus
    smaller = {size for size in sizes if size < len(corpus)}
    parts = []
    for part in growing_collections(corpus, questions, sorted({*smaller, len(corpus)}), seed):
        for name, method in methods.items():
            times = time_parts(method.variant(corpus=part), questions)
            parts.append(times.assign(passages=len(part), retriever=name))
    return pd.concat(parts, ignore_index=True)


def in_largest(costs: DataFrame) -> DataFrame:
    """The mean cost of each method (index) among the most passages, in the order of the rows."""
    rows = costs[costs["passages"] == costs["passages"].max()]
    numbers = rows.drop(columns=["question", "passages"])
    return numbers.groupby("retriever", sort=False).mean()
