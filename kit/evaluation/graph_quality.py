"""How good a passage graph is before anyone walks it (kgp.txt §3, Figures 5 and 9).

SF-EM and precision judge a question's seeds and all their neighbours: all supports are there, and little else.
"""

import time
from collections.abc import Collection, Mapping, Sequence
from itertools import combinations

import numpy as np
import pandas as pd

from kit.corpus import Benchmark, Corpus, Question
from kit.evaluation.metrics import covered, precision, sf_em
from kit.graphs import BUILDERS, PassageGraph, build
from kit.settings import defaults
from kit.text import TfidfIndex

SEEDS = "seeds"  # what the seeds alone are called where builders are compared: SF-EM before any graph


def find_seeds(corpus: Corpus, questions: Sequence[Question], n_seeds: int = 5) -> list[list[int]]:
    """For each question the rows of the passages that a TF-IDF search puts first."""
    return TfidfIndex(corpus).nearest([question.text for question in questions], n_seeds)


def graph_quality(graph: PassageGraph, questions: Sequence[Question], seeds: Sequence[Sequence[int]]) -> pd.DataFrame:
    """A row a question: its hops and type, the size of the seeds' neighbourhood (seeds included), and how good it is.

    Columns: question, hops, type, structure, neighbourhood (passages), sf_em, covered (share of supports), precision,
    joined (share of the pairs of supports that an edge joins; nan for a single support).
    """
    rows = []
    for question, start in zip(questions, seeds, strict=True):
        ids = [graph.corpus.passages[row].id for row in {*start, *graph.neighbours(start).tolist()}]
        row = {"question": question.id, "hops": question.hops, "type": question.type, "structure": question.structure}
        row |= {"neighbourhood": len(ids), "sf_em": sf_em(question, ids), "covered": covered(question, ids)}
        supports = [{graph.corpus.row[id] for id in carriers} for carriers in question.supporting]
        near = [{*graph.neighbours(sorted(carriers)).tolist()} for carriers in supports]
        pairs = combinations(range(len(supports)), 2)
        joined = [bool(near[a] & supports[b] or near[b] & supports[a]) for a, b in pairs]
        rows.append(row | {"precision": precision(question, ids), "joined": np.mean(joined) if joined else np.nan})
    return pd.DataFrame(rows)


def density_param(name: str, encoders: Collection[str] = ()) -> str:
    """A builder's first setting, which makes its graph denser; ``encoders`` has the names of further KNN graphs."""
    return next(iter(defaults(BUILDERS["knn" if name in encoders else name])))


def build_at(name: str, value: float, corpus: Corpus, encoders: Mapping[str, str]) -> PassageGraph:
    """A builder's graph at a density; a name in ``encoders`` is a KNN graph over that encoder's vectors."""
    if name == SEEDS:
        return PassageGraph(corpus, {})
    encoder = {"encoder": encoders[name]} if name in encoders else {}
    return build("knn" if encoder else name, corpus, **{density_param(name, encoders): value}, **encoder)


def by_setting(quality: pd.DataFrame, builder: str, metric: str) -> pd.DataFrame:
    """A builder's values of a metric: a row a question, a column a setting, both in the order of the sweep."""
    of = quality[quality["builder"] == builder]
    return of.set_index(["question", "value"])[metric].unstack(sort=False)


def at_equal_size(
    quality: pd.DataFrame, sizes: pd.DataFrame, metric: str, size: float, by: str = "mean_degree"
) -> tuple[pd.DataFrame, list[str]]:
    """A metric for each question (index) and builder (columns) at one size, and the builders that never have it.

    ``sizes`` has a row a builder and value with the size in the column ``by``. Between two settings of a sweep the
    metric is interpolated on the logarithm of the size.
    """
    columns, left_out = {}, []
    for builder, of in sizes[sizes["builder"] != SEEDS].groupby("builder", sort=False):
        of = of.sort_values(by, kind="stable")
        steps = of[by].to_numpy()
        if not 0 < steps[0] <= size <= steps[-1]:
            left_out.append(str(builder))
            continue
        values = by_setting(quality, builder, metric)[of["value"]].to_numpy()
        columns[builder] = [np.interp(np.log(size), np.log(steps), of_question) for of_question in values]
    return pd.DataFrame(columns, index=quality["question"].unique()).dropna(), left_out


def measure(
    builder: str, benchmark: Benchmark, questions: Sequence[Question], n_seeds: int = 5, **settings: object
) -> dict[str, float]:
    """Size, mean quality and seconds to build of one graph (of each question's own in the per-question setting)."""
    sizes, quality = [], []
    for corpus, asked in benchmark.asked_together(questions):
        begun = time.perf_counter()
        graph = build(builder, corpus, **settings)
        seconds = time.perf_counter() - begun
        quality.append(graph_quality(graph, asked, find_seeds(corpus, asked, n_seeds)).assign(seconds=seconds))
        sizes.append(describe_graph(graph))
    means = pd.concat(quality)[["sf_em", "covered", "precision", "neighbourhood", "seconds"]].mean().to_dict()
    return (sizes[0] if len(sizes) == 1 else pd.DataFrame(sizes).mean().to_dict()) | means


def describe_graph(graph: PassageGraph) -> dict[str, float]:
    """Nodes, edges, density, mean degree and connected components, as gnn-ret.txt Table 5 and kgp.txt Table 3."""
    counts = {"nodes": graph.n_nodes, "edges": graph.n_edges, "density": graph.density}
    return counts | {"mean_degree": graph.mean_degree, "components": graph.n_components}
