"""What every retriever keeps to: the protocol, the ranking that it returns, and the trace of how it got there."""

from collections.abc import Iterable, Sequence
from copy import copy
from typing import Any, Self

import msgspec
import numpy as np
import pandas as pd

from kit.corpus import Benchmark, Corpus, EvidenceGraph, Query
from kit.errors import InputError
from kit.graphs import PassageGraph
from kit.settings import Settings, check, defaults
from kit.text import LanguageModel


class Event(msgspec.Struct, frozen=True, tag_field="kind"):
    """Something that happened, in a ``round`` from 0: a layer, a hop, a sub-question."""

    round: int


class InitialScore(Event, frozen=True, tag="scored"):
    """What a passage's text alone is worth to the round's query, before anything reaches it (higher is nearer)."""

    passage: str
    score: float


class Seed(Event, frozen=True, tag="seed"):
    """A passage that the round started from, with its score (higher is nearer)."""

    passage: str
    score: float


class Message(Event, frozen=True, tag="message"):
    """A value that one passage passed to another, and the other's score before and after the round.

    With all messages of the round to one target, after = (1 − Σ weight) · before + Σ weight · value. Where source and
    target are the same passage, it carries its own score over from an earlier round.
    """

    source: str
    target: str
    value: float
    weight: float
    before: float
    after: float


class NodeVisit(Event, frozen=True, tag="visit"):
    """A passage that a walk went to, from where, how it scored, and the evidence text that the agent looked for."""

    passage: str
    source: str  # empty where a path begins
    score: float
    generated_evidence: str = ""
    before: tuple[str, ...] = ()  # the passages of the path that come before `source`


class SubQuestionEvent(Event, frozen=True, tag="asked"):
    """A sub-question that opened a round, with the answer that it got (empty while unknown)."""

    text: str
    answer: str = ""


class Expansion(Event, frozen=True, tag="expanded"):
    """A path that BGR judged all candidates from: how sure it is of each (from 0 to 1, best first), which it took."""

    direction: str
    path: tuple[str, ...]
    found: tuple[str, ...]
    candidates: tuple[tuple[str, float], ...]


class Merge(Event, frozen=True, tag="merged"):
    """The edges of both directions and those that are kept, as pairs of passages; the question is ``""``."""

    forward: tuple[tuple[str, str], ...]
    backward: tuple[tuple[str, str], ...]
    kept: tuple[tuple[str, str], ...]
    told: str  # how it was decided


class GraphGrowth(Event, frozen=True, tag="grown"):
    """What a round of RAS brought: new triples (subject, relation, object) of the question's graph, answers read off,
    what the planner said then, and how probable each answer to the question is by this graph, the best first.
    """

    triples: tuple[tuple[str, str, str], ...]
    answers: tuple[str, ...] = ()
    decision: str = ""
    scores: tuple[tuple[str, float], ...] = ()


AnyEvent = InitialScore | Seed | Message | NodeVisit | SubQuestionEvent | Expansion | Merge | GraphGrowth


class Trace(msgspec.Struct, frozen=True):
    """The events of one retrieval in the order in which they happened: enough to replay it."""

    events: tuple[AnyEvent, ...] = ()
    n_scored: int = 0  # the passages that a walk's agent compared with what it looked for, each time that it did

    @property
    def seeds(self) -> tuple[Seed, ...]:
        return tuple(step for step in self.events if isinstance(step, Seed))


class Ranking(msgspec.Struct, frozen=True):
    """Passages, best first; equal scores stand in corpus order. ``scores`` has the length of ``ids``.

    ``evidence``, of a method that finds a graph: over the first of ``ids``, as many as it has nodes.
    """

    ids: tuple[str, ...]
    scores: np.ndarray
    trace: Trace = Trace()
    evidence: EvidenceGraph | None = None


class Retriever:
    """A method: built from its settings alone, then ``fit`` where it learns, ``index``, and ``retrieve``.

    Three things stand apart: ``settings`` (frozen), what ``fit`` learned, and what ``index`` made of a corpus. None is
    ever changed in place, so that :meth:`variant` can share what stays the same. Only ``explain`` makes a trace.
    """

    name: str
    Settings: type[Settings] = Settings  # the struct of the method's settings; a subclass nests its own
    indexed_by: tuple[str, ...] = ()  # the settings that `index` depends on: a variant with another is indexed anew
    sees_gold: bool = False  # whether the queries that it is asked are `GoldQuery`
    learned: Any = None  # what `fit` left
    bound_by: tuple[str, ...] = ()  # the settings that it is bound to: no variant of it has others
    corpus: Corpus | None = None  # what `index` was given last
    model: LanguageModel | None = None  # that it asks

    def __init__(self, **settings: Any) -> None:
        """Raises :class:`InputError` for a setting or a value that the method does not have."""
        self.settings = check(self.Settings, settings, f"the retriever {self.name}")

    @classmethod
    def defaults(cls) -> dict[str, Any]:
        return defaults(cls.Settings)

    def fit(self, benchmark: Benchmark) -> None:
        """Learn from ``benchmark.train`` and choose on ``benchmark.dev``; here, nothing."""

    def index(self, corpus: Corpus) -> None:
        """Make ready to search ``corpus``; here, there is nothing to make."""
        self.corpus = corpus

    def retrieve_many(self, queries: Sequence[Query], k: int) -> list[Ranking]:
        """The rankings of several queries over the indexed corpus, each of length min(k, passages), without traces."""
        raise NotImplementedError

    def retrieve(self, query: Query | str, k: int) -> Ranking:
        """The ranking of one query; a plain string will do."""
        return self.retrieve_many([as_query(query)], k)[0]

    def retrieve_next(self, asked: Sequence[Sequence[str]], k: int) -> list[Ranking]:
        """For each question's texts so far, the ranking of the last; a method with a memory looks at all of them."""
        return self.retrieve_many([Query("", texts[-1]) for texts in asked], k)

    def ids(self, rows: Iterable[int]) -> tuple[str, ...]:
        """The ids of rows of the indexed corpus."""
        return tuple(self.corpus.passages[row].id for row in rows)

    def explain(self, query: Query | str, k: int) -> Ranking:
        """The same ranking as :meth:`retrieve`, with the trace of how it came about: here, its passages as seeds."""
        ranking = self.retrieve(query, k)
        seeds = tuple(Seed(0, id, float(score)) for id, score in zip(ranking.ids, ranking.scores))
        return msgspec.structs.replace(ranking, trace=Trace(seeds))

    def variant(self, *, corpus: Corpus | None = None, over: PassageGraph | None = None, **settings: Any) -> Self:
        """The same retriever, what it learned included, with other settings, another corpus, or ``over`` another graph.

        It is indexed anew where the corpus or a setting of ``indexed_by`` differs. Raises :class:`InputError` for a
        setting that what was learned is bound to.
        """
        other = copy(self)
        known = msgspec.structs.asdict(self.settings)
        other.settings = check(self.Settings, known | settings, f"the retriever {self.name}")
        changed = {name: value for name, value in known.items() if getattr(other.settings, name) != value}
        if self.learned is not None and (bound := [name for name in self.bound_by if name in changed]):
            raise InputError(f"{self.name} was trained with {changed[bound[0]]!r}: train another", field=bound[0])
        if corpus is not None or (self.corpus is not None and changed.keys() & self.indexed_by):
            other.index(corpus if corpus is not None else self.corpus)
        if over is not None:
            other.graph = over
        return other

    def usage(self) -> pd.DataFrame | None:
        """What a language model was used for: see :meth:`kit.text.LanguageModel.usage`. None where there is none."""
        return self.model.usage() if self.model else None


def as_query(query: Query | str) -> Query:
    return Query("", query) if isinstance(query, str) else query


def ranking_from_scores(corpus: Corpus, scores: np.ndarray, k: int) -> Ranking:
    """The k best rows of a score vector (passages,) as a ranking; equal ones in corpus order, whatever the sort."""
    k = min(k, len(scores))
    candidates = np.flatnonzero(scores >= np.partition(scores, -k)[-k]) if k else np.zeros(0, int)
    rows = candidates[np.argsort(-scores[candidates], kind="stable")][:k]
    return Ranking(tuple(corpus.passages[row].id for row in rows), scores[rows])


def round_robin(rankings: Sequence[Sequence[str]]) -> list[str]:
    """The first of each ranking, then the second of each, without repeats; as long as one of them."""
    return list(dict.fromkeys(each for places in zip(*rankings) for each in places))[: len(rankings[0])]


def in_places(ids: Sequence[str]) -> Ranking:
    """A ranking of passages whose order is all that is known: scores are 1 / place."""
    return Ranking(tuple(ids), 1 / np.arange(1, len(ids) + 1))
