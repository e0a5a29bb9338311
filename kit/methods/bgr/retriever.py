"""BGR: a question's evidence graph, found from the question on and from the last evidence back.

The method of BGR §5. From a path, the question and the evidence so far, a network judges every
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

from kit.corpus import Benchmark, Corpus, Query
from kit.corpus.types import Queries, Texts
from kit.errors import InputError
from kit.learning.shipped import Benchmarks, Shipped, Start
from kit.learning.training import Slot, Trainer, periods_of
from kit.methods.base import Ranking, Rankings
from kit.methods.bgr.choices import Choices
from kit.methods.bgr.evidence import EvidenceRetriever, evidence_ranking, with_graphs
from kit.methods.bgr.graphs import (
    DIRECTIONS,
    QUESTION,
    Edges,
    NodePath,
    Reading,
    acyclic,
    bsc,
    depth_first,
    merge,
)
from kit.methods.bgr.learned import AT_ONCE, Learned, measure, ship, write
from kit.methods.bgr.likely import THRESHOLDS, judged_graphs, most_likely
from kit.methods.bgr.network import EvidenceNetwork
from kit.methods.bgr.printed import PrintedNetwork
from kit.methods.bgr.search import Acceptance, Candidates, Search, Searches, in_rows, searches_of
from kit.methods.bgr.training import PathLoss, batches, optimiser_of
from kit.methods.trace import AnyEvent, Expansion, Merge, Trace
from kit.methods.training import draw
from kit.settings import Positive, Share, Whole
from kit.text import ENCODER_SETTINGS, Encoder, EncoderSettings

PERIOD = 200  # steps between two checks
CHECKED = 40  # dev questions by which weights are chosen (bgr-i28)
CHOOSING = 150  # dev questions by which thresholds and the like are chosen

Rule = Literal["likely", "chosen", Reading]
NETWORKS = {"kit": EvidenceNetwork, "printed": PrintedNetwork}


class BGR(Shipped, EvidenceRetriever):
    """Evidence graphs in both directions, merged (BGR Eqs. 1 to 4).

    A ranking begins with the evidence in the order in which the graph reaches it. ``history`` has
    ``step`` with ``loss``, or with ``measured`` and ``matched``: the F1 of the evidence of dev
    questions and the share of their graphs that is right, as means of both directions.
    """

    name = "bgr"
    kind = "bgr"
    training_settings = ("judge", "steps", "learning_rate", "n_train", "seed", "candidates")
    fixed_by_training = (*ENCODER_SETTINGS, "judge", "steps", "learning_rate", "n_train", "seed")

    class Settings(EncoderSettings, frozen=True):
        start: Start = "worlds"
        judge: Annotated[
            Literal["kit", "printed"], "Eq. 1 with all that the kit adds, or as the paper has it"
        ] = "kit"
        direction: Annotated[Literal["both", "forward", "backward"], "where a search begins"] = (
            "both"
        )
        rule: Annotated[
            Rule,
            "how two graphs become one: the most likely, Eq. 3 as chosen on dev questions, or as "
            "the paper's code, formula or text has it",
        ] = "likely"
        gamma: Annotated[Share, "γ of Eq. 3 where it is not chosen"] = 0.2
        threshold: Annotated[
            float | None,
            "a logit above it is evidence; by default as chosen on dev questions, per direction",
        ] = None
        successors: Annotated[Whole, "most candidates that a path goes on to; 0: any number"] = 0
        at_least_one: Annotated[bool, "the best candidate is evidence in any case"] = True
        candidates: Annotated[Positive, "of a larger corpus, those nearest to the question"] = 25
        steps: Annotated[Positive, "steps of training"] = 300
        learning_rate: Annotated[float, "the highest"] = 1.2e-3
        n_train: Annotated[Whole, "training questions that are drawn; 0: all"] = 0
        seed: Annotated[Whole, "of the first weights and of what is drawn"] = 0

    blank: Learned | None = None  # an untrained network, in the place of a trained one

    def _begin(self) -> None:
        if self.settings.start == "worlds" and self.settings.judge == "printed":
            raise InputError(
                "the weights that come with the kit are of judge=kit: expected start=untrained "
                "and questions to learn from",
                field="judge",
            )
        super()._begin()

    def index(self, corpus: Corpus) -> None:
        """As of any retriever of evidence; without what was learned, the network is untrained."""
        super().index(corpus)
        if self.learned is None and self.blank is None:
            self.blank = Learned({}, Choices(), self._untrained)

    @property
    def network(self) -> EvidenceNetwork:
        """What judges candidates."""
        return (self.learned or self.blank).network

    @property
    def choices(self) -> Choices:
        """What was chosen on dev questions."""
        return (self.learned or self.blank).choices

    # ---- retrieval

    def rank(self, queries: Queries, k: int) -> Rankings:
        with_rows = list(zip(queries, self.nearest_rows(queries, k)))
        rankings = []
        for start in range(0, len(with_rows), AT_ONCE):
            some = with_rows[start : start + AT_ONCE]
            for (_, rows), (_, edges) in zip(some, self._graphs(some)):
                rankings.append(evidence_ranking(self.corpus, edges, rows, k))
        return rankings

    def rank_traced(self, query: Query, k: int) -> Ranking:
        [rows] = self.nearest_rows([query], k)
        [(searches, edges)] = self._graphs([(query, rows)])
        n_judged = sum(len(search.logits) for search in searches.values())
        trace = Trace(self._events(searches, edges), n_judged)
        return replace(evidence_ranking(self.corpus, edges, rows, k), trace=trace)

    def search(
        self,
        query: Query,
        rows: ndarray,
        direction: str,
    ) -> Search:
        """Eqs. 1 and 2: a search for evidence among rows of the corpus."""
        candidates = Candidates.of(query.text, rows, self.corpus)
        acceptances = {direction: self._acceptance(self._threshold(direction))}
        [searches] = searches_of(self.network, [candidates], acceptances)
        return searches[direction]

    def _graphs(
        self,
        queries: Sequence[tuple[Query, ndarray]],
    ) -> list[tuple[Searches, Edges]]:
        """For each query, with the rows nearest to it, its searches and its evidence graph."""
        candidates = [
            Candidates.of(query.text, rows[: self.settings.candidates], self.corpus)
            for query, rows in queries
        ]
        directions = DIRECTIONS
        if self.settings.direction != "both":
            directions = [self.settings.direction]
        is_likely = len(directions) > 1 and self.settings.rule == "likely"

        thresholds = {direction: self._threshold(direction) for direction in directions}
        if is_likely:
            thresholds = dict.fromkeys(directions, THRESHOLDS[0])
        acceptances = {
            direction: self._acceptance(threshold) for direction, threshold in thresholds.items()
        }

        all_searches = searches_of(self.network, candidates, acceptances)
        if is_likely:
            all_graphs = judged_graphs(self.network, all_searches)
            graphs = [
                most_likely(graphs, searches, self.choices.bonus)
                for graphs, searches in zip(all_graphs, all_searches)
            ]
        else:
            graphs = list(map(self._merged, all_searches))
        edges = [in_rows(graph, question.rows) for graph, question in zip(graphs, candidates)]
        return list(zip(all_searches, edges))

    def _merged(self, searches: Searches) -> Edges:
        """The evidence graph, between positions: of two searches by Eqs. 3 and 4."""
        graphs = {direction: search.positions() for direction, search in searches.items()}
        if len(graphs) == 1:
            return next(iter(graphs.values()))
        if self.settings.rule == "chosen":
            merged = self.choices.merged(graphs)
        else:
            merged = merge(*graphs.values(), self.settings.gamma, self.settings.rule)
        return list(acyclic(merged).edges)

    def _threshold(self, direction: str) -> float:
        if self.settings.threshold is not None:
            return self.settings.threshold
        return self.choices.threshold(direction)

    def _acceptance(self, threshold: float) -> Acceptance:
        return Acceptance(threshold, self.settings.successors, self.settings.at_least_one)

    # ---- the trace

    def _events(self, searches: Searches, evidence: Edges) -> tuple[AnyEvent, ...]:
        """The searches path by path, and the merge where there were two."""
        searches = {
            direction: search.at(self._threshold(direction))
            for direction, search in searches.items()
        }
        events = []
        for index, search in enumerate(searches.values()):
            rows = search.candidates.rows
            ids = self.ids(rows)
            threshold = float(_probability(np.array(search.acceptance.threshold)))
            for path, taken in depth_first(search.taken):
                event = Expansion(
                    index,
                    search.direction,
                    self.ids(rows[list(path)]),
                    self.ids(rows[taken]),
                    _judged(search.logits[path], path, ids),
                    round(threshold, 4),
                )
                events.append(event)

        if len(searches) > 1:
            graphs = [search.edges() for search in searches.values()]
            names = map(self._names, [*graphs, evidence])
            events.append(Merge(len(graphs), *names, self._reason(*graphs)))
        return tuple(events)

    def _reason(self, forward: Edges, backward: Edges) -> str:
        """Which case of Eq. 3 it is, or what else decided."""
        if self.settings.rule == "likely":
            return f"the most likely graph, with {self.choices.bonus:g} per piece of evidence"
        rule = self.settings.rule
        gamma = self.settings.gamma
        if rule == "chosen":
            rule = self.choices.rule
            gamma = self.choices.gamma
        share = bsc(forward, backward)
        relation = ">" if share > gamma else "≤"
        return f"{rule}: BSC = {share:.2f} {relation} γ = {gamma:g}"

    def _names(self, edges: Edges) -> tuple:
        """Edges between ids of passages; the question's is empty."""
        pairs = []
        for edge in edges:
            ids = ("" if row == QUESTION else self.corpus.passages[row].id for row in edge)
            pairs.append(tuple(ids))
        return tuple(pairs)

    # ---- training

    def expect_training(self, benchmark: Benchmark) -> None:
        self.expect_graphs(benchmark)

    def train(self, benchmarks: Benchmarks, slot: Slot) -> Path:
        """Learn Eq. 1 in both directions; weights are chosen by the graphs of dev questions."""
        settings = self.settings
        examples = []
        dev = []
        n_choosing = min(CHOOSING, settings.n_train or CHOOSING)  # no more than what it learns from
        for benchmark in benchmarks:
            learnable = with_graphs(benchmark.train)
            drawn = draw(learnable, settings.n_train or len(learnable), settings.seed)
            choosing = draw(with_graphs(benchmark.dev), n_choosing, settings.seed)
            examples += self.examples(benchmark, drawn)
            dev += self.examples(benchmark, choosing)

        weights = self.learned.weights if self.learned is not None else {}
        network = Learned(weights, Choices(), self._untrained).network
        endless = batches(examples, settings.seed, with_steps=settings.judge == "kit")
        steps = list(islice(endless, settings.steps))
        parts = [steps[start : start + PERIOD] for start in range(0, len(steps), PERIOD)]
        trainer = Trainer(
            network,
            optimiser_of(network),
            PathLoss(network),
            check=partial(measure, network, dev[:CHECKED]),
            latest_of_equals=True,
            dropout_seed=settings.seed,
            write=partial(write, network, dev[:CHOOSING]),
        )
        return trainer.run(periods_of(parts, settings.learning_rate), slot)

    def restore(self, folder: Path) -> None:
        self.learned = Learned.read(folder, self._untrained)

    def ship(self, learned: Path, folder: Path) -> None:
        ship(learned, folder, self._untrained())

    def _untrained(self) -> EvidenceNetwork:
        make = NETWORKS[self.settings.judge]
        encoder = Encoder(**self.settings.of_encoder())
        return make(encoder, self.settings.seed).eval()


def _judged(logits: ndarray, path: NodePath, ids: Texts) -> tuple:
    """How probable each candidate is to come next on a path, the best first."""
    probabilities = _probability(logits)
    order = np.argsort(-probabilities, kind="stable").tolist()
    return tuple(
        (ids[position], round(float(probabilities[position]), 4))
        for position in order
        if position not in path
    )


def _probability(logits: ndarray) -> ndarray:
    return 1 / (1 + np.exp(-logits))
