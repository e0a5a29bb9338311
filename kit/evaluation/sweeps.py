"""What a sweep of graph builders says: curves with intervals, trends, and comparisons at equal size."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from kit.corpus import Corpus
from kit.evaluation import statistics
from kit.evaluation.graph_quality import SEEDS
from kit.graphs import build

_METRICS = ("sf_em", "precision")


def curves(quality: pd.DataFrame, by: Sequence[str] = (), *, seed: int, draws: int) -> pd.DataFrame:
    """The points of KGP's Figures 5 and 9: a row a builder and setting (and group of ``by``, a list such as ["hops"]).

    Columns: builder, parameter, value, those of ``by``, mean_neighbourhood (passages), sf_em, precision, each with
    _low and _high (95 % bootstrap over questions), covered, n (questions). ``quality`` comes from
    :func:`kit.evaluation.graph_quality.sweep`.
    """
    rows = []
    keys = ["builder", "parameter", "value", *by]
    for key, group in quality.groupby(keys, sort=False):
        found = statistics.intervals(group[list(_METRICS)].to_numpy(), seed=seed, draws=draws)
        row = dict(zip(keys, key)) | {"mean_neighbourhood": group["neighbourhood"].mean()}
        for metric, (mean, low, high) in zip(_METRICS, found):
            row |= {metric: mean, f"{metric}_low": low, f"{metric}_high": high}
        rows.append(row | {"covered": group["covered"].mean(), "n": len(group)})
    return pd.DataFrame(rows)


def trend(quality: pd.DataFrame, builder: str, metric: str, *, seed: int, draws: int) -> statistics.Interval:
    """Spearman's correlation of a metric with the mean size of the neighbourhood along a builder's sweep."""
    size, values = (_by_setting(quality, builder, column).to_numpy() for column in ("neighbourhood", metric))
    return statistics.sweep_correlation(size, values, seed, draws=draws)


def last_step(quality: pd.DataFrame, builder: str, metric: str, *, seed: int, draws: int) -> statistics.Difference:
    """The change of a metric from the last setting but one of a builder's sweep to the last, paired over questions."""
    values = _by_setting(quality, builder, metric).to_numpy()
    return statistics.paired(values[:, -1], values[:, -2], seed, draws=draws)


def at_equal_size(
    quality: pd.DataFrame, sizes: pd.DataFrame, metric: str, size: float, by: str = "mean_degree"
) -> tuple[pd.DataFrame, list[str]]:
    """A metric for each question (index) and builder (columns) at one size, and the builders that never have it.

    ``sizes`` has a row a builder and value with the size in the column ``by``: ``mean_degree`` in what
    :func:`kit.evaluation.graph_quality.sweep` returns, ``mean_neighbourhood`` in :func:`curves`. Between two settings
    of a sweep the metric is interpolated on the logarithm of the size. Questions for which the metric is not defined
    are left out.
    """
    columns, left_out = {}, []
    for builder, of in sizes[sizes["builder"] != SEEDS].groupby("builder", sort=False):
        of = of.sort_values(by, kind="stable")
        steps = of[by].to_numpy()
        if not steps[0] <= size <= steps[-1] or steps[0] <= 0:
            left_out.append(str(builder))
            continue
        values = _by_setting(quality, builder, metric)[of["value"]].to_numpy()
        place = np.interp(np.log(size), np.log(steps), np.arange(len(steps)))
        before, share = int(place), place - int(place)
        after = min(before + 1, len(steps) - 1)
        columns[builder] = (1 - share) * values[:, before] + share * values[:, after]
    index = list(dict.fromkeys(quality["question"]))
    return pd.DataFrame(columns, index=index).dropna(), left_out


def edges_by_size(
    builder: str, corpus: Corpus, shares: Sequence[float], n_draws: int, seed: int, **settings: object
) -> pd.DataFrame:
    """Graphs of random parts of a corpus (gnn-ret.txt, Table 5: are larger corpora's passages better connected?).

    A row a draw: graph, share, passages, edges_per_passage (|E| / |V|), density. Documents are drawn whole, so
    that structure survives; the whole corpus is drawn once.
    """
    generator = np.random.default_rng(seed)
    documents = list(corpus.documents.values())
    rows = []
    for share in shares:
        for _ in range(n_draws if share < 1 else 1):
            picks = generator.permutation(len(documents))[: max(1, round(share * len(documents)))]
            part = corpus.subset(np.sort(np.concatenate([documents[pick] for pick in picks])))
            graph = build(builder, part, **settings)
            edges = graph.n_edges / graph.n_nodes
            size = {"passages": len(part), "edges_per_passage": edges, "density": graph.density}
            rows.append({"graph": builder, "share": share, **size})
    return pd.DataFrame(rows)


def _by_setting(quality: pd.DataFrame, builder: str, metric: str) -> pd.DataFrame:
    """A builder's values of a metric: a row a question, a column a setting, both in the order of the sweep."""
    of = quality[quality["builder"] == builder]
    table = of.pivot(index="question", columns="value", values=metric)
    return table.loc[list(dict.fromkeys(of["question"])), list(dict.fromkeys(of["value"]))]


def builders_of(quality: pd.DataFrame) -> list[str]:
    """The builders of a sweep, without the seeds."""
    return [name for name in dict.fromkeys(quality["builder"]) if name != SEEDS]
