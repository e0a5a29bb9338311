"""How good the single steps of a method with sub-questions are, and what wrong sub-questions do to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from msgspec.structs import replace

from kit.corpus import Question
from kit.retrievers.rgnn_ret import RGNNRet, gold_steps


def step_recalls(retriever: RGNNRet, questions: Sequence[Question], k: int = 5) -> pd.DataFrame:
    """Whether each step's own support is among the first k passages of its ranking; the retriever is indexed.

    A row a step that the data set gives a support: question, hops, step (from 1), recall (0 or 1).
    """
    asked = [question for question in questions if any(step.support is not None for step in question.decomposition)]
    rows = []
    for question, rankings in zip(asked, retriever.retrieve_steps([question.gold_query for question in asked], k)):
        for number, (step, ranking) in enumerate(zip(question.decomposition, rankings, strict=True), start=1):
            if step.support is not None:
                found = not set(question.supporting[step.support]).isdisjoint(ranking.ids)
                row = {"question": question.id, "hops": question.hops, "step": number}
                rows.append(row | {"recall": float(found)})
    return pd.DataFrame(rows, columns=["question", "hops", "step", "recall"])


def with_wrong_steps(questions: Sequence[Question], share: float, seed: int) -> list[Question]:
    """The questions with sub-questions of others in place of a share of their own, drawn one by one.

    The replacement is another question's sub-question with its own answers filled in, and none that the question itself
    asks; supports and answers stay. The same seed replaces with a larger share the same sub-questions, and more, by the
    same ones.
    """
    generator = np.random.default_rng(seed)
    decomposed = [question for question in questions if question.decomposition]
    asked = {question.id: [step.text for step in gold_steps(question.gold_query)] for question in decomposed}
    pool = [text for texts in asked.values() for text in texts]
    changed = {}
    for question in decomposed:
        others = [text for text in pool if text not in asked[question.id]]
        steps = []
        for step in question.decomposition:
            wrong, pick = generator.random() < share, int(generator.integers(max(len(others), 1)))
            steps.append(replace(step, text=others[pick]) if wrong and others else step)
        changed[question.id] = replace(question, decomposition=tuple(steps))
    return [changed.get(question.id, question) for question in questions]


def recalls_with_wrong_steps(
    retrievers: Mapping[str, RGNNRet], questions: Sequence[Question], shares: Sequence[float], n_draws: int, k: int = 5
) -> pd.DataFrame:
    """:func:`step_recalls` of each retriever while a share of the sub-questions is wrong, drawn ``n_draws`` times.

    Columns: those of ``step_recalls``, and variant (the retriever's name), share, draw. All retrievers meet the same
    wrong sub-questions.
    """
    parts = []
    for share in shares:
        for draw in range(n_draws):
            asked = with_wrong_steps(questions, share, draw)
            for name, retriever in retrievers.items():
                parts.append(step_recalls(retriever, asked, k).assign(variant=name, share=share, draw=draw))
    return pd.concat(parts, ignore_index=True)
