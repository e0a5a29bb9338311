"""How QSGNN learns: pre-training on synthetic questions, then fine-tuning (QSGNN §3.3, Eq. 5).

The paper's symbols and the names here: sim(q, h) are ``cosines``, of supports the ``positives`` and
of Neg the ``negatives``; τ is ``temperature``; M are the questions of a :class:`QuestionBatch`.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from safetensors.torch import save_file
from torch import Tensor
from torch.optim import AdamW

from kit.corpus import Benchmark
from kit.corpus.types import Questions
from kit.learning.shipped import Benchmarks
from kit.learning.training import CHECKS, Period, Slot, Trainer, parts_of_epoch
from kit.methods.qsgnn.network import Network, without_idle
from kit.methods.qsgnn.questions import TrainingQuestion, synthetic_questions
from kit.methods.qsgnn.written_questions import written_questions
from kit.methods.training import draw, draw_dev
from kit.precision import mixed_precision
from kit.text.language_models import language_model
from kit.text.triples import extract

if TYPE_CHECKING:
    from kit.methods.qsgnn.retriever import QSGNN, Asked

HELD_OUT = 0.05  # of the synthetic questions, by which weights are chosen
TEMPLATES = "templates"  # who makes synthetic questions, where no language model does
LONGEST_REPLY = 512  # tokens of a language model that makes some
DEV_QUESTIONS = 100  # of each benchmark, by which they are chosen, too


class Lesson(NamedTuple):
    """A question to learn from, over the corpus of one learner."""

    learner: "QSGNN"
    question: TrainingQuestion

    @property
    def prepared(self) -> "Asked":
        """The question with the documents of its graph, the supports first."""
        learner = self.learner
        [vector] = learner.walk.encode([self.question.text])
        return learner.asked(
            self.question.text,
            vector,
            learner.settings.training_documents,
            self.question.supports,
            self.question.alike,
        )


class LessonBatch(NamedTuple):
    """Lessons over one corpus, and what their negatives are drawn by."""

    lessons: Sequence[Lesson]
    generator: np.random.Generator


class Stage(NamedTuple):
    """Pre-training (0) or fine-tuning (1): lessons, through which it goes ``epochs`` times."""

    index: int
    lessons: Sequence[Lesson]
    epochs: int
    learning_rate: float
    batch: int  # lessons per step
    seed: int

    def periods(self) -> list[Callable[[], Period]]:
        parts = itertools.product(range(self.epochs), range(CHECKS))
        return [partial(self.period, epoch, part) for epoch, part in parts]

    def period(self, epoch: int, part: int) -> Period:
        """The batches between two checks."""
        seeds = [self.seed, self.index, epoch]
        order = np.random.default_rng(seeds).permutation(len(self.lessons))
        parts = []
        for picks in parts_of_epoch(order):
            parts.append(grouped([self.lessons[pick] for pick in picks], self.batch))

        generator = np.random.default_rng([*seeds, part])
        groups = parts[part]
        batches = [
            LessonBatch(groups[pick], generator) for pick in generator.permutation(len(groups))
        ]
        n_batches = sum(map(len, parts))
        return Period(
            batches,
            step=epoch * n_batches + sum(map(len, parts[:part])),
            total=self.epochs * n_batches,
            learning_rate=self.learning_rate,
            notes={"stage": self.index},
        )


def grouped(lessons: Sequence[Lesson], size: int) -> list[list[Lesson]]:
    """Groups of about equal and at most this size, each over one corpus."""
    of_learner = {}
    for lesson in lessons:
        of_learner.setdefault(id(lesson.learner), []).append(lesson)

    groups = []
    for over_corpus in of_learner.values():
        n_groups = math.ceil(len(over_corpus) / size)
        cuts = np.linspace(0, len(over_corpus), n_groups + 1).round().astype(int)
        groups += [over_corpus[start:end] for start, end in itertools.pairwise(cuts)]
    return groups


class Lessons(NamedTuple):
    """What is learned from in each stage, and the questions by which weights are chosen."""

    synthetic: list[Lesson]
    labelled: list[Lesson]
    held_out: list[Lesson]

    def add(self, learner: "QSGNN", benchmark: Benchmark) -> None:
        """The questions of a benchmark, over the graph of its learner."""
        settings = learner.settings
        extractions = extract(benchmark.corpus, settings.triples)
        if settings.questions == TEMPLATES:
            made = synthetic_questions(extractions, settings.synthetic, settings.seed)
        else:
            made = written_questions(
                language_model(settings.questions, longest_answer=LONGEST_REPLY),
                benchmark.corpus,
                extractions,
                settings.synthetic,
                settings.seed,
            )
        n_held_out = round(HELD_OUT * len(made))
        for n, pick in enumerate(np.random.default_rng(settings.seed).permutation(len(made))):
            chosen = self.held_out if n < n_held_out else self.synthetic
            chosen.append(Lesson(learner, made[pick]))

        n_train = settings.n_train or len(benchmark.train)
        questions = draw(benchmark.train, n_train, settings.seed)
        self.labelled.extend(lessons_of(learner, benchmark, questions))
        dev = draw_dev(benchmark, DEV_QUESTIONS, settings.seed)
        self.held_out.extend(lessons_of(learner, benchmark, dev))


def train(learners: Sequence["QSGNN"], benchmarks: Benchmarks, slot: Slot) -> Path:
    """Train the network that the learners share, each over the graph of its benchmark.

    Returns the weights' folder.
    """
    settings = learners[0].settings
    lessons = Lessons([], [], [])
    for learner, benchmark in zip(learners, benchmarks):
        lessons.add(learner, benchmark)

    stages = {
        "pre-training": Stage(
            0,
            lessons.synthetic,
            settings.pretraining_epochs,
            settings.pretraining_rate,
            settings.batch,
            settings.seed,
        ),
        "fine-tuning": Stage(
            1,
            lessons.labelled,
            settings.epochs,
            settings.learning_rate,
            settings.batch,
            settings.seed,
        ),
    }
    periods = []
    for name, stage in stages.items():
        if stage.lessons and name != settings.ablate:
            periods += stage.periods()

    prepare = cache(lambda lesson: lesson.prepared)  # the same each time
    network = learners[0].network
    trainer = Trainer(
        network,
        AdamW(network.parameters(), weight_decay=0.0),  # without decay, as in the paper
        partial(batch_loss, prepare=prepare),
        check=lambda step: {"measured": -held_out_loss(lessons.held_out, settings.batch, prepare)},
        latest_of_equals=True,
        write=partial(write_weights, network),
    )
    return trainer.run(periods, slot)


def write_weights(network: Network, folder: Path) -> None:
    save_file(without_idle(network.state_dict()), folder / "weights.safetensors")


def lessons_of(learner: "QSGNN", benchmark: Benchmark, questions: Questions) -> list[Lesson]:
    """Those of the questions that have supports."""
    rows = benchmark.corpus.row
    lessons = []
    for question in questions:
        supports = tuple(rows[support] for support in question.supporting_ids)
        if supports:
            lessons.append(Lesson(learner, TrainingQuestion(question.text, supports)))
    return lessons


def batch_loss(batch: LessonBatch, prepare: Callable[[Lesson], "Asked"]) -> Tensor:
    """The mean loss of the lessons of a batch: Eq. 5, or that of a list."""
    learner = batch.lessons[0].learner
    settings = learner.settings
    questions = [prepare(lesson) for lesson in batch.lessons]
    with mixed_precision():
        scores = learner.scores(questions)

    losses = []
    for lesson, of_documents in zip(batch.lessons, scores):
        n_supports = min(len(lesson.question.supports), len(of_documents))
        if settings.form == "residual":
            losses.append(list_loss(of_documents, n_supports))
            continue
        positives, others = of_documents.tensor_split([n_supports])
        picks = batch.generator.permutation(len(others))[: settings.negatives]
        negatives = others[torch.from_numpy(picks).to(others.device)]
        losses.append(nt_xent(positives, negatives, settings.temperature))
    return torch.stack(losses).mean()


@torch.no_grad()
def held_out_loss(
    lessons: Sequence[Lesson],
    batch: int,
    prepare: Callable[[Lesson], "Asked"],
) -> float:
    """The mean loss of lessons, the same negatives each time; 0 without lessons."""
    losses = []
    for group in grouped(lessons, batch):
        loss = batch_loss(LessonBatch(group, np.random.default_rng(0)), prepare)
        losses += [loss.item()] * len(group)
    return float(np.mean(losses)) if losses else 0.0


def list_loss(scores: Tensor, n_supports: int) -> Tensor:
    """The mean over the supports, which stand first, of −log softmax over all documents."""
    return -scores.float().log_softmax(0)[:n_supports].mean()


def nt_xent(positives: Tensor, negatives: Tensor, temperature: float) -> Tensor:
    """Eq. 5 of one question: the mean over its supports of −log e^{s⁺/τ} / (e^{s⁺/τ} + Σ e^{s⁻/τ}).

    ``positives`` and ``negatives`` are cosines. The paper leaves the positive out of the
    denominator, without which the loss has no lower bound (qsgnn-i03); supports are taken one by
    one (qsgnn-i04).
    """
    against = positives.new_full((), -torch.inf)
    if len(negatives):
        against = torch.logsumexp(negatives / temperature, 0)
    total = torch.logaddexp(positives / temperature, against)
    return (total - positives / temperature).mean()
