"""A reader learns: the likelihood of the right answers in windows with distractors, and of "nowhere" without them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from kit.corpus import Benchmark
from kit.text.encoder import Encoder
from kit.text.precision import mixed_precision
from kit.text.readers.extractive import KIND, Learning
from kit.text.readers.lessons import Example, Examples, Lesson, closed_answers, lessons
from kit.text.readers.network import SPAN, Batch, SpanNetwork
from kit.text.readers.span_model import SpanModel, by_length
from kit.text.readers.windows import tokenise
from kit.text.scoring import exact_match, f1
from kit.text.training import CHECKS, Period, parts_of_epoch, train

DEV_QUESTIONS, DEV_PASSAGES = 64, 5  # how a reader is chosen: mean of EM and F1 on supports among distractors
HEAD_RATE = 10  # times the learning rate, for the heads, which start from nothing


def train_reader(base: Encoder, benchmarks: Sequence[Benchmark], learning: Learning, key: str) -> Path:
    """Train on the encoder's transformer and keep the reader under ``key`` in the encoder's store: its folder.

    All benchmarks' training questions are learned from, the first one's dev questions are chosen on.
    It has the history of :func:`kit.text.training.train` too, with ``em`` and ``f1`` of dev questions.
    """
    trainer = Trainer(base, benchmarks, learning)
    network = trainer.model.network
    heads = (network.ends, network.kinds, network.marks)
    optimiser = torch.optim.AdamW(
        [
            {"params": network.upper.parameters()},
            {"params": [each for part in heads for each in part.parameters()], "times": HEAD_RATE},
        ],
        weight_decay=0.01,
    )
    return train(
        network,
        optimiser,
        [partial(trainer.period, number) for number in range(learning.epochs * CHECKS)],
        trainer.loss,
        store=base.store,
        kind=KIND,
        key=key,
        write=trainer.model.write,
        check=trainer.check if trainer.dev else None,
        latest_of_equals=True,
        desc="training the reader",
    )


class Trainer:
    """What a training of :func:`kit.text.training.train` asks for."""

    def __init__(self, base: Encoder, benchmarks: Sequence[Benchmark], learning: Learning) -> None:
        self.learning = learning
        self.taught: list[Lesson] = []
        texts: list[str] = []
        for each in benchmarks:
            self.taught += (lesson.moved(len(texts)) for lesson in lessons(each.train, each.corpus, steps=True))
            texts += (passage.full_text for passage in each.corpus.passages)
        dev = lessons(benchmarks[0].dev, benchmarks[0].corpus, steps=False)
        picks = np.random.default_rng(learning.seed).permutation(len(dev))[:DEV_QUESTIONS]
        self.dev = [dev[pick] for pick in sorted(picks)]
        transformer = base.model[0]
        closed = closed_answers([lesson for lesson in self.taught if not lesson.step], texts)
        network = SpanNetwork(transformer.auto_model, len(closed), learning.seed)
        self.model = SpanModel(transformer.tokenizer, network, closed)
        asked = list(dict.fromkeys(lesson.question for lesson in [*self.taught, *self.dev]))
        tokens = tokenise(transformer.tokenizer, [*asked, *texts])
        self.examples = Examples(self.model, dict(zip(asked, tokens)), tokens[len(asked) :])
        self.texts = texts

    def period(self, number: int) -> Period:
        """Windows of one length together, in any order."""
        epoch, part = divmod(number, CHECKS)
        order = np.random.default_rng([self.learning.seed, epoch]).permutation(len(self.taught))
        generator = np.random.default_rng([self.learning.seed, epoch, part])
        picks = parts_of_epoch(order)[part]
        drawn = [example for pick in picks for example in self.examples.draw(self.taught[pick], generator)]
        found = by_length([(example, example.window) for example in drawn], self.learning.tokens)
        batches = [[example for example, _ in found[pick]] for pick in generator.permutation(len(found))]
        # The periods have nearly as many batches each, and how many is not known before they are drawn.
        total = self.learning.epochs * CHECKS * len(batches)
        return Period(batches, number * len(batches), total, self.learning.learning_rate)

    def loss(self, batch: Sequence[Example]) -> Tensor:
        with mixed_precision():
            parts = self.model.network(Batch([example.window for example in batch], self.model.network.device))
        return loss_of(batch, *parts)

    def check(self, step: int) -> dict[str, float]:
        """Answers to the dev questions from their supports among distractors."""
        generator = np.random.default_rng(self.learning.seed)
        contexts = [
            [self.texts[row] for row in generator.permutation([*lesson.supports, *lesson.near][:DEV_PASSAGES])]
            for lesson in self.dev
        ]
        answers = self.model.answer([lesson.question for lesson in self.dev], contexts, progress=False)
        return {
            name: float(np.mean([measure(one, of.answers) for one, of in zip(answers, self.dev)]))
            for name, measure in (("em", exact_match), ("f1", f1))
        }


def loss_of(batch: Sequence[Example], first: Tensor, last: Tensor, kinds: Tensor) -> Tensor:
    """Minus the mean log-likelihood: of the kind, and of a span the sum over all places where it stands."""
    losses = []
    for number, example in enumerate(batch):
        loss = -kinds[number, example.kind]
        if example.kind == SPAN:
            starts, ends = (list(places) for places in zip(*example.spans))
            loss = loss - torch.logsumexp(first[number, starts] + last[number, ends], 0)
        losses.append(loss)
    return torch.stack(losses).mean()
