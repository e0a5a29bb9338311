"""What throws out facts that do not help a question, as HippoRAG 2's recognition memory does.

There a language model reads the facts nearest to the question and names those to keep.
"""

import re
from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy import ndarray

from kit.corpus import Corpus, GoldQuery, Query
from kit.corpus.types import Queries, Texts
from kit.methods.peers.facts import Facts
from kit.methods.peers.reranking import CrossEncoder
from kit.text import LanguageModel, language_model
from kit.text.prompts import facts_prompt

ORACLE = "oracle"
_NUMBER = re.compile(r"\d+")


class Filter(Protocol):
    """Says which of some facts help a query: for each query its rows, and (rows,) of bool."""

    def kept(self, queries: Queries, rows: Sequence[ndarray]) -> list[ndarray]: ...


class OracleFilter:
    """Keeps what a support states, where a query knows its supports: a bound for all filters."""

    def __init__(self, facts: Facts, corpus: Corpus) -> None:
        self.stated = facts.stated
        self.corpus = corpus

    def kept(self, queries: Queries, rows: Sequence[ndarray]) -> list[ndarray]:
        return list(map(self._states_of_supports, queries, rows))

    def _states_of_supports(self, query: Query, rows: ndarray) -> ndarray:
        gold = query.question.supporting_ids if isinstance(query, GoldQuery) else ()
        supports = [self.corpus.row[name] for name in gold if name in self.corpus]
        return np.asarray(self.stated[rows][:, supports].sum(axis=1)).ravel() > 0


class ReadingFilter:
    """Keeps what a cross-encoder scores above 0, where question and fact belong together."""

    def __init__(self, facts: Facts, name: str) -> None:
        self.texts = facts.texts
        self.reader = CrossEncoder(name)

    def kept(self, queries: Queries, rows: Sequence[ndarray]) -> list[ndarray]:
        kept = []
        for query, of_query in zip(queries, rows):
            kept.append(self.reader.scores(query.text, _chosen(self.texts, of_query)) > 0)
        return kept


class ModelFilter:
    """Keeps what a language model names of a numbered list; all queries are asked together."""

    def __init__(self, facts: Facts, model: LanguageModel) -> None:
        self.texts = facts.texts
        self.model = model

    def kept(self, queries: Queries, rows: Sequence[ndarray]) -> list[ndarray]:
        prompts = []
        for query, of_query in zip(queries, rows):
            prompts.append(facts_prompt(query.text, _chosen(self.texts, of_query)))

        kept = []
        for reply, of_query in zip(self.model.generate(prompts), rows):
            named = [int(digits) for digits in _NUMBER.findall(reply.text)]
            kept.append(np.isin(np.arange(1, len(of_query) + 1), named))
        return kept


def _chosen(texts: Texts, rows: Sequence[int] | ndarray) -> list[str]:
    return [texts[row] for row in rows]


def make_filter(name: str, facts: Facts, corpus: Corpus) -> Filter | None:
    """A filter by its name: none where that is empty; a name with a colon is a language model's."""
    if not name:
        return None
    if name == ORACLE:
        return OracleFilter(facts, corpus)
    if ":" in name:
        return ModelFilter(facts, language_model(name))
    return ReadingFilter(facts, name)
