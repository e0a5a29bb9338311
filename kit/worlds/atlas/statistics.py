"""What the data are like, by measures of the data alone, and whether the real sets are like that too.

``python -P data/atlas/make/statistics.py FILE …`` measures published train files anew and writes ``real.csv``.
"""

import sys
from pathlib import Path

import bm25s
import numpy as np
import pandas as pd
import Stemmer

from kit.corpus import Benchmark, Question, load
from kit.evaluation.graph_quality import graph_quality
from kit.evaluation.metrics import recall_at
from kit.evaluation.statistics import by_group, interval
from kit.graphs import PassageGraph, build
from kit.methods import Retriever, make

REAL = Path(__file__).with_name("real.csv")
WHOLE = 0  # stands for the hops of what is measured on passages, not on questions


def statistics(benchmark: Benchmark, split: str) -> pd.DataFrame:
    """Columns statistic, hops, value, low and high (95 % interval), n; questions of one hop are left out.

    In the default graph ``reach`` is the share of supports among dense retrieval's first five and their neighbours,
    ``reached`` how many these are, ``touching`` the share of supports with an edge to another of the question; ``step``
    the Recall@5 of a support by its gold sub-question; ``first`` and ``last`` the share of the question's stems that
    its first and last support hold; ``template`` of 100 questions those worded as another, names apart.
    """
    questions, corpus = [it for it in getattr(benchmark, split) if it.hops > 1], benchmark.corpus
    graph, dense, rows = build("entity+structure", corpus), make("dense"), {}
    for name, retriever in {"dense": dense, "BM25": make("bm25")}.items():
        retriever.index(corpus)
        found = retriever.retrieve_many([question.query for question in questions], 10)
        for k in (5, 10):
            rows[f"{name} R@{k}"] = [
                recall_at(it, ranking.ids, k) for it, ranking in zip(questions, found)
            ]
        if retriever is dense:
            seeds = [[corpus.row[id] for id in ranking.ids[:5]] for ranking in found]
    near = graph_quality(graph, questions, seeds)
    rows |= {
        "reach": near["covered"],
        "reached": near["neighbourhood"],
        "step R@5": _steps(dense, questions),
    }
    rows["touching"] = [_touching(graph, question) for question in questions]
    asked = _stems([question.text for question in questions])
    for place, end in ((0, "first"), (-1, "last")):
        held = _stems([corpus[question.supporting[place][0]].full_text for question in questions])
        rows[end] = [len(words & others) / len(words) for words, others in zip(asked, held)]
    table = (
        pd.DataFrame({"hops": [it.hops for it in questions]} | rows)
        .melt("hops", var_name="statistic")
        .dropna()
    )
    found = by_group(table, ["statistic", "hops"], "value").rename(columns={"mean": "value"})
    lengths, degrees = np.array([len(it.text.split()) for it in corpus.passages]), graph.degrees
    means = {"words": lengths, "degree": degrees, "template": _templates(questions)}
    more = [(name, WHOLE, *interval(of)[:4]) for name, of in means.items()]
    more += [(f"words, {100 * q:.0f} %", WHOLE, *_quantile(lengths, q)) for q in (0.05, 0.95)]
    more += [(f"degree, {100 * q:.0f} %", WHOLE, *_quantile(degrees, q)) for q in (0.5, 0.9, 0.99)]
    return pd.concat([found, pd.DataFrame(more, columns=found.columns)], ignore_index=True)


def beside_real(table: pd.DataFrame) -> pd.DataFrame:
    """A row for each statistic and number of hops that a real set has: value, low, high, the value of each set, agrees.

    It agrees if its interval overlaps the span from the lowest low to the highest high of the real sets.
    """
    real, keys = pd.read_csv(REAL), ["statistic", "hops"]
    span = real.groupby(keys, sort=False).agg(lowest=("low", "min"), highest=("high", "max"))
    sets = real.pivot(index=keys, columns="set", values="value")
    both = span.join(sets).join(table.set_index(keys)[["value", "low", "high"]]).reset_index()
    return both.assign(agrees=(both["low"] <= both["highest"]) & (both["high"] >= both["lowest"]))


def _touching(graph: PassageGraph, question: Question) -> float:
    supports = [{graph.corpus.row[id] for id in carriers} for carriers in question.supporting]
    near = [{*graph.neighbours(sorted(carriers)).tolist()} for carriers in supports]
    return float(
        np.mean(
            [any(near[i] & it for j, it in enumerate(supports) if j != i) for i in range(len(near))]
        )
    )


def _steps(dense: Retriever, questions: list[Question]) -> list[float]:
    """For each question the share of its sub-questions that find their support among five; nan where it has none."""
    shares = []
    for question in questions:
        answers = [step.answer for step in question.decomposition]
        steps = [step for step in question.decomposition if step.support is not None]
        found = [dense.retrieve(step.filled(answers), 5).ids for step in steps]
        hits = [
            bool({*question.supporting[step.support]} & {*ids}) for step, ids in zip(steps, found)
        ]
        shares.append(float(np.mean(hits)) if hits else np.nan)
    return shares


def _stems(texts: list[str]) -> list[set[str]]:
    options = {"stopwords": "en", "stemmer": Stemmer.Stemmer("english"), "show_progress": False}
    return [set(words) for words in bm25s.tokenize(texts, return_ids=False, **options)]


def _templates(questions: list[Question]) -> np.ndarray:
    texts = [
        questions[pick].text.split()
        for pick in np.random.default_rng(0).permutation(len(questions))[:100]
    ]
    left = [(text[0], *filter(str.islower, text[1:])) for text in texts]
    return np.array([left.count(words) > 1 for words in left], float)


def _quantile(values: np.ndarray, q: float) -> tuple[float, ...]:
    """A quantile with the interval of order statistics that a binomial count gives, and the number of values."""
    margin = 1.96 * np.sqrt(q * (1 - q) / len(values))
    return *np.quantile(values, [q, max(0, q - margin), min(1, q + margin)]), len(values)


if __name__ == "__main__":
    parts = [
        statistics(load(file), "test").assign(set=Path(file).parent.name) for file in sys.argv[1:]
    ]
    pd.concat(parts).round(4).to_csv(REAL, index=False)
