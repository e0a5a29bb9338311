"""Answers: what a reader makes of each retriever's passages, and how good that is.

As in KGP Table 1. Every question counts for every retriever: an answer that is empty, or that
no judge judges, is wrong (kgp-i25).
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from math import ceil, inf, isinf

import numpy as np
from pandas import DataFrame, concat

from kit import cost
from kit.corpus import Question
from kit.corpus.types import Questions
from kit.errors import InputError, note
from kit.evaluation.results import Experiment
from kit.progress import progress_bar
from kit.readers.base import Contexts, LanguageModelReader, Reader
from kit.readers.scoring import contains, exact_match, f1, nearest_option, normalise
from kit.text import Encoder, language_model
from kit.text.language_models import LanguageModel
from kit.text.prompts import grading_prompt
from kit.text.replies import grade

TOKENS_A_PASSAGE = 50  # at least, of passages that fill a context
LONGEST_REPLY = 128  # tokens: a reader may go through the steps before it answers


def reader_of(text: str) -> Reader:
    """A reader by its name, ``extractive`` or ``ras``, or a language model.

    Raises :class:`InputError` for others.
    """
    if text == "extractive":
        from kit.readers.extractive import ExtractiveReader  # loads torch

        return ExtractiveReader()
    if text == "ras":
        from kit.methods.ras.answerer import GraphReader

        return GraphReader()
    if ":" not in text:
        raise InputError(
            "expected a reader: extractive, ras, or a language model such as server:MODEL; "
            f"not {text!r}",
            field="reader",
        )
    return LanguageModelReader(language_model(text, longest_answer=LONGEST_REPLY))


def contexts_of(
    experiment: Experiment,
    n: int,
    n_tokens: float = inf,
    as_paths: bool = False,
) -> dict[str, list[list[str]]]:
    """What a reader gets: by retriever and question the texts of the first ``n`` passages.

    They end before ``n_tokens``, as the default encoder counts them, but not before the first.
    ``as_paths``: of methods that walk, KGP and MDR, the first ``n`` paths, the passages of each
    joined to one text (KGP Listing 4).
    ``none`` and ``golden``, no passage and the supports alone, are the floor and the ceiling
    (KGP Table 1).
    """
    corpus = experiment.benchmark.corpus
    contexts = {"none": [[] for _ in experiment.questions]}
    for name, rankings in experiment.rankings.items():
        contexts[name] = []
        for question in experiment.questions:
            ranking = rankings[question.id]
            units = [(passage,) for passage in ranking.ids]
            if as_paths and ranking.paths:
                units = ranking.paths
            texts = []
            for unit in units[:n]:
                texts.append("\n".join(corpus[passage].full_text for passage in unit))
            contexts[name].append(_within(texts, n_tokens))

    contexts["golden"] = []
    for question in experiment.questions:
        contexts["golden"].append(
            [corpus[passage].full_text for passage in question.supporting_ids]
        )
    return contexts


def _within(texts: list[str], n_tokens: float) -> list[str]:
    """The first texts that have no more than so many tokens; at least one."""
    if isinf(n_tokens) or not texts:
        return texts
    tokens = Encoder().model.tokenizer(texts, verbose=False)["input_ids"]
    sizes = np.cumsum(list(map(len, tokens)))
    return texts[: max(1, int((sizes <= n_tokens).sum()))]


def read_answers(
    reader: Reader,
    questions: Questions,
    contexts: Mapping[str, Contexts],
) -> DataFrame:
    """The reader's answers from its texts, best first: a row per context and question.

    Columns: retriever (the context's name), question, hops, type, answer, ``em``, ``f1``,
    ``accuracy`` (by containment) and ``words``, the length of the normalised answer. Where the
    questions have options the reader chooses one, and all three measures are whether it is the
    right one. The questions are those that are :func:`answerable`.
    """
    with_answer = answerable(questions)
    rows = []
    queries = [question.text for question in with_answer]
    options = [question.options for question in with_answer]
    for name, texts in progress_bar(contexts.items(), desc=f"reading ({reader.name})"):
        texts_of = dict(zip([question.id for question in questions], texts, strict=True))
        read = [texts_of[question.id] for question in with_answer]
        if all(options):
            answers = reader.choose(queries, read, options)
        else:
            answers = reader.answer(queries, read)
        for question, answer in zip(with_answer, answers, strict=True):
            rows.append(_scored(name, question, answer))
    return DataFrame(rows)


def answerable(questions: Questions) -> list[Question]:
    """The questions that have an answer to compare with; a note tells how many have none.

    Raises :class:`InputError` where none has one.
    """
    with_answer = [question for question in questions if question.answer.strip()]
    n = len(questions)
    if not with_answer:
        raise InputError(f"expected an answer to compare with, all {n} questions have none")
    if n_left_out := n - len(with_answer):
        note(
            f"{n_left_out} of {n} questions have no answer to compare with: "
            "they are left out where answers are measured"
        )
    return with_answer


def own_answers(experiment: Experiment) -> DataFrame:
    """What the methods themselves answer (loops in which a chat model thinks), as read answers.

    A method that answers any question has a row for every one, as ``NAME, own answer``.
    """
    rows = []
    for name, rankings in experiment.rankings.items():
        if any(ranking.answer for ranking in rankings.values()):
            for question in answerable(experiment.questions):
                answer = rankings[question.id].answer
                rows.append(_scored(f"{name}, own answer", question, answer))
    return DataFrame(rows)


def _scored(name: str, question: Question, answer: str) -> dict[str, object]:
    return {
        "retriever": name,
        "question": question.id,
        "hops": question.hops,
        "type": question.type,
        "answer": answer,
        **_scores(question, answer),
        "words": len(normalise(answer).split()),
    }


def _scores(question: Question, answer: str) -> dict[str, float]:
    """How good an answer is; one to a question with options means the nearest of them."""
    if question.options and answer:
        is_right = nearest_option(answer, question.options) == question.answer
        return dict.fromkeys(("em", "f1", "accuracy"), float(is_right))
    return {
        "em": exact_match(answer, question.answers),
        "f1": f1(answer, question.answers),
        "accuracy": contains(answer, question.answers),
    }


def judge_answers(
    table: DataFrame,
    questions: Questions,
    model: LanguageModel,
) -> DataFrame:
    """The table with the grades of a model (KGP Listing 5).

    ``judged`` is 1 where it says right, and ``unclear`` 1 where it says neither right nor wrong.
    """
    by_id = {question.id: question for question in questions}
    prompts = []
    for row in table.itertuples():
        question = by_id[row.question]
        prompts.append(grading_prompt(question.text, question.answer, row.answer))

    grades = [grade(reply.text) for reply in model.generate(prompts)]
    cost.count(unread=grades.count(None))
    return table.assign(
        judged=[float(right is True) for right in grades],
        unclear=[float(right is None) for right in grades],
    )


class Reading:
    """How answers are asked for: who reads, how much of each ranking, and who judges.

    A ranking must have ``n`` passages for it.
    """

    def __init__(
        self,
        reader: Reader,
        size: str,
        judge: str | None = None,
    ) -> None:
        """``size`` counts passages (``30``), tokens (``3500tokens``), or paths (``30paths``)."""
        count, unit = re.fullmatch(r"(\d*)(.*)", size, re.DOTALL).groups()
        if unit not in ("", "tokens", "paths") or not int(count or 0):
            raise InputError(
                "expected a number of passages, such as 30, or of tokens, such as 3500tokens, "
                f"not {size}",
                field="read",
            )

        self.reader = reader
        self.size = size
        self.judge = judge and language_model(judge)
        self.n = int(count)
        self.n_tokens = inf
        self.as_paths = unit == "paths"
        if unit == "tokens":
            self.n_tokens = self.n
            self.n = ceil(self.n / TOKENS_A_PASSAGE)

    def answers(self, experiment: Experiment) -> Experiment:
        """The experiment with answers measured in place of rankings.

        Those from nothing and from the supports are among them, and those that the methods give
        themselves.
        """
        contexts = contexts_of(experiment, self.n, self.n_tokens, self.as_paths)
        table = read_answers(self.reader, experiment.questions, contexts)
        loops_answers = own_answers(experiment)
        if len(loops_answers):
            table = concat([table, loops_answers], ignore_index=True)
        usages = {"reader": self.reader.usage()}
        if self.judge:
            table = judge_answers(table, experiment.questions, self.judge)
            usages["judge"] = self.judge.usage()
        return replace(
            experiment,
            table=table,
            runs=None,
            rankings=experiment.rankings | dict.fromkeys(table["retriever"].unique()),
            usages={role: usage for role, usage in usages.items() if usage is not None},
        )

    def record(self, answers: Experiment) -> dict[str, dict[str, object]]:
        """Who read how much, and who judged: name, size, and a language model's usage.

        ``n_questions`` are those that have an answer to compare with.
        """
        record = {
            "reader": {
                "name": self.reader.name,
                "size": self.size,
                "n_questions": answers.table["question"].nunique(),
            },
        }
        if self.judge:
            record["judge"] = {"name": self.judge.name}
        for role, usage in answers.usages.items():
            record[role]["usage"] = usage.to_dict("records")
        return record
