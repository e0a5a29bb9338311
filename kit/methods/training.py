"""What methods that learn share: training questions, and how a model is chosen on dev questions."""

import numpy as np

from kit.corpus import Benchmark, Corpus, Question
from kit.corpus.types import Questions
from kit.errors import InputError
from kit.methods.base import Retriever
from kit.text import TfidfIndex

DEV_CUT = 5  # a model is chosen by its Recall@5
DEV_PASSAGES = 5  # those nearest to a dev question, which are searched when a model is chosen


def expect_training(
    benchmark: Benchmark,
    learnable: Questions,
    n_train: int,
    name: str,
    having: str = "",
) -> None:
    """Raise :class:`InputError` for fewer ``learnable`` questions than ``n_train``, or none.

    ``having`` says what these have, such as `` with evidence graphs``.
    """
    if len(learnable) < max(n_train, 1):
        raise InputError(
            f"expected {n_train or 'some'} training questions{having} (--train FILE) "
            f"for {name}, which learns, found {len(learnable)}",
            record=benchmark.name,
        )


def dev_recall(retriever: Retriever, questions: Questions) -> float:
    """The mean Recall@5 of a retriever that has indexed its corpus; 0 without questions."""
    queries = [question.query for question in questions]
    rankings = retriever.retrieve_many(queries, DEV_CUT)
    recalls = []
    for question, ranking in zip(questions, rankings):
        ids = set(ranking.ids)
        hits = [not ids.isdisjoint(carriers) for carriers in question.supporting]
        recalls.append(np.mean(hits))
    return float(np.mean(recalls)) if recalls else 0.0


def draw(questions: Questions, n: int, seed: int) -> list[Question]:
    """At most n of the questions, drawn without repetition and in their order."""
    picks = np.random.default_rng(seed).permutation(len(questions))[:n]
    return [questions[pick] for pick in sorted(picks)]


def draw_dev(benchmark: Benchmark, n: int, seed: int) -> list[Question]:
    """At most n of the dev questions whose supports are known."""
    supported = [question for question in benchmark.dev if question.supporting]
    return draw(supported, n, seed)


def pool(questions: Questions, corpus: Corpus, index: TfidfIndex) -> Corpus:
    """The supports of the questions and the passages nearest to each.

    Small, and hard enough to choose a model on.
    """
    rows = set().union(*index.nearest([question.text for question in questions], DEV_PASSAGES))
    for question in questions:
        rows.update(corpus.row[support] for support in question.supporting_ids)
    return corpus.subset(sorted(rows))
