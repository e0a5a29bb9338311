"""What is measured for claims of RAS where it is more than one difference."""

import re
from collections.abc import Sequence

import networkx as nx
import numpy as np
from numpy.random import Generator, default_rng

from kit.corpus.types import PlainTriple, Texts
from kit.evaluation.statistics import Estimate, paired, slope
from kit.text.placeholders import key_of

Triples = Sequence[PlainTriple]


def holds(triples: Triples, answers: Texts) -> float:
    """Whether a graph has an answer among its names."""
    nodes = {key_of(end) for subject, _, target in triples for end in (subject, target)}
    return float(any(key_of(answer) in nodes for answer in answers))


def connects(triples: Triples, question: str, answers: Texts) -> float:
    """Whether a path of triples leads from a name that stands in the question to an answer."""
    graph = nx.Graph((key_of(subject), key_of(target)) for subject, _, target in triples)
    text = question.lower()
    starts = [name for name in graph if re.search(rf"\b{re.escape(name)}\b", text)]
    ends = [key_of(answer) for answer in answers if key_of(answer) in graph]
    return float(any(nx.has_path(graph, a, b) for a in starts for b in ends if a != b))


def ras_06(
    shares: Sequence[float],
    f1: Sequence[float],
    questions: Texts,
    **draws: int,
) -> Estimate:
    """More of the extracted triples means better answers, on every task.

    The slope of the reader's F1 over the share of triples kept. All rows of a question, of every
    share and shuffle, are drawn together.
    """
    return slope(np.asarray(shares), np.asarray(f1), questions=np.asarray(questions), **draws)


def ras_08_growth(
    rounds: Sequence[Sequence[Triples]],
    answers: Sequence[Texts],
    **draws: int,
) -> dict[str, Estimate]:
    """A graph that grows with each sub-query comes to hold what the question needs.

    Of each question ``rounds`` has the graph after each sub-query. The slope over these of the
    share that holds an answer can't be below 0, as a graph loses nothing; *over chance* it is that
    minus the same of as many triples from the graphs of other questions. Of each criterion.
    """
    generator = default_rng(draws.get("seed", 0))
    rows = []
    for question, graphs in enumerate(rounds):
        others = _of_others(rounds, question)
        for n, graph in enumerate(graphs, start=1):
            held = holds(graph, answers[question])
            by_chance = holds(_drawn(others, len(graph), generator), answers[question])
            rows.append((question, n, held, held - by_chance))
    question, n, held, beyond = np.array(rows).T
    return {
        "growth": slope(n, held, questions=question, **draws),
        "growth over chance": slope(n, beyond, questions=question, **draws),
    }


def ras_08_connected(
    steps: Sequence[Sequence[Triples]],
    texts: Texts,
    answers: Sequence[Texts],
    **draws: int,
) -> dict[str, Estimate]:
    """The second half: one graph connects question and answer where one per sub-query does not.

    Of each question ``steps`` has the triples of each sub-query. Merged they hold each part, so the
    difference can't be below 0; *over chance* each part has as many triples of other questions
    added as merging adds. Of each criterion.
    """
    generator = default_rng(draws.get("seed", 0))
    rows = []
    for question, parts in enumerate(steps):
        others = _of_others(steps, question)
        merged = list(dict.fromkeys(triple for part in parts for triple in part))
        apart = [0.0]
        by_chance = [0.0]
        for part in parts:
            more = _drawn(others, len(merged) - len(set(part)), generator)
            apart.append(connects(part, texts[question], answers[question]))
            by_chance.append(connects([*part, *more], texts[question], answers[question]))
        whole = connects(merged, texts[question], answers[question])
        rows.append((whole, max(apart), max(by_chance)))
    whole, apart, by_chance = np.array(rows).T
    return {
        "merged over separate": paired(whole, apart, **draws),
        "connected over chance": paired(whole, by_chance, **draws),
    }


def _of_others(graphs: Sequence[Sequence[Triples]], question: int) -> list[PlainTriple]:
    """The triples of all graphs but those of one question."""
    triples = []
    for row, parts in enumerate(graphs):
        if row != question:
            triples += [triple for part in parts for triple in part]
    return list(dict.fromkeys(triples))


def _drawn(triples: Triples, n: int, generator: Generator) -> list[PlainTriple]:
    """At most n of the triples."""
    picks = generator.permutation(len(triples))[:n]
    return [triples[pick] for pick in picks]


def ras_10(right: Sequence[Sequence[Sequence[float]]], **draws: int) -> Estimate:
    """Quality is limited by the answerer far more than by the planner.

    ``right[answerer][planner]`` are the scores (n,) with the better (0) and the worse (1) of each.
    The effect of the better answerer, the mean over both planners, minus that of the better
    planner, the mean over both answerers.
    """
    table = np.asarray(right, float)  # (answerers, planners, n)
    of_answerer = (table[0] - table[1]).mean(axis=0)
    of_planner = (table[:, 0] - table[:, 1]).mean(axis=0)
    return paired(of_answerer, of_planner, **draws)._replace(rival=np.nan)
