"""All evidence graphs that BGR's searches make, beside those of other methods, as one experiment.

Its retrievers are graphs by name: ``forward`` and ``backward``; ``bgr``, Eq. 3 as the paper's code
reads it, at its γ; every :func:`reading` of Eq. 3; ``chosen``, Eq. 3 as dev questions chose it; and
``likely``, the most likely graph, which is not the paper's. Those that end with
:data:`MAY_BE_EMPTY` are of searches that need not take any evidence.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from time import perf_counter

import numpy as np
import pandas as pd
from numpy import ndarray
from pandas import DataFrame

from kit.corpus import Benchmark, Corpus, EvidenceGraph, Question
from kit.corpus.types import Questions
from kit.errors import InputError
from kit.evaluation import SEED, Experiment, mean_over_seeds
from kit.evaluation.evidence_edges import edge_recalls
from kit.evaluation.metrics import (
    GRAPH_MEASURES,
    described,
    graph_measures,
)
from kit.methods import Ranking
from kit.methods.bgr.choices import GAMMAS, marks
from kit.methods.bgr.evidence import evidence_ranking
from kit.methods.bgr.graphs import (
    DIRECTIONS,
    QUESTION,
    Edges,
    acyclic,
    merge,
)
from kit.methods.bgr.retriever import BGR

GAMMA = 0.2  # the paper's
RULES = ("code", "eq3", "text")
MAY_BE_EMPTY = ", may be empty"
BEST_STOPS = (
    -1.0,
    0.4,
    0.5,
    0.6,
)  # of MDR's chain, among which dev questions choose

Graphs = dict[str, Edges]  # between rows of a question's facts, by name
Rankings = dict[str, dict[str, Ranking]]  # by name, with the seed, and by the question's id


def reading(rule: str, gamma: float = GAMMA) -> str:
    """The name of Eq. 3 under a reading."""
    return f"{rule}, γ = {gamma:g}"


def with_graphs(benchmark: Benchmark) -> Benchmark:
    """Its test questions that have an evidence graph; InputError where none has."""
    questions = [question for question in benchmark.test if question.evidence]
    if not questions:
        raise InputError(
            "expected questions with evidence graphs",
            record=benchmark.name,
            field="evidence",
        )
    return benchmark.asking(questions)


# ---- what is built


def graphs_of(trained: Mapping[str, BGR], benchmark: Benchmark) -> Rankings:
    """The graph of each name for each test question, with each training."""
    rankings = {}
    for run, retriever in trained.items():
        seed = run.removeprefix("bgr")
        for question in benchmark.test:
            facts = benchmark.collection(question)
            searcher = retriever.variant(corpus=facts)
            for name, edges in _all_graphs(searcher, question).items():
                by_question = rankings.setdefault(name + seed, {})
                by_question[question.id] = ranking_of(facts, edges)
            likely = searcher.retrieve(question.query, len(facts))
            rankings.setdefault("likely" + seed, {})[question.id] = likely
    return rankings


def ranking_of(facts: Corpus, edges: Edges) -> Ranking:
    """What a graph's edges between rows of a question's facts say, as a ranking."""
    return evidence_ranking(facts, list(acyclic(edges).edges), [], len(facts))


def _all_graphs(searcher: BGR, question: Question) -> Graphs:
    searches = _search_both(searcher, question)
    found_edges = {direction: search.edges() for direction, search in searches.items()}
    graphs = dict(found_edges)
    graphs["bgr"] = merge(*found_edges.values(), GAMMA)
    graphs["chosen"] = searcher.choices.merged(found_edges)
    for rule in RULES:
        for gamma in GAMMAS:
            graphs[reading(rule, gamma)] = merge(*found_edges.values(), gamma, rule)

    sure = {}
    for direction, search in searches.items():
        begins = search.logits[()].max() > searcher.choices.threshold(direction)
        sure[direction] = found_edges[direction] if begins else []
        graphs[direction + MAY_BE_EMPTY] = sure[direction]
    for rule in RULES:
        graphs[reading(rule) + MAY_BE_EMPTY] = merge(*sure.values(), GAMMA, rule)
    return graphs


def _search_both(searcher: BGR, question: Question) -> dict:
    rows = np.arange(len(searcher.corpus))
    return {direction: searcher.search(question.query, rows, direction) for direction in DIRECTIONS}


# ---- what is measured


def graph_experiment(rankings: Rankings, others: Experiment) -> Experiment:
    """The graphs and what was measured of other methods, on the same questions."""
    benchmark = others.benchmark
    columns = [
        *described(benchmark.test[0]),
        "retriever",
        *GRAPH_MEASURES,
    ]
    runs = others.table if others.runs is None else others.runs
    runs = pd.concat(
        [
            runs[columns],
            measure_graphs(rankings, benchmark)[columns],
        ]
    )
    names = [name for name in rankings if SEED not in name]
    return replace(
        others,
        table=mean_over_seeds(runs).assign(seconds=np.nan),
        runs=runs,
        rankings=others.rankings | {name: rankings[name] for name in names},
        ks=(),
    )


def measure_graphs(rankings: Rankings, benchmark: Benchmark) -> DataFrame:
    """The measures of each graph, a row per name and question; equal graphs are measured once."""
    rows = []
    for question in benchmark.test:
        measured = {}
        for name, by_question in rankings.items():
            ranking = by_question[question.id]
            graph = ranking.evidence
            key = (ranking.ids[: graph.n_nodes], graph.edges)
            if key not in measured:
                measured[key] = graph_measures(question, ranking.ids, graph)
            rows.append(described(question) | {"retriever": name} | measured[key])
    return DataFrame(rows)


def recalls_by_depth(rankings: Rankings, questions: Questions) -> DataFrame:
    """Which edges of each depth both directions and BGR find, as means over the trainings."""
    names = ("forward", "backward", "bgr")
    wanted = {
        name: by_question for name, by_question in rankings.items() if name.split(SEED)[0] in names
    }
    recalls = edge_recalls(questions, wanted)
    recalls = recalls.replace({"retriever": f"{SEED}.*"}, "", regex=True)
    keys = ["question", "retriever", "depth", "edge"]
    return recalls.groupby(keys, sort=False)["recall"].mean().reset_index()


def along_gamma(graphs: Experiment) -> DataFrame:
    """The measures of each question under each reading of Eq. 3, with columns rule and gamma."""
    parts = []
    for rule in RULES:
        for gamma in GAMMAS:
            rows = graphs.table[graphs.table["retriever"] == reading(rule, gamma)]
            parts.append(rows.assign(rule=rule, gamma=gamma))
    return pd.concat(parts, ignore_index=True)


def inner_gammas(trained: Iterable[BGR], benchmark: Benchmark, dev: Questions) -> dict[str, float]:
    """For each reading the γ between 0 and 1 that is best for dev questions, by GM and F1."""
    totals = {rule: dict.fromkeys(GAMMAS[1:-1], 0.0) for rule in RULES}
    for retriever in trained:
        for question in dev:
            facts = benchmark.collection(question)
            searches = _search_both(retriever.variant(corpus=facts), question)
            graphs = [search.edges() for search in searches.values()]
            gold = _gold_edges(question, facts)
            for rule, by_gamma in totals.items():
                for gamma in by_gamma:
                    edges = list(acyclic(merge(*graphs, gamma, rule)).edges)
                    by_gamma[gamma] += sum(marks(edges, gold))
    return {rule: max(by_gamma, key=by_gamma.get) for rule, by_gamma in totals.items()}


def _gold_edges(question: Question, facts: Corpus) -> Edges:
    names = [
        *(facts.row[carriers[0]] for carriers in question.supporting),
        QUESTION,
    ]
    return [(names[parent], names[child]) for parent, child in question.evidence.rooted.edges]


def best_sizes(on_dev: Experiment, questions: Questions) -> dict[str, int]:
    """How many first passages are best as evidence of dev questions, by F1, of each retriever."""
    return {
        name: max(
            range(1, 9),
            key=lambda size: set_f1(questions, rankings, size).mean(),
        )
        for name, rankings in on_dev.rankings.items()
    }


def set_f1(questions: Questions, rankings: Mapping[str, Ranking], k: int) -> ndarray:
    """F1 of each question's first k passages as its evidence."""
    values = []
    for question in questions:
        first = set(rankings[question.id].ids[:k])
        right = {carriers[0] for carriers in question.supporting}
        values.append(2 * len(first & right) / (len(first) + len(right)))
    return np.array(values)


def random_recall(benchmark: Benchmark) -> float:
    """The recall of evidence that as many facts as are right have, drawn by lot."""
    shares = [question.hops / len(benchmark.collection(question)) for question in benchmark.test]
    return float(np.mean(shares))


def databases(benchmark: Benchmark, questions: Questions) -> Corpus:
    """All that is in the databases of some questions, as one corpus."""
    rows = set()
    for question in questions:
        rows.update(benchmark.collections[question.id].tolist())
    return benchmark.corpus.subset(sorted(rows))


def seconds_of_directions(
    trained: Sequence[BGR],
    benchmark: Benchmark,
    questions: Questions,
) -> dict[str, ndarray]:
    """Seconds per question of a search in both directions, and in each, facts read anew."""
    seconds = {}
    for direction in ("both", *DIRECTIONS):
        of_questions = [_mean_seconds(trained, benchmark, q, direction) for q in questions]
        seconds[direction] = np.array(of_questions)
    return seconds


def _mean_seconds(
    trained: Sequence[BGR],
    benchmark: Benchmark,
    question: Question,
    direction: str,
) -> float:
    times = []
    for retriever in trained:
        searcher = retriever.variant(
            corpus=benchmark.collection(question),
            direction=direction,
        )
        searcher.network.learner.forget()
        begun = perf_counter()
        searcher.retrieve(question.query, 10)
        times.append(perf_counter() - begun)
    return float(np.mean(times))


def star(question: Question, ranking: Ranking) -> EvidenceGraph:
    """A ranking's graph; without one, a star of the true number of passages (bgr-i12)."""
    return ranking.evidence or EvidenceGraph(min(question.hops, len(ranking.ids)))
