"""One declarative call that evaluates several retrievers on the same questions, and the tables that come of it."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd
from tqdm.auto import tqdm

from kit.corpus import Benchmark, Question
from kit.errors import InputError
from kit.evaluation import metrics, statistics
from kit.evaluation.timing import query_for, time_parts
from kit.evaluation.trec import TrecRun
from kit.retrievers import Ranking, Retriever, make

#: Queries handed to ``retrieve_many`` at once in the pooled setting: a batch pays, and the progress bar still moves.
_BATCH = 64
#: Questions of which ``kit evaluate`` takes the time.
N_TIMED = 20


@dataclass(frozen=True)
class Experiment:
    """What ``evaluate`` found.

    ``table`` is tidy, a row a retriever and question: retriever, question, hops, type, structure, recall@k and full@k
    for each cut-off, mrr (reciprocal rank), seconds (nan for a question whose time was not taken). ``rankings`` maps
    retriever to question id to Ranking. ``seconds_to_fit`` is what each retriever took before the first question could
    be asked: learning and indexing (all collections together in the per-question setting). A TREC run has no times
    (nan). ``sees_gold`` names the retrievers that are asked :class:`~kit.corpus.GoldQuery`. ``usages`` tells of those
    that asked a language model what it was used for (:meth:`kit.text.LanguageModel.usage`).
    """

    table: pd.DataFrame
    rankings: dict[str, dict[str, Ranking]]
    seconds_to_fit: dict[str, float]
    benchmark: Benchmark
    questions: tuple[Question, ...]
    ks: tuple[int, ...]
    seed: int
    n_resamples: int
    sees_gold: tuple[str, ...] = ()
    usages: dict[str, pd.DataFrame] = field(default_factory=dict)

    @property
    def metrics(self) -> list[str]:
        """The columns of ``table`` that hold a metric, each between 0 and 1."""
        return [f"{name}@{k}" for name in ("recall", "full") for k in self.ks] + ["mrr"]

    @property
    def seconds(self) -> pd.Series:
        """The mean time of a question by retriever, over those whose time was taken."""
        return self.table.groupby("retriever", sort=False)["seconds"].mean()

    def only(self, retrievers: Sequence[str]) -> Experiment:
        """What was found for some of the retrievers, in this order."""
        for name in retrievers:
            _expect(name, self.rankings, "retrievers")
        rows = pd.concat([self.table[self.table["retriever"] == name] for name in retrievers], ignore_index=True)
        return replace(
            self,
            table=rows,
            rankings={name: self.rankings[name] for name in retrievers},
            seconds_to_fit={name: self.seconds_to_fit[name] for name in retrievers},
            sees_gold=tuple(name for name in self.sees_gold if name in retrievers),
            usages={name: usage for name, usage in self.usages.items() if name in retrievers},
        )

    def summary(self, by: str | Sequence[str] = ()) -> pd.DataFrame:
        """Means over questions with 95 % bootstrap intervals, for all questions or by columns of ``table``.

        Columns: retriever, those of ``by``, metric, mean, low, high, n (questions).
        """
        parts, about = [], {"seed": self.seed, "n_resamples": self.n_resamples}
        for group, values in self._groups(by, self.metrics):
            parts.append(statistics.interval_table(values, **about).assign(**group))
        columns = ["retriever", *group, "metric", "mean", "low", "high", "n"]
        order = {name: place for place, name in enumerate(self.rankings)}
        table = pd.concat(parts)[columns]
        return table.sort_values("retriever", key=lambda names: names.map(order), kind="stable", ignore_index=True)

    def compare(self, baseline: str, metric: str = "recall@5", by: str | Sequence[str] = ()) -> pd.DataFrame:
        """Paired differences of every other retriever to ``baseline``, for all questions or by columns of ``table``.

        Columns: retriever, baseline, those of ``by``, metric, difference, low, high (95 %), p (permutation test),
        p_holm (adjusted for all rows of this table), low_adjusted, high_adjusted (intervals that hold together for all
        rows, at Bonferroni's level), n (questions).
        """
        others = [name for name in self.rankings if name != baseline]
        _expect(baseline, self.rankings, "baseline")
        if not others:
            raise InputError(f"expected a retriever to compare with {baseline!r}", field="baseline")
        groups, about = self._groups(by, [metric]), {"seed": self.seed, "n_resamples": self.n_resamples}
        level = statistics.bonferroni_level(len(groups) * len(others))
        rows = []
        for group, values in groups:
            values = values[metric]
            for name in others:
                found = statistics.paired(values[name], values[baseline], **about)
                wide = statistics.interval(values[name] - values[baseline], level=level, **about)
                row = {"retriever": name, "baseline": baseline, **group, "metric": metric, "difference": found.value}
                row |= {"low": found.low, "high": found.high, "p": found.p, "p_holm": np.nan}
                rows.append(row | {"low_adjusted": wide.low, "high_adjusted": wide.high, "n": found.n})
        return pd.DataFrame(rows).assign(p_holm=lambda table: statistics.holm(table["p"].to_numpy()))

    def gain(
        self, name: str | Sequence[str], over: str | Sequence[str], metric: str = "recall@5", hops: int | None = None
    ) -> statistics.Estimate:
        """The paired difference of a retriever to another, of several the mean, for the questions of so many hops."""
        values = per_question(self, metric)
        if hops is not None:
            values = values[[question.hops == hops for question in self.questions]]
        a, b = (values[[of] if isinstance(of, str) else list(of)].mean(axis=1) for of in (name, over))
        known = a.notna() & b.notna()  # the time of a few questions is taken
        return statistics.paired(a[known], b[known], self.seed, n_resamples=self.n_resamples)

    @property
    def caption(self) -> str:
        """What a reader of the numbers must know: how many questions, which interval, what k forbids, whose time."""
        n = len(self.questions)
        lines = [f"{n} questions, {len(self.benchmark.corpus):,} passages ({self.benchmark.setting})."]
        lines.append("Intervals: 95 % bootstrap over questions.")
        for k in self.ks:
            beyond = sum(question.hops > k for question in self.questions)
            if beyond:
                ceiling = np.mean([metrics.recall_ceiling(question, k) for question in self.questions])
                lines.append(
                    f"{beyond} of {n} questions have more than {k} supports: Full@{k} counts them as 0, "
                    f"Recall@{k} can reach {ceiling:.3f}."
                )
        lines += [f"{name} sees gold fields of the questions." for name in self.sees_gold]
        if n_timed := self.table.groupby("retriever")["seconds"].count().max():
            lines.append(
                f"Times: {n_timed} questions, one after another on one thread, each encoded anew, no trace made."
            )
        return " ".join(lines)

    def text(self, answers: pd.DataFrame | None = None) -> str:
        """The means with their intervals, a column a retriever, and below them the differences to the first.

        ``answers`` has further rows for the table, as :meth:`summary` has them.
        """
        summary = pd.concat([self.summary(), answers], ignore_index=True)
        summary["shown"] = [f"{row.mean:.3f} [{row.low:.3f}, {row.high:.3f}]" for row in summary.itertuples()]
        table = summary.pivot(index="metric", columns="retriever", values="shown")
        table = table.loc[summary["metric"].unique(), summary["retriever"].unique()].rename_axis(
            index=None, columns=None
        )
        table.loc["time"] = (1000 * self.seconds.dropna()).map("{:.1f} ms a query".format)
        parts = [table.fillna("").to_string()]
        for metric in self.metrics if len(table.columns) > 1 else ():
            for row in self.compare(table.columns[0], metric).itertuples():
                parts.append(
                    f"{row.metric:10} {row.retriever} - {row.baseline}: {100 * row.difference:+.1f} points "
                    f"[{100 * row.low:+.1f}, {100 * row.high:+.1f}], p = {row.p:.3g} (Holm {row.p_holm:.3g})"
                )
        return "\n".join([*parts, self.caption])

    def record(self, answers: pd.DataFrame | None = None) -> dict[str, object]:
        """The result as plain values.

        ``data``, ``n_questions``, ``n_passages``, ``setting``, ``unit``, ``seed`` and ``results``, a list with one
        object a retriever: ``retriever``; for each cut-off ``recall@k``, ``full@k``, and ``mrr``, fractions, each with
        its 95 % interval under ``…_ci`` as [low, high]; ``seconds_per_query`` (see :attr:`caption`);
        ``seconds_to_fit``. What was not measured is None. ``usage``, where a language model was asked: objects with
        model, source, calls, prompt_tokens, answer_tokens and seconds. ``answers`` has further metrics and results.
        """
        results = []
        for name, of in pd.concat([self.summary(), answers]).groupby("retriever", sort=False):
            result: dict[str, object] = {"retriever": name}
            for row in of.itertuples():
                result |= {row.metric: row.mean, f"{row.metric}_ci": [_plain(row.low), _plain(row.high)]}
            if name in self.rankings:
                result["seconds_per_query"] = _plain(self.seconds[name])
                result["seconds_to_fit"] = _plain(self.seconds_to_fit[name])
            if name in self.usages:
                result["usage"] = self.usages[name].to_dict("records")
            results.append(result)
        return {
            "data": self.benchmark.name,
            "n_questions": len(self.questions),
            "n_passages": len(self.benchmark.corpus),
            "setting": self.benchmark.setting,
            "unit": self.benchmark.unit,
            "seed": self.seed,
            "results": results,
        }

    def _groups(self, by: str | Sequence[str], metrics: Sequence[str]) -> list[tuple[dict[str, object], pd.DataFrame]]:
        """Each group of questions: its values of ``by``, and its metrics (:func:`by_question`)."""
        by = [by] if isinstance(by, str) else list(by)
        for column in by:
            _expect(column, ("hops", "type", "structure"), "by")
        for metric in metrics:
            _expect(metric, [*self.metrics, "seconds"], "metric")
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
    n_resamples: int = statistics.N_RESAMPLES,
    progress: bool = True,
) -> Experiment:
    """Fit, index and ask every retriever the same questions, and measure each answer.

    ``retrievers`` are names (built with their default settings) or objects under the names they are to have in tables;
    a TREC run (``trec.read_run``) counts as one. They learn from ``training``, by default from ``benchmark`` without
    its test questions, and never see a gold field of a question that they are asked. ``ks`` are the cut-offs of the
    metrics and ``k`` the length of the rankings, by default the largest cut-off; the reciprocal rank is 0 beyond it.
    The test questions are asked; ``benchmark.asking(others)`` has others. The time of ``n_timed`` of them
    is taken, the same for all retrievers (:func:`kit.evaluation.timing.time_parts`). ``n_resamples`` is the number
    of bootstrap samples of the intervals.
    """
    named = dict(retrievers) if isinstance(retrievers, Mapping) else {name: make(name) for name in retrievers}
    ks = tuple(sorted(set(ks)))
    k = max(ks, default=0) if k is None else k
    if not named:
        raise InputError("expected at least one retriever", field="retrievers")
    if not ks or ks[0] < 1 or k < ks[-1]:
        raise InputError(f"expected cut-offs from 1 up to the length of a ranking ({k}), not {list(ks)}", field="k")
    questions = benchmark.test
    if not questions:
        raise InputError("expected questions in test, found none", record=benchmark.name)
    timed = {questions[pick].id for pick in np.random.default_rng(seed).permutation(len(questions))[:n_timed]}
    training = benchmark.without_test() if training is None else training.without_test()
    seconds_to_fit: dict[str, float] = {}
    for name, retriever in named.items():  # all before the first question: what can't be learned is told at once
        start = time.perf_counter()
        retriever.fit(training)
        seconds_to_fit[name] = time.perf_counter() - start
    rankings: dict[str, dict[str, Ranking]] = {}
    rows = []
    for name, retriever in named.items():
        with tqdm(total=len(questions), desc=name, unit="question", disable=not progress) as bar:
            rankings[name], seconds, indexing = _ask(retriever, benchmark, questions, timed, k, bar)
        seconds_to_fit[name] = np.nan if isinstance(retriever, TrecRun) else seconds_to_fit[name] + indexing
        for question in questions:
            ids = rankings[name][question.id].ids
            row = {"retriever": name, "question": question.id, "hops": question.hops}
            row |= {"type": question.type, "structure": question.structure}
            row |= {f"recall@{cut}": metrics.recall_at(question, ids, cut) for cut in ks}
            row |= {f"full@{cut}": metrics.full_at(question, ids, cut) for cut in ks}
            row |= {"mrr": metrics.reciprocal_rank(question, ids[:k]), "seconds": seconds.get(question.id, np.nan)}
            rows.append(row)
    sees_gold = tuple(name for name, retriever in named.items() if retriever.sees_gold)
    usages = {name: usage for name, retriever in named.items() if (usage := retriever.usage()) is not None}
    about = (benchmark, questions, ks, seed, n_resamples, sees_gold, usages)
    return Experiment(pd.DataFrame(rows), rankings, seconds_to_fit, *about)


def _ask(
    retriever: Retriever, benchmark: Benchmark, questions: Sequence[Question], timed: set[str], k: int, bar: tqdm
) -> tuple[dict[str, Ranking], dict[str, float], float]:
    """The rankings of the questions, the seconds of those that are timed, and the seconds that indexing took."""
    rankings: dict[str, Ranking] = {}
    seconds: dict[str, float] = {}
    indexing = 0.0
    for corpus, asked in benchmark.asked_together(questions):
        start = time.perf_counter()
        retriever.index(corpus)
        indexing += time.perf_counter() - start
        first = [question for question in asked if question.id in timed]
        if first and not isinstance(retriever, TrecRun):
            seconds |= time_parts(retriever, first, k).set_index("question")["seconds"].to_dict()
        for start in range(0, len(asked), _BATCH):
            batch = asked[start : start + _BATCH]
            found = retriever.retrieve_many([query_for(retriever, question) for question in batch], k)
            rankings |= {question.id: ranking for question, ranking in zip(batch, found, strict=True)}
            bar.update(len(batch))
    return rankings, seconds, indexing


def by_question(table: pd.DataFrame, metrics: Sequence[str]) -> pd.DataFrame:
    """Metrics of each question (index) for each retriever: columns (metric, retriever), all in the table's order."""
    columns = [(metric, name) for name in table["retriever"].unique() for metric in metrics]
    wide = table.pivot(index="question", columns="retriever", values=list(metrics))
    return wide.loc[table["question"].unique(), columns].rename_axis(columns=["metric", "retriever"])


def per_question(experiment: Experiment, metric: str) -> pd.DataFrame:
    """A metric, or the seconds, of each question (index, in the order asked) for each retriever (columns).

    Raises InputError for a metric that was not measured.
    """
    _expect(metric, [*experiment.metrics, "seconds"], "metric")
    return by_question(experiment.table, [metric])[metric]


def ends_of_chains(experiment: Experiment, retriever: str, k: int | None = None) -> pd.DataFrame:
    """The rank of the first and of the last support of each question whose evidence graph has an edge.

    The first supports are the sources of the graph, which the question leads to; the last are its sinks, which hold the
    answer; the mean rank where there are several. A support that is not in the ranking gets the place after its end.
    With ``k``: Recall@k of the first supports and of the last ones alone. Columns: question, hops, first, last.
    """
    rows = []
    for question in experiment.questions:
        if question.evidence and question.evidence.edges:
            ids = experiment.rankings[retriever][question.id].ids
            ranks = np.minimum(metrics.support_ranks(question, ids), len(ids) + 1)
            ranks = ranks if k is None else ranks <= k
            graph = question.evidence.to_networkx()
            first = np.mean([ranks[node] for node in graph if not graph.in_degree(node)])
            last = np.mean([ranks[node] for node in graph if not graph.out_degree(node)])
            rows.append((question.id, question.hops, first, last))
    return pd.DataFrame(rows, columns=["question", "hops", "first", "last"])


def variants(experiment: Experiment, groups: Mapping[str, Sequence[str]], metric: str) -> pd.DataFrame:
    """Groups of retrievers, or cells of a grid, each beside the first of its group: an ablation.

    Columns: group, label (the retriever), mean, low, high, and the paired difference to the first of the group:
    difference, difference_low, difference_high (missing for the first itself), n. Intervals are 95 % bootstrap over
    questions. Raises InputError for a retriever that was not evaluated or a metric that was not measured.
    """
    values, about = per_question(experiment, metric), {"seed": experiment.seed, "n_resamples": experiment.n_resamples}
    rows = []
    for group, names in groups.items():
        for name in names:
            _expect(name, values, "groups")
            mean = statistics.interval(values[name], **about)
            gain = statistics.interval(values[name] - values[names[0]], **about)
            ends = gain[:3] if name != names[0] else (np.nan,) * 3
            rows.append((group, name, *mean[:3], *ends, len(values)))
    columns = ["group", "label", "mean", "low", "high", "difference", "difference_low", "difference_high", "n"]
    return pd.DataFrame(rows, columns=columns)


def _plain(value: float) -> float | None:
    """A number that JSON can hold."""
    return None if np.isnan(value) else float(value)


def _expect(name: str, known: Collection[str], field: str) -> None:
    if name not in known:
        raise InputError(f"expected one of {', '.join(known)}, not {name!r}", field=field)
