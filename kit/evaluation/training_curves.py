"""What training adds, by the number of questions that a network learned from and by its width."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from pandas import DataFrame, Series

from kit.corpus import Benchmark
from kit.evaluation.metrics import recall_at
from kit.evaluation.statistics import paired
from kit.learning.shipped import Shipped
from kit.methods import make

CUT = 5


def what_training_adds(
    method: str,
    teaching: Sequence[Benchmark],
    benchmark: Benchmark,
    *,
    questions: Sequence[int],
    widths: Sequence[int],
    seed: int = 0,
    n_resamples: int = 10_000,
    **settings: object,
) -> DataFrame:
    """Recall@5 of the test questions minus that of the same network untrained, by their hops.

    Args:
        method: one that learns from several benchmarks and has a setting ``dimension``.
        teaching: what it learns from, from nothing each time.
        benchmark: whose test questions are asked.
        questions: from how many of the teaching questions, taken evenly of all benchmarks.
        widths: values of ``dimension``.
        seed: of the training and of the intervals, of ``n_resamples`` samples.
        settings: further ones of the method.

    The table has a row per width, number and hop count, with difference, low, high and n.
    """
    rows = []
    for width in widths:
        start = make(method, start="untrained", dimension=width, seed=seed, **settings)
        before = _recalls(start, benchmark)
        for n_questions in questions:
            taught = start.variant()
            if n_questions:
                taught.learn(first_questions(teaching, n_questions))
            gains = _recalls(taught, benchmark) - before
            for hops, of_hops in gains.groupby(level="hops"):
                nothing = np.zeros(len(of_hops))
                estimate = paired(of_hops, nothing, seed, n_resamples=n_resamples)
                ends = (estimate.value, estimate.low, estimate.high, estimate.n)
                rows.append((width, n_questions, hops, *ends))
    columns = ["dimension", "questions", "hops", "difference", "low", "high", "n"]
    return DataFrame(rows, columns=columns)


def first_questions(teaching: Sequence[Benchmark], n: int) -> list[Benchmark]:
    """The benchmarks with n training questions in all, of each the same share, the first ones."""
    total = sum(len(benchmark.train) for benchmark in teaching)
    share = min(1.0, n / max(total, 1))
    fewer = []
    for benchmark in teaching:
        train = benchmark.train[: round(share * len(benchmark.train))]
        fewer.append(replace(benchmark, train=train))
    return fewer


def _recalls(retriever: Shipped, benchmark: Benchmark) -> Series:
    """Recall@5 of each test question, by its hops."""
    retriever = retriever.variant(corpus=benchmark.corpus)
    rankings = retriever.retrieve_many([question.query for question in benchmark.test], CUT)
    recalls = []
    for question, ranking in zip(benchmark.test, rankings):
        recalls.append(recall_at(question, ranking.ids, CUT))
    hops = [question.hops for question in benchmark.test]
    return Series(recalls, index=hops).rename_axis("hops")
