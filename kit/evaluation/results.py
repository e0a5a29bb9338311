"""What an evaluation gives: a row per retriever and question, and what is read off these rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import nan
from typing import Self

import numpy as np
import pandas as pd
from pandas import DataFrame
from statsmodels.stats.multitest import multipletests

from kit.arguments import as_list, expect_known
from kit.corpus import Benchmark, Question
from kit.corpus.types import Indices, Strings, Texts
from kit.errors import InputError
from kit.evaluation import metrics
from kit.evaluation.statistics import Estimate, best_elsewhere, interval, intervals, paired
from kit.methods import Ranking

COSTS = ("calls", "tokens")  # of a language model, per question on average
Names = str | Sequence[str]
UNTRAINED = ", untrained"  # after the name of a retriever that is asked as it was before it learned
SEED = ", seed "  # between the name of a retriever and the seed of a further training


@dataclass(frozen=True, repr=False)
class Experiment:
    """What :func:`kit.evaluation.evaluate` measured.

    ``table`` has a row per retriever and question, with the columns

    - retriever, question, hops, type, structure, shape (``kit.evaluation.experiment.SHAPES``);
    - recall@k and full@k for each cut-off, and mrr (reciprocal rank);
    - seconds, nan where no time was taken;
    - calls and tokens of a language model, means over the questions.

    A retriever of several seeds (:func:`kit.evaluation.of_seeds`) has their mean there, and each
    seed in ``runs``. ``rankings`` maps retriever to question id to Ranking (of the first seed).
    ``seconds_to_fit`` is what learning and indexing took. ``sees_gold`` names the retrievers that
    get :class:`~kit.corpus.GoldQuery`. ``usages`` has :meth:`kit.text.LanguageModel.usage`, and
    ``draws`` the seed and n_resamples of the intervals. ``further`` names the columns of
    :func:`kit.evaluation.further.with_measures`. ``n_identical`` counts the questions whose
    rankings leave out the passage with their own id, ``n_with_copies`` those of which a support may
    be found under another id, too.
    """

    table: DataFrame
    rankings: dict[str, dict[str, Ranking]]
    seconds_to_fit: dict[str, float]
    benchmark: Benchmark
    questions: tuple[Question, ...]
    ks: Indices
    draws: dict[str, int]
    n_identical: int = 0
    n_with_copies: int = 0
    sees_gold: Strings = ()
    usages: dict[str, DataFrame] = field(default_factory=dict)
    runs: DataFrame | None = None
    further: Strings = ()

    def __repr__(self) -> str:
        names = ", ".join(self.rankings)
        return f"Experiment({names}; {len(self.questions)} questions)"

    @property
    def metrics(self) -> list[str]:
        """The columns of ``table`` that hold a metric.

        All but edit distances and lengths are between 0 and 1, and perhaps ``further`` ones.
        """
        names = [f"{metric}@{k}" for metric in ("recall", "full") for k in self.ks]
        names += ["mrr", *self.further, *metrics.GRAPH_MEASURES, *metrics.ANSWER_MEASURES]
        return [name for name in names if name in self.table]

    def only(self, retrievers: Texts) -> Self:
        """The table and the rankings of some of the retrievers, in this order."""
        retrievers = as_list(retrievers)
        expect_known(retrievers, self.rankings, "retriever")
        return replace(
            self,
            table=self.table.set_index("retriever").loc[retrievers].reset_index(),
            rankings={name: self.rankings[name] for name in retrievers},
        )

    # ---- tables

    def summary(self, by: Names = ()) -> DataFrame:
        """Means with 95 % intervals, of all questions or by columns of the table.

        Columns: retriever, those of ``by``, metric, mean, low, high, n.
        """
        by = as_list(by)
        parts = []
        for group, values in self._groups(by, self.metrics):
            means = intervals(values, **self.draws)
            parts.append(means.reset_index().assign(**group))

        order = list(self.rankings)
        return pd.concat(parts)[
            ["retriever", *by, "metric", "mean", "low", "high", "n"]
        ].sort_values(
            "retriever",
            key=lambda names: names.map(order.index),
            kind="stable",
            ignore_index=True,
        )

    def compare(self, baseline: str, metric: str = "recall@5", by: Names = ()) -> DataFrame:
        """Paired differences of every other retriever to ``baseline``.

        They are of all questions, or by columns of the table. ``p`` is of a permutation test; those
        of p_holm hold together for all rows (Holm's step-down method). Raises :class:`InputError`
        where there is no such column, no such retriever or no other.
        """
        expect_known([baseline], self.rankings, "retriever")
        others = [name for name in self.rankings if name != baseline]
        if not others:
            raise InputError(f"expected another retriever to compare with {baseline}")
        rows = []
        for group, values in self._groups(as_list(by), [metric]):
            for name in others:
                gain = paired(
                    values[metric, name],
                    values[metric, baseline],
                    **self.draws,
                )
                rows.append(
                    {
                        "retriever": name,
                        "baseline": baseline,
                        **group,
                        "metric": metric,
                        "difference": gain.value,
                        "low": gain.low,
                        "high": gain.high,
                        "p": gain.p,
                        "p_holm": nan,
                        "n": gain.n,
                    }
                )

        table = DataFrame(rows)
        table["p_holm"] = multipletests(table["p"], method="holm")[1]
        return table

    def by_hops(self) -> DataFrame:
        """Means of all questions and by hops, each with :meth:`compare` to the first retriever."""
        first, *others = self.rankings
        parts = []
        for by in ([], ["hops"]):
            means = self.summary(by)
            if others:
                gains = pd.concat([self.compare(first, metric, by) for metric in self.metrics])
                means = means.merge(
                    gains.drop(columns="n"),
                    "left",
                    ["retriever", *by, "metric"],
                    suffixes=("", "_difference"),
                )
            if not by:
                means["hops"] = "all"
            parts.append(means)
        return pd.concat(parts)

    def gain(
        self,
        name: Names,
        over: Names,
        metric: str = "recall@5",
    ) -> Estimate:
        """The paired difference of a retriever to another, with all seeds.

        Several names are taken for seeds of one retriever, too.
        """
        better = per_seed(self, name, metric)
        baseline = per_seed(self, over, metric)

        # Only of a few questions the time is taken.
        measured = better.notna().all(axis=1) & baseline.notna().all(axis=1)
        return paired(better[measured], baseline[measured], **self.draws)

    def gain_over_best(
        self,
        name: Names,
        rivals: Texts,
        metric: str = "recall@5",
    ) -> tuple[Estimate, list[str]]:
        """The paired difference to the best of several, chosen on the other half of the questions.

        Also the names of the chosen (:func:`kit.evaluation.statistics.best_elsewhere`).
        """
        values = {rival: per_seed(self, rival, metric).to_numpy() for rival in rivals}
        best, chosen = best_elsewhere(values)
        return paired(per_seed(self, name, metric), best, **self.draws), chosen

    def gain_of_training(self, name: str, metric: str = "recall@5") -> Estimate:
        """The paired difference of a trained retriever to itself before training.

        That is among the retrievers, too (:func:`kit.evaluation.before_training`).
        """
        return self.gain(name, over=name + UNTRAINED, metric=metric)

    def _groups(
        self,
        by: list[str],
        metrics: Texts,
    ) -> list[tuple[dict[str, object], DataFrame]]:
        """Each group of questions: its values of ``by``, and its metrics (:func:`by_question`)."""
        expect_known(by, self.table.columns, "column")
        groups = self.table.groupby(by) if by else [((), self.table)]
        return [(dict(zip(by, key)), by_question(rows, metrics)) for key, rows in groups]

    # ---- for people, and for other programs

    @property
    def caption(self) -> str:
        """What a reader of the numbers must know.

        How many questions there are, which interval, what k forbids, what was left out or not
        found, whose time was taken.
        """
        n = len(self.questions)
        benchmark = self.benchmark
        sentences = [
            f"{n} questions, {len(benchmark.corpus):,} passages ({benchmark.setting}).",
            "Intervals: 95 % bootstrap over questions.",
        ]
        for k in self.ks:
            n_beyond = sum(question.hops > k for question in self.questions)
            if n_beyond:
                ceilings = [metrics.recall_ceiling(question, k) for question in self.questions]
                sentences.append(
                    f"{n_beyond} of {n} questions have more than {k} supports: Full@{k} counts "
                    f"them as 0, Recall@{k} can reach {np.mean(ceilings):.3f}."
                )
        sentences += self._told_ids()
        for name, rankings in self.rankings.items():
            n_empty = sum(not ranking.ids for ranking in rankings.values())
            if n_empty:
                sentences.append(
                    f"{name} finds nothing for {n_empty} of {n} questions: no passage has a word "
                    "of theirs."
                )
        for name in self.sees_gold:
            if name in self.rankings:
                sentences.append(f"{name} sees gold fields of the questions.")

        n_timed = self.table.groupby("retriever")["seconds"].count().max()
        if n_timed:
            sentences.append(
                f"Times: {n_timed} questions, one after another on one thread, "
                "each encoded anew, no trace made."
            )
        return " ".join(sentences)

    def _told_ids(self) -> list[str]:
        """How many questions have ids that are left out or that count beside the supports'."""
        counts = {
            "the id of a passage, which is left out of their rankings": self.n_identical,
            "a support of which the corpus has copies, each of which counts": self.n_with_copies,
        }
        n = len(self.questions)
        return [f"{count} of {n} questions have {what}." for what, count in counts.items() if count]

    def text(self, *more: Self) -> str:
        """Means with intervals, and differences to the first retriever.

        ``more`` are experiments on the same questions, such as answers.
        """
        parts = [self._table_of_means(more).to_string()]
        first = next(iter(self.rankings))
        differences = []
        for experiment in (self, *more):
            if len(experiment.rankings) > 1:
                differences += [experiment.compare(first, name) for name in experiment.metrics]
        if differences:
            parts.append(
                pd.concat(differences).to_string(index=False, float_format="{:.3g}".format)
            )
        return "\n\n".join([*parts, self.caption])

    def _table_of_means(self, more: Sequence[Self]) -> DataFrame:
        """Rows: the metrics, the time, the costs; columns: the retrievers; cells in words."""
        summary = pd.concat([part.summary() for part in (self, *more)], ignore_index=True)
        summary["cell"] = [
            f"{row.mean:.3f} [{row.low:.3f}, {row.high:.3f}]" for row in summary.itertuples()
        ]
        table = summary.set_index(["metric", "retriever"])["cell"].unstack(sort=False)
        table = table.rename_axis(index=None, columns=None)

        means = self.table.groupby("retriever")[["seconds", *COSTS]].mean()
        milliseconds = 1000 * means["seconds"].dropna()
        table.loc["time"] = milliseconds.map("{:.1f} ms per query".format)
        if self.table["calls"].notna().any():
            for cost in COSTS:
                table.loc[cost] = means[cost].dropna().map("{:.1f} a question".format)
        return table.fillna("")

    def record(self, *more: Self) -> dict[str, object]:
        """The result as plain values, described at ``kit evaluate``.

        What was not measured is nan, null in JSON.
        """
        summary = pd.concat([part.summary() for part in (self, *more)])
        seconds = self.table.groupby("retriever")["seconds"].mean()
        results = []
        for name, means in summary.groupby("retriever", sort=False):
            result = {"retriever": name}
            for row in means.itertuples():
                result[row.metric] = row.mean
                result[f"{row.metric}_ci"] = [row.low, row.high]
            if name in self.rankings:
                result["seconds_per_query"] = float(seconds[name])
                result["seconds_to_fit"] = self.seconds_to_fit[name]
            if name in self.usages:
                result["usage"] = self.usages[name].to_dict("records")
            results.append(result)

        return {
            "data": self.benchmark.name,
            "n_questions": len(self.questions),
            "n_passages": len(self.benchmark.corpus),
            "setting": self.benchmark.setting,
            "seed": self.draws["seed"],
            "caption": self.caption,
            "results": results,
        }


def by_question(table: DataFrame, metrics: Texts) -> DataFrame:
    """Metrics of each question (index) and retriever, all in the table's order.

    The columns are (metric, retriever).
    """
    expect_known(metrics, table.columns, "column")
    values = table.set_index(["question", "retriever"])[list(metrics)]
    return values.rename_axis(columns="metric").unstack(sort=False)


def per_question(experiment: Experiment, metric: str) -> DataFrame:
    """A metric, or the seconds, of each question (index) and retriever (columns)."""
    return by_question(experiment.table, [metric])[metric]


def per_seed(experiment: Experiment, names: Names, metric: str) -> DataFrame:
    """A metric of each question (index) with each seed of a retriever (columns).

    Several names are taken for seeds of one retriever, too.
    """
    names = as_list(names)
    expect_known(names, experiment.rankings, "retriever")
    runs = experiment.table if experiment.runs is None else experiment.runs
    values = by_question(runs, [metric])[metric]
    return values[[column for column in values if column.split(SEED)[0] in names]]


def variants(
    experiment: Experiment,
    groups: Mapping[str, Texts],
    metric: str,
) -> DataFrame:
    """Retrievers (``label``) in groups, each with its mean and its paired difference to the first.

    Columns: group, label, mean, low, high, difference, difference_low, difference_high, n.
    """
    values = per_question(experiment, metric)
    rows = []
    for group, labels in groups.items():
        for label in labels:
            mean = interval(values[label], **experiment.draws)
            gain = [nan] * 3
            if label != labels[0]:
                gain = interval(values[label] - values[labels[0]], **experiment.draws)
            rows.append([group, label, *mean[:3], *gain[:3], mean.n])
    return DataFrame(
        rows,
        columns=[
            "group",
            "label",
            "mean",
            "low",
            "high",
            "difference",
            "difference_low",
            "difference_high",
            "n",
        ],
    )
