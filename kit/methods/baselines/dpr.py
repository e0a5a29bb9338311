"""DPR, and what MDR shares with it: an encoder that learns from training questions (kgp.txt §8.1–8.2, Table 4)."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Literal

import msgspec
import numpy as np

from kit.corpus import Benchmark, Corpus, Question
from kit.learning.contrastive import KIND, Pair, TrainingSettings, finetune
from kit.learning.training import read_history
from kit.methods.baselines.classic import Dense
from kit.methods.training import dev_recall, draw, expect_training, pool
from kit.settings import Whole
from kit.store import content_key
from kit.text import DEFAULT_ENCODER, Encoder, TfidfIndex

N_NEGATIVE_CANDIDATES = 20  # passages from which the negatives of a pair are drawn
DEV_QUESTIONS = 30  # by whose Recall@5 a model is chosen
_RECIPE = (
    "6"  # to be changed with what is learned, so that weights learned otherwise are not found again
)


class DPR(Dense):
    """One encoder for questions and passages, which learns from pairs; before ``fit`` it is the base.

    ``negatives``: beside the other passages of its batch each query has one negative, drawn anew in each epoch from the
    passages that are nearest to it by TF-IDF and no supports (``hard``) or from all (``random``); or none
    (``in-batch``). ``n_train`` questions are drawn by ``seed`` (0: all). ``history`` has ``step`` with ``loss`` or
    ``measured``, Recall@5 of dev questions.
    """

    name = "dpr"

    class Settings(TrainingSettings, frozen=True):
        encoder: str = DEFAULT_ENCODER
        negatives: Literal["hard", "random", "in-batch"] = "hard"
        n_train: Whole = 0

    fixed_by_training = ("encoder",)
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
        key = content_key(
            _RECIPE, self.name, base.identity, settings, benchmark.without_test().hash
        ).hex()
        self.learned = None
        folder = base.store.get_or_make(KIND, key, lambda: self._train(base, benchmark, key))
        self.learned = self.learned or Encoder(str(folder), base.store)
        self.history = tuple(read_history(Path(self.learned.name)))

    def _train(self, base: Encoder, benchmark: Benchmark, key: str) -> Path:
        corpus, n_train, seed = benchmark.corpus, self.settings.n_train, self.settings.seed
        index = TfidfIndex(corpus)
        most = min(
            DEV_QUESTIONS, n_train or DEV_QUESTIONS
        )  # a check takes no longer than what it checks
        dev = draw([question for question in benchmark.dev if question.supporting], most, seed)
        pairs = self._with_negatives(
            draw(benchmark.train, n_train or len(benchmark.train), seed), corpus, index
        )
        check = partial(self._recall, dev, pool(dev, corpus, index)) if dev else None
        texts = [passage.full_text for passage in corpus.passages]
        self.learned = finetune(
            base, pairs, texts, self.settings, check, key
        )  # it knows what it has read
        return Path(self.learned.name)

    def _with_negatives(
        self, questions: Sequence[Question], corpus: Corpus, index: TfidfIndex
    ) -> list[Pair]:
        pairs = [
            (question, *pair) for question in questions for pair in self.pairs(question, corpus)
        ]
        queries = [query for _, query, _ in pairs]
        candidates: Sequence[Sequence[int]] = [()] * len(pairs)
        if self.settings.negatives == "hard":
            candidates = index.nearest(queries, N_NEGATIVE_CANDIDATES)
        elif self.settings.negatives == "random":
            generator = np.random.default_rng(self.settings.seed)
            candidates = generator.integers(
                len(corpus), size=(len(pairs), N_NEGATIVE_CANDIDATES)
            ).tolist()
        supports = {
            question.id: frozenset(corpus.row[id] for id in question.supporting_ids)
            for question in questions
        }
        return [
            Pair(query, corpus.row[positive], supports[question.id], tuple(rows))
            for (question, query, positive), rows in zip(pairs, candidates)
        ]

    def _recall(self, questions: Sequence[Question], corpus: Corpus, encoder: Encoder) -> float:
        """Recall@5 of this method with an encoder; what is set for retrieval alone has no part in it."""
        retriever = type(self)(
            **{name: getattr(self.settings, name) for name in self.training_settings}
        )
        retriever.learned = encoder
        retriever.index(corpus)
        return dev_recall(retriever, questions)
