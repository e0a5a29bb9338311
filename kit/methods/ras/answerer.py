"""RAS's answerer (RAS §3.4): a graph network reads the question's graph G_Q.

For a class :class:`GraphAnswerer`, which scores the graph's nodes, yes, no and small numbers, and
learns in a minute. The paper's own, where what the graph network makes is a token of a language
model, is :class:`kit.methods.ras.graph_llm.GraphLLM`.

The paper's symbols and the names here: G_Q ``graph`` of a
:class:`kit.methods.loops.steps.Trajectory`, M_ans ``network``, f_gnn its ``encoder``, A the first
of ``scores``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import torch
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader

from kit.corpus import Benchmark, Query
from kit.corpus.types import Questions, Texts
from kit.errors import InputError
from kit.learning.trained import Trained
from kit.learning.training import Slot, Trainer, periods_of, read_weights
from kit.methods.loops.steps import Trajectories, Trajectory
from kit.methods.ras.graph_data import graphs_of
from kit.methods.ras.network import AnswerNetwork
from kit.methods.ras.retriever import RAS
from kit.readers.base import Contexts, Reader
from kit.readers.scoring import exact_match
from kit.settings import BaseSettings, Positive, Whole, check
from kit.store import Store

BATCH = 16  # graphs per step
RATE = 2e-3  # the highest learning rate


class GraphAnswerer(Trained):
    """Learns on the graphs that a RAS grows for training questions, chosen by EM on dev.

    ``grown`` are the graphs of another answerer of the same RAS. Both share them, so that none is
    grown twice.
    """

    name = "ras-answerer"
    kind = "ras-answerers"
    training_settings = ("hidden", "layers", "epochs", "seed")

    class Settings(BaseSettings, frozen=True):
        hidden: Annotated[Positive, "width of the network"] = 64
        layers: Annotated[Whole, "rounds of messages (0: none)"] = 3
        epochs: Annotated[Positive, "times through the training questions"] = 20
        seed: Annotated[Whole, "of the first weights, the order and the dropout"] = 0

    def __init__(
        self,
        retriever: RAS,
        grown: dict[Query, Data] | None = None,
        **settings: object,
    ) -> None:
        self.retriever = retriever
        self.grown = {} if grown is None else grown
        self.settings = check(
            self.Settings,
            settings,
            "the answerer of ras",
        )

    @property
    def store(self) -> Store:
        return self.retriever.encoder.store

    def scores(self, trajectory: Trajectory) -> dict[str, float]:
        """How probable each answer is (Eqs. 10 and 11), the best first."""
        self.expect_fit()
        return self.network.scores(self.graphs([trajectory]))[0]

    def answer(self, trajectories: Trajectories) -> list[str]:
        """The best node or closed answer of each graph (Eqs. 10 and 11)."""
        self.expect_fit()
        return self.network.answers(self.graphs(trajectories))

    def graphs(self, trajectories: Trajectories, questions: Questions = ()) -> list[Data]:
        """For the network, with the answers of ``questions`` where these are given."""
        return graphs_of(self.retriever, trajectories, questions)

    # ---- how it learns

    def expect_training(self, benchmark: Benchmark) -> None:
        """Raises :class:`InputError` where no training question has an answer."""
        if not any(question.answer for question in benchmark.train):
            raise InputError(
                "expected training questions with answers (--train FILE)",
                record=benchmark.name,
            )

    def key_parts(self) -> Texts:
        model = self.retriever.agent.model
        planner = model.identity if model else ""
        return repr(self.retriever.settings), self.retriever.encoder.identity, planner

    def train(self, benchmark: Benchmark, slot: Slot) -> Path:
        """Learn by the loss of :func:`kit.methods.ras.network.answer_loss`."""
        questions = [question for question in benchmark.train if question.answer]
        dev = [question for question in benchmark.dev if question.answer]
        graphs = self._grow([*questions, *dev])
        dev_graphs = graphs[len(questions) :]
        right = [question.answers for question in dev]
        network = self._untrained()

        def check_answers(step: int) -> dict[str, float]:
            return {"measured": np.mean(list(map(exact_match, network.answers(dev_graphs), right)))}

        trainer = Trainer(
            network,
            torch.optim.AdamW(network.parameters(), weight_decay=0.01),
            network.loss,
            dropout_seed=self.settings.seed,
        )
        if dev:
            trainer.check = check_answers
        # Shuffled anew in each epoch, from its own seed.
        batches = DataLoader(
            graphs[: len(questions)],
            BATCH,
            shuffle=True,
        )
        return trainer.run(periods_of([batches] * self.settings.epochs, RATE), slot)

    def _grow(self, questions: Questions) -> list[Data]:
        """The questions' graphs; the RAS grows those that are not there yet."""
        missing = [question for question in questions if question.query not in self.grown]
        gold = self.retriever.sees_gold
        queries = [question.gold_query if gold else question.query for question in missing]
        for question, graph in zip(missing, self.graphs(self.retriever.run(queries), missing)):
            self.grown[question.query] = graph
        return [self.grown[question.query] for question in questions]

    def _untrained(self) -> AnswerNetwork:
        with torch.random.fork_rng():
            torch.manual_seed(self.settings.seed)
            return AnswerNetwork(
                self.retriever.vectors.shape[1],
                self.settings.hidden,
                self.settings.layers,
            )

    def restore(self, folder: Path) -> None:
        self.network = self._untrained()
        self.network.load_state_dict(read_weights(folder))


class GraphReader(Reader):
    """RAS's reader for what any method found.

    It plans over the triples of the passages and answers from their graph. The passages must be of
    the corpus that it was fitted on.
    """

    name = "ras"

    def __init__(self) -> None:
        self.answerer = GraphAnswerer(RAS())

    def fit(self, benchmark: Benchmark) -> None:
        """As of :class:`GraphAnswerer`, over the benchmark's corpus."""
        retriever = RAS()
        retriever.index(benchmark.corpus)
        self.answerer = GraphAnswerer(retriever)
        self.answerer.fit(benchmark)
        self.row = {passage.full_text: row for row, passage in enumerate(benchmark.corpus.passages)}

    def answer(self, questions: Texts, contexts: Contexts) -> list[str]:
        """Raises :class:`InputError` for a passage that is not of the corpus."""
        self.answerer.expect_fit()
        try:
            rows = [list(map(self.row.__getitem__, texts)) for texts in contexts]
        except KeyError:
            raise InputError(
                "expected passages of the corpus that the reader learned on",
                field="reader",
            ) from None
        return self.answerer.answer(
            self.answerer.retriever.agent.reason([Query("", text) for text in questions], rows)
        )
