"""Answers: what a reader makes of the passages that each retriever found, and how good that is (kgp.txt Table 1).

Every question counts for every retriever: an answer that is empty, or that no judge judges, is wrong (kgp-i25).
"""

from collections.abc import Mapping, Sequence

import pandas as pd
from tqdm.auto import tqdm

from kit.corpus import Benchmark, Corpus, Question, load
from kit.errors import InputError
from kit.evaluation import statistics
from kit.evaluation.experiment import SEED, Experiment, by_question
from kit.retrievers.ras_answerer import GraphReader
from kit.text.language_models import LanguageModel, language_model
from kit.text.prompts import grade, grading_prompt
from kit.text.reader import ExtractiveReader, Learning, Reader
from kit.text.reader import reader as make_reader
from kit.text.scoring import contains, exact_match, f1, normalise

MEASURES = ("em", "f1", "accuracy", "judged", "unclear", "words")


def contexts_of(
    experiment: Experiment, n_passages: int, questions: Sequence[Question] = ()
) -> dict[str, list[list[str]]]:
    """What a reader gets from each retriever, with each training seed: the texts of its first passages, by question."""
    corpus, contexts = experiment.benchmark.corpus, {}
    for name in [name for name in experiment.by_seed if name.split(SEED)[0] in experiment.rankings]:
        found = [experiment.by_seed[name][question.id] for question in questions or experiment.questions]
        contexts[name] = [[corpus[id].full_text for id in ranking.ids[:n_passages]] for ranking in found]
    return contexts


def read_answers(
    reader: Reader, questions: Sequence[Question], contexts: Mapping[str, Sequence[Sequence[str]]]
) -> pd.DataFrame:
    """A row a context, named ``retriever``, and question, with the reader's answer from its texts, best first.

    Columns: retriever, question, hops, type, answer, ``em``, ``f1``, ``accuracy`` (by containment) and ``words``, the
    length of the normalised answer. Raises InputError for a question without an answer.
    """
    for question in questions:
        if not question.answer:
            raise InputError("expected an answer to compare with", record=question.id, field="answer")
    rows = []
    for name, texts in tqdm(contexts.items(), desc=f"reading ({reader.name})"):
        for question, answer in zip(questions, reader.answer([q.text for q in questions], texts), strict=True):
            right = (question.answer, *question.aliases)
            row = {"retriever": name, "question": question.id, "hops": question.hops, "type": question.type}
            row |= {"answer": answer, "em": exact_match(answer, right), "f1": f1(answer, right)}
            rows.append(row | {"accuracy": contains(answer, right), "words": len(normalise(answer).split())})
    return pd.DataFrame(rows)


def judge_answers(table: pd.DataFrame, experiment: Experiment, model: LanguageModel) -> pd.DataFrame:
    """The table with ``judged``, 1 where a model says right (kgp.txt Listing 5), and ``unclear``, 1 where neither."""
    asked = {question.id: (question.text, question.answer) for question in experiment.questions}
    replies = model.generate([grading_prompt(*asked[row.question], row.answer) for row in table.itertuples()])
    grades = [grade(reply.text) for reply in replies]
    return table.assign(judged=[float(of is True) for of in grades], unclear=[float(of is None) for of in grades])


def summarise_answers(table: pd.DataFrame, *, seed: int = 0, n_resamples: int = statistics.N_RESAMPLES) -> pd.DataFrame:
    """Means over questions with 95 % bootstrap intervals: retriever, metric, mean, low, high, n (questions)."""
    values = by_question(table, [measure for measure in MEASURES if measure in table])
    found = statistics.intervals(values, seed, n_resamples=n_resamples).reset_index()
    return found[["retriever", "metric", "mean", "low", "high", "n"]]


def lessons_of(training: Benchmark) -> list[Benchmark]:
    """What a reader learns from: the training questions, and those of the atlas."""
    return [training] if training.name == "atlas" else [training, load()]


def reader_of(text: str) -> Reader:
    """``ras``, its answerer over the triples of any passages, or one of :func:`kit.text.reader.reader`."""
    return GraphReader() if text == GraphReader.name else make_reader(text)


def with_spans(questions: Sequence[Question], corpus: Corpus, n: int) -> list[Question]:
    """The first n whose answer a reader can copy: it stands in a support, and is no yes or no."""
    asked = [question for question in questions if normalise(question.answer) not in ("", "yes", "no")]
    return [of for of in asked if any(contains(corpus[id].full_text, [of.answer]) for id in of.supporting_ids)][:n]


def brief_reader(training: Benchmark, n: int) -> Reader:
    """An extractive reader that learned from n training questions :func:`with_spans`, and as many of the atlas.

    Few questions teach a reader no yes, no or count: it would give one of them to everything.
    """
    parts = []
    for of in lessons_of(training):
        train, dev = with_spans(of.train, of.corpus, n), with_spans(of.dev, of.corpus, n // 2)
        parts.append(Benchmark(of.name, of.corpus, train=train, dev=dev))
    made = ExtractiveReader(learning=Learning(tokens=512))  # small batches: few questions in many steps
    made.fit(parts[0], parts[1:])
    return made


class AnswerOptions:
    """What ``kit evaluate`` is asked about answers; without a reader there are none, and nothing is added anywhere."""

    def __init__(self, reader: str | None, n_passages: int | None, most: int, none: bool, judge: str | None) -> None:
        if reader is None and (judge or none or n_passages is not None):
            raise InputError("expected a reader (--reader), whose answers are meant", field="reader")
        self.n_passages = most if n_passages is None else n_passages
        if not 1 <= self.n_passages <= most:
            raise InputError(f"expected a number from 1 to {most}, the largest k, not {n_passages}", field="read")
        self.reader, self.none = reader and reader_of(reader), none
        self.judge = judge and language_model(judge)

    def fit(self, training: Benchmark) -> None:
        if self.reader:
            first, *more = lessons_of(training)
            self.reader.fit(first, more)

    def answers(self, experiment: Experiment) -> pd.DataFrame | None:
        """:func:`summarise_answers` of the experiment's answers."""
        if self.reader is None:
            return None
        questions, contexts = experiment.questions, contexts_of(experiment, self.n_passages)
        contexts = ({"none": [[] for _ in questions]} if self.none else {}) | contexts
        table = read_answers(self.reader, questions, contexts)
        table = judge_answers(table, experiment, self.judge) if self.judge else table
        return summarise_answers(table, **experiment.draws)

    def usages(self) -> dict[str, pd.DataFrame]:
        """What the language models were used for, by their roles."""
        usages = {"reader": self.reader and self.reader.usage(), "judge": self.judge and self.judge.usage()}
        return {role: usage for role, usage in usages.items() if usage is not None}

    def record(self) -> dict[str, dict[str, object]]:
        """Who answered, and who judged: name (of the reader n_passages, too) and a language model's usage."""
        told = {"reader": {"name": self.reader.name, "n_passages": self.n_passages}} if self.reader else {}
        told |= {"judge": {"name": self.judge.name}} if self.judge else {}
        for role, usage in self.usages().items():
            told[role]["usage"] = usage.to_dict("records")
        return told
