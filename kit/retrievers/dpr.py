"""DPR, and what MDR shares with it: an encoder that learns from training questions (kgp.txt §8.1–8.2, Table 4)."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Literal

import msgspec
import numpy as np

from kit.corpus import Benchmark, Corpus, Question
from kit.errors import InputError
from kit.retrievers.base import Retriever
from kit.retrievers.baselines import Dense
from kit.settings import Whole
from kit.store import content_key
from kit.text import DEFAULT_ENCODER, Encoder, TfidfIndex
from kit.text.contrastive import KIND, Pair, Training, finetune
from kit.text.training import read_history

N_NEGATIVE_CANDIDATES = 20  # passages from which the negatives of a pair are drawn
DEV_QUESTIONS, DEV_PASSAGES, DEV_CUT = 30, 5, 5  # how a model is chosen: Recall@5 over a pool of passages
_RECIPE = "6"  # to be changed with what is learned, so that weights learned otherwise are not found again


class DPR(Dense):
    """One encoder for questions and passages, which learns from pairs; before ``fit`` it is the base.

    ``negatives``: beside the other passages of its batch each query has one negative, drawn anew in each epoch from the
    passages that are nearest to it by TF-IDF and no supports (``hard``) or from all (``random``); or none
    (``in-batch``). ``n_train`` questions are drawn by ``seed`` (0: all). ``history`` has ``step`` with ``loss`` or
    ``measured``, Recall@5 of dev questions.
    """

    name = "dpr"

    class Settings(Training, frozen=True):
        encoder: str = DEFAULT_ENCODER
        negatives: Literal["hard", "random", "in-batch"] = "hard"
        n_train: Whole = 0

    bound_by = ("encoder",)
    training_settings: tuple[str, ...] = ()  # the method's own that training depends on
    history: tuple[dict[str, float], ...] = ()

    def pairs(self, question: Question, corpus: Corpus) -> list[tuple[str, str]]:
        """Texts of queries, each with the id of the passage to find: here the question with each support."""
        return [(question.text, id) for id in question.supporting_ids]

    def fit(self, benchmark: Benchmark) -> None:
        chosen, base = self.settings, Encoder(self.settings.encoder)
        expect_training(benchmark, chosen.n_train, self.name)
        names = sorted({*DPR.Settings.__struct_fields__, *self.training_settings} - {"encoder"})
        settings = msgspec.json.encode([getattr(chosen, name) for name in names]).decode()
        key = content_key(_RECIPE, self.name, base.identity, settings, benchmark.without_test().hash).hex()
        self.learned = None
        folder = base.store.get_or_make(KIND, key, lambda: self._train(base, benchmark, key))
        self.learned = self.learned or Encoder(str(folder), base.store)
        self.history = tuple(read_history(Path(self.learned.name)))

    def _train(self, base: Encoder, benchmark: Benchmark, key: str) -> Path:
        corpus, n_train, seed = benchmark.corpus, self.settings.n_train, self.settings.seed
        index = TfidfIndex(corpus)
        most = min(DEV_QUESTIONS, n_train or DEV_QUESTIONS)  # a check takes no longer than what it checks
        dev = sample([question for question in benchmark.dev if question.supporting], most, seed)
        pairs = self._with_negatives(sample(benchmark.train, n_train or len(benchmark.train), seed), corpus, index)
        check = partial(self._recall, dev, pool(dev, corpus, index)) if dev else None
        texts = [passage.full_text for passage in corpus.passages]
        self.learned = finetune(base, pairs, texts, self.settings, check, key)  # it knows what it has read
        return Path(self.learned.name)

    def _with_negatives(self, questions: Sequence[Question], corpus: Corpus, index: TfidfIndex) -> list[Pair]:
        pairs = [(question, *pair) for question in questions for pair in self.pairs(question, corpus)]
        queries = [query for _, query, _ in pairs]
        candidates: Sequence[Sequence[int]] = [()] * len(pairs)
        if self.settings.negatives == "hard":
            candidates = index.nearest(queries, N_NEGATIVE_CANDIDATES)
        elif self.settings.negatives == "random":
            generator = np.random.default_rng(self.settings.seed)
            candidates = generator.integers(len(corpus), size=(len(pairs), N_NEGATIVE_CANDIDATES)).tolist()
        supports = {question.id: frozenset(corpus.row[id] for id in question.supporting_ids) for question in questions}
        return [
            Pair(query, corpus.row[positive], supports[question.id], tuple(rows))
            for (question, query, positive), rows in zip(pairs, candidates)
        ]

    def _recall(self, questions: Sequence[Question], corpus: Corpus, encoder: Encoder) -> float:
        """Recall@5 of this method with an encoder; what is set for retrieval alone has no part in it."""
        retriever = type(self)(**{name: getattr(self.settings, name) for name in self.training_settings})
        retriever.learned = encoder
        retriever.index(corpus)
        return dev_recall(retriever, questions)


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


def sample(questions: Sequence[Question], n: int, seed: int) -> list[Question]:
    """At most n of the questions, drawn without repetition and in their order."""
    picks = np.random.default_rng(seed).permutation(len(questions))[:n]
    return [questions[pick] for pick in sorted(picks)]


def pool(questions: Sequence[Question], corpus: Corpus, index: TfidfIndex) -> Corpus:
    """The supports of the questions and the passages nearest to each: small, and hard enough to choose a model on."""
    rows = {corpus.row[id] for question in questions for id in question.supporting_ids}
    rows.update(*index.nearest([question.text for question in questions], DEV_PASSAGES))
    return corpus.subset(sorted(rows))
