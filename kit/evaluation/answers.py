"""Answers: what a reader makes of the passages that each retriever found, and how good that is (kgp.txt Table 1).

Every question counts for every retriever: an answer that is empty, or that no judge judges, is wrong (kgp-i25).
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from tqdm.auto import tqdm

from kit.corpus import Question
from kit.errors import InputError
from kit.evaluation.experiment import Experiment
from kit.methods.ras.answerer import GraphReader
from kit.readers.extractive import ExtractiveReader, LanguageModelReader, Reader
from kit.readers.scoring import contains, exact_match, f1, normalise
from kit.text import Encoder, language_model
from kit.text.language_models import LanguageModel
from kit.text.prompts import grade, grading_prompt


def reader_of(text: str) -> Reader:
    """A reader by its name, ``extractive`` or ``ras``, or a language model. Raises :class:`InputError` for others."""
    trained = {"extractive": ExtractiveReader, "ras": GraphReader}
    if text in trained:
        return trained[text]()
    if ":" not in text:
        expected = "extractive, ras, or a language model such as server:MODEL"
        raise InputError(f"expected a reader: {expected}; not {text!r}", field="reader")
    return LanguageModelReader(language_model(text))


def contexts_of(
    experiment: Experiment, n: int, n_tokens: float = math.inf
) -> dict[str, list[list[str]]]:
    """What a reader gets, by question: of each retriever the texts of its first ``n`` passages, best first.

    They end before ``n_tokens``, as the default encoder counts them, but not before the first. ``none`` and ``golden``,
    no passage and the supports alone, are the floor and the ceiling (kgp.txt Table 1).
    """
    corpus, questions = experiment.benchmark.corpus, experiment.questions
    contexts: dict[str, list[list[str]]] = {"none": [[] for _ in questions]}
    for name, rankings in experiment.rankings.items():
        found = [
            [corpus[id].full_text for id in rankings[question.id].ids[:n]] for question in questions
        ]
        contexts[name] = [_first(texts, n_tokens) for texts in found]
    return contexts | {
        "golden": [
            [corpus[id].full_text for id in question.supporting_ids] for question in questions
        ]
    }


def _first(texts: list[str], n_tokens: float) -> list[str]:
    if math.isinf(n_tokens) or not texts:
        return texts
    sizes = [len(ids) for ids in Encoder().model.tokenizer(texts, verbose=False)["input_ids"]]
    return texts[: max(1, int((np.cumsum(sizes) <= n_tokens).sum()))]


def read_answers(
    reader: Reader, questions: Sequence[Question], contexts: Mapping[str, Sequence[Sequence[str]]]
) -> pd.DataFrame:
    """A row a context, named ``retriever``, and question, with the reader's answer from its texts, best first.

    Columns: retriever, question, hops, type, answer, ``em``, ``f1``, ``accuracy`` (by containment) and ``words``, the
    length of the normalised answer. Raises InputError for a question without an answer.
    """
    for question in questions:
        if not question.answer:
            raise InputError(
                "expected an answer to compare with", record=question.id, field="answer"
            )
    rows = []
    for name, texts in tqdm(contexts.items(), desc=f"reading ({reader.name})"):
        for question, answer in zip(
            questions, reader.answer([q.text for q in questions], texts), strict=True
        ):
            right = question.answers
            row = {
                "retriever": name,
                "question": question.id,
                "hops": question.hops,
                "type": question.type,
            }
            row |= {"answer": answer, "em": exact_match(answer, right), "f1": f1(answer, right)}
            rows.append(
                row | {"accuracy": contains(answer, right), "words": len(normalise(answer).split())}
            )
    return pd.DataFrame(rows)


def judge_answers(
    table: pd.DataFrame, questions: Sequence[Question], model: LanguageModel
) -> pd.DataFrame:
    """The table with ``judged``, 1 where a model says right (kgp.txt Listing 5), and ``unclear``, 1 where neither."""
    asked = {question.id: (question.text, question.answer) for question in questions}
    replies = model.generate(
        [grading_prompt(*asked[row.question], row.answer) for row in table.itertuples()]
    )
    grades = [grade(reply.text) for reply in replies]
    return table.assign(
        judged=[float(of is True) for of in grades], unclear=[float(of is None) for of in grades]
    )


class Reading:
    """What is asked about answers: who reads, how much of each ranking, which must have ``n`` passages, who judges."""

    def __init__(self, reader: Reader, size: str, judge: str | None = None) -> None:
        """``size`` is a number of passages, or of tokens, as in ``3500tokens``."""
        number, unit = re.fullmatch(r"(\d*)(.*)", size, re.DOTALL).groups()
        if unit not in ("", "tokens") or not int(number or 0):
            expected = "expected a number of passages, such as 30, or of tokens, such as 3500tokens"
            raise InputError(f"{expected}, not {size}", field="read")
        # Passages that fill a context have more than 50 tokens on average.
        self.n, self.n_tokens = (
            (math.ceil(int(number) / 50), int(number)) if unit else (int(number), math.inf)
        )
        self.reader, self.size, self.judge = reader, size, judge and language_model(judge)

    def answers(self, experiment: Experiment) -> Experiment:
        """The experiment with answers measured, for rankings: those from nothing and from the supports, too."""
        questions, contexts = experiment.questions, contexts_of(experiment, self.n, self.n_tokens)
        table = read_answers(self.reader, questions, contexts)
        table = judge_answers(table, questions, self.judge) if self.judge else table
        usages = {"reader": self.reader.usage(), "judge": self.judge and self.judge.usage()}
        usages = {role: usage for role, usage in usages.items() if usage is not None}
        return replace(
            experiment,
            table=table,
            rankings=experiment.rankings | dict.fromkeys(contexts),
            usages=usages,
        )

    def record(self, answers: Experiment) -> dict[str, dict[str, object]]:
        """Who read how much, and who judged: name, size, and a language model's usage."""
        told = {"reader": {"name": self.reader.name, "size": self.size}}
        told |= {"judge": {"name": self.judge.name}} if self.judge else {}
        for role, usage in answers.usages.items():
            told[role]["usage"] = usage.to_dict("records")
        return told
