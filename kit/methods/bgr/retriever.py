"""BGR: a question's evidence graph, found from the question on and from the last evidence back.

The method of bgr.txt §5. From a path, the question and the evidence so far, a network judges every
candidate (Eq. 1, :mod:`kit.methods.bgr.network`). Those that it takes make the path longer (Eq. 2,
:mod:`kit.methods.bgr.search`); where it takes none, the path ends. The graphs of both directions
become one (Eqs. 3 and 4, :mod:`kit.methods.bgr.graphs`). What reads it and answers (Eq. 5) is a
reader (:mod:`kit.readers`).

The paper's symbols and the names here: E are the ``candidates``; G_F and G_B are the ``graphs``,
forward and backward; γ is ``gamma``; G is the ranking's ``evidence``.
"""

from collections.abc import Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from msgspec.structs import replace
from numpy import ndarray

from kit.corpus import Benchmark, Corpus, EvidenceGraph, Query
from kit.corpus.types import Queries, Texts
from kit.learning.trained import Trained
from kit.learning.training import Slot, Trainer, periods_of, read_weights
from kit.methods.base import Ranking, Rankings, Retriever, ranking_from_order
from kit.methods.baselines.classic import Dense
from kit.methods.bgr.graphs import (
    DIRECTIONS,
    QUESTION,
    Edges,
    NodePath,
    Rule,
    acyclic,
    bsc,
    depth_first,
    merge,
)
from kit.methods.bgr.network import EvidenceNetwork
from kit.methods.bgr.search import Candidates, SearchResult, search
from kit.methods.bgr.training import (
    LEARNING_RATE,
    CandidateRows,
    PathLoss,
    Questions,
    batches,
    optimiser_of,
)
from kit.methods.trace import AnyEvent, Expansion, Merge, Trace
from kit.methods.training import draw, expect_training
from kit.settings import Positive, Share, Whole
from kit.text import ENCODER_SETTINGS, Encoder, EncoderSettings

PERIOD = 150  # steps between two checks
DEV_QUESTIONS = 40  # by whose set F1 weights are chosen (bgr-i28)
Searches = list[SearchResult]  # one per direction


class BGR(Trained, Retriever):
    """Evidence graphs in both directions, merged (bgr.txt Eqs. 1 to 4).

    A ranking begins with the evidence in the order in which the graph reaches it. ``history`` has
    ``step`` with ``loss`` or ``measured``, the F1 of the evidence of dev questions.
    """

    name = "bgr"
    kind = "bgr"
    index_settings = (*ENCODER_SETTINGS, "candidates")
    fixed_by_training = (*ENCODER_SETTINGS, "steps", "n_train", "seed")
    training_settings = ("steps", "n_train", "seed", "candidates")

    class Settings(EncoderSettings, frozen=True):
        direction: Annotated[Literal["both", "forward", "backward"], "where a search begins"] = (
            "both"
        )
        rule: Annotated[Rule, "how Eq. 3 is read"] = "code"
        gamma: Annotated[Share, "γ of Eq. 3"] = 0.2
        successors: Annotated[Whole, "most candidates that a path goes on to; 0: any number"] = 0
        at_least_one: Annotated[bool, "the best candidate is evidence in any case"] = True
        candidates: Annotated[Positive, "of a larger corpus, those nearest to the question"] = 25
        steps: Annotated[Positive, "steps of training"] = 450
        n_train: Annotated[Whole, "training questions that are drawn; 0: all"] = 0
        seed: Annotated[Whole, "of the first weights and of what is drawn"] = 0

    network: EvidenceNetwork | None = None

    def index(self, corpus: Corpus) -> None:
        """Nothing is to be prepared for a corpus that is no larger than ``candidates``."""
        super().index(corpus)
        if self.network is None:
            self.network = self._untrained()

        self.dense = None  # finds the candidates in a large corpus
        if len(corpus) > self.settings.candidates:
            self.dense = Dense(**self.settings.of_encoder())
            self.dense.index(corpus)

    # ---- retrieval

    def rank(self, queries: Queries, k: int) -> Rankings:
        rankings = []
        for query, rows in zip(queries, self._nearest_rows(queries, k)):
            evidence = self._merged(self._searches(query, self._candidates(rows)))
            rankings.append(evidence_ranking(self.corpus, evidence, rows, k))
        return rankings

    def rank_traced(self, query: Query, k: int) -> Ranking:
        [rows] = self._nearest_rows([query], k)
        searches = self._searches(query, self._candidates(rows))
        evidence = self._merged(searches)
        n_judged = sum(len(result.taken) for result in searches)
        trace = Trace(self._events(searches, evidence), n_judged)
        return replace(evidence_ranking(self.corpus, evidence, rows, k), trace=trace)

    def search(
        self,
        query: Query,
        rows: ndarray,
        direction: str,
    ) -> SearchResult:
        """Eqs. 1 and 2: a search for evidence among rows of the corpus."""
        return search(
            self.network,
            Candidates.of(query.text, rows, self.corpus),
            direction,
            successors=self.settings.successors,
            at_least_one=self.settings.at_least_one,
        )

    def _nearest_rows(self, queries: Queries, k: int = 0) -> list[ndarray]:
        """For each query the k rows nearest to it, or as many as are judged if these are more."""
        if self.dense is None:
            return [np.arange(len(self.corpus))] * len(queries)
        rankings = self.dense.retrieve_many(queries, max(k, self.settings.candidates))
        return [
            np.array([self.corpus.row[passage] for passage in ranking.ids]) for ranking in rankings
        ]

    def _candidates(self, rows: ndarray) -> ndarray:
        """Those of the nearest rows that are judged."""
        return rows[: self.settings.candidates]

    def _searches(self, query: Query, rows: ndarray) -> Searches:
        """A search in each direction that is set."""
        chosen = self.settings.direction
        directions = DIRECTIONS if chosen == "both" else [chosen]
        return [self.search(query, rows, direction) for direction in directions]

    def _merged(self, searches: Searches) -> Edges:
        """The evidence graph: of two searches by Eqs. 3 and 4."""
        graphs = [result.edges() for result in searches]
        if len(graphs) == 1:
            return graphs[0]
        merged = merge(*graphs, self.settings.gamma, self.settings.rule)
        return list(acyclic(merged).edges)

    # ---- the trace

    def _events(self, searches: Searches, evidence: Edges) -> tuple[AnyEvent, ...]:
        """The searches path by path, and the merge where there were two."""
        events = []
        for index, result in enumerate(searches):
            ids = self.ids(result.rows)
            for path, taken in depth_first(result.taken):
                event = Expansion(
                    index,
                    result.direction,
                    self.ids(result.rows[list(path)]),
                    self.ids(result.rows[taken]),
                    _judged(result.logits[path], path, ids),
                )
                events.append(event)

        if len(searches) > 1:
            graphs = [result.edges() for result in searches]
            names = map(self._names, [*graphs, evidence])

            # Which case of Eq. 3 it is.
            share = bsc(*graphs)
            gamma = self.settings.gamma
            relation = ">" if share > gamma else "≤"
            reason = f"{self.settings.rule}: BSC = {share:.2f} {relation} γ = {gamma:g}"
            events.append(Merge(len(graphs), *names, reason))
        return tuple(events)

    def _names(self, edges: Edges) -> tuple:
        """Edges between ids of passages; the question's is empty."""
        pairs = []
        for edge in edges:
            ids = ("" if row == QUESTION else self.corpus.passages[row].id for row in edge)
            pairs.append(tuple(ids))
        return tuple(pairs)

    # ---- training

    def expect_training(self, benchmark: Benchmark) -> None:
        expect_training(
            benchmark,
            _with_graphs(benchmark.train),
            self.settings.n_train,
            self.name,
            having=" with evidence graphs",
        )

    def train(self, benchmark: Benchmark, slot: Slot) -> Path:
        """Learn Eq. 1 in both directions; weights are chosen by the evidence of dev questions."""
        seed = self.settings.seed
        questions = _with_graphs(benchmark.train)
        questions = draw(questions, self.settings.n_train or len(questions), seed)
        dev = draw(_with_graphs(benchmark.dev), DEV_QUESTIONS, seed)

        # With a network of its own; other settings than those of training have no part in it.
        student = BGR(candidates=self.settings.candidates, **self.settings.of_encoder())
        student.network = self._untrained()
        student.corpus = benchmark.corpus
        rows = benchmark.collections
        if rows is None:
            student.index(benchmark.corpus)
            rows = student._training_rows([*questions, *dev])

        steps = list(islice(batches(questions, seed), self.settings.steps))
        parts = [steps[start : start + PERIOD] for start in range(0, len(steps), PERIOD)]
        trainer = Trainer(
            student.network,
            optimiser_of(student.network),
            PathLoss(student.network, benchmark.corpus, rows),
            check=partial(student._measure, dev, rows),
            latest_of_equals=True,
            dropout_seed=seed,
        )
        return trainer.run(periods_of(parts, LEARNING_RATE), slot)

    def restore(self, folder: Path) -> None:
        self.learned = read_weights(folder)
        self.network = self._untrained()
        self.network.load_state_dict(self.learned)

    def _untrained(self) -> EvidenceNetwork:
        return EvidenceNetwork(
            Encoder(**self.settings.of_encoder()),
            self.settings.seed,
        ).eval()

    def _training_rows(self, questions: Questions) -> CandidateRows:
        """The candidates of each question: its supports, and what is nearest to it by vector."""
        rows = {}
        nearest = self._nearest_rows([question.query for question in questions])
        for question, nearest_rows in zip(questions, nearest):
            supports = [self.corpus.row[passage] for passage in question.supporting_ids]
            others = [row for row in nearest_rows.tolist() if row not in supports]
            rows[question.id] = np.array([*supports, *others][: self.settings.candidates])
        return rows

    def _measure(
        self,
        dev: Questions,
        rows: CandidateRows,
        step: int,
    ) -> dict[str, float]:
        """The mean F1 between the evidence that is found for dev questions and their supports."""
        self.network.eval()  # a period leaves its dropout on
        scores = []
        for question in dev:
            edges = self._merged(self._searches(question.query, rows[question.id]))
            evidence = {child for _, child in edges}
            gold = {self.corpus.row[carriers[0]] for carriers in question.supporting}
            scores.append(2 * len(evidence & gold) / (len(evidence) + len(gold)))
        return {"measured": float(np.mean(scores or [0.0]))}


def evidence_ranking(
    corpus: Corpus,
    edges: Edges,
    rows: Sequence[int],
    k: int,
) -> Ranking:
    """Evidence in the order in which a graph's edges reach it, with the graph; then other rows."""
    nodes = list(dict.fromkeys(child for _, child in edges))[:k]
    kept = [
        (nodes.index(parent), nodes.index(child))
        for parent, child in edges
        if {parent, child}.issubset(nodes)
    ]
    ranked = list(dict.fromkeys([*nodes, *rows]))[:k]
    ranking = ranking_from_order([corpus.passages[row].id for row in ranked])
    return replace(ranking, evidence=EvidenceGraph.acyclic(len(nodes), kept))


def _with_graphs(questions: Questions) -> Questions:
    """The questions that have an evidence graph."""
    return [question for question in questions if question.evidence]


def _judged(logits: ndarray, path: NodePath, ids: Texts) -> tuple:
    """How probable each candidate is to come next on a path, the best first."""
    probabilities = 1 / (1 + np.exp(-logits))
    order = np.argsort(-probabilities, kind="stable").tolist()
    return tuple(
        (ids[position], round(float(probabilities[position]), 4))
        for position in order
        if position not in path
    )
