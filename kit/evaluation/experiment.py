"""One declarative call that evaluates several retrievers on the same questions."""

import time
from collections.abc import Iterable, Mapping, Sequence
from math import nan
from operator import ne
from typing import NamedTuple

import numpy as np
from numpy import ndarray
from pandas import DataFrame

from kit.arguments import as_list, expect, whole
from kit.corpus import Benchmark, EvidenceGraph, Question
from kit.corpus.copies import copies_in, with_copies
from kit.corpus.types import Indices, Texts
from kit.errors import InputError
from kit.evaluation.metrics import described, full_at, graph_measures, recall_at, reciprocal_rank
from kit.evaluation.results import COSTS, SEED, UNTRAINED, Experiment
from kit.evaluation.statistics import N_RESAMPLES
from kit.evaluation.timing import time_parts
from kit.methods import Ranking, Retriever, make, settings_of
from kit.methods.training import draw, query_for
from kit.progress import ProgressBar, progress_bar

BATCH = 64  # queries at once in the pooled setting: a batch pays, and the progress bar still moves
N_TIMED = 20  # questions of which ``kit evaluate`` takes the time
#: Structures of BGR §4.5 in a word: a path, several that meet, supports without a path.
SHAPES = {
    "single-chain multi-hop": "chain",
    "multi-chain multi-hop": "tree",
    "multi-chain single-hop": "flat",
}


def evaluate(
    retrievers: Mapping[str, Retriever] | Texts | Retriever,
    benchmark: Benchmark,
    *,
    ks: Sequence[int] = (2, 5, 10),
    k: int | None = None,
    seed: int = 0,
    training: Benchmark | None = None,
    n_timed: int = 0,
    graphs: bool = False,
    ignore_identical_ids: bool = True,
    same_text: bool = False,
    n_resamples: int = N_RESAMPLES,
    progress: bool = True,
) -> Experiment:
    """Fit, index and ask every retriever the test questions, and measure each answer.

    Args:
        retrievers: names (with default settings), or objects by the names for tables; or one.
        benchmark: its test questions are asked.
        ks: the cut-offs of the metrics.
        k: the length of the rankings, by default the largest cut-off; beyond it, mrr is 0.
        seed: of the sample whose time is taken, and of the intervals.
        training: what they learn from; by default ``benchmark`` without its test questions.
        n_timed: of so many questions the time is taken, the same for all (:func:`time_parts`).
        graphs: measures evidence graphs, too; without one, a star of the first passages (bgr-i12).
        ignore_identical_ids: leaves out the passage whose id is the question's own, as BEIR does.
        same_text: counts a support as found where a passage of equal title and text is.
        n_resamples: samples of the bootstrap and of the tests.

    Raises :class:`InputError` for cut-offs beyond the rankings, and without retriever or question.
    """
    retrievers = _by_name(retrievers)
    ks, k = _cut_offs(benchmark, ks, k)
    draws = {"seed": whole(seed, "seed", least=0), "n_resamples": whole(n_resamples, "n_resamples")}
    timed = {question.id for question in draw(benchmark.test, n_timed, seed)}
    documents = _documents_among(benchmark, ignore_identical_ids)
    judged = _judged(benchmark, same_text)

    seconds_to_fit = _fit_all(retrievers, training or benchmark)
    answered = {}
    for name, retriever in retrievers.items():
        answered[name] = _ask_all(name, retriever, benchmark, k, timed, documents, progress)
        seconds_to_fit[name] += answered[name].seconds_to_index
    runs = DataFrame(_rows(answered, judged, ks, k, graphs))
    return Experiment(
        table=mean_over_seeds(runs),
        rankings={name: run.rankings for name, run in answered.items() if SEED not in name},
        seconds_to_fit=seconds_to_fit,
        benchmark=benchmark,
        questions=benchmark.test,
        ks=ks,
        draws=draws,
        n_identical=len(documents),
        n_with_copies=sum(map(ne, judged, benchmark.test)),
        sees_gold=tuple(name for name in retrievers if retrievers[name].sees_gold),
        usages=_usages(retrievers),
        runs=runs,
    )


# ---- the steps


def _by_name(retrievers: Mapping[str, Retriever] | Texts | Retriever) -> dict[str, Retriever]:
    """The retrievers by the names for tables; names stand for those with default settings."""
    if isinstance(retrievers, Retriever):
        retrievers = {retrievers.name: retrievers}
    if not isinstance(retrievers, Mapping):
        retrievers = {name: make(name) for name in as_list(retrievers)}
    if not retrievers:
        raise InputError("expected at least one retriever", field="retrievers")
    for retriever in retrievers.values():
        expect(Retriever, retriever, "retrievers")
    return dict(retrievers)


def _cut_offs(benchmark: Benchmark, ks: Sequence[int], k: int | None) -> tuple[Indices, int]:
    """The cut-offs in their order and the length of the rankings, where they can be measured."""
    expect(Benchmark, benchmark, "benchmark")
    ks = tuple(sorted({whole(cut_off, "ks", least=0) for cut_off in as_list(ks)}))
    k = max(ks, default=0) if k is None else whole(k, "k", least=0)
    if not ks or ks[0] < 1 or k < ks[-1]:
        raise InputError(
            f"expected cut-offs from 1 up to the length of a ranking ({k}), not {list(ks)}",
            field="k",
        )
    if not benchmark.test:
        raise InputError("expected questions in test, found none", record=benchmark.name)
    return ks, k


def _documents_among(benchmark: Benchmark, ignore_identical_ids: bool) -> set[str]:
    """The test questions, by id, whose rankings are to leave out the passage with that id.

    In BEIR's ArguAna and Quora documents ask for others, and each would find itself first. A
    passage that is a support stays: there the ids meet by chance.
    """
    if not ignore_identical_ids:
        return set()
    return {
        question.id
        for question in benchmark.test
        if question.id in benchmark.corpus and question.id not in question.supporting_ids
    }


def _judged(benchmark: Benchmark, same_text: bool) -> Sequence[Question]:
    """The test questions with the supports that count."""
    if not same_text:
        return benchmark.test
    copies = copies_in(benchmark.corpus.passages)
    return [with_copies(question, copies) for question in benchmark.test]


def _fit_all(retrievers: Mapping[str, Retriever], training: Benchmark) -> dict[str, float]:
    """Let all retrievers learn; the seconds of each.

    That comes before the first question, so that what can't be learned is told at once.
    """
    expect(Benchmark, training, "training")
    training = training.without_test()
    seconds = {}
    for name, retriever in retrievers.items():
        start = time.perf_counter()
        if not name.endswith(UNTRAINED):
            retriever.fit(training)
        seconds[name] = time.perf_counter() - start
    return seconds


class _Run(NamedTuple):
    """What one retriever gives when it is asked all questions."""

    rankings: dict[str, Ranking]
    seconds: dict[str, float]  # of the questions whose time is taken
    seconds_to_index: float
    costs: ndarray  # as COSTS, per question on average


def _ask_all(
    name: str,
    retriever: Retriever,
    benchmark: Benchmark,
    k: int,
    timed: set[str],
    documents: set[str],
    progress: bool,
) -> _Run:
    """Ask all test questions, those that share a corpus together; those that are timed first."""
    rankings = {}
    seconds = {}
    seconds_to_index = 0.0
    costs = np.zeros(len(COSTS))
    bar = progress_bar(
        total=len(benchmark.test),
        desc=name,
        unit="question",
        shown=progress,
    )
    for corpus, questions in benchmark.asked_together(benchmark.test):
        start = time.perf_counter()
        retriever.index(corpus)
        seconds_to_index += time.perf_counter() - start

        sample = [question for question in questions if question.id in timed]
        if sample:
            times = time_parts(retriever, sample, k)
            seconds |= dict(zip(times["question"], times["seconds"]))

        spent_before = _spent(retriever)
        others = [question for question in questions if question.id not in documents]
        rankings |= _ask(retriever, others, k, bar)
        identical = [question for question in questions if question.id in documents]
        for question, ranking in _ask(retriever, identical, k + 1, bar).items():
            rankings[question] = _without(ranking, question, k)
        costs += (_spent(retriever) - spent_before) / len(benchmark.test)
    bar.close()
    return _Run(rankings, seconds, seconds_to_index, costs)


def _ask(
    retriever: Retriever,
    questions: Sequence[Question],
    k: int,
    bar: ProgressBar,
) -> dict[str, Ranking]:
    rankings = {}
    for first in range(0, len(questions), BATCH):
        batch = questions[first : first + BATCH]
        queries = [query_for(retriever, question) for question in batch]
        ids = [question.id for question in batch]
        rankings |= zip(ids, retriever.retrieve_many(queries, k), strict=True)
        bar.update(len(batch))
    return rankings


def _without(ranking: Ranking, passage: str, k: int) -> Ranking:
    """The first k others; a graph that the passage is part of goes."""
    kept = [rank for rank, other in enumerate(ranking.ids) if other != passage][:k]
    evidence = ranking.evidence
    if evidence and kept[: evidence.n_nodes] != list(range(evidence.n_nodes)):
        evidence = None
    ids = tuple(ranking.ids[rank] for rank in kept)
    paths = tuple(path for path in ranking.paths if passage not in path)
    return Ranking(
        ids,
        ranking.scores[kept],
        evidence=evidence,
        paths=paths,
    )


def _rows(
    answered: Mapping[str, _Run],
    questions: Sequence[Question],
    ks: Sequence[int],
    k: int,
    graphs: bool,
) -> list[dict[str, object]]:
    """A row per retriever and question."""
    rows = []
    for name, run in answered.items():
        for question in questions:
            rows.append({"retriever": name} | _measure(question, run, ks, k, graphs))
    return rows


def _measure(
    question: Question,
    run: _Run,
    ks: Sequence[int],
    k: int,
    graphs: bool,
) -> dict[str, object]:
    """The row of a question: what it is, how good its ranking is, and what it cost."""
    ranking = run.rankings[question.id]
    ids = ranking.ids
    row = described(question)
    row["shape"] = SHAPES.get(question.structure, "")
    for cut_off in ks:
        row[f"recall@{cut_off}"] = recall_at(question, ids, cut_off)
    for cut_off in ks:
        row[f"full@{cut_off}"] = full_at(question, ids, cut_off)
    row["mrr"] = reciprocal_rank(question, ids[:k])

    row["seconds"] = run.seconds.get(question.id, nan)
    row |= dict(zip(COSTS, run.costs))
    if graphs:
        star = EvidenceGraph(min(question.hops, len(ids)))
        row |= graph_measures(question, ids, ranking.evidence or star)
    return row


def _spent(retriever: Retriever) -> ndarray:
    """Calls and tokens of a retriever's language model up to now; nan where it has none."""
    usage = retriever.usage()
    if usage is None:
        return np.array([nan, nan])
    return np.array(
        [usage["calls"].sum(), usage[["prompt_tokens", "answer_tokens"]].to_numpy().sum()]
    )


def _usages(retrievers: Mapping[str, Retriever]) -> dict[str, DataFrame]:
    """What the language models were used for, of the retrievers that have one."""
    return {
        name: retriever.usage()
        for name, retriever in retrievers.items()
        if retriever.usage() is not None
    }


# ---- several seeds of a training


def of_seeds(
    name: str,
    seeds: Iterable[int],
    method: str = "",
    **settings: object,
) -> dict[str, Retriever]:
    """A retriever with several seeds of its training, by name, for :func:`evaluate`.

    The first bears the plain name.
    """
    retrievers = {}
    for seed in seeds:
        label = f"{name}{SEED}{seed}" if retrievers else name
        retrievers[label] = make(method or name, seed=seed, **settings)
    return retrievers


def before_training(
    name: str,
    method: str = "",
    **settings: object,
) -> dict[str, Retriever]:
    """A retriever that never learned, by name, for :func:`evaluate`, which does not let it learn.

    What it has beside a trained one of the same settings is what training brought.
    """
    method = method or name
    if "start" in settings_of(method):
        settings["start"] = "untrained"
    return {name + UNTRAINED: make(method, **settings)}


def all_seeds(retrievers: Mapping[str, Retriever], *names: str) -> tuple[Retriever, ...]:
    """Those with these names, and their further seeds."""
    return tuple(
        retriever for name, retriever in retrievers.items() if name.split(SEED)[0] in names
    )


def mean_over_seeds(runs: DataFrame) -> DataFrame:
    """The table of an :class:`Experiment`: the seeds of a retriever become one row, their mean."""
    table = runs.replace({"retriever": f"{SEED}.*"}, "", regex=True)
    how = dict.fromkeys(table, "first") | dict.fromkeys(table.select_dtypes("floating"), "mean")
    return table.groupby(["retriever", "question"], sort=False, as_index=False).agg(how)
