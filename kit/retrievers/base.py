"""What every retriever keeps to: the protocol, the ranking that it returns, and the trace of how it got there."""

from __future__ import annotations

from collections.abc import Sequence
from inspect import Parameter, signature

import msgspec
import numpy as np
import pandas as pd

from kit.corpus import Benchmark, Corpus, Query
from kit.errors import InputError


class Step(msgspec.Struct, frozen=True, tag_field="kind"):
    """One thing that happened during a retrieval.

    ``round`` counts what happens at once, from 0: a layer of messages, a hop, the answer to a sub-question.
    """

    round: int


class Scored(Step, frozen=True, tag="scored"):
    """What a passage's text alone is worth to the round's query, before anything reaches it (higher is nearer)."""

    passage: str
    score: float


class Seed(Step, frozen=True, tag="seed"):
    """A passage that the round started from, with its score (higher is nearer)."""

    passage: str
    score: float


class Message(Step, frozen=True, tag="message"):
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


class Visit(Step, frozen=True, tag="visit"):
    """A passage that a walk went to, from where, how it scored, and the evidence text that the agent looked for.

    ``source`` is empty where a path begins; ``before`` are the passages of the path that come before ``source``.
    """

    passage: str
    source: str
    score: float
    wanted: str = ""
    before: tuple[str, ...] = ()


class Asked(Step, frozen=True, tag="asked"):
    """A sub-question that opened a round, with the answer that it got (empty while unknown)."""

    text: str
    answer: str = ""


class EdgeAdded(Step, frozen=True, tag="edge-added"):
    """An edge that the method added to its evidence graph; the ends are passages or entities."""

    source: str
    target: str
    label: str


AnyStep = Scored | Seed | Message | Visit | Asked | EdgeAdded


class Trace(msgspec.Struct, frozen=True):
    """The steps of one retrieval in the order in which they happened: enough to replay it.

    ``scored`` counts the passages that a walk's agent compared with what it looked for, each time that it did.
    """

    steps: tuple[AnyStep, ...] = ()
    scored: int = 0

    @property
    def seeds(self) -> tuple[Seed, ...]:
        return tuple(step for step in self.steps if isinstance(step, Seed))

    def to_json(self) -> bytes:
        return msgspec.json.encode(self)

    @classmethod
    def from_json(cls, text: bytes) -> Trace:
        return msgspec.json.decode(text, type=cls)


class Ranking(msgspec.Struct, frozen=True):
    """Passages, best first; equal scores stand in corpus order. ``scores`` has the length of ``ids``."""

    ids: tuple[str, ...]
    scores: np.ndarray
    trace: Trace = Trace()


class Retriever:
    """A method. Subclasses are built from their settings alone, then ``fit``, ``index`` and ``retrieve``.

    A retriever that learns overrides ``fit``; what it learns does not depend on the corpus that it later searches.
    """

    name: str
    #: Whether the queries that it is asked are :class:`kit.corpus.GoldQuery`; its settings then say so.
    sees_gold: bool = False

    @classmethod
    def settings(cls) -> dict[str, object]:
        """The settings with their defaults: what the constructor takes, and what it hands to its base with ``**``."""
        found: dict[str, object] = {}
        for each in cls.__mro__:
            if "__init__" in vars(each):
                _, *taken = signature(each.__init__).parameters.values()  # the first is self
                named = {it.name: it.default for it in taken if it.kind is Parameter.POSITIONAL_OR_KEYWORD}
                found = named | found
                if not any(it.kind is Parameter.VAR_KEYWORD for it in taken):
                    break
        return found

    def fit(self, benchmark: Benchmark) -> None:
        """Learn from ``benchmark.train`` and choose on ``benchmark.dev``. The default learns nothing."""

    def index(self, corpus: Corpus) -> None:
        """Make ready to search ``corpus``."""
        raise NotImplementedError

    def retrieve_many(self, queries: Sequence[Query], k: int) -> list[Ranking]:
        """The rankings of several queries over the indexed corpus, each of length min(k, passages)."""
        raise NotImplementedError

    def usage(self) -> pd.DataFrame | None:
        """What a language model was used for: see :meth:`kit.text.LanguageModel.usage`. None where there is none."""
        return None

    def retrieve(self, query: Query | str, k: int) -> Ranking:
        """The ranking of one query; a plain string will do."""
        return self.retrieve_many([Query("", query) if isinstance(query, str) else query], k)[0]


def ranking_from_scores(corpus: Corpus, scores: np.ndarray, k: int) -> Ranking:
    """The k best rows of a score vector (passages,) as a ranking whose trace holds them as seeds.

    Ties are broken by corpus order, so that a result never depends on a sort.
    """
    k = min(k, len(scores))
    if not k:
        return Ranking((), np.zeros(0, np.float32))
    threshold = np.partition(scores, -k)[-k]
    candidates = np.flatnonzero(scores >= threshold)
    rows = candidates[np.argsort(-scores[candidates], kind="stable")][:k]
    return ranking_from_rows(corpus, rows, scores[rows])


def ranking_from_rows(corpus: Corpus, rows: np.ndarray, scores: np.ndarray) -> Ranking:
    """A ranking of the given rows, best first, whose trace holds them as seeds."""
    ids = tuple(corpus.passages[row].id for row in rows)
    return Ranking(ids, scores, Trace(tuple(Seed(0, id, float(score)) for id, score in zip(ids, scores))))


def expect_whole(least: int, **settings: object) -> None:
    """Raises :class:`InputError` for the first setting that is no whole number from ``least`` on."""
    for name, value in settings.items():
        if type(value) is not int or value < least:
            raise InputError(f"expected a whole number from {least}, not {value!r}", field=name)


def expect_share(**settings: object) -> None:
    """Raises :class:`InputError` for the first setting that is no number from 0 to 1."""
    for name, value in settings.items():
        if type(value) not in (int, float) or not 0 <= value <= 1:
            raise InputError(f"expected a number from 0 to 1, not {value!r}", field=name)
