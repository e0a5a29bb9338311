"""What a query costs with several methods, among ever more passages."""

from collections.abc import Mapping, Sequence

import pandas as pd
from pandas import DataFrame

from kit.corpus import Benchmark
from kit.corpus.types import Questions, Texts
from kit.evaluation.timing import (
    PARTS,
    growing_collections,
    time_parts,
)
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
    """The cost of each method (index) among the most passages, in the order of the rows.

    Each part of the time is the median over the questions, which a busy machine disturbs least;
    ``rest`` is all that no other part names, and ``seconds`` the sum.
    """
    rows = costs[costs["passages"] == costs["passages"].max()]
    return typical(rows, ["retriever"])


def typical(costs: DataFrame, by: Texts) -> DataFrame:
    """As :func:`in_largest`, of groups of rows."""
    named = [part for part in PARTS if part != "rest"]
    rows = costs.assign(rest=costs["seconds"] - costs[named].sum(axis=1))
    medians = rows.groupby(list(by), sort=False)[[*PARTS, "texts"]].median()
    return medians.assign(seconds=medians[list(PARTS)].sum(axis=1))
