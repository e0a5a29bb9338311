"""What a reader answers from the passages of KGP and of its rivals (KGP Table 1, Figure 1)."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from pandas import DataFrame

from kit.corpus import Benchmark
from kit.corpus.types import Questions, Texts
from kit.evaluation import Experiment
from kit.evaluation.answers import Reading, reader_of
from kit.lab.claims.findings import cannot_read
from kit.methods import Retriever, make
from kit.readers.base import Reader

FEWER = 5  # passages, from which every reader can answer


class Answers(NamedTuple):
    """What a reader answers: questions × methods, with ``none`` and ``golden`` among these.

    ``exact`` are exact matches from the passages that the paper gives, ``overlap`` F1 from five.
    ``taught`` is what the reader learned with. ``unread`` and ``unread_overlap`` say why the
    answers are no test, if so.
    """

    exact: DataFrame
    overlap: DataFrame
    taught: Sequence[Retriever]
    unread: str = ""
    unread_overlap: str = ""


def taught_reader(
    training: Benchmark | None,
    on_atlas: bool,
    n: int,
    model: str = "",
    **settings: object,
) -> Reader:
    """The language model that is named, or else a reader that learned from training questions.

    On the atlas that is RAS's, which reads 30 passages in a moment. Elsewhere it is the extractive
    one, which learns from ``n`` questions (0: all).
    """
    if model:
        return reader_of(model)
    if on_atlas:
        reader = reader_of("ras")
        reader.fit(training)
        return reader

    from kit.readers.extractive import ExtractiveReader  # loads torch

    lessons = Benchmark(
        training.name,
        training.corpus,
        train=training.train[: n or None],
        dev=training.dev[:60],
    )
    reader = ExtractiveReader(**settings)
    reader.fit(lessons)
    return reader


def read_by(
    reader: Reader,
    experiment: Experiment,
    names: Texts,
    questions: Questions,
    n_passages: int,
) -> tuple[Answers, Experiment]:
    """The answers to some questions from ``n_passages`` of each method; also as an experiment."""
    few = replace(experiment.only(names), questions=tuple(questions))
    many = Reading(reader, str(n_passages)).answers(few)
    five = many if n_passages == FEWER else Reading(reader, str(FEWER)).answers(few)

    order = [question.id for question in questions]
    at_five = {}
    for metric in ("em", "f1"):
        wide = five.table.pivot(index="question", columns="retriever", values=metric)
        at_five[metric] = wide.reindex(order).dropna()
    exact = many.table.pivot(index="question", columns="retriever", values="em")

    why = {}
    for metric, values in at_five.items():
        golden = values["golden"].to_numpy()
        nothing = values["none"].to_numpy()
        why[metric] = cannot_read(golden, nothing, **experiment.draws)
    taught = {"ras": (make("ras"),), "extractive": (reader,)}.get(reader.name, ())
    exact = exact.reindex(order).dropna()
    return Answers(exact, at_five["f1"], taught, why["em"], why["f1"]), many
