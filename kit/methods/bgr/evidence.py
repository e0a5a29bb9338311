"""What retrievers of evidence graphs share: candidates of a question, examples, and the ranking."""

from collections.abc import Sequence

import numpy as np
from msgspec.structs import replace
from numpy import ndarray

from kit.corpus import Benchmark, Corpus, EvidenceGraph
from kit.corpus.types import Queries, Questions
from kit.methods.base import Ranking, Retriever, ranking_from_order
from kit.methods.baselines.classic import Dense
from kit.methods.bgr.graphs import Edges
from kit.methods.bgr.training import Example
from kit.methods.training import expect_training
from kit.text import ENCODER_SETTINGS


class EvidenceRetriever(Retriever):
    """Judges the ``candidates`` of a question, all of a small corpus or those nearest to it."""

    index_settings = (*ENCODER_SETTINGS, "candidates")

    def index(self, corpus: Corpus) -> None:
        """Nothing is to be prepared for a corpus that is no larger than ``candidates``."""
        super().index(corpus)
        self.dense = self._finder(corpus)

    def expect_graphs(self, benchmark: Benchmark) -> None:
        """Raise :class:`InputError` for too few questions with evidence graphs."""
        expect_training(
            benchmark,
            with_graphs(benchmark.train),
            self.settings.n_train,
            self.name,
            having=" with evidence graphs",
        )

    def nearest_rows(self, queries: Queries, k: int = 0) -> list[ndarray]:
        """For each query the k rows nearest to it, or as many as are judged if these are more."""
        return self._nearest(self.corpus, self.dense, queries, k)

    def examples(self, benchmark: Benchmark, questions: Questions) -> list[Example]:
        """Questions to learn from, with their candidates: those that the benchmark gives them.

        Without such, these are their supports and what is nearest to them by vector.
        """
        corpus = benchmark.corpus
        if benchmark.collections is not None:
            rows = [benchmark.collections[question.id] for question in questions]
        else:
            queries = [question.query for question in questions]
            rows = []
            nearest = self._nearest(corpus, self._finder(corpus), queries)
            for question, nearest_rows in zip(questions, nearest):
                supports = [corpus.row[passage] for passage in question.supporting_ids]
                others = [row for row in nearest_rows.tolist() if row not in supports]
                rows.append(np.array([*supports, *others][: self.settings.candidates]))
        return [
            Example(question, corpus, of_question) for question, of_question in zip(questions, rows)
        ]

    def _finder(self, corpus: Corpus) -> Dense | None:
        """What finds the candidates in a corpus; None where all are."""
        if len(corpus) <= self.settings.candidates:
            return None
        dense = Dense(**self.settings.of_encoder())
        dense.index(corpus)
        return dense

    def _nearest(
        self,
        corpus: Corpus,
        dense: Dense | None,
        queries: Queries,
        k: int = 0,
    ) -> list[ndarray]:
        if dense is None:
            return [np.arange(len(corpus))] * len(queries)
        rankings = dense.retrieve_many(queries, max(k, self.settings.candidates))
        return [np.array([corpus.row[passage] for passage in ranking.ids]) for ranking in rankings]


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


def with_graphs(questions: Questions) -> Questions:
    """The questions that have an evidence graph."""
    return [question for question in questions if question.evidence]
