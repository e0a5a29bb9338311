"""The graph reranker: a network that learned on invented worlds reorders what plain methods find.

The candidates are the first passages of :mod:`kit.methods.graph_reranker.logistic`. The graph
around them, and what its nodes know of the question, are in
:mod:`kit.methods.graph_reranker.features`, the network in
:mod:`kit.methods.graph_reranker.network`, the loss in
:mod:`kit.methods.graph_reranker.training`, what a trace tells in
:mod:`kit.methods.graph_reranker.hearing`.
"""

from pathlib import Path
from typing import Annotated, ClassVar, NamedTuple

import numpy as np
import torch
from msgspec.structs import replace
from numpy import ndarray
from torch import Tensor

from kit.arguments import expect_known
from kit.corpus import Benchmark, Corpus, Query
from kit.corpus.types import Queries, Strings
from kit.errors import InputError
from kit.learning.shipped import Benchmarks, Shipped
from kit.learning.training import Slot, one_thread, read_weights
from kit.methods.base import Ranking, Rankings, Retriever
from kit.methods.graph_reranker import training
from kit.methods.graph_reranker.candidates import Scorers
from kit.methods.graph_reranker.features import CorpusGraph, Surroundings, side_by_side
from kit.methods.graph_reranker.hearing import hearings
from kit.methods.graph_reranker.logistic import UNTRAINED, LogisticSettings
from kit.methods.graph_reranker.network import Heard, Network
from kit.methods.qsgnn.graph import KINDS as EDGES
from kit.methods.trace import InitialScore, Trace
from kit.methods.training import expect_training
from kit.settings import Positive
from kit.text import ENCODER_SETTINGS
from kit.text.tfidf import best_rows

BELOW = 1.0  # the score of the first other passage is so much lower than the last candidate's


class Reranked(NamedTuple):
    """The candidates of a question, and what the network makes of them."""

    rows: ndarray  # the candidates, then the other passages, by the logistic score
    scores: list[ndarray]  # of the candidates, before and after each round
    rounds: list[Heard]
    others: ndarray  # the logistic scores of the other passages
    graph: Surroundings


class GraphReranker(Shipped, Retriever):
    """The first passages of ``logistic``, reordered by a network that passes messages among them.

    The others follow in their order. The network comes with the kit; ``fit`` tunes it, or, with
    ``start=untrained``, teaches it anew, from the ranking of the logistic model that it fits first.
    ``history`` has ``step`` with ``loss``, or with ``measured``, the mean of ln softmax over the
    supports of held-out questions, of which the highest is kept.

    With ``edges`` left out the same network hears less; one that learned without them is another.
    """

    name = "graph-reranker"
    kind = "graph-reranker"
    index_settings = (*ENCODER_SETTINGS, "triples")
    fixed_by_training = ("width", "rounds", "products")
    training_settings = (
        "triples",
        "candidates",
        "width",
        "rounds",
        "products",
        "edges",
        "epochs",
        "n_train",
        "seed",
    )

    ranges: ClassVar = {
        "candidates": 200,
        "edges": ("+".join(EDGES), "cc+cd", ""),  # all, without entities, none
    }

    class Settings(LogisticSettings, frozen=True):
        candidates: Annotated[Positive, "first passages of logistic, which are reordered"] = 100
        width: Annotated[Positive, "numbers of a node's state"] = 32
        rounds: Annotated[Positive, "rounds of messages"] = 2
        products: Annotated[bool, "whether nodes know the product of their vector and q"] = False
        edges: Annotated[str, "kinds of edges that carry messages, joined by +; '' for none"] = (
            "+".join(EDGES)
        )
        epochs: Annotated[Positive, "times through the training questions"] = 4

        def __post_init__(self) -> None:
            expect_known(self.kinds, EDGES, "kind of edges")

        @property
        def kinds(self) -> list[str]:
            """The kinds of edges, each in one direction."""
            return self.edges.split("+") if self.edges else []

    learned: dict[str, Tensor] | None = None  # weights of the network

    @property
    def is_of_one_encoder(self) -> bool:
        """What nodes know without the products is standardised."""
        return self.settings.products

    # ---- the graph and the network

    def index(self, corpus: Corpus) -> None:
        super().index(corpus)
        if len(corpus):
            self.graph_of_corpus = self.graph_of(corpus)
            self.network = self.new_network()

    def graph_of(self, corpus: Corpus) -> CorpusGraph:
        """What surroundings in a corpus are cut from."""
        scorers = Scorers(corpus, self.settings, self.settings.triples)
        graph = scorers.pagerank.levels
        return CorpusGraph(graph.encoded(scorers.walk.encoder, scorers.walk.vectors), scorers)

    def new_network(self) -> Network:
        """A network with what was learned, or as it is before."""
        settings = self.settings
        dimension = 0
        if settings.products:
            dimension = self.graph_of_corpus.vectors["d"].shape[1]
        with torch.random.fork_rng():
            torch.manual_seed(settings.seed)
            network = Network(settings.width, settings.rounds, dimension)
        if self.learned:
            network.load_state_dict(self.learned)
        else:
            network.begin_with(UNTRAINED)
        return network

    @property
    def kinds(self) -> Strings:
        """The kinds of edges that carry messages, in both directions."""
        kinds = self.settings.kinds
        return (*kinds, *(kind[::-1] for kind in kinds if kind[0] != kind[1]))

    # ---- retrieval

    def rank(self, queries: Queries, k: int) -> Rankings:
        vectors = self.graph_of_corpus.scorers.encode([query.text for query in queries])
        return [
            self._ranking(self.rerank(query.text, vector, k), k)
            for query, vector in zip(queries, vectors)
        ]

    def rank_traced(self, query: Query, k: int) -> Ranking:
        [vector] = self.graph_of_corpus.scorers.encode([query.text])
        reranked = self.rerank(query.text, vector, k)
        ids = self.ids(reranked.graph.rows["d"].tolist())
        events = [InitialScore(0, *scored) for scored in zip(ids, reranked.scores[0].tolist())]
        for index, heard in enumerate(reranked.rounds):
            before, after = reranked.scores[index : index + 2]
            events += hearings(index, heard, reranked.graph, before, after)
        return replace(self._ranking(reranked, k), trace=Trace(tuple(events)))

    @torch.no_grad()
    @one_thread()
    def rerank(self, text: str, vector: ndarray, k: int) -> Reranked:
        """The candidates of a question with their scores, and what k passages need beside them."""
        n_candidates = self.settings.candidates
        corpus = self.graph_of_corpus
        scores = corpus.scorers.scores(text, vector)  # (passages, scores)
        weights = self.network.base.weight[0].numpy()
        rows = best_rows(scores @ weights, max(n_candidates, k))
        candidates = rows[:n_candidates]

        graph = corpus.around(text, vector, candidates, scores[candidates])
        by_round, rounds = self.network(side_by_side([graph]), self.kinds)
        return Reranked(
            rows,
            [of_round.numpy() for of_round in by_round],
            rounds,
            scores[rows[n_candidates:]] @ weights,
            graph,
        )

    def _ranking(self, reranked: Reranked, k: int) -> Ranking:
        scores = reranked.scores[-1]
        others = reranked.others
        if len(others):
            others = others - others[0] + scores.min() - BELOW
        scores = np.concatenate([scores, others])
        best = np.argsort(-scores, kind="stable")[:k]
        return Ranking(self.ids(reranked.rows[best]), scores[best])

    # ---- learning

    def expect_training(self, benchmark: Benchmark) -> None:
        expect_training(benchmark, benchmark.train, self.settings.n_train, self.name)

    def train(self, benchmarks: Benchmarks, slot: Slot) -> Path:
        return training.train(self, benchmarks, slot)

    def restore(self, folder: Path) -> None:
        """Raises :class:`InputError` where the settings are not those of the weights."""
        weights = {name: weight.float() for name, weight in read_weights(folder).items()}
        rounds = {name.split(".")[1] for name in weights if name.startswith("rounds.")}
        learned = {
            "width": weights["outer.weight"].shape[1],
            "rounds": len(rounds),
            "products": "products.o.weight" in weights,
        }
        for name, value in learned.items():
            if getattr(self.settings, name) != value:
                raise InputError(
                    f"the weights of {self.name} have {value!r}: "
                    "with another value expected start=untrained and questions to learn from",
                    field=name,
                )
        self.learned = weights
