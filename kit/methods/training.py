"""What methods that learn share: training questions, and how a model is chosen on dev questions."""

import numpy as np

from kit.corpus import Benchmark, Corpus, Query, Question
from kit.corpus.types import Questions
from kit.errors import InputError
from kit.methods.base import Retriever
from kit.text import TfidfIndex

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


def query_for(retriever: Retriever, question: Question) -> Query:
    """What a retriever may see of a question."""
    return question.gold_query if retriever.sees_gold else question.query


def recalls(retriever: Retriever, questions: Questions, k: int) -> list[float]:
    """Recall@k of each question, of a retriever that has indexed its corpus."""
    queries = [query_for(retriever, question) for question in questions]
    values = []
    for question, ranking in zip(questions, retriever.retrieve_many(queries, k)):
        ids = set(ranking.ids)
        hits = [not ids.isdisjoint(carriers) for carriers in question.supporting]
        values.append(float(np.mean(hits)))
    return values


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
