"""What DPR and MDR share: an encoder that learns from training questions, chosen on dev ones (kgp.txt §8.1–8.2)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import msgspec
import numpy as np

from kit.corpus import Benchmark, Corpus, Question
from kit.errors import InputError
from kit.retrievers.base import expect_whole
from kit.retrievers.dense import Dense
from kit.store import content_key
from kit.text import DEFAULT_ENCODER, Encoder, TfidfIndex
from kit.text.checkpoints import read_history
from kit.text.contrastive import KIND, Pair, Training, finetune

NEGATIVES = ("hard", "random", "in-batch")
OFFERED = 20  # passages from which the negatives of a pair are drawn
DEV_QUESTIONS, DEV_PASSAGES, DEV_CUT = 40, 8, 5  # how a model is chosen: Recall@5 over a pool of passages
_RECIPE = "4"  # to be changed with what is learned, so that weights learned otherwise are not found again


class TrainedRetriever(Dense):
    """Dense retrieval whose encoder learns: before ``fit`` it is the base, afterwards ``encoder`` is the trained one.

    ``encoder`` names the base, any that :class:`kit.text.Encoder` takes. ``negatives``: beside the other passages of
    its batch each query has one negative, drawn anew in each epoch from the passages that are nearest to it by TF-IDF
    and no supports (``hard``) or from all (``random``); or none (``in-batch``). ``epochs`` is the most that is trained;
    ``n_train`` questions are drawn by ``seed`` (0: all are used). ``history`` tells each step (``step``, ``loss``) and
    each check (``step``, ``measured``: Recall@5 of dev questions). The same training is found again in the store.
    """

    def __init__(
        self,
        encoder: str = DEFAULT_ENCODER,
        negatives: str = "hard",
        epochs: int = 2,
        batch: int = 24,
        learning_rate: float = 5e-5,
        n_train: int = 0,
        seed: int = 0,
    ) -> None:
        if negatives not in NEGATIVES:
            raise InputError(f"expected one of {', '.join(NEGATIVES)}, not {negatives!r}", field="negatives")
        expect_whole(1, epochs=epochs, batch=batch)
        expect_whole(0, n_train=n_train, seed=seed)
        if type(learning_rate) not in (int, float) or not 0 < learning_rate < 1:
            raise InputError(f"expected a number between 0 and 1, not {learning_rate!r}", field="learning_rate")
        super().__init__(encoder=encoder)
        self.base = self.encoder
        self.negatives, self.n_train = negatives, n_train
        self.training = Training(epochs, batch, float(learning_rate), seed)
        self.history: list[dict[str, float]] = []

    @property
    def taught(self) -> dict[str, int]:
        """The settings of the method's own that training depends on, as it is measured meanwhile."""
        return {}

    def pairs(self, question: Question, corpus: Corpus) -> list[tuple[str, str]]:
        """What a question teaches: texts of queries, each with the id of the passage that it is to find."""
        raise NotImplementedError

    def fit(self, benchmark: Benchmark) -> None:
        expect_training(benchmark, self.n_train, self.name)
        learned_from = benchmark.without_test().hash
        settings = msgspec.json.encode([self.taught, self.negatives, self.n_train, self.training]).decode()
        key = content_key(_RECIPE, self.name, self.base.identity, settings, learned_from).hex()
        folder = self.base.store.get_folder(KIND, key) or self._train(benchmark, key)
        self.history = read_history(folder)
        self.encoder = Encoder(str(folder), self.base.store)

    def _train(self, benchmark: Benchmark, key: str) -> Path:
        corpus, seed = benchmark.corpus, self.training.seed
        index = TfidfIndex(corpus)
        most = min(DEV_QUESTIONS, self.n_train or DEV_QUESTIONS)  # a check takes no longer than what it checks
        dev = sample([question for question in benchmark.dev if question.supporting], most, seed)
        return finetune(
            self.base,
            self._with_negatives(sample(benchmark.train, self.n_train or len(benchmark.train), seed), corpus, index),
            [passage.full_text for passage in corpus.passages],
            self.training,
            partial(self._recall, dev, pool(dev, corpus, index)) if dev else None,
            key,
        )

    def _with_negatives(self, questions: Sequence[Question], corpus: Corpus, index: TfidfIndex) -> list[Pair]:
        taught = [(question, *pair) for question in questions for pair in self.pairs(question, corpus)]
        queries = [query for _, query, _ in taught]
        if self.negatives == "hard":
            offered = index.nearest(queries, OFFERED)
        elif self.negatives == "random":
            rows = np.random.default_rng(self.training.seed)
            offered = rows.integers(len(corpus), size=(len(queries), OFFERED)).tolist()
        else:
            offered = [()] * len(queries)
        supports = {question.id: frozenset(corpus.row[id] for id in question.supporting_ids) for question in questions}
        return [
            Pair(query, corpus.row[positive], supports[question.id], tuple(rows))
            for (question, query, positive), rows in zip(taught, offered)
        ]

    def _recall(self, questions: Sequence[Question], corpus: Corpus, encoder: Encoder) -> float:
        """Recall@5 of this method with an encoder; what is set for retrieval alone has no part in it."""
        retriever = type(self)(**self.taught)
        retriever.encoder = encoder
        retriever.index(corpus)
        rankings = retriever.retrieve_many([question.query for question in questions], DEV_CUT)
        found = [
            np.mean([not set(ranking.ids).isdisjoint(carriers) for carriers in question.supporting])
            for question, ranking in zip(questions, rankings)
        ]
        return float(np.mean(found))


def expect_training(benchmark: Benchmark, n_train: int, name: str) -> None:
    """Raises :class:`InputError` where a retriever finds fewer training questions than ``n_train``, or none."""
    if not benchmark.train or len(benchmark.train) < n_train:
        expected = f"expected {n_train or 'some'} training questions (--train FILE) for {name}, which learns"
        raise InputError(f"{expected}, found {len(benchmark.train)}", record=benchmark.name)


def sample(questions: Sequence[Question], n: int, seed: int) -> list[Question]:
    """At most n of the questions, drawn without repetition and in their order."""
    picks = np.random.default_rng(seed).permutation(len(questions))[:n]
    return [questions[pick] for pick in sorted(picks)]


def pool(questions: Sequence[Question], corpus: Corpus, index: TfidfIndex) -> Corpus:
    """The supports of the questions and the passages nearest to each: small, and hard enough to choose a model on."""
    rows = {corpus.row[id] for question in questions for id in question.supporting_ids}
    rows.update(*index.nearest([question.text for question in questions], DEV_PASSAGES))
    return corpus.subset(sorted(rows))
