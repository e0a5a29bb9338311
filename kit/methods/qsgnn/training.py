"""How QSGNN learns: pre-training on synthetic questions, then fine-tuning (qsgnn.txt §3.3, Eq. 5).

The paper's symbols and the names here: sim(q, h) are ``cosines``, of supports the ``positives`` and
of Neg the ``negatives``; τ is ``temperature``; M are the questions of a :class:`QuestionBatch`.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from numpy import ndarray
from torch import Tensor

from kit.corpus import Benchmark
from kit.learning.training import (
    CHECKS,
    Period,
    Slot,
    Trainer,
    mixed_precision,
    parts_of_epoch,
)
from kit.methods.qsgnn.questions import TrainingQuestion, synthetic_questions
from kit.methods.training import dev_recall, draw, draw_dev
from kit.text.triples import extract

if TYPE_CHECKING:
    from kit.methods.qsgnn.retriever import QSGNN

BATCH = 12  # questions per step
TRAINING_DOCUMENTS = 40  # at least, in the graph around each question: the supports, and others
MOST_SUPPORTS = 4  # … from which the negatives are drawn (qsgnn-i06)
DEV_QUESTIONS = 60  # by whose Recall@5 weights are chosen
LEARNING_RATES = (1e-3, 5e-4)  # the highest of pre-training and of fine-tuning


class QuestionBatch(NamedTuple):
    """Questions to learn from, and what their negatives are drawn by."""

    questions: Sequence[TrainingQuestion]
    generator: np.random.Generator


class Stage(NamedTuple):
    """Pre-training (0) or fine-tuning (1): questions, through which it goes ``epochs`` times."""

    index: int
    questions: Sequence[TrainingQuestion]
    epochs: int
    seed: int

    def periods(self) -> list[Callable[[], Period]]:
        parts = itertools.product(range(self.epochs), range(CHECKS))
        return [partial(self.period, epoch, part) for epoch, part in parts]

    def period(self, epoch: int, part: int) -> Period:
        """The batches between two checks."""
        seeds = [self.seed, self.index, epoch]
        order = np.random.default_rng(seeds).permutation(len(self.questions))
        picks = parts_of_epoch(order)[part]
        n_batches = math.ceil(len(picks) / BATCH)
        generator = np.random.default_rng([*seeds, part])

        batches = []
        for group in np.array_split(picks, max(n_batches, 1)):
            if len(group):
                questions = [self.questions[pick] for pick in group]
                batches.append(QuestionBatch(questions, generator))
        return Period(
            batches,
            step=(epoch * CHECKS + part) * n_batches,
            total=self.epochs * CHECKS * n_batches,
            learning_rate=LEARNING_RATES[self.index],
            notes={"stage": self.index},
        )


def train(
    learner: "QSGNN",
    benchmark: Benchmark,
    slot: Slot,
) -> Path:
    """Train the network of ``learner``, which has its graph, and return the weights' folder."""
    settings = learner.settings
    extractions = extract(benchmark.corpus, settings.triples)
    synthetic = synthetic_questions(extractions, settings.synthetic, settings.seed)
    labelled = labelled_questions(benchmark, settings.n_train, settings.seed)
    stages = {
        "pre-training": Stage(0, synthetic, 1, settings.seed),
        "fine-tuning": Stage(1, labelled, settings.epochs, settings.seed),
    }
    periods = []
    for name, stage in stages.items():
        if stage.questions and name != settings.ablate:
            periods += stage.periods()

    # A check takes no longer than what it checks.
    n_dev = min(DEV_QUESTIONS, max(len(synthetic), len(labelled)))
    dev = draw_dev(benchmark, n_dev, settings.seed)
    checked = learner.variant(documents=TRAINING_DOCUMENTS)  # the same network
    trainer = Trainer(
        learner.network,
        torch.optim.AdamW(learner.network.parameters(), weight_decay=0.0),
        partial(batch_loss, learner),
        check=lambda step: {"measured": dev_recall(checked, dev)},
        latest_of_equals=True,
    )
    return trainer.run(periods, slot)


def labelled_questions(benchmark: Benchmark, n: int, seed: int) -> list[TrainingQuestion]:
    """At most ``n`` training questions that have supports, or all where n is 0."""
    rows = benchmark.corpus.row
    labelled = []
    for question in draw(benchmark.train, n or len(benchmark.train), seed):
        supports = tuple(rows[support] for support in question.supporting_ids)
        if supports:
            labelled.append(TrainingQuestion(question.text, supports))
    return labelled


def batch_loss(learner: "QSGNN", batch: QuestionBatch) -> Tensor:
    """The mean of Eq. 5 over the questions of a batch."""
    settings = learner.settings
    n_documents = max(TRAINING_DOCUMENTS, MOST_SUPPORTS + settings.negatives)
    queries = learner.walk.encode([question.text for question in batch.questions])
    nearest = learner.walk.rows(queries, n_documents)
    documents = [
        with_supports_first(question.supports, rows)
        for question, rows in zip(batch.questions, nearest)
    ]
    with mixed_precision():
        scores = learner.document_scores(queries, documents)

    losses = []
    for question, cosines in zip(batch.questions, scores):
        positives, others = cosines.tensor_split([len(question.supports)])
        picks = batch.generator.permutation(len(others))[: settings.negatives]
        negatives = others[torch.from_numpy(picks)]
        losses.append(nt_xent(positives, negatives, settings.temperature))
    return torch.stack(losses).mean()


def with_supports_first(supports: Sequence[int], rows: ndarray) -> ndarray:
    """As many documents as ``rows``: the supports, then the first of the others."""
    others = rows[~np.isin(rows, supports)]
    return np.concatenate([supports, others])[: len(rows)]


def nt_xent(positives: Tensor, negatives: Tensor, temperature: float) -> Tensor:
    """Eq. 5 of one question: the mean over its supports of −log e^{s⁺/τ} / (e^{s⁺/τ} + Σ e^{s⁻/τ}).

    ``positives`` and ``negatives`` are cosines. The paper leaves the positive out of the
    denominator, without which the loss has no lower bound (qsgnn-i03); supports are taken one by
    one (qsgnn-i04).
    """
    against = torch.tensor(-torch.inf)
    if len(negatives):
        against = torch.logsumexp(negatives / temperature, 0)
    total = torch.logaddexp(positives / temperature, against)
    return (total - positives / temperature).mean()
