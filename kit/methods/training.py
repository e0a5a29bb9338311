"""What the methods that learn share: questions to learn from, and how a model is chosen on dev questions."""

from collections.abc import Sequence

import numpy as np

from kit.corpus import Benchmark, Corpus, Question
from kit.errors import InputError
from kit.methods.base import Retriever
from kit.text import TfidfIndex

DEV_PASSAGES, DEV_CUT = 5, 5  # a model is chosen by Recall@5 over a pool of passages


def expect_training(benchmark: Benchmark, n_train: int, name: str) -> None:
    """Raises :class:`InputError` where a retriever finds fewer training questions than ``n_train``, or none."""
    if not benchmark.train or len(benchmark.train) < n_train:
        expected = f"expected {n_train or 'some'} training questions (--train FILE) for {name}, which learns"
        raise InputError(f"{expected}, found {len(benchmark.train)}", record=benchmark.name)


def dev_recall(retriever: Retriever, questions: Sequence[Question]) -> float:
    """The mean Recall@5 of a retriever that has indexed its corpus; 0 without questions."""
    rankings = retriever.retrieve_many([question.query for question in questions], DEV_CUT)
    found = [
        np.mean([not set(ranking.ids).isdisjoint(carriers) for carriers in question.supporting])
        for question, ranking in zip(questions, rankings)
    ]
    return float(np.mean(found)) if found else 0.0


def draw(questions: Sequence[Question], n: int, seed: int) -> list[Question]:
    """At most n of the questions, drawn without repetition and in their order."""
    picks = np.random.default_rng(seed).permutation(len(questions))[:n]
    return [questions[pick] for pick in sorted(picks)]


def pool(questions: Sequence[Question], corpus: Corpus, index: TfidfIndex) -> Corpus:
    """The supports of the questions and the passages nearest to each: small, and hard enough to choose a model on."""
    rows = {corpus.row[id] for question in questions for id in question.supporting_ids}
    rows.update(*index.nearest([question.text for question in questions], DEV_PASSAGES))
    return corpus.subset(sorted(rows))
