"""DPR: an encoder that learns from training questions (KGP §8.1–8.2, Table 4)."""

from copy import deepcopy
from math import ceil
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from msgspec.structs import replace

from kit.corpus import Benchmark, Corpus, Question
from kit.corpus.types import Questions
from kit.learning import low_rank
from kit.learning.contrastive import Pair, TrainingSettings, finetune
from kit.learning.shipped import Benchmarks, Shipped, Start
from kit.learning.training import Slot, Weights, read_weights
from kit.methods.baselines.classic import Dense
from kit.methods.training import draw, draw_dev, expect_training
from kit.settings import Whole, defaults
from kit.store import Store, content_key
from kit.text import ENCODER_SETTINGS, Encoder, TfidfIndex
from kit.text.encoder import content_of_model

N_NEGATIVE_CANDIDATES = 20  # passages from which the negatives of a pair are drawn
DEV_QUESTIONS = 200  # at most, by the loss of whose pairs a model is chosen
DEV_SHARE = 4  # as many questions that learn for each of these: checks are not to take most time


class DPR(Shipped, Dense):
    """One encoder for questions and passages, which learns from pairs of a query and a passage.

    Beside the other passages of its batch each query can have one more negative, drawn anew in each
    epoch and never a support. With ``start=untrained`` the encoder is the base before ``fit``.
    ``history`` has ``step`` with ``loss`` or with ``measured``, minus the loss of dev questions.
    """

    name = "dpr"
    kind = "trained"
    training_settings = (*defaults(TrainingSettings), "negatives", "n_train")
    fixed_by_training = (*ENCODER_SETTINGS, "start")

    class Settings(TrainingSettings, frozen=True):
        start: Start = "worlds"
        negatives: Annotated[
            Literal["hard", "random", "in-batch"],
            "drawn from those nearest to the query by TF-IDF, from all, or not at all",
        ] = "hard"
        n_train: Annotated[Whole, "training questions per data set, by the seed; 0 for all"] = 0

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

    def fit(self, benchmark: Benchmark) -> None:
        """As :class:`Shipped` does; of no epoch comes what the training would have begun with."""
        if self.settings.epochs:
            super().fit(benchmark)
        else:
            self._begin()

    def expect_training(self, benchmark: Benchmark) -> None:
        expect_training(benchmark, benchmark.train, self.settings.n_train, self.name)

    def train(self, benchmarks: Benchmarks, slot: Slot) -> Path:
        n_train = self.settings.n_train
        seed = self.settings.seed
        n_dev = min(DEV_QUESTIONS, ceil(n_train / DEV_SHARE) or DEV_QUESTIONS)

        passages = []
        pairs = []
        dev = []
        for benchmark in benchmarks:
            corpus = benchmark.corpus
            index = TfidfIndex(corpus)
            questions = draw(benchmark.train, n_train or len(benchmark.train), seed)
            chooses = draw_dev(benchmark, n_dev, seed)
            for all_pairs, asking in ((pairs, questions), (dev, chooses)):
                made = self.training_pairs(asking, corpus, index)
                all_pairs += [pair.moved(len(passages)) for pair in made]
            passages += [passage.full_text for passage in corpus.passages]

        base = self.learned or Encoder(store=self.store, **self.settings.of_encoder())
        encoder = finetune(
            base,
            pairs,
            dev,
            passages,
            self.settings,
            slot,
        )
        if len(benchmarks) == 1 and benchmarks[0].collections is None:
            # For the store, while the encoder remembers what its lower layers made of them. Where
            # each question has its own few passages, most are never searched.
            encoder.encode(passages)
        return Path(encoder.name)

    # ---- what was learned

    def restore(self, folder: Path) -> None:
        if folder == self.shipped_folder:
            folder = self._whole(folder)
        options = self.settings.of_encoder() | {"encoder": folder}
        self.learned = Encoder(store=self.store, **options)

    def small(self, weights: Weights) -> Weights:
        """Changes of low rank to the base's matrices, in float16."""
        base = Encoder(**self.settings.of_encoder()).model[0].auto_model.state_dict()
        return low_rank.factors(weights, base, self.settings.rank)

    def _whole(self, folder: Path) -> Path:
        """The folder of the base with a change that came with the kit; in the store."""
        base = Encoder(**self.settings.of_encoder())
        store = self.store or Store()
        key = content_key(base.identity, content_of_model(folder)).hex()

        def write(whole: Path) -> None:
            model = deepcopy(base.model)
            network = model[0].auto_model
            weights = low_rank.changed(network.state_dict(), read_weights(folder))
            network.load_state_dict(weights)
            model.save_pretrained(str(whole), create_model_card=False)

        return store.get_or_make(self.kind, key, lambda: store.put_folder(self.kind, key, write))
