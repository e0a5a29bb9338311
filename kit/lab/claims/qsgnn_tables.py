"""The tables of QSGNN's paper, of our corpus, questions, methods and readers."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import pandas as pd
from pandas import DataFrame

from kit.corpus import Benchmark
from kit.corpus.types import Questions, Texts
from kit.evaluation import Experiment, per_question
from kit.evaluation.answers import Reading, read_answers, reader_of
from kit.lab.claims.findings import cannot_read
from kit.lab.claims.qsgnn_networks import sentences_of
from kit.lab.lesson import Lesson
from kit.methods import Retriever, make
from kit.methods.qsgnn.retriever import QSGNN
from kit.readers.base import Reader
from kit.readers.extractive import ExtractiveReader
from kit.views.names import metric_name, name_of

POLICIES = ("ircot", "selfask", "iter-retgen")
N_READ = "5"  # passages
N_CHOSEN_ON = 60  # dev questions, on which a reader's weights are chosen
ATLAS_MODEL = "t5:data/planner"  # the small language model that knows the atlas's relations


# ---- Tables 1 and 7


def graph_sizes(network: QSGNN) -> DataFrame:
    """How many entities, sentences and documents the graph of a corpus has."""
    counts = {
        "Entity": len(network.graph.entities),
        "Chunk": len(network.graph.chunks),
        "Document": len(network.corpus),
    }
    return DataFrame({"nodes": list(counts), "number": list(counts.values())})


def question_counts(splits: Mapping[str, Questions]) -> DataFrame:
    """How many questions of each number of hops there are, a row per split."""
    rows = []
    for name, questions in splits.items():
        counts = pd.Series([question.hops for question in questions]).value_counts().sort_index()
        by_hops = {f"{hops} hops": count for hops, count in counts.items()}
        rows.append({"questions": name, **by_hops, "all": len(questions)})
    return DataFrame(rows)


# ---- Tables 2, 4 and 9


def table_of(experiment: Experiment, ks: Sequence[int] = (2, 5)) -> DataFrame:
    """Recall at some cut-offs, in percent, a row per method (Table 2)."""
    metrics = [f"recall@{k}" for k in ks]
    means = 100 * experiment.table.groupby("retriever", sort=False)[metrics].mean()
    return _in_words(means)


def table_by_hops(experiment: Experiment, metric: str = "recall@5") -> DataFrame:
    """A metric in percent by hops, a row per method; the last row counts questions (Table 4)."""
    rows = experiment.table
    wide = 100 * rows.pivot_table(metric, "retriever", "hops", sort=False)
    wide = wide.loc[list(experiment.rankings)].sort_index(axis="columns")
    wide.loc["questions"] = rows.groupby("hops")["question"].nunique()
    return _in_words(wide.rename(columns="{} hops".format))


def _in_words(means: DataFrame) -> DataFrame:
    """Methods and metrics by their names; the methods as a column."""
    return means.rename(index=name_of, columns=metric_name).rename_axis("method").reset_index()


# ---- Tables 3 and 8: answers


class Answers(NamedTuple):
    """What a reader answers from five passages of each method.

    ``table`` has em and f1 per question and method, ``none`` and ``golden`` among these.
    ``taught`` is what the reader learned with, ``unread`` says why its answers are no test, if so.
    """

    reader: Reader
    table: DataFrame
    taught: Sequence[Retriever | Reader]
    unread: str

    def wide(self, metric: str, names: Texts = ()) -> DataFrame:
        """A metric, questions × methods."""
        values = self.table.pivot(index="question", columns="retriever", values=metric)
        order = self.table["question"].drop_duplicates()
        chosen = [name for name in names if name in values] if names else list(values)
        return values.loc[order, chosen]

    def means(self) -> DataFrame:
        """Exact match and F1 in percent, a row per method."""
        means = 100 * self.table.groupby("retriever", sort=False)[["em", "f1"]].mean()
        return _in_words(means)


def readers_for(paper: Lesson, model: str = "") -> dict[str, Reader]:
    """The small readers in the place of the paper's two language models, and ``model``.

    On the atlas RAS's reader comes first, which knows its relations.
    """
    readers = {}
    training = paper.training
    if training and any(question.answer for question in training.train):
        if paper.benchmark.name == "atlas":
            readers["ras"] = reader_of("ras")
            readers["ras"].fit(training)
        readers["extractive"] = ExtractiveReader(**paper.scale.reader)
        lessons = replace(
            training,
            train=training.train[: paper.scale.n_lessons or None],
            dev=training.dev[:N_CHOSEN_ON],
        )
        readers["extractive"].fit(lessons)
    if model:
        readers = {model: reader_of(model)} | readers
    return readers


def loops_for(paper: Lesson, model: str = "", policies: Texts = POLICIES) -> dict[str, Retriever]:
    """Loops in which the atlas's small language model, gold fields, or ``model`` think.

    Where gold fields do, which are more than a model knows, names say so.
    """
    is_atlas = paper.benchmark.name == "atlas"
    thinks = model or (ATLAS_MODEL if is_atlas else "gold")
    if thinks == "gold" and not _has_steps(paper.questions):
        return {}

    loops = {name: make(name, model=thinks) for name in policies}
    for name in policies:
        if name != "selfask":
            loops[f"{name}, rgnn-ret"] = make(name, model=thinks, inner="rgnn-ret")
    loops["rgnn-ret"] = make("rgnn-ret", decomposer=thinks)
    if is_atlas and not model:
        loops["ras"] = make("ras")
    if thinks == "gold":
        return {f"{name} (gold)": loop for name, loop in loops.items()}
    return loops


def _has_steps(questions: Questions) -> bool:
    """Whether any question says of which steps it consists."""
    return any(question.decomposition or question.triples for question in questions)


def answers_of(
    reader: Reader,
    experiment: Experiment,
    names: Texts,
    **draws: int,
) -> Answers:
    """What a reader answers from the first five passages of some methods."""
    table = Reading(reader, N_READ).answers(experiment.only(names)).table
    taught = {"ras": (make("ras"),), "extractive": (reader,)}
    answers = Answers(reader, table, taught.get(reader.name, ()), "")
    f1 = answers.wide("f1")
    unread = cannot_read(f1["golden"].to_numpy(), f1["none"].to_numpy(), **draws)
    return answers._replace(unread=unread)


def with_sentences(answers: Answers, network: QSGNN, benchmark: Benchmark) -> DataFrame:
    """F1 from five documents of QSGNN and from its ten best sentences (Table 10)."""
    network.index(benchmark.corpus)
    sentences = [sentences_of(network, question) for question in benchmark.test]
    read = read_answers(answers.reader, benchmark.test, {"sentences": sentences})
    of_sentences = read.set_index("question")["f1"]
    f1 = answers.wide("f1", ["qsgnn"])
    return f1.assign(sentences=of_sentences)


def found_and_answered(experiment: Experiment, answers: Answers, names: Texts) -> DataFrame:
    """Recall@5 and F1 of each method, means of the questions that were read."""
    f1 = answers.wide("f1", names)
    recalls = per_question(experiment, "recall@5").loc[f1.index, list(f1)]
    rows = {"recall@5": 100 * recalls.mean(), "f1": 100 * f1.mean()}
    return _in_words(DataFrame(rows))
