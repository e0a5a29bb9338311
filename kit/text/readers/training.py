"""A reader learns: the likelihood of the right answers in windows with distractors, and of "nowhere" without them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from tqdm.auto import tqdm

from kit.corpus import Benchmark
from kit.text.checkpoints import Checkpoints, weights, write_history
from kit.text.contrastive import CHECKS, slope
from kit.text.encoder import Encoder
from kit.text.precision import mixed_precision
from kit.text.readers.extractive import KIND, Learning
from kit.text.readers.lessons import Example, Examples, Lesson, closed_answers, lessons
from kit.text.readers.network import SPAN, Batch, SpanNetwork
from kit.text.readers.span_model import SpanModel, by_length
from kit.text.readers.windows import tokenise
from kit.text.scoring import exact_match, f1

DEV_QUESTIONS, DEV_PASSAGES = 64, 5  # how a reader is chosen: mean of EM and F1 on supports among distractors
HEAD_RATE = 10  # times the learning rate, for the heads, which start from nothing


def train_reader(base: Encoder, benchmarks: Sequence[Benchmark], learning: Learning, key: str) -> Path:
    """Train on the encoder's transformer and keep the reader under ``key`` in the encoder's store: its folder.

    All benchmarks' training questions are learned from, the first one's dev questions are chosen on.
    It also has ``history.json``: a row a step (``step``, from 1, and ``loss``) and ``CHECKS`` rows an epoch with
    ``step`` and ``em`` and ``f1`` of dev questions. The weights of the best check are kept, without dev questions the
    last. An interrupted training goes on from its last check, to the same result.
    """
    run = Run(base, benchmarks, learning, key)
    run.resume()
    run.train()
    folder = base.store.put_folder(KIND, key, run.write)
    run.checkpoints.forget()
    return folder


class Run:
    """A training under way: all of its state."""

    def __init__(self, base: Encoder, benchmarks: Sequence[Benchmark], learning: Learning, key: str) -> None:
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
        heads = (network.ends, network.kinds, network.marks)
        self.optimiser = torch.optim.AdamW(
            [
                {"params": network.upper.parameters(), "times": 1},
                {"params": [each for part in heads for each in part.parameters()], "times": HEAD_RATE},
            ],
            weight_decay=0.01,
        )
        self.checkpoints = Checkpoints(base.store, key, learning.epochs * CHECKS)
        self.best = weights(network)
        self.history: list[dict[str, float]] = []
        self.done = 0  # periods, of which an epoch has CHECKS

    def resume(self) -> None:
        if found := self.checkpoints.load(self.model.network, self.optimiser):
            self.done, self.best, self.history = found

    def train(self) -> None:
        """Go on from here to the end."""
        total = self.learning.epochs * CHECKS
        with tqdm(total=total, initial=self.done, desc="training the reader", unit="check") as bar:
            while self.done < total:
                batches = self._batches(self.done)
                for number, batch in enumerate(batches):
                    # The periods have nearly as many batches each, and how many is not known before they are drawn.
                    rate = slope(self.done * len(batches) + number, total * len(batches))
                    loss = self._step(batch, rate * self.learning.learning_rate)
                    self.history.append({"step": self.step + 1, "loss": loss})
                    bar.set_postfix(loss=f"{loss:.2f}")
                self.done += 1
                self._check()
                self.checkpoints.save(self.done, self.model.network, self.best, self.optimiser, self.history)
                bar.update()

    @property
    def step(self) -> int:
        return sum("loss" in row for row in self.history)

    def _batches(self, period: int) -> list[list[Example]]:
        """The batches of a period: windows of one length together, in any order."""
        epoch, part = divmod(period, CHECKS)
        generator = np.random.default_rng([self.learning.seed, epoch])
        order = generator.permutation(len(self.taught))
        start, end = list(pairwise(np.linspace(0, len(order), CHECKS + 1).round().astype(int)))[part]
        generator = np.random.default_rng([self.learning.seed, epoch, part])
        drawn = [example for pick in order[start:end] for example in self.examples.draw(self.taught[pick], generator)]
        batches = by_length([(example, example.window) for example in drawn], self.learning.tokens)
        return [[example for example, _ in batches[pick]] for pick in generator.permutation(len(batches))]

    def _step(self, batch: Sequence[Example], rate: float) -> float:
        self.model.network.eval()  # without dropout: nothing in a step is random
        for group in self.optimiser.param_groups:
            group["lr"] = rate * group["times"]
        with mixed_precision():
            parts = self.model.network(Batch([example.window for example in batch], self.model.network.device))
        loss = loss_of(batch, *parts)
        self.optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.network.parameters(), 1.0)
        self.optimiser.step()
        return loss.item()

    def _check(self) -> None:
        """Measure on the dev questions; the weights are the best so far where none before were better."""
        found = {"em": 0.0, "f1": 0.0}
        if self.dev:
            generator = np.random.default_rng(self.learning.seed)
            contexts = [
                [self.texts[row] for row in generator.permutation([*lesson.supports, *lesson.near][:DEV_PASSAGES])]
                for lesson in self.dev
            ]
            answers = self.model.answer([lesson.question for lesson in self.dev], contexts, progress=False)
            for name, measure in (("em", exact_match), ("f1", f1)):
                found[name] = float(np.mean([measure(one, of.answers) for one, of in zip(answers, self.dev)]))
        if sum(found.values()) >= max(self._measured(), default=0.0):
            self.best = weights(self.model.network)
        self.history.append({"step": self.step, **found})

    def _measured(self) -> list[float]:
        return [row["em"] + row["f1"] for row in self.history if "em" in row]

    def write(self, folder: Path) -> None:
        self.model.network.load_state_dict(self.best)
        self.model.write(folder)
        write_history(folder, self.history)


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
