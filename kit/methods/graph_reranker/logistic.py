"""The honest rival of whatever learns to rank: a logistic model of plain scores."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
import torch
from numpy import ndarray
from safetensors.torch import save_file
from torch import Tensor

from kit.corpus import Benchmark, Corpus
from kit.corpus.types import Queries, Questions
from kit.learning.shipped import Benchmarks, Shipped, Start
from kit.learning.training import HISTORY, Slot, one_thread, read_weights
from kit.methods.base import Rankings, Retriever, ranking_from_scores
from kit.methods.graph_reranker.candidates import SCORES, Scorers
from kit.methods.training import draw, expect_training
from kit.progress import progress_bar
from kit.settings import Whole
from kit.text import ENCODER_SETTINGS, EncoderSettings

UNTRAINED = np.array([1.0] * len(SCORES) + [0.0], np.float32)  # each score counts alike
POOL = 100  # a passage is learned from if one of its ranks is among so many, or it is a support


class Scored(NamedTuple):
    """A question, and the passages that it is learned from."""

    text: str
    vector: ndarray
    rows: ndarray
    scores: ndarray  # (rows, scores)
    is_support: ndarray


class LogisticSettings(EncoderSettings, frozen=True):
    """What the model reads, and what it learns from."""

    start: Start = "worlds"
    triples: Annotated[str, "where triples come from, see kit.text.triples.extract"] = "rules"
    n_train: Annotated[Whole, "training questions, drawn by the seed; 0 for all"] = 0
    seed: Annotated[Whole, "of the questions that are drawn"] = 0


class Logistic(Shipped, Retriever):
    """The passages that a logistic regression holds for supports, by plain scores.

    See :mod:`kit.methods.graph_reranker.candidates`. Untrained, each score counts alike.
    """

    name = "logistic"
    kind = "logistic"
    is_of_one_encoder = False
    index_settings = (*ENCODER_SETTINGS, "triples")
    training_settings = ("triples", "n_train", "seed")
    Settings = LogisticSettings
    learned: dict[str, Tensor] | None = None

    def index(self, corpus: Corpus) -> None:
        super().index(corpus)
        if len(corpus):
            self.scorers = Scorers(corpus, self.settings, self.settings.triples)

    @one_thread()
    def rank(self, queries: Queries, k: int) -> Rankings:
        weights = self.weights[:-1]
        rankings = []
        vectors = self.scorers.encode([query.text for query in queries])
        for query, vector in zip(queries, vectors):
            scores = self.scorers.scores(query.text, vector) @ weights
            rankings.append(ranking_from_scores(self.corpus, scores, k))
        return rankings

    @property
    def weights(self) -> ndarray:
        """Of the scores, and the bias."""
        if self.learned is None:
            return UNTRAINED
        return self.learned["weights"].numpy()

    # ---- learning

    def expect_training(self, benchmark: Benchmark) -> None:
        expect_training(benchmark, benchmark.train, self.settings.n_train, self.name)

    def train(self, benchmarks: Benchmarks, slot: Slot) -> Path:
        scored = []
        for benchmark in benchmarks:
            n_train = self.settings.n_train or len(benchmark.train)
            questions = draw(benchmark.train, n_train, self.settings.seed)
            for corpus, group in benchmark.asked_together(questions):
                scorers = Scorers(corpus, self.settings, self.settings.triples)
                scored += score_all(scorers, group)
        weights, loss = regression(scored)

        def write(folder: Path) -> None:
            save_file({"weights": torch.from_numpy(weights)}, folder / "weights.safetensors")
            (folder / HISTORY).write_text(json.dumps([{"step": 1, "loss": loss}]), "utf-8")

        return slot.store.put_folder(slot.kind, slot.key, write)

    def restore(self, folder: Path) -> None:
        self.learned = {name: weight.float() for name, weight in read_weights(folder).items()}


def score_all(scorers: Scorers, questions: Questions) -> Iterator[Scored]:
    """The questions with their pools, of the corpus that has been indexed."""
    corpus = scorers.walk.corpus
    vectors = scorers.encode([question.text for question in questions])
    for question, vector in zip(progress_bar(questions, desc="scores", unit="question"), vectors):
        scores = scorers.scores(question.text, vector)
        is_support = np.zeros(len(corpus), bool)
        is_support[[corpus.row[passage] for passage in question.supporting_ids]] = True
        best = scores[:, 2:].max(axis=1)  # −ln of the best rank
        rows = np.flatnonzero((best > -np.log(POOL + 1)) | is_support)
        yield Scored(question.text, vector, rows, scores[rows], is_support[rows])


def regression(scored: Sequence[Scored]) -> tuple[ndarray, float]:
    """The weights of the scores and the bias, and the mean loss."""
    from sklearn.linear_model import LogisticRegression  # takes a second
    from sklearn.metrics import log_loss

    scores = np.concatenate([question.scores for question in scored])
    is_support = np.concatenate([question.is_support for question in scored])
    model = LogisticRegression(max_iter=1_000).fit(scores, is_support)
    weights = np.append(model.coef_[0], model.intercept_).astype(np.float32)
    return weights, float(log_loss(is_support, model.predict_proba(scores)[:, 1]))
