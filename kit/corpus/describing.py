"""A benchmark in numbers."""

from __future__ import annotations

import numpy as np
import pandas as pd

from kit.corpus.source import SPLITS
from kit.corpus.types import Benchmark


def describe(benchmark: Benchmark) -> pd.DataFrame:
    """Counts and sizes of the questions, a row for each split, hop count and structure that there is.

    Columns: ``split``, ``hops``, ``structure``; ``questions`` (count), ``decomposed`` (those with sub-questions) and
    three means: ``words`` of a question, ``support_words`` of a supporting passage, ``passages`` that it is asked of.
    """
    words = {passage.id: len(passage.text.split()) for passage in benchmark.corpus.passages}
    collections = benchmark.collections
    rows = [
        {
            "split": split,
            "hops": question.hops,
            "structure": question.structure,
            "decomposed": bool(question.decomposition),
            "words": len(question.text.split()),
            "support_words": np.mean([words[id] for id in question.supporting_ids]),
            "passages": len(benchmark.corpus if collections is None else collections[question.id]),
        }
        for split in SPLITS
        for question in getattr(benchmark, split)
    ]
    means = {name: (name, "mean") for name in ("words", "support_words", "passages")}
    groups = pd.DataFrame(rows).groupby(["split", "hops", "structure"], sort=False)
    return groups.agg(questions=("words", "size"), decomposed=("decomposed", "sum"), **means).reset_index()


def describe_corpus(benchmark: Benchmark) -> pd.DataFrame:
    """The corpus in one row: ``passages``, ``documents``, ``titles`` (counts), mean and largest ``words`` a passage."""
    passages = benchmark.corpus.passages
    words = [len(passage.text.split()) for passage in passages]
    row = {
        "passages": len(passages),
        "documents": len({passage.document for passage in passages}),
        "titles": len({passage.title for passage in passages}),
        "words": float(np.mean(words)),
        "most_words": max(words),
    }
    return pd.DataFrame([row])
