"""How single steps of a question fare: their own supports, and steps whose bridge is wrong.

A *bridge* is the answer of a step that a later sub-question needs: *In which town was #1 born?*
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import product

import numpy as np
import pandas as pd
from msgspec.structs import replace
from pandas import DataFrame

from kit.corpus import Question, SubQuestion
from kit.corpus.types import Questions
from kit.methods.gnn_ret.recurrent import RGNNRet
from kit.methods.loops.steps import gold_steps

COLUMNS = ["retriever", "question", "hops", "step", "recall"]


def step_recalls(methods: Mapping[str, RGNNRet], questions: Questions, k: int = 5) -> DataFrame:
    """Whether a step's own support is among the first k passages of its own ranking.

    A row per method, question and step that names its support; ``step`` counts from 1. The methods
    are indexed, and get the golden sub-questions.
    """
    with_supports = list(filter(_names_supports, questions))
    queries = [gold_steps(question.gold_query) for question in with_supports]
    rows = []
    for name, method in methods.items():
        for question, rankings in zip(with_supports, method.retrieve_steps(queries, k)):
            steps = zip(
                question.decomposition,
                rankings,
                strict=True,
            )
            for t, (step, ranking) in enumerate(steps, start=1):
                if step.support is not None:
                    carriers = set(question.supporting[step.support])
                    is_there = not carriers.isdisjoint(ranking.ids)
                    rows.append((name, question.id, question.hops, t, float(is_there)))
    return DataFrame(rows, columns=COLUMNS)


def recalls_with_wrong_bridges(
    methods: Mapping[str, RGNNRet],
    questions: Questions,
    shares: Sequence[float],
    draws: Iterable[int] = range(3),
) -> DataFrame:
    """:func:`step_recalls` where a share of the bridges is wrong, with each draw of the wrong ones.

    The questions are those that have a bridge, the steps those after the first, which has none.
    Columns: ``share`` and ``draw`` beside those of :func:`step_recalls`.
    """
    bridged = list(filter(bridges_of, questions))
    tables = [DataFrame(columns=[*COLUMNS, "share", "draw"])]
    for share, draw in product(shares, draws):
        changed = with_wrong_bridges(
            bridged,
            share,
            draw,
        )
        recalls = step_recalls(methods, changed)
        later = recalls[recalls["step"] > 1]
        if len(later):
            tables.append(later.assign(share=share, draw=draw))
    return pd.concat(tables[1:] or tables, ignore_index=True)


def with_wrong_bridges(questions: Questions, share: float, seed: int) -> list[Question]:
    """The questions with other answers to some of their steps.

    Of the answers that later steps refer to, a share is replaced by others of the same kind: those
    of other questions' sub-questions that ask for the same sort of thing.
    """
    generator = np.random.default_rng(seed)
    answers = defaultdict(set)
    for question in questions:
        for step in question.decomposition:
            answers[_kind_of_answer(step)].add(step.answer)

    changed = []
    for question in questions:
        steps = list(question.decomposition)
        for t in sorted(bridges_of(question)):
            step = steps[t - 1]
            others = sorted(answers[_kind_of_answer(step)] - {step.answer})
            is_wrong = generator.random() < share
            pick = int(generator.integers(max(len(others), 1)))
            if is_wrong and others:
                steps[t - 1] = replace(step, answer=others[pick])
        changed.append(replace(question, decomposition=tuple(steps)))
    return changed


def bridges_of(question: Question) -> set[int]:
    """The steps, from 1 on, whose answers later sub-questions refer to."""
    text = " ".join(step.text for step in question.decomposition)
    n_steps = len(question.decomposition)
    return {int(digits) for digits in re.findall(r"#(\d+)", text) if 0 < int(digits) <= n_steps}


def _names_supports(question: Question) -> bool:
    return any(step.support is not None for step in question.decomposition)


def _kind_of_answer(step: SubQuestion) -> str:
    """What a sub-question asks for: its words without names, numbers and references."""
    return " ".join(re.findall(r"\b[a-z]+\b", step.text))
