"""One declarative call that evaluates several retrievers on the same questions, and the tables that come of it."""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
import pandas as pd
from statsmodels.stats.multitest import multipletests
from tqdm.auto import tqdm

from kit.corpus import Benchmark, EvidenceGraph, Question
from kit.errors import InputError
from kit.evaluation import metrics, statistics
from kit.evaluation.timing import time_parts
from kit.methods import Ranking, Retriever, make

_BATCH = 64  # queries at once in the pooled setting: a batch pays, and the progress bar still moves
N_TIMED = 20  # questions of which ``kit evaluate`` takes the time
COSTS = ("calls", "tokens")  # of a language model, a question on average
SEED = ", seed "  # between the name of a retriever and the seed of a further training
#: Structures of bgr.txt §4.5 in a word: a path, several that meet, supports that don't lead to each other.
SHAPES = {
    "single-chain multi-hop": "chain",
    "multi-chain multi-hop": "tree",
    "multi-chain single-hop": "flat",
}


@dataclass(frozen=True)
class Experiment:
    """What ``evaluate`` found.

    ``table`` is tidy, a row a retriever and question: retriever, question, hops, type, structure, shape (``SHAPES``),
    recall@k and full@k for each cut-off, mrr (reciprocal rank), seconds (nan where no time was taken), and
    calls and tokens of a language model, means over the questions. A retriever of several seeds (:func:`of_seeds`) has
    their mean there, and each in ``runs``. ``rankings`` maps retriever to question id to Ranking (of the first seed).
    ``seconds_to_fit`` is what learning and indexing took.
    ``sees_gold`` names the retrievers that are asked :class:`~kit.corpus.GoldQuery`. ``usages`` has
    :meth:`kit.text.LanguageModel.usage`, ``draws`` seed and n_resamples of the intervals.
    """

    table: pd.DataFrame
    rankings: dict[str, dict[str, Ranking]]
    seconds_to_fit: dict[str, float]
    benchmark: Benchmark
    questions: tuple[Question, ...]
    ks: tuple[int, ...]
    draws: dict[str, int]
    sees_gold: tuple[str, ...] = ()
    usages: dict[str, pd.DataFrame] = field(default_factory=dict)
    runs: pd.DataFrame | None = None

    @property
    def metrics(self) -> list[str]:
        """The columns of ``table`` that hold a metric: all but edit distances and lengths are between 0 and 1."""
        known = [f"{name}@{k}" for name in ("recall", "full") for k in self.ks] + ["mrr"]
        return [
            name
            for name in (*known, *metrics.GRAPH_MEASURES, *metrics.ANSWER_MEASURES)
            if name in self.table
        ]

    def only(self, retrievers: Sequence[str]) -> Self:
        """The table and the rankings of some of the retrievers, in this order."""
        table = self.table.set_index("retriever").loc[list(retrievers)].reset_index()
        return replace(
            self, table=table, rankings={name: self.rankings[name] for name in retrievers}
        )

    def summary(self, by: str | Sequence[str] = ()) -> pd.DataFrame:
        """Means with 95 % intervals, of all questions or by columns: retriever, ``by``, metric, mean, low, high, n."""
        groups, order = self._groups(by, self.metrics), list(self.rankings).index
        parts = [
            statistics.intervals(of, **self.draws).reset_index().assign(**group)
            for group, of in groups
        ]
        table = pd.concat(parts)[["retriever", *groups[0][0], "metric", "mean", "low", "high", "n"]]
        return table.sort_values(
            "retriever", key=lambda names: names.map(order), kind="stable", ignore_index=True
        )

    def compare(
        self, baseline: str, metric: str = "recall@5", by: str | Sequence[str] = ()
    ) -> pd.DataFrame:
        """Paired differences of every other retriever to ``baseline``, of all questions or by columns.

        ``p`` is of a permutation test; those of p_holm hold together for all rows (Holm's step-down method).
        """
        groups, others = (
            self._groups(by, [metric]),
            [name for name in self.rankings if name != baseline],
        )
        rows = []
        for group, values in groups:
            for name in others:
                a, b = values[metric, name], values[metric, baseline]
                mean, low, high, n, p, *_ = statistics.paired(a, b, **self.draws)
                row = {
                    "retriever": name,
                    "baseline": baseline,
                    **group,
                    "metric": metric,
                    "difference": mean,
                }
                rows.append(row | {"low": low, "high": high, "p": p, "p_holm": np.nan, "n": n})
        return pd.DataFrame(rows).assign(
            p_holm=lambda table: multipletests(table["p"], method="holm")[1]
        )

    def by_hops(self) -> pd.DataFrame:
        """Means of all questions and by hops, and what :meth:`compare` says of each against the first retriever."""
        (first, *others), parts = self.rankings, []
        for by in ([], ["hops"]):
            means, keys = self.summary(by), ["retriever", *by, "metric"]
            if others:
                compared = pd.concat(
                    [self.compare(first, metric, by) for metric in self.metrics]
                ).drop(columns="n")
                means = means.merge(compared, "left", keys, suffixes=("", "_difference"))
            parts.append(means if by else means.assign(hops="all"))
        return pd.concat(parts)

    def gain(
        self, name: str | list[str], over: str | list[str], metric: str = "recall@5"
    ) -> statistics.Estimate:
        """The paired difference of a retriever to another, with all seeds; names of several are seeds of one, too."""
        values = by_question(self.table if self.runs is None else self.runs, [metric])[metric]
        names = ([of] if isinstance(of, str) else of for of in (name, over))
        a, b = (values[[each for each in values if each.split(SEED)[0] in of]] for of in names)
        known = a.notna().all(axis=1) & b.notna().all(
            axis=1
        )  # the time of a few questions is taken
        return statistics.paired(a[known], b[known], **self.draws)

    @property
    def caption(self) -> str:
        """What a reader of the numbers must know: how many questions, which interval, what k forbids, whose time."""
        n, of = len(self.questions), self.benchmark
        told = f"{n} questions, {len(of.corpus):,} passages ({of.setting}). Intervals: 95 % bootstrap over questions."
        for k in self.ks:
            if beyond := sum(question.hops > k for question in self.questions):
                ceiling = np.mean(
                    [metrics.recall_ceiling(question, k) for question in self.questions]
                )
                told += f" {beyond} of {n} questions have more than {k} supports: Full@{k} counts them as 0, "
                told += f"Recall@{k} can reach {ceiling:.3f}."
        told += "".join(
            f" {name} sees gold fields of the questions."
            for name in self.sees_gold
            if name in self.rankings
        )
        if timed := self.table.groupby("retriever")["seconds"].count().max():
            told += f" Times: {timed} questions, one after another on one thread, each encoded anew, no trace made."
        return told

    def text(self, *more: Self) -> str:
        """Means with intervals, and differences to the first retriever; ``more`` are of the same, such as answers."""
        summary = pd.concat([of.summary() for of in (self, *more)], ignore_index=True)
        summary["shown"] = [
            f"{row.mean:.3f} [{row.low:.3f}, {row.high:.3f}]" for row in summary.itertuples()
        ]
        table = summary.set_index(["metric", "retriever"])["shown"].unstack(sort=False)
        table = table.rename_axis(index=None, columns=None)
        seconds = self.table.groupby("retriever")["seconds"].mean().dropna()
        table.loc["time"] = (1000 * seconds).map("{:.1f} ms a query".format)
        for cost in COSTS if self.table["calls"].notna().any() else ():
            table.loc[cost] = (
                self.table.groupby("retriever")[cost]
                .mean()
                .dropna()
                .map("{:.1f} a question".format)
            )
        parts, first = [table.fillna("").to_string()], next(iter(self.rankings))
        compared = [of for of in (self, *more) if len(of.rankings) > 1]
        if differences := [of.compare(first, metric) for of in compared for metric in of.metrics]:
            parts.append(
                pd.concat(differences).to_string(index=False, float_format="{:.3g}".format)
            )
        return "\n\n".join([*parts, self.caption])

    def record(self, *more: Self) -> dict[str, object]:
        """The result as plain values, described at ``kit evaluate``; nan, null in JSON, is what was not measured."""
        results, seconds = [], self.table.groupby("retriever")["seconds"].mean()
        for name, of in pd.concat([of.summary() for of in (self, *more)]).groupby(
            "retriever", sort=False
        ):
            result: dict[str, object] = {"retriever": name}
            for row in of.itertuples():
                result |= {row.metric: row.mean, f"{row.metric}_ci": [row.low, row.high]}
            if name in self.rankings:
                result |= {
                    "seconds_per_query": float(seconds[name]),
                    "seconds_to_fit": self.seconds_to_fit[name],
                }
            if name in self.usages:
                result["usage"] = self.usages[name].to_dict("records")
            results.append(result)
        of = self.benchmark
        told = {"data": of.name, "n_questions": len(self.questions), "n_passages": len(of.corpus)}
        return told | {"setting": of.setting, "seed": self.draws["seed"], "results": results}

    def _groups(
        self, by: str | Sequence[str], metrics: Sequence[str]
    ) -> list[tuple[dict[str, object], pd.DataFrame]]:
        """Each group of questions: its values of ``by``, and its metrics (:func:`by_question`)."""
        by = [by] if isinstance(by, str) else list(by)
        groups = self.table.groupby(by) if by else [((), self.table)]
        return [(dict(zip(by, key)), by_question(rows, metrics)) for key, rows in groups]


def evaluate(
    retrievers: Mapping[str, Retriever] | Sequence[str],
    benchmark: Benchmark,
    *,
    ks: Sequence[int] = (2, 5, 10),
    k: int | None = None,
    seed: int = 0,
    training: Benchmark | None = None,
    n_timed: int = 0,
    graphs: bool = False,
    n_resamples: int = statistics.N_RESAMPLES,
    progress: bool = True,
) -> Experiment:
    """Fit, index and ask every retriever the test questions, and measure each answer.

    ``retrievers`` are names (with default settings) or objects under the names they are to have in tables, a TREC run
    (``trec.read_run``) among them. They learn from ``training``, by default from ``benchmark``, without test questions.
    ``ks`` are the cut-offs of the metrics, ``k`` is the length of the rankings, by default the largest; the reciprocal
    rank is 0 beyond it. The time of ``n_timed`` questions is taken, the same for all but TREC runs (``time_parts``).
    With ``graphs`` those of :data:`metrics.GRAPH_MEASURES` are measured: a method that finds no graph is taken to mean
    a star of as many passages as the question has supports (bgr-i12).
    """
    named = (
        dict(retrievers)
        if isinstance(retrievers, Mapping)
        else {name: make(name) for name in retrievers}
    )
    ks = tuple(sorted(set(ks)))
    k = max(ks, default=0) if k is None else k
    if not ks or ks[0] < 1 or k < ks[-1]:
        raise InputError(
            f"expected cut-offs from 1 up to the length of a ranking ({k}), not {list(ks)}",
            field="k",
        )
    questions = benchmark.test
    if not questions:
        raise InputError("expected questions in test, found none", record=benchmark.name)
    timed = {
        questions[pick].id
        for pick in np.random.default_rng(seed).permutation(len(questions))[:n_timed]
    }
    training = (training or benchmark).without_test()
    seconds_to_fit: dict[str, float] = {}
    for (
        name,
        retriever,
    ) in named.items():  # all before the first question: what can't be learned is told at once
        start = time.perf_counter()
        retriever.fit(training)
        seconds_to_fit[name] = time.perf_counter() - start
    rankings: dict[str, dict[str, Ranking]] = {name: {} for name in named}
    rows, spent = [], {}
    for name, retriever in named.items():
        bar = tqdm(total=len(questions), desc=name, unit="question", disable=not progress)
        seconds: dict[str, float] = {}
        for corpus, asked in benchmark.asked_together(questions):
            start = time.perf_counter()
            retriever.index(corpus)
            seconds_to_fit[name] += time.perf_counter() - start
            first = [question for question in asked if question.id in timed]
            if first:
                seconds |= (
                    time_parts(retriever, first, k).set_index("question")["seconds"].to_dict()
                )
            before = _spent(retriever)
            for batch in (asked[start : start + _BATCH] for start in range(0, len(asked), _BATCH)):
                queries = [
                    question.gold_query if retriever.sees_gold else question.query
                    for question in batch
                ]
                found = retriever.retrieve_many(queries, k)
                rankings[name] |= {
                    question.id: ranking for question, ranking in zip(batch, found, strict=True)
                }
                bar.update(len(batch))
            spent[name] = spent.get(name, 0) + (_spent(retriever) - before) / len(questions)
        bar.close()
        for question in questions:
            ids = rankings[name][question.id].ids
            row = {"retriever": name, "question": question.id, "hops": question.hops}
            row |= {
                "type": question.type,
                "structure": question.structure,
                "shape": SHAPES.get(question.structure, ""),
            }
            row |= {f"recall@{cut}": metrics.recall_at(question, ids, cut) for cut in ks}
            row |= {f"full@{cut}": metrics.full_at(question, ids, cut) for cut in ks}
            row |= {
                "mrr": metrics.reciprocal_rank(question, ids[:k]),
                "seconds": seconds.get(question.id, np.nan),
            }
            row |= dict(zip(COSTS, spent[name]))
            if graphs:
                star = EvidenceGraph(min(question.hops, len(ids)))
                row |= metrics.graph_measures(
                    question, ids, rankings[name][question.id].evidence or star
                )
            rows.append(row)
    gold = tuple(name for name, retriever in named.items() if retriever.sees_gold)
    usages = {
        name: usage for name, retriever in named.items() if (usage := retriever.usage()) is not None
    }
    draws, runs = {"seed": seed, "n_resamples": n_resamples}, pd.DataFrame(rows)
    table, firsts = (
        mean_over_seeds(runs),
        {name: found for name, found in rankings.items() if SEED not in name},
    )
    return Experiment(
        table, firsts, seconds_to_fit, benchmark, questions, ks, draws, gold, usages, runs
    )


def _spent(retriever: Retriever) -> np.ndarray:
    """Calls and tokens of a retriever's language model up to now; nan where it has none."""
    usage = retriever.usage()
    tokens = ("prompt_tokens", "answer_tokens")
    return np.array(
        [np.nan] * 2 if usage is None else [usage["calls"].sum(), usage[[*tokens]].to_numpy().sum()]
    )


def mean_over_seeds(runs: pd.DataFrame) -> pd.DataFrame:
    """The table of an :class:`Experiment` in which the seeds of a retriever (:func:`of_seeds`) are one, their mean."""
    table = runs.replace({"retriever": f"{SEED}.*"}, "", regex=True)
    how = {
        name: "mean" if pd.api.types.is_float_dtype(of) else "first" for name, of in table.items()
    }
    return table.groupby(["retriever", "question"], sort=False, as_index=False).agg(how)


def of_seeds(
    name: str, seeds: Iterable[int], method: str = "", **settings: object
) -> dict[str, Retriever]:
    """A retriever with several seeds of its training, by name, for ``evaluate``: the first bears the plain one."""
    made = {seed: make(method or name, seed=seed, **settings) for seed in seeds}
    return {
        f"{name}{SEED}{seed}" if i else name: retriever
        for i, (seed, retriever) in enumerate(made.items())
    }


def all_seeds(retrievers: Mapping[str, Retriever], *names: str) -> tuple[Retriever, ...]:
    """Those with these names, and their further seeds."""
    return tuple(
        retriever for name, retriever in retrievers.items() if name.split(SEED)[0] in names
    )


def by_question(table: pd.DataFrame, metrics: Sequence[str]) -> pd.DataFrame:
    """Metrics of each question (index) for each retriever: columns (metric, retriever), all in the table's order."""
    values = table.set_index(["question", "retriever"])[list(metrics)].rename_axis(columns="metric")
    return values.unstack(sort=False)


def per_question(experiment: Experiment, metric: str) -> pd.DataFrame:
    """A metric, or the seconds, of each question (index, in the order asked) for each retriever (columns)."""
    return by_question(experiment.table, [metric])[metric]


def variants(
    experiment: Experiment, groups: Mapping[str, Sequence[str]], metric: str
) -> pd.DataFrame:
    """Retrievers (``label``) in groups, each with its mean and its paired difference to the first of its group."""
    values, rows = per_question(experiment, metric), []
    for group, label, first in [
        (group, label, names[0]) for group, names in groups.items() for label in names
    ]:
        mean = statistics.interval(values[label], **experiment.draws)
        gain = statistics.interval(values[label] - values[first], **experiment.draws)
        rows.append(
            (group, label, *mean[:3], *(gain[:3] if label != first else [np.nan] * 3), mean.n)
        )
    columns = [
        "group",
        "label",
        "mean",
        "low",
        "high",
        "difference",
        "difference_low",
        "difference_high",
        "n",
    ]
    return pd.DataFrame(rows, columns=columns)
