"""How good a passage graph is before anyone walks it (KGP §3, Figures 5 and 9).

SF-EM and precision judge a question's seeds and all their neighbours: all supports are there, and
little else.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from math import nan
from time import perf_counter
from types import MappingProxyType

import numpy as np
import pandas as pd
from pandas import DataFrame

from kit.corpus import Benchmark, Corpus, Question
from kit.corpus.types import Questions
from kit.evaluation.metrics import covered, described, precision, sf_em
from kit.graphs import PassageGraph, build
from kit.text import TfidfIndex

#: The setting of each builder that makes its graph denser.
KNOBS = {"tfidf": "n_keywords", "knn": "k", "entity": "prior", "structure": "reach"}
SEEDS = "the seeds alone"  # in the place of a builder: no graph at all
_MEASURED = ["sf_em", "covered", "precision", "neighbourhood", "seconds"]


def find_seeds(corpus: Corpus, questions: Questions, n_seeds: int = 5) -> list[list[int]]:
    """For each question the rows of the passages that a TF-IDF search puts first."""
    return TfidfIndex(corpus).nearest([question.text for question in questions], n_seeds)


def graph_quality(
    graph: PassageGraph,
    questions: Questions,
    seeds: Sequence[Sequence[int]],
) -> DataFrame:
    """How good the seeds' neighbourhoods are, a row per question.

    Columns: question, hops, type, structure, neighbourhood (passages, seeds included), sf_em,
    covered (share of supports), precision, joined (share of the pairs of supports that an edge
    joins), relevant (share of the edges at supports that lead to another one, 0 without edges).
    For a single support, which has no pair, the last two are nan.
    """
    rows = []
    for question, first in zip(questions, seeds, strict=True):
        neighbours = graph.neighbours(first).tolist()
        ids = [graph.corpus.passages[row].id for row in {*first, *neighbours}]

        row = described(question)
        row["neighbourhood"] = len(ids)
        row["sf_em"] = sf_em(question, ids)
        row["covered"] = covered(question, ids)
        row["precision"] = precision(question, ids)
        row["joined"] = _share_of_joined_pairs(graph, question)
        row["relevant"] = _share_of_relevant_edges(graph, question)
        rows.append(row)
    return DataFrame(rows)


def density_sweep(
    benchmark: Benchmark,
    densities: Mapping[str, Iterable[float]],
    n_seeds: int = 5,
    encoders: Mapping[str, str] = MappingProxyType({}),
) -> DataFrame:
    """The quality of each builder's graphs from sparse to dense (KGP Figure 5).

    ``densities`` has the values of a builder's knob (:data:`KNOBS`), ``encoders`` are as in
    :func:`graph_at`. The columns are those of :func:`graph_quality`, with ``builder`` and
    ``value``, and the graph's ``density`` and ``mean_degree``. The first rows, of the builder
    :data:`SEEDS`, are of a graph without edges. In the per-question setting each question has
    graphs of its own.
    """
    parts = []
    for corpus, questions in benchmark.asked_together(benchmark.test):
        seeds = find_seeds(corpus, questions, n_seeds)
        alone = graph_quality(PassageGraph(corpus, {}), questions, seeds)
        parts.append(alone.assign(builder=SEEDS, value=0.0, density=0.0, mean_degree=0.0))
        for builder, values in densities.items():
            for value in values:
                graph = graph_at(builder, value, corpus, encoders)
                quality = graph_quality(graph, questions, seeds)
                parts.append(
                    quality.assign(
                        builder=builder,
                        value=float(value),
                        density=graph.density,
                        mean_degree=graph.mean_degree,
                    )
                )
    return pd.concat(parts, ignore_index=True)


def graph_at(
    builder: str,
    value: float,
    corpus: Corpus,
    encoders: Mapping[str, str] = MappingProxyType({}),
) -> PassageGraph:
    """A builder's graph with a value of its knob.

    A builder named in ``encoders`` is a KNN graph over the vectors of that encoder.
    """
    if builder in encoders:
        return build("knn", corpus, k=int(value), encoder=encoders[builder])
    return build(builder, corpus, **{KNOBS[builder]: value})


def _share_of_joined_pairs(graph: PassageGraph, question: Question) -> float:
    supports = []  # the rows of each, and their neighbours
    for carriers in question.supporting:
        rows = {graph.corpus.row[passage] for passage in carriers}
        supports.append((rows, set(graph.neighbours(sorted(rows)).tolist())))

    joined = []
    for (a, around_a), (b, around_b) in combinations(supports, 2):
        joined.append(bool(around_a & b or around_b & a))
    return np.mean(joined) if joined else nan


def _share_of_relevant_edges(graph: PassageGraph, question: Question) -> float:
    """Of the edges at a question's supports, those that join two of them (KGP §8.5)."""
    if question.hops < 2:
        return nan
    carried = defaultdict(set)  # the supports that each row carries
    for support, carriers in enumerate(question.supporting):
        for passage in carriers:
            carried[graph.corpus.row[passage]].add(support)

    rows = np.array(sorted(carried))
    starts, ends = graph.linked(rows)
    edges = {frozenset(edge) for edge in zip(rows[starts].tolist(), ends.tolist())}
    n_relevant = 0
    for edge in edges:
        if edge <= carried.keys():
            n_relevant += len(set.union(*map(carried.get, edge))) > 1
    return n_relevant / max(len(edges), 1)


def at_equal_size(
    quality: DataFrame,
    sizes: DataFrame,
    metric: str,
    size: float,
    by: str = "mean_degree",
) -> DataFrame:
    """A metric for each question (index) and builder (columns) at one size.

    ``quality`` has a row per question, builder and ``value`` of the builder's setting; ``sizes``
    has a row per builder and value, with the size in the column ``by``. Between two values the
    metric is interpolated on the logarithm of the size. Builders that never have the size are left
    out.
    """
    columns = {}
    questions = quality["question"].unique()
    for builder, settings in sizes.groupby("builder", sort=False):
        settings = settings.sort_values(by, kind="stable")
        steps = settings[by].to_numpy()
        if not 0 < steps[0] <= size <= steps[-1]:
            continue

        curves = quality[quality["builder"] == builder].pivot(
            index="question",
            columns="value",
            values=metric,
        )
        values = curves.reindex(questions)[settings["value"]].to_numpy()  # (questions, steps)
        logs = np.log(steps)
        columns[builder] = [np.interp(np.log(size), logs, curve) for curve in values]
    return DataFrame(columns, index=questions).dropna()


def measure(
    builder: str,
    benchmark: Benchmark,
    questions: Questions,
    **settings: object,
) -> dict[str, object]:
    """Size, mean quality and seconds to build of one graph.

    In the per-question setting these are means over the questions' own graphs. ``notes`` are
    sentences on what the numbers do not tell.
    """
    sizes = []
    quality = []
    for corpus, group in benchmark.asked_together(questions):
        start = perf_counter()
        graph = build(builder, corpus, **settings)
        seconds = perf_counter() - start

        table = graph_quality(graph, group, find_seeds(corpus, group))
        quality.append(table.assign(seconds=seconds))
        sizes.append(describe_graph(graph))

    size = sizes[0]
    if len(sizes) > 1:
        size = DataFrame(sizes).mean().to_dict()
    table = pd.concat(quality)
    measures = size | table[_MEASURED].mean().to_dict()
    return measures | {"notes": _notes(sizes, table)}


def _notes(sizes: Sequence[dict[str, float]], quality: DataFrame) -> list[str]:
    notes = []
    n_edgeless = sum(size["edges"] == 0 for size in sizes)
    if n_edgeless:
        notes.append(
            f"Graphs without an edge: {n_edgeless} of {len(sizes)}. "
            "There sf_em, covered and precision are those of the seeds alone."
        )
    n_seedless = (quality["neighbourhood"] == 0).sum()
    if n_seedless:
        notes.append(
            f"Questions without a seed: {n_seedless} of {len(quality)}. "
            "No passage has a word of theirs."
        )
    return notes


def describe_graph(graph: PassageGraph) -> dict[str, float]:
    """Nodes, edges, density, mean degree and connected components.

    The columns of GNN-Ret Table 5 and KGP Table 3.
    """
    return {
        "nodes": graph.n_nodes,
        "edges": graph.n_edges,
        "density": graph.density,
        "mean_degree": graph.mean_degree,
        "components": graph.n_components,
    }
