"""Walks through a passage graph compared: agents, branching, and the restriction to neighbours (kgp.txt §5.3, 5.4).

Every walk here is given to as many distinct passages as any other retriever gets (all-i02). In the per-question setting
a walk is made in each question's own collection.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd

from kit.corpus import Benchmark, Corpus, Query, Question
from kit.errors import InputError
from kit.evaluation import metrics, statistics
from kit.evaluation.experiment import Experiment
from kit.graphs import build
from kit.retrievers import KGP, MDR, KGPRandom, NodeVisit, Ranking, Retriever
from kit.retrievers.kgp import GRAPH
from kit.retrievers.kgp_agents import RandomAgent
from kit.retrievers.mdr import Path, path_text
from kit.retrievers.training import pool, sample
from kit.text import TfidfIndex

N_PASSAGES = 30  # a question gets, whatever the method (8.2)
BRANCHINGS = (1, 2, 3, 5, 6, 10, 15, 30)  # Figure 7a–b
RANDOM = "random"
METRICS = ("recall@5", f"recall@{N_PASSAGES}", f"full@{N_PASSAGES}")
_BATCH = 64  # questions that walk abreast


def indexed(retriever: Retriever, corpus: Corpus) -> Retriever:
    """A copy of a fitted retriever that has indexed the corpus; the original keeps what it has indexed."""
    retriever = copy(retriever)
    if isinstance(retriever, KGP):
        retriever.agent = copy(retriever.agent)
    retriever.index(corpus)
    return retriever


def ask(retriever: Retriever, questions: Sequence[Question]) -> pd.DataFrame:
    """How an indexed retriever does, a row a question: question, hops, ``METRICS``, scored.

    The last is how many passages the agent of a walk compared. Raises InputError for a question without supports.
    """
    rows = []
    for first in range(0, len(questions), _BATCH):
        part = questions[first : first + _BATCH]
        found = retriever.retrieve_many([question.query for question in part], N_PASSAGES)
        rows += [measured(question, ranking.ids, ranking.trace.n_scored) for question, ranking in zip(part, found)]
    return pd.DataFrame(rows)


def measured(question: Question, ids: Sequence[str], scored: float) -> dict[str, object]:
    """What a table of walks says of one question's ranking."""
    found = {name: _METRIC[name](question, ids) for name in METRICS}
    return {"question": question.id, "hops": question.hops, **found, "scored": scored}


_METRIC = {name: partial(getattr(metrics, f"{name.split('@')[0]}_at"), k=int(name.split("@")[1])) for name in METRICS}


def turns(retriever: KGP, ranking: Ranking) -> pd.DataFrame:
    """Algorithm 1 turn by turn, to check by hand: path, candidates, visited, queued.

    The first path is empty, and its candidates are the seeds. ``visited`` has the scores, best first; ``queued`` counts
    the paths that were added to the queue.
    Paths that could not grow are not told.
    """
    told: dict[tuple[str, ...], list[NodeVisit]] = {}
    for step in ranking.trace.events:
        if isinstance(step, NodeVisit):
            told.setdefault(tuple(filter(None, (*step.before, step.source))), []).append(step)
    rows = []
    for path, visits in told.items():
        near = [seed.passage for seed in ranking.trace.seeds]
        if path:
            around = retriever.graph.neighbours(retriever.corpus.row[path[-1]])
            near = [id for id in (retriever.corpus.passages[row].id for row in around) if id not in path]
        row = {"path": " → ".join(path) or "(seeds)", "candidates": ", ".join(near)}
        scores = ", ".join(f"{visit.passage} {visit.score:.3f}" for visit in visits)
        rows.append(row | {"visited": scores, "queued": len(visits)})
    return pd.DataFrame(rows)


# ---- agents (Table 2)


def random_walks(walker: KGPRandom, benchmark: Benchmark, questions: Sequence[Question], draws: int) -> pd.DataFrame:
    """The random agent's walks, as :func:`ask`: each question's mean over ``draws`` walks, from seeds 0, 1, 2 …

    Only the agent's draws change, so the corpus is indexed once.
    """
    if draws < 1:
        raise InputError(f"expected at least 1 draw, not {draws}", field="draws")
    parts = []
    for corpus, together in benchmark.asked_together(questions):
        placed = indexed(walker, corpus)
        for seed in range(draws):
            placed.agent = RandomAgent(seed)
            placed.agent.index(corpus, placed.tfidf)
            parts.append(ask(placed, together))
    table = pd.concat(parts, ignore_index=True)
    return table.groupby("question", sort=False).mean().reset_index()


def by_agent(experiment: Experiment, names: Sequence[str], chance: pd.DataFrame) -> pd.DataFrame:
    """Walks of an experiment beside those of the random agent: columns of :func:`ask`, and retriever.

    ``chance`` comes from :func:`random_walks`. Each name's rows stand in the order of the questions.
    """
    parts = [chance.assign(retriever=RANDOM)]
    for name in names:
        rankings = experiment.rankings[name]
        of = [(question, rankings[question.id]) for question in experiment.questions]
        rows = [measured(question, ranking.ids, ranking.trace.n_scored) for question, ranking in of]
        parts.append(pd.DataFrame(rows).assign(retriever=name))
    return pd.concat(parts, ignore_index=True)


def summarise(table: pd.DataFrame, by: Sequence[str], columns: Sequence[str], *, seed: int, draws: int) -> pd.DataFrame:
    """Means of columns with 95 % intervals over the rows of each group: those of ``by``, metric, mean, low, high, n."""
    parts = [statistics.by_group(table, by, column, seed, draws=draws).assign(metric=column) for column in columns]
    found = pd.concat(parts, ignore_index=True)
    return found[[*by, "metric", "mean", "low", "high", "n"]]


def paired(table: pd.DataFrame, by: str, metric: str, a: object, b: object, **how: int) -> statistics.Difference:
    """The mean difference of a metric between two values of the column ``by``, over the questions that both have.

    ``how`` are the seed and the draws of :func:`kit.evaluation.statistics.paired`.
    """
    wide = table[table[by].isin([a, b])].pivot(index="question", columns=by, values=metric).dropna()
    return statistics.paired(wide[a].to_numpy(), wide[b].to_numpy(), **how)


def mean_ranks(summary: pd.DataFrame, among: Sequence[str]) -> pd.DataFrame:
    """Table 1's column Rank on one data set: retriever, rank (from 1), its mean place over the metrics of ``METRICS``.

    ``summary`` is :meth:`Experiment.summary`'s; equal means share a place, the mean of those that they take.
    """
    of = summary[summary["metric"].isin(METRICS) & summary["retriever"].isin(among)]
    means = of.pivot(index="retriever", columns="metric", values="mean").loc[list(among)]
    ranks = means.round(12).rank(ascending=False).mean(axis=1)
    return ranks.rename("rank").reset_index()


def runner_up(experiment: Experiment, names: Sequence[str]) -> str:
    """Of these retrievers the one with the highest Full@30; of equal ones the first."""
    means = experiment.table.groupby("retriever")[METRICS[-1]].mean()
    return max(names, key=means.get)


def to_read(experiment: Experiment, names: Sequence[str], n: int) -> Experiment:
    """What a reader is given: the first ``n`` questions that have an answer, and the rankings of these retrievers.

    Of ``golden`` the supports alone: what follows them is not the gold context (Table 1, "Golden").
    """
    questions = tuple(question for question in experiment.questions if question.answer)[:n]
    rankings = {name: {question.id: experiment.rankings[name][question.id] for question in questions} for name in names}
    for question in questions if "golden" in rankings else ():
        ids = question.supporting_ids
        rankings["golden"][question.id] = Ranking(ids, np.ones(len(ids)))
    return replace(experiment, questions=questions, rankings=rankings)


# ---- the restriction to neighbours (Tables 1 and 2, the rows of MDR)


class MDRAmongNeighbours(MDR):
    """MDR whose hops after the first go to neighbours of the path's last passage; all else is as ``mdr`` has it.

    What it is compared with is that ``mdr``: the same encoder, first hop, beam, branches and order of paths (kgp-06).
    """

    def __init__(self, mdr: MDR, graph: str = GRAPH) -> None:
        super().__init__(hops=mdr.hops, beam=mdr.beam, branches=mdr.branches)
        self.mdr, self.builder = mdr, graph

    def fit(self, benchmark: Benchmark) -> None:
        """Nothing is learned: the encoder is that of ``mdr``."""

    def index(self, corpus: Corpus) -> None:
        self.encoder = self.mdr.encoder
        super().index(corpus)
        self.graph = build(self.builder, corpus)

    def _further(self, queries: Sequence[Query], paths: Sequence[Sequence[Path]]) -> list[list[Path]]:
        """As MDR's, among neighbours; a path without one stays as it is."""
        texts = [
            path_text(query.text, [self.corpus.passages[row] for row in path.rows])
            for query, of in zip(queries, paths)
            for path in of
        ]
        looked_for = iter(self.encoder.encode(texts, role="query", progress=False))
        return [
            sorted((longer for path in of for longer in self._grown(path, next(looked_for))), key=lambda p: -p.score)
            for of in paths
        ]

    def _grown(self, path: Path, looked_for: np.ndarray) -> list[Path]:
        near = candidates(self, path.rows)
        scores = self.vectors[near] @ looked_for
        best = np.argsort(-scores, kind="stable")[: self.branches]
        return [Path((*path.rows, int(near[i])), path.score + float(scores[i])) for i in best] or [path]


def candidates(retriever: MDRAmongNeighbours, rows: Sequence[int]) -> np.ndarray:
    """The rows that a path may go on to."""
    near = retriever.graph.neighbours(rows[-1])
    return near[~np.isin(near, rows)]


def second_hop_scored(among: MDRAmongNeighbours, experiment: Experiment, name: str) -> pd.DataFrame:
    """Passages that are compared in the second hop, a question: question, everywhere, neighbours.

    ``among`` was asked as ``name`` in the experiment; a path of one passage has all others before it everywhere.
    """
    rows = []
    for question in experiment.questions:
        collection = experiment.benchmark.collection(question)
        if among.corpus is not collection:
            among.index(collection)
        firsts = [collection.row[seed.passage] for seed in experiment.rankings[name][question.id].trace.seeds]
        near = sum(len(candidates(among, (row,))) for row in firsts)
        row = {"question": question.id, "everywhere": len(firsts) * (len(collection) - 1)}
        rows.append(row | {"neighbours": near})
    return pd.DataFrame(rows)


# ---- branching (Figure 7a–b)


def by_branching(
    walkers: Mapping[str, KGP],
    benchmark: Benchmark,
    questions: Sequence[Question],
    branchings: Sequence[int] = BRANCHINGS,
) -> pd.DataFrame:
    """Walks with a budget of 30 passages and ⌊30 / b⌋ seeds, b neighbours of each: columns of :func:`ask`, and
    retriever, branching, seeds (how many there are at most).
    """
    parts = []
    for corpus, together in benchmark.asked_together(questions):
        for name, walker in walkers.items():
            placed = indexed(walker, corpus)
            placed.budget = N_PASSAGES
            for branching in branchings:
                placed.branching = branching
                setting = {"retriever": name, "branching": branching, "seeds": max(1, N_PASSAGES // branching)}
                parts.append(ask(placed, together).assign(**setting))
    return pd.concat(parts, ignore_index=True)


def tuning_part(training: Benchmark, n: int, seed: int) -> Benchmark:
    """Where a setting is chosen: at most n development questions, over their supports and the passages nearest to each.

    They are the ``test`` questions of what is returned.
    """
    questions = sample([question for question in training.dev if question.supporting], n, seed)
    return Benchmark(training.name, pool(questions, training.corpus, TfidfIndex(training.corpus)), test=questions)


def best_inner(table: pd.DataFrame, retriever: str, metric: str = METRICS[-1]) -> int:
    """The branching with the highest mean that is neither the least nor the most; of equal ones the least."""
    of = table[table["retriever"] == retriever].groupby("branching")[metric].mean().sort_index()
    if len(of) < 3:
        raise InputError("expected at least 3 branchings", field="branching")
    return int(of.iloc[1:-1].idxmax())
