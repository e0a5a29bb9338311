"""How good a passage graph is before anyone walks it (kgp.txt §3, Figures 5 and 9).

SF-EM and precision judge a question's seeds and all their neighbours: all supports are there, and little else.
"""

import time
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pandas as pd

from kit.corpus import Benchmark, Corpus, Question
from kit.evaluation.metrics import covered, precision, sf_em
from kit.graphs import PassageGraph, build
from kit.text import TfidfIndex


def find_seeds(corpus: Corpus, questions: Sequence[Question], n_seeds: int = 5) -> list[list[int]]:
    """For each question the rows of the passages that a TF-IDF search puts first."""
    return TfidfIndex(corpus).nearest([question.text for question in questions], n_seeds)


def graph_quality(
    graph: PassageGraph, questions: Sequence[Question], seeds: Sequence[Sequence[int]]
) -> pd.DataFrame:
    """A row a question: its hops and type, the size of the seeds' neighbourhood (seeds included), and how good it is.

    Columns: question, hops, type, structure, neighbourhood (passages), sf_em, covered (share of supports), precision,
    joined (share of the pairs of supports that an edge joins; nan for a single support).
    """
    rows = []
    for question, start in zip(questions, seeds, strict=True):
        ids = [graph.corpus.passages[row].id for row in {*start, *graph.neighbours(start).tolist()}]
        row = {
            "question": question.id,
            "hops": question.hops,
            "type": question.type,
            "structure": question.structure,
        }
        row |= {
            "neighbourhood": len(ids),
            "sf_em": sf_em(question, ids),
            "covered": covered(question, ids),
        }
        supports = [{graph.corpus.row[id] for id in carriers} for carriers in question.supporting]
        near = [{*graph.neighbours(sorted(carriers)).tolist()} for carriers in supports]
        pairs = combinations(range(len(supports)), 2)
        joined = [bool(near[a] & supports[b] or near[b] & supports[a]) for a, b in pairs]
        rows.append(
            row
            | {
                "precision": precision(question, ids),
                "joined": np.mean(joined) if joined else np.nan,
            }
        )
    return pd.DataFrame(rows)


def at_equal_size(
    quality: pd.DataFrame, sizes: pd.DataFrame, metric: str, size: float, by: str = "mean_degree"
) -> pd.DataFrame:
    """A metric for each question (index) and builder (columns) at one size, without the builders that never have it.

    ``quality`` has a row a question, builder and ``value`` of the builder's setting, ``sizes`` a row a builder and
    value with the size in the column ``by``. Between two values the metric is interpolated on the logarithm of the
    size.
    """
    columns, questions = {}, quality["question"].unique()
    for builder, of in sizes.groupby("builder", sort=False):
        of = of.sort_values(by, kind="stable")
        steps = of[by].to_numpy()
        if 0 < steps[0] <= size <= steps[-1]:
            wide = quality[quality["builder"] == builder].pivot(
                index="question", columns="value", values=metric
            )
            values = wide.reindex(questions)[of["value"]].to_numpy()
            columns[builder] = [
                np.interp(np.log(size), np.log(steps), of_question) for of_question in values
            ]
    return pd.DataFrame(columns, index=questions).dropna()


def measure(
    builder: str, benchmark: Benchmark, questions: Sequence[Question], **settings: object
) -> dict[str, float]:
    """Size, mean quality and seconds to build of one graph (of each question's own in the per-question setting)."""
    sizes, quality = [], []
    for corpus, asked in benchmark.asked_together(questions):
        begun = time.perf_counter()
        graph = build(builder, corpus, **settings)
        seconds = time.perf_counter() - begun
        quality.append(
            graph_quality(graph, asked, find_seeds(corpus, asked)).assign(seconds=seconds)
        )
        sizes.append(describe_graph(graph))
    means = (
        pd.concat(quality)[["sf_em", "covered", "precision", "neighbourhood", "seconds"]]
        .mean()
        .to_dict()
    )
    return (sizes[0] if len(sizes) == 1 else pd.DataFrame(sizes).mean().to_dict()) | means


def describe_graph(graph: PassageGraph) -> dict[str, float]:
    """Nodes, edges, density, mean degree and connected components, as gnn-ret.txt Table 5 and kgp.txt Table 3."""
    counts = {"nodes": graph.n_nodes, "edges": graph.n_edges, "density": graph.density}
    return counts | {"mean_degree": graph.mean_degree, "components": graph.n_components}
