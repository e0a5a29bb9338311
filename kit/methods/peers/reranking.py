"""The first passages of a method in another order: a cross-encoder's, or another method's.

Nogueira and Cho, Passage Re-ranking with BERT, 2019. Each passage is judged alone: one that answers
only together with another may look like no answer (that is for you to test).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Self

import numpy as np
from numpy import ndarray

from kit.corpus.types import Queries, Texts
from kit.errors import InputError
from kit.methods import accepted, is_method, make
from kit.methods.base import Rankings, ranking_from_order
from kit.methods.peers.wrapper import Wrapper
from kit.settings import BaseSettings, Positive
from kit.text.pretrained import load_cross_encoder

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder as Model

BATCH = 32  # pairs of question and passage that a cross-encoder reads at once


class Rerank(Wrapper):
    """The first passages of a method, as another method or a cross-encoder orders them.

    Passages that the second does not rank come last, in the order of the first. Scores are
    1 / rank.
    """

    name = "rerank"

    class Settings(BaseSettings, frozen=True):
        first: Annotated[Positive, "passages that are ordered anew"] = 50

    cross_encoder: CrossEncoder | None = None

    @classmethod
    def of(cls, arguments: Texts, **settings: object) -> Self:
        of_itself, of_parts = cls.divide(settings)
        if len(arguments) == 3 and arguments[2].isdecimal():
            of_itself.setdefault("first", int(arguments[2]))
        elif len(arguments) != 2:
            raise InputError("expected rerank(METHOD, MODEL) or rerank(METHOD, MODEL, 50)")

        first, second = arguments[:2]
        names = [first, second] if is_method(second) else [first]
        made = cls(*(make(name, **accepted(name, of_parts)) for name in names), **of_itself)
        if not is_method(second):
            made.cross_encoder = CrossEncoder(second)
        made.name = f"{cls.name}({first}, {second})"
        return made

    def rank(self, queries: Queries, k: int) -> Rankings:
        first = self.settings.first
        by_first = self.parts[0].retrieve_many(queries, max(k, first))
        candidates = [ranking.ids[:first] for ranking in by_first]
        rankings = []
        for ranking, anew in zip(by_first, self._orders(queries, candidates)):
            rankings.append(ranking_from_order([*anew, *ranking.ids[first:]][:k]))
        return rankings

    def _orders(self, queries: Queries, candidates: Sequence[Texts]) -> list[Texts]:
        """The candidates of each query, best first."""
        if self.cross_encoder:
            return [self._by_reading(query.text, ids) for query, ids in zip(queries, candidates)]
        orders = []
        by_second = self.parts[1].retrieve_many(queries, len(self.corpus))
        for ids, ranking in zip(candidates, by_second):
            ranks = {passage: rank for rank, passage in enumerate(ranking.ids)}
            orders.append(sorted(ids, key=lambda passage: ranks.get(passage, len(ranks))))
        return orders

    def _by_reading(self, question: str, ids: Texts) -> Texts:
        texts = [self.corpus[passage].full_text for passage in ids]
        order = np.argsort(-self.cross_encoder.scores(question, texts), kind="stable")
        return [ids[rank] for rank in order]


class CrossEncoder:
    """A model that reads a question and a passage together, by its name on the hub or folder."""

    def __init__(self, name: str) -> None:
        self.name = name

    @cached_property
    def model(self) -> Model:
        """Raises :class:`InputError` where there is no such model."""
        folder = Path(self.name)
        return load_cross_encoder(self.name, folder if folder.is_dir() else None)

    def scores(self, question: str, texts: Texts) -> ndarray:
        """How well each text answers the question, (texts,), on the model's own scale."""
        if not len(texts):
            return np.zeros(0)
        pairs = [(question, text) for text in texts]
        return self.model.predict(pairs, batch_size=BATCH, show_progress_bar=False)
