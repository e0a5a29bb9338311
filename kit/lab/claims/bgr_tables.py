"""The tables of BGR's paper, of our questions and methods."""

from collections.abc import Mapping

import pandas as pd
from pandas import DataFrame

from kit.corpus.types import Questions, Texts
from kit.evaluation import Experiment
from kit.views.names import capital, metric_name, name_of

#: The structures of the evidence, by the paper's short names.
SHORT_NAMES = {
    "single-chain single-hop": "SC SH",
    "single-chain multi-hop": "SC MH",
    "multi-chain single-hop": "MC SH",
    "multi-chain multi-hop": "MC MH",
}


def structure_counts(splits: Mapping[str, Questions]) -> DataFrame:
    """How many questions have which structure (Table 2), a row per split."""
    rows = []
    for name, questions in splits.items():
        structures = pd.Series([question.structure for question in questions])
        counts = structures.map(SHORT_NAMES).value_counts()
        rows.append({"split": name} | {short: counts.get(short, 0) for short in _shorts()})
    table = DataFrame(rows)
    return table.assign(all=table[_shorts()].sum(axis=1))


def table_of(experiment: Experiment, names: Texts, measures: Texts) -> DataFrame:
    """The means of measures, a row per method (Table 3)."""
    chosen = experiment.table[experiment.table["retriever"].isin(list(names))]
    means = chosen.groupby("retriever", sort=False)[list(measures)].mean().loc[list(names)]
    return _in_words(means.reset_index())


def by_structure(experiment: Experiment, names: Texts, measures: Texts) -> DataFrame:
    """The means of measures, a row per structure and method (Table 9)."""
    chosen = experiment.table[experiment.table["retriever"].isin(list(names))]
    groups = chosen.groupby(["structure", "retriever"], sort=False)
    means = groups[list(measures)].mean().assign(questions=groups.size()).reset_index()
    means["structure"] = means["structure"].map(SHORT_NAMES)
    in_order = pd.Categorical(means["structure"], _shorts())
    ordered = means.assign(order=in_order).sort_values("order", kind="stable")
    return _in_words(ordered.drop(columns="order"))


def _shorts() -> list[str]:
    return list(SHORT_NAMES.values())


def _in_words(table: DataFrame) -> DataFrame:
    retrievers = [capital(name_of(name)) for name in table["retriever"]]
    return table.assign(retriever=retrievers).rename(columns=metric_name)
