"""Several methods' rankings as one: by ranks, or by scores with weights that dev questions choose.

Cormack et al., Reciprocal Rank Fusion, SIGIR 2009; Bruch et al., An Analysis of Fusion Functions
for Hybrid Retrieval, TOIS 2023.
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations, pairwise
from typing import Annotated, Literal, Self

import numpy as np
from numpy import ndarray

from kit.corpus import Benchmark, Question
from kit.corpus.types import Queries, Texts
from kit.errors import InputError, note
from kit.methods import make_all
from kit.methods.base import Ranking, Rankings
from kit.methods.baselines.pagerank import spread
from kit.methods.peers.wrapper import Wrapper
from kit.methods.training import draw_dev, pool
from kit.settings import BaseSettings, Positive
from kit.text import TfidfIndex

DEPTH = 100  # passages of each ranking that count, at least
N_DEV = 100  # questions that choose the weights
CUT_OFF = 5  # of the recall that they choose by
GRAIN = 10  # parts that the weights share out


class Fuse(Wrapper):
    """The passages that several methods rank high.

    By ranks a passage gets 1 / (constant + rank) of each method. By scores it gets a weighted sum:
    scores are spread from 0 for the last of a method's ranking to 1 for its first. The weights are
    whole tenths and add up to one; of all, those with the best Recall@5 on dev questions.
    """

    name = "fuse"

    class Settings(BaseSettings, frozen=True):
        by: Annotated[Literal["ranks", "scores"], "what of a ranking counts"] = "ranks"
        constant: Annotated[Positive, "added to ranks: high ones count less"] = 60

    learned: tuple[float, ...] | None = None  # the weights

    @classmethod
    def of(cls, arguments: Texts, **settings: object) -> Self:
        of_itself, of_parts = cls.divide(settings)
        if len(arguments) < 2:
            raise InputError("expected at least two methods, such as fuse(bm25, gnn-ret)")
        return cls(*make_all(arguments, **of_parts).values(), **of_itself)

    def fit(self, benchmark: Benchmark) -> None:
        super().fit(benchmark)
        if self.settings.by == "ranks":
            return
        questions = draw_dev(benchmark, N_DEV, 0)
        if not questions:
            note("there are no dev questions to choose the weights of a fusion: all count the same")
            return
        smaller = pool(questions, benchmark.corpus, TfidfIndex(benchmark.corpus))
        parts = [part.variant(corpus=smaller) for part in self.parts]
        queries = [question.query for question in questions]
        by_part = [part.retrieve_many(queries, DEPTH) for part in parts]

        weights = shares(len(parts))
        recalls = np.zeros(len(weights))
        for question, rankings in zip(questions, zip(*by_part)):
            recalls += self._recalls(question, rankings, weights)
        self.learned = tuple(weights[recalls.argmax()].tolist())

    def _recalls(self, question: Question, rankings: Rankings, weights: ndarray) -> ndarray:
        """Recall of a question with each row of weights, (rows,)."""
        ids = list(dict.fromkeys(passage for ranking in rankings for passage in ranking.ids))
        row = {passage: index for index, passage in enumerate(ids)}
        values = np.zeros((len(rankings), len(ids)))
        for part, ranking in enumerate(rankings):
            values[part, [row[passage] for passage in ranking.ids]] = self._values(ranking)
        best = np.argsort(-(weights @ values), axis=1, kind="stable")[:, :CUT_OFF]

        supports = [[row.get(name, -1) for name in carriers] for carriers in question.supporting]
        return np.mean([np.isin(best, rows).any(axis=1) for rows in supports], axis=0)

    def rank(self, queries: Queries, k: int) -> Rankings:
        by_part = [part.retrieve_many(queries, max(k, DEPTH)) for part in self.parts]
        return [self._fused(rankings, k) for rankings in zip(*by_part)]

    def _fused(self, rankings: Rankings, k: int) -> Ranking:
        weights = self.learned or (1.0,) * len(rankings)
        scores = Counter()
        for ranking, weight in zip(rankings, weights):
            for passage, value in zip(ranking.ids, self._values(ranking)):
                scores[passage] += weight * value
        in_corpus_order = sorted(scores, key=self.corpus.row.__getitem__)
        best = sorted(in_corpus_order, key=scores.__getitem__, reverse=True)[:k]
        return Ranking(tuple(best), np.array([scores[passage] for passage in best]))

    def _values(self, ranking: Ranking) -> ndarray:
        """What a ranking says for each of its passages."""
        if self.settings.by == "ranks":
            return 1 / (self.settings.constant + np.arange(1, len(ranking.ids) + 1))
        if not ranking.ids:
            return ranking.scores
        return spread(ranking.scores[None])[0]


def shares(n: int) -> ndarray:
    """All ways to share out one among ``n`` in whole tenths, the most equal first, (ways, n)."""
    ways = []
    for bars in combinations(range(1, GRAIN + n), n - 1):
        ways.append([end - start - 1 for start, end in pairwise((0, *bars, GRAIN + n))])
    ways = np.array(ways) / GRAIN
    return ways[np.argsort((ways**2).sum(axis=1), kind="stable")]
