"""Walks measured as KGP measures its own: agents, branching, density, size (KGP §5.2–5.4).

All methods give :data:`BUDGET` passages. A table has a row per question, and per setting if there
are several.
"""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

import numpy as np
import pandas as pd
from pandas import DataFrame

from kit.corpus import Benchmark, Corpus
from kit.corpus.types import Questions
from kit.evaluation.graph_quality import find_seeds, graph_at, graph_quality
from kit.evaluation.metrics import full_at, recall_at
from kit.evaluation.timing import growing_collections, time_parts
from kit.graphs import build
from kit.methods import Retriever, make
from kit.methods.baselines.mdr import MDR
from kit.methods.kgp.walk import KGP
from kit.methods.training import pool
from kit.text import TfidfIndex

BUDGET = 30  # passages per question in all methods (§8.2)
METRICS = ("recall@5", "recall@30", "full@30")
#: Neighbours that a path goes on to. With 1 the seeds fill the budget, and nothing is walked.
BRANCHINGS = (1, 2, 3, 5, 10, 30)
#: Graphs as their builders make them by default.
BY_DEFAULT = {"entity": (0.6,), "knn": (10,)}


def ask(retriever: Retriever, questions: Questions) -> DataFrame:
    """How an indexed retriever does.

    Columns: question, :data:`METRICS`, scored (passages that a walk or MDR compares with what it
    looks for), walked (passages that lie on its paths).
    """
    has_trace = isinstance(retriever, KGP | MDR)
    rows = []
    for question in questions:
        search = retriever.explain if has_trace else retriever.retrieve
        ranking = search(question.query, BUDGET)
        row = {"question": question.id}
        for k in (5, BUDGET):
            row[f"recall@{k}"] = recall_at(
                question,
                ranking.ids,
                k,
            )
        row[f"full@{BUDGET}"] = full_at(
            question,
            ranking.ids,
            BUDGET,
        )
        row["scored"] = ranking.trace.n_scored
        row["walked"] = ranking.n_walked
        rows.append(row)
    return DataFrame(rows)


def ask_variants(
    retriever: Retriever,
    benchmark: Benchmark,
    questions: Questions,
    variants: Iterable[Mapping[str, object]] = (MappingProxyType({}),),
) -> DataFrame:
    """How variants of a fitted retriever do, each question in its own collection.

    The settings of a variant are columns, too.
    """
    tables = []
    for corpus, together in benchmark.asked_together(questions):
        indexed = retriever.variant(corpus=corpus)
        for settings in variants:
            table = ask(indexed.variant(**settings), together)
            tables.append(table.assign(**settings))
    return pd.concat(tables, ignore_index=True)


def random_walks(benchmark: Benchmark, questions: Questions, n_walks: int = 20) -> DataFrame:
    """What chance finds: per question the mean over so many walks of the random agent (Table 2)."""
    draws = [{"seed": seed} for seed in range(n_walks)]
    walks = ask_variants(make("kgp-random"), benchmark, questions, draws)
    means = walks.drop(columns="seed").groupby("question", sort=False).mean()
    return means.reset_index()


def counts_of_walks(
    walkers: Mapping[str, Retriever],
    benchmark: Benchmark,
    questions: Questions,
) -> DataFrame:
    """Passages scored, and passages on paths, mean per question: a row per method."""
    rows = []
    for name, walker in walkers.items():
        counts = ask_variants(walker, benchmark, questions)[["scored", "walked"]]
        rows.append({"retriever": name, **counts.mean()})
    return DataFrame(rows)


# ---- branching (Figure 7 a and b)


def branching_sweep(
    walkers: Mapping[str, Sequence[Retriever]],
    benchmark: Benchmark,
    questions: Questions,
    branchings: Sequence[int] = BRANCHINGS,
) -> DataFrame:
    """What walks find with more neighbours of fewer seeds.

    ``walkers`` are the seeds of each method. The table has a row per question, method, ``run``
    (which of them) and branching, and the number of ``seeds`` that the budget leaves.
    """
    variants = [{"branching": branching} for branching in branchings]
    tables = []
    for name, trained in walkers.items():
        for run, walker in enumerate(trained):
            table = ask_variants(walker, benchmark, questions, variants)
            tables.append(table.assign(retriever=name, run=run))
    sweep = pd.concat(tables, ignore_index=True)
    return sweep.assign(seeds=BUDGET // sweep["branching"])


def best_branching(walker: Retriever, dev: Benchmark) -> int:
    """The branching by which a walk finds most for dev questions, neither the least nor the most.

    They are asked over their supports and what is near, since each path is read anew.
    """
    if not dev.collections:
        passages = pool(dev.test, dev.corpus, TfidfIndex(dev.corpus))
        dev = Benchmark(dev.name, passages, test=dev.test)
    inner = [{"branching": branching} for branching in BRANCHINGS[2:-1]]
    table = ask_variants(walker, dev, dev.test, inner)
    return int(table.groupby("branching")[METRICS[-1]].mean().idxmax())


# ---- density (Figures 6 and 10)


def walks_along_density(
    agent: KGP,
    benchmark: Benchmark,
    densities: Mapping[str, Iterable[float]],
    encoders: Mapping[str, str],
    n_timed: int,
) -> DataFrame:
    """One agent on graphs from sparse to dense, with the same seeds.

    A row per question, ``builder`` and ``value``: what the agent finds; sf_em and neighbourhood of
    the graph, its mean_degree; and ``matching``, the seconds in which neighbours are looked up and
    compared, of the first ``n_timed`` questions. ``encoders`` as in
    :func:`kit.evaluation.graph_quality.graph_at`.
    """
    timed = {question.id for question in benchmark.test[:n_timed]}
    tables = []
    for corpus, together in benchmark.asked_together(benchmark.test):
        indexed = agent.variant(corpus=corpus)
        seeds = find_seeds(corpus, together)
        first = [question for question in together if question.id in timed]
        for builder, values in densities.items():
            for value in values:
                graph = graph_at(builder, value, corpus, encoders)
                walker = indexed.variant(over=graph)
                reach = graph_quality(graph, together, seeds)[["sf_em", "neighbourhood"]]
                table = pd.concat([ask(walker, together), reach], axis=1)
                table["matching"] = np.nan
                if first:
                    times = time_parts(walker, first, cold=False).set_index("question")
                    table["matching"] = table["question"].map(times["matching"])
                table = table.assign(builder=builder, value=float(value))
                tables.append(table.assign(mean_degree=graph.mean_degree))
    return pd.concat(tables, ignore_index=True)


def keyword_graphs(benchmark: Benchmark, n_keywords: int = 8) -> DataFrame:
    """The quality of keyword graphs in which titles are no keywords (KGP §8.5)."""
    tables = []
    for corpus, questions in benchmark.asked_together(benchmark.test):
        graph = build("tfidf", corpus, n_keywords=n_keywords, titles=False)
        quality = graph_quality(graph, questions, find_seeds(corpus, questions))
        tables.append(quality.assign(mean_degree=graph.mean_degree))
    return pd.concat(tables, ignore_index=True)


# ---- size (Figure 7 c)


def costs_of_growth(
    methods: Mapping[str, Retriever],
    corpus: Corpus,
    questions: Questions,
    sizes: Sequence[int],
    seed: int,
) -> DataFrame:
    """What searches find and cost while the collection grows.

    A row per question, ``retriever`` and number of ``passages``, with the columns of :func:`ask`
    and :func:`kit.evaluation.time_parts`.
    """
    tables = []
    for part in growing_collections(corpus, questions, sizes, seed):
        for name, method in methods.items():
            indexed = method.variant(corpus=part)
            table = ask(indexed, questions).merge(time_parts(indexed, questions), on="question")
            tables.append(table.assign(passages=len(part), retriever=name))
    return pd.concat(tables, ignore_index=True)


def growing_walks(corpus: Corpus, questions: Questions, sizes: Iterable[int]) -> DataFrame:
    """The time of walks whose budget grows with the collection, a tenth of it (KGP §8.3).

    The agent is that of TF-IDF, which encodes no text. With a fixed budget a walk takes the same
    time in any collection.
    """
    tables = []
    for size in sizes:
        if size <= len(corpus):
            walker = make("kgp-tfidf", budget=size // 10, depth=size)
            walker.index(corpus.subset(range(size)))
            tables.append(time_parts(walker, questions).assign(passages=size))
    return pd.concat(tables, ignore_index=True)
