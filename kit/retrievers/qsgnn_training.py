"""QSGNN learns: pre-training on synthetic questions, then fine-tuning on training questions (qsgnn.txt §3.3, Eq. 5)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import msgspec
import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cosine_similarity
from tqdm.auto import tqdm

from kit.corpus import Question
from kit.retrievers.qsgnn_network import Network
from kit.retrievers.qsgnn_questions import Synthetic
from kit.retrievers.qsgnn_surroundings import Surroundings
from kit.text import Encoder
from kit.text.checkpoints import Checkpoints, weights, write_history
from kit.text.contrastive import slope
from kit.text.precision import mixed_precision

KIND = "qsgnn"  # in the store
OFFERED = 100  # documents nearest by the frozen encoder from which negatives are drawn (qsgnn-i06)
DEV_CUT = 5  # of the recall on dev questions
TOGETHER = 4  # queries whose graphs are passed over at once, where nothing is learned
CHECKS = 2  # an epoch


class Learning(msgspec.Struct, frozen=True):
    """How to learn: times through the questions, questions a step, the highest learning rates (AdamW, without decay),
    τ and the number of negatives of Eq. 5, passages in the graph around a question, and the seed."""

    pretraining_epochs: int = 1
    epochs: int = 2
    batch: int = 12
    pretraining_rate: float = 3e-4
    learning_rate: float = 2e-4
    temperature: float = 0.07
    negatives: int = 30
    documents: int = 40
    seed: int = 0


class Run:
    """A training under way: all of its state."""

    def __init__(
        self,
        network: Network,
        surroundings: Surroundings,
        encoder: Encoder,
        synthetic: Sequence[Synthetic],
        train: Sequence[Synthetic],
        dev: Sequence[Question],
        learning: Learning,
        key: str,
    ) -> None:
        self.network, self.surroundings, self.learning = network, surroundings, learning
        self.optimiser = torch.optim.AdamW(network.parameters(), weight_decay=0.0)
        self.stages = [
            ("pre-training", synthetic, learning.pretraining_epochs, learning.pretraining_rate),
            ("fine-tuning", train, learning.epochs, learning.learning_rate),
        ]
        self.vectors = {
            name: encoder.encode([each.text for each in of], role="query")
            for name, of, epochs, _ in self.stages
            if of and epochs
        }
        self.dev = dev
        self.dev_vectors = encoder.encode([question.text for question in dev], role="query", progress=False)
        # What is learned in one go, between two checks: stage, epoch, part.
        self.periods = [
            (stage, epoch, part)
            for stage, (_, of, epochs, _) in enumerate(self.stages)
            if of
            for epoch in range(epochs)
            for part in range(CHECKS)
        ]
        self.checkpoints = Checkpoints(encoder.store, key, len(self.periods))
        self.best = weights(network)
        self.history: list[dict[str, float]] = []

    def to_the_end(self) -> None:
        """Learn from the last checkpoint on; the network is left with its best weights."""
        done = 0
        if found := self.checkpoints.load(self.network, self.optimiser):
            done, self.best, self.history = found
        else:
            self._check()
        steps = sum(len(self._batches(*period)) for period in self.periods[done:])
        with tqdm(total=steps, desc="training QSGNN", unit="step") as bar:
            for number in range(done, len(self.periods)):
                self._period(*self.periods[number], bar)
                self._check()
                self.checkpoints.save(number + 1, self.network, self.best, self.optimiser, self.history)
        self.network.load_state_dict(self.best)

    def write(self, folder: Path) -> None:
        from safetensors.torch import save_file

        save_file(weights(self.network), folder / "network.safetensors")
        write_history(folder, self.history)

    # ---- learning

    def _batches(self, stage: int, epoch: int, part: int) -> list[np.ndarray]:
        """The questions of each step of a period, by their places."""
        _, questions, *_ = self.stages[stage]
        order = np.random.default_rng([self.learning.seed, stage, epoch]).permutation(len(questions))
        start, end = list(pairwise(np.linspace(0, len(order), CHECKS + 1).round().astype(int)))[part]
        return np.array_split(order[start:end], -(-(end - start) // self.learning.batch)) if end > start else []

    def _period(self, stage: int, epoch: int, part: int, bar: tqdm) -> None:
        name, questions, epochs, highest = self.stages[stage]
        generator = np.random.default_rng([self.learning.seed, stage, epoch, part])
        batches = self._batches(stage, epoch, part)
        self.network.train()
        for number, places in enumerate(batches):
            done = (epoch * CHECKS + part) * len(batches) + number
            for group in self.optimiser.param_groups:
                group["lr"] = highest * slope(done, epochs * CHECKS * len(batches))
            loss = self._loss(self.vectors[name][places], [questions[place].supports for place in places], generator)
            self.optimiser.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
            self.optimiser.step()
            self.history.append({"step": self.step + 1, "stage": stage, "loss": loss.item()})
            bar.set_postfix(stage=name, loss=f"{loss.item():.2f}", refresh=False)
            bar.update()

    @property
    def step(self) -> int:
        return sum("loss" in row for row in self.history)

    def _loss(self, queries: np.ndarray, supports: Sequence[Sequence[int]], generator: np.random.Generator) -> Tensor:
        documents = []
        for rows, generated_evidence in zip(self.surroundings.around(queries, self.learning.documents), supports):
            others = rows[~np.isin(rows, generated_evidence)]
            documents.append(np.concatenate([generated_evidence, others])[: self.learning.documents])
        with mixed_precision():
            scores = document_scores(self.network, self.surroundings, queries, documents)
        losses = []
        for of, rows, generated_evidence in zip(scores, documents, supports):
            offered = np.arange(len(generated_evidence), min(len(rows), OFFERED))
            picks = torch.from_numpy(generator.permutation(offered)[: self.learning.negatives])
            losses.append(nt_xent(of[: len(generated_evidence)], of[picks], self.learning.temperature))
        return torch.stack(losses).mean()

    def _check(self) -> None:
        """Recall@5 of the dev questions; the weights are the best so far where none before were better."""
        found = recall(self.network, self.surroundings, self.dev, self.dev_vectors, self.learning.documents)
        if found >= max((row["measured"] for row in self.history if "measured" in row), default=0.0):
            self.best = weights(self.network)
        self.history.append({"step": self.step, "measured": found})


def nt_xent(positives: Tensor, negatives: Tensor, temperature: float) -> Tensor:
    """Eq. 5 of one question: minus the mean over its supports of log e^{s⁺/τ} / (e^{s⁺/τ} + Σ e^{s⁻/τ}).

    ``positives`` and ``negatives`` are cosines. The paper leaves the positive out of the denominator, where the loss
    that it names has it, and without which the loss has no lower bound (qsgnn-i03); supports are taken one by one
    (qsgnn-i04).
    """
    rivals = torch.logsumexp(negatives / temperature, 0) if len(negatives) else torch.tensor(-torch.inf)
    return (torch.logaddexp(positives / temperature, rivals) - positives / temperature).mean()


def document_scores(
    network: Network, surroundings: Surroundings, queries: np.ndarray, documents: Sequence[np.ndarray]
) -> tuple[Tensor, ...]:
    """Eq. 6: for each query the cosines of its documents' vectors after the last layer with its own."""
    batch = surroundings.batch(documents)
    h, q, _ = network(batch, torch.from_numpy(queries))
    # In full precision: cosines are divided by τ, and near each other.
    return cosine_similarity(h["d"].float(), q.float()[batch.of["d"]]).split([len(rows) for rows in documents])


@torch.no_grad()
def recall(
    network: Network, surroundings: Surroundings, questions: Sequence[Question], vectors: np.ndarray, size: int
) -> float:
    """The mean Recall@5."""
    network.eval()
    corpus, shares = surroundings.corpus, []
    for start in range(0, len(questions), TOGETHER):
        part = vectors[start : start + TOGETHER]
        documents = surroundings.around(part, size)
        for scores, rows, question in zip(
            document_scores(network, surroundings, part, documents), documents, questions[start : start + TOGETHER]
        ):
            top = {corpus.passages[row].id for row in rows[np.argsort(-scores.numpy(), kind="stable")[:DEV_CUT]]}
            shares.append(np.mean([not top.isdisjoint(carriers) for carriers in question.supporting]))
    return float(np.mean(shares)) if shares else 0.0
