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
        row = {"split": name}
        for structure, short in SHORT_NAMES.items():
            row[short] = sum(question.structure == structure for question in questions)
        row["all"] = len(questions)
        rows.append(row)
    return DataFrame(rows)


def table_of(experiment: Experiment, names: Texts, measures: Texts) -> DataFrame:
    """The means of measures, a row per method (Table 3)."""
    rows = _rows_of(experiment, names)
    means = rows.groupby("retriever", sort=False)[list(measures)].mean()
    return _in_words(means.loc[list(names)].reset_index())


def by_structure(experiment: Experiment, names: Texts, measures: Texts) -> DataFrame:
    """The means of measures, a row per structure and method (Table 9)."""
    rows = _rows_of(experiment, names)
    structures = pd.Categorical(rows["structure"], list(SHORT_NAMES), ordered=True)
    rows = rows.assign(structure=structures.rename_categories(SHORT_NAMES))
    keys = ["structure", "retriever"]
    groups = rows.groupby(keys, sort=False, observed=True)
    means = groups[list(measures)].mean()
    means["questions"] = groups.size()
    return _in_words(means.reset_index().sort_values("structure", kind="stable"))


def _rows_of(experiment: Experiment, names: Texts) -> DataFrame:
    table = experiment.table
    return table[table["retriever"].isin(list(names))]


def _in_words(table: DataFrame) -> DataFrame:
    retrievers = [capital(name_of(name)) for name in table["retriever"]]
    return table.assign(retriever=retrievers).rename(columns=metric_name)
