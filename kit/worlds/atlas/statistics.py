"""What the data are like, by measures of the data alone, and whether the real sets are so, too.

``python -m kit.worlds.atlas.statistics FILE …`` measures published train files anew and writes
``real.csv``.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

import bm25s
import numpy as np
import pandas as pd
import Stemmer

from kit.corpus import Benchmark, Corpus, Question, SubQuestion, load
from kit.evaluation.graph_quality import graph_quality
from kit.evaluation.metrics import recall_at
from kit.evaluation.statistics import by_group, interval
from kit.graphs import PassageGraph, build
from kit.methods import Retriever, make

REAL = Path(__file__).with_name("real.csv")
WHOLE = 0  # stands for the hops of what is measured on passages, not on questions
KEYS = ["statistic", "hops"]
COMPARED = 100  # questions whose wordings are compared


def statistics(benchmark: Benchmark, split: str) -> pd.DataFrame:
    """Columns statistic, hops, value, low and high (95 % interval), n.

    Questions of one hop are left out. In the default graph ``reach`` is the share of supports among
    dense retrieval's first five and their neighbours, ``reached`` how many these are, ``touching``
    the share of supports with an edge to another of the question; ``step`` the Recall@5 of a
    support by its gold sub-question; ``first`` and ``last`` the share of the question's stems that
    its first and last support hold; ``template`` of 100 questions those worded as another, names
    apart.
    """
    corpus = benchmark.corpus
    questions = [question for question in getattr(benchmark, split) if question.hops > 1]
    graph = build("entity+structure", corpus)
    columns = {"hops": [question.hops for question in questions]}
    columns |= _retrieval(graph, questions)
    columns["touching"] = [_touching(graph, question) for question in questions]
    columns |= {
        "first": _shared(corpus, questions, 0),
        "last": _shared(corpus, questions, -1),
    }
    values = pd.DataFrame(columns).melt("hops", var_name="statistic").dropna()
    table = by_group(values, KEYS, "value").rename(columns={"mean": "value"})

    lengths = np.array([len(passage.text.split()) for passage in corpus.passages])
    more = [("template", WHOLE, *interval(_repeated(questions))[:4])]
    for name, measured, quantiles in (
        ("words", lengths, (0.05, 0.95)),
        ("degree", graph.degrees, (0.5, 0.9, 0.99)),
    ):
        more.append((name, WHOLE, *interval(measured)[:4]))
        for q in quantiles:
            more.append((f"{name}, {100 * q:.0f} %", WHOLE, *_quantile(measured, q)))
    rows = pd.DataFrame(more, columns=table.columns)
    return pd.concat([table, rows], ignore_index=True)


def beside_real(table: pd.DataFrame) -> pd.DataFrame:
    """A row per statistic and number of hops that a real set has.

    Columns value, low, high, the value of each set, agrees: whether the interval overlaps the span
    from the lowest low to the highest high of the real sets.
    """
    real = pd.read_csv(REAL)
    span = real.groupby(KEYS, sort=False).agg(lowest=("low", "min"), highest=("high", "max"))
    sets = real.pivot(index=KEYS, columns="set", values="value")
    measured = table.set_index(KEYS)[["value", "low", "high"]]
    beside = span.join(sets).join(measured).reset_index()
    starts_in_time = beside["low"] <= beside["highest"]
    ends_in_time = beside["high"] >= beside["lowest"]
    return beside.assign(agrees=starts_in_time & ends_in_time)


def _retrieval(graph: PassageGraph, questions: Sequence[Question]) -> dict[str, Sequence[float]]:
    """How well plain retrievers find the supports, and what the graph adds to the dense one."""
    corpus = graph.corpus
    queries = [question.query for question in questions]
    dense = make("dense")
    columns = {}
    for name, retriever in (("BM25", make("bm25")), ("dense", dense)):
        retriever.index(corpus)
        rankings = retriever.retrieve_many(queries, 10)
        for k in (5, 10):
            columns[f"{name} R@{k}"] = [
                recall_at(question, ranking.ids, k)
                for question, ranking in zip(questions, rankings)
            ]

    seeds = []  # of the dense one, which comes last
    for ranking in rankings:
        seeds.append([corpus.row[passage_id] for passage_id in ranking.ids[:5]])
    quality = graph_quality(graph, questions, seeds)
    columns["reach"] = quality["covered"]
    columns["reached"] = quality["neighbourhood"]
    columns["step R@5"] = [_step_recall(dense, question) for question in questions]
    return columns


def _shared(corpus: Corpus, questions: Sequence[Question], support: int) -> list[float]:
    """The share of each question's stems that one of its supports holds."""
    texts = []
    for question in questions:
        passage_id = question.supporting[support][0]
        texts.append(corpus[passage_id].full_text)
    pairs = zip(stems([question.text for question in questions]), stems(texts))
    return [len(words & held) / len(words) for words, held in pairs]


def _touching(graph: PassageGraph, question: Question) -> float:
    """The share of supports with an edge to another."""
    supports = []
    for carriers in question.supporting:
        supports.append({graph.corpus.row[passage_id] for passage_id in carriers})

    touching = []
    for support in supports:
        neighbours = set(graph.neighbours(sorted(support)).tolist())
        others = [other for other in supports if other is not support]
        touching.append(any(neighbours & other for other in others))
    return float(np.mean(touching))


def _step_recall(dense: Retriever, question: Question) -> float:
    """The share of sub-questions that find their support among five; nan where there is none."""
    answers = [step.answer for step in question.decomposition]
    hits = []
    for step in question.decomposition:
        if step.support is not None:
            ranking = dense.retrieve(step.filled(answers), 5)
            carriers = question.supporting[step.support]
            hits.append(not set(carriers).isdisjoint(ranking.ids))
    return float(np.mean(hits)) if hits else np.nan


def stems(texts: list[str]) -> list[set[str]]:
    """The stems of each text, without stop words."""
    tokens = bm25s.tokenize(
        texts,
        return_ids=False,
        stopwords="en",
        stemmer=Stemmer.Stemmer("english"),
        show_progress=False,
    )
    return [set(words) for words in tokens]


def templates(questions: Sequence[Question | SubQuestion]) -> list[tuple[str, ...]]:
    """The words of each, without names and numbers."""
    texts = [question.text.split() for question in questions]
    return [(first, *filter(str.islower, words)) for first, *words in texts]


def _repeated(questions: list[Question]) -> np.ndarray:
    """Which of some questions are worded as another of them, but for names and numbers."""
    order = np.random.default_rng(0).permutation(len(questions))
    worded = templates([questions[index] for index in order[:COMPARED]])
    return np.array([worded.count(template) > 1 for template in worded], float)


def _quantile(values: np.ndarray, q: float) -> tuple[float, ...]:
    """A quantile with the interval of order statistics that a binomial count gives, and n."""
    n = len(values)
    margin = 1.96 * np.sqrt(q * (1 - q) / n)
    low = max(0, q - margin)
    high = min(1, q + margin)
    return *np.quantile(values, [q, low, high]), n


if __name__ == "__main__":
    parts = []
    for file in map(Path, sys.argv[1:]):
        table = statistics(load(file), "test")
        parts.append(table.assign(set=file.parent.name))
    pd.concat(parts).round(4).to_csv(REAL, index=False)
