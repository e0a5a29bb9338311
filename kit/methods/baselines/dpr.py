"""DPR: an encoder that learns from training questions (kgp.txt §8.1–8.2, Table 4)."""

from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from msgspec.structs import replace

from kit.corpus import Benchmark, Corpus, Question
from kit.corpus.types import Questions
from kit.learning.contrastive import Pair, TrainingSettings, finetune
from kit.learning.trained import Trained
from kit.learning.training import Slot
from kit.methods.baselines.classic import Dense
from kit.methods.training import dev_recall, draw, draw_dev, expect_training, pool
from kit.settings import Whole, defaults
from kit.text import ENCODER_SETTINGS, Encoder, TfidfIndex

N_NEGATIVE_CANDIDATES = 20  # passages from which the negatives of a pair are drawn
DEV_QUESTIONS = 30  # by whose Recall@5 a model is chosen


class DPR(Trained, Dense):
    """One encoder for questions and passages, which learns from pairs of a query and a passage.

    Beside the other passages of its batch each query can have one more negative, drawn anew in each
    epoch and never a support. Before ``fit`` the encoder is the base. ``history`` has ``step`` with
    ``loss`` or with ``measured``, the Recall@5 of dev questions.
    """

    name = "dpr"
    kind = "trained"
    training_settings = (*defaults(TrainingSettings), "negatives", "n_train")
    fixed_by_training = ENCODER_SETTINGS

    class Settings(TrainingSettings, frozen=True):
        negatives: Annotated[
            Literal["hard", "random", "in-batch"],
            "drawn from those nearest to the query by TF-IDF, from all, or not at all",
        ] = "hard"
        n_train: Annotated[Whole, "training questions, drawn by the seed; 0 for all"] = 0

    def pairs(self, question: Question, corpus: Corpus) -> list[tuple[str, str]]:
        """Texts of queries, each with the id of the passage to find: the question, per support."""
        return [(question.text, support) for support in question.supporting_ids]

    def training_pairs(self, questions: Questions, corpus: Corpus, index: TfidfIndex) -> list[Pair]:
        """The pairs of all questions, each with the passages to draw its negative from."""
        pairs = []
        for question in questions:
            supports = frozenset(corpus.row[support] for support in question.supporting_ids)
            for query, support in self.pairs(question, corpus):
                pairs.append(Pair(query, corpus.row[support], supports))

        if self.settings.negatives == "in-batch":
            return pairs
        if self.settings.negatives == "hard":
            candidates = index.nearest([pair.query for pair in pairs], N_NEGATIVE_CANDIDATES)
        else:
            generator = np.random.default_rng(self.settings.seed)
            size = (len(pairs), N_NEGATIVE_CANDIDATES)
            candidates = generator.integers(len(corpus), size=size).tolist()
        return [replace(pair, negatives=tuple(rows)) for pair, rows in zip(pairs, candidates)]

    # ---- learning

    def expect_training(self, benchmark: Benchmark) -> None:
        expect_training(
            benchmark,
            benchmark.train,
            self.settings.n_train,
            self.name,
        )

    def train(self, benchmark: Benchmark, slot: Slot) -> Path:
        corpus = benchmark.corpus
        n_train = self.settings.n_train
        seed = self.settings.seed
        index = TfidfIndex(corpus)
        questions = draw(benchmark.train, n_train or len(benchmark.train), seed)

        # A check takes no longer than what it checks.
        n_dev = min(DEV_QUESTIONS, n_train or DEV_QUESTIONS)
        dev = draw_dev(benchmark, n_dev, seed)
        measure = partial(self._recall, dev, pool(dev, corpus, index)) if dev else None

        texts = [passage.full_text for passage in corpus.passages]
        encoder = finetune(
            Encoder(**self.settings.of_encoder()),
            self.training_pairs(questions, corpus, index),
            texts,
            self.settings,
            measure,
            slot,
        )
        # For the store, while the encoder remembers what its lower layers made of them.
        encoder.encode(texts)
        return Path(encoder.name)

    def restore(self, folder: Path) -> None:
        options = self.settings.of_encoder() | {"encoder": folder}
        self.learned = Encoder(store=self.store, **options)

    def _recall(self, questions: Questions, corpus: Corpus, encoder: Encoder) -> float:
        """Recall@5 of this method with an encoder, whatever is set for retrieval alone."""
        retriever = type(self)(
            **{name: getattr(self.settings, name) for name in self.training_settings}
        )
        retriever.learned = encoder
        retriever.index(corpus)
        return dev_recall(retriever, questions)
