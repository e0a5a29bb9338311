"""What every retriever keeps to: the protocol, and the ranking that it returns."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any, ClassVar, Self

import msgspec
import numpy as np
from numpy import ndarray

from kit import settings
from kit.arguments import as_list, expect, whole
from kit.corpus import Benchmark, Corpus, EvidenceGraph, Query, Question
from kit.corpus.types import Queries, Texts
from kit.errors import InputError
from kit.methods.trace import Seed, Trace
from kit.settings import BaseSettings
from kit.text.tfidf import best_rows

if TYPE_CHECKING:
    import pandas as pd

    from kit.graphs import PassageGraph
    from kit.text import LanguageModel


class Ranking(msgspec.Struct, frozen=True):
    """Passages, best first; equal scores stand in corpus order.

    ``scores`` has the length of ``ids``. ``evidence``, of a method that finds a graph, is a graph
    over the first of ``ids``, as many as it has nodes; ``answer`` is what a method itself says to
    the question, where it does. ``paths``, of a method that walks, are the ids on each path, the
    best path first: passages that are on none fill the ranking up, by the question's words or
    vector alone.
    """

    ids: tuple[str, ...]
    scores: ndarray
    trace: Trace = Trace()
    evidence: EvidenceGraph | None = None
    answer: str = ""
    paths: tuple[Texts, ...] = ()

    @property
    def n_walked(self) -> int:
        """How many of the ranked passages a walk found itself; 0 where none does."""
        return len(set().union(*self.paths).intersection(self.ids))

    def __repr__(self) -> str:
        best = zip(self.ids[:3], self.scores)
        shown = ", ".join(f"{passage} {score:.3g}" for passage, score in best)
        rest = ", …" if len(self.ids) > 3 else ""
        return f"Ranking of {len(self.ids)} passages: {shown}{rest}"

    def _repr_html_(self) -> str:
        import pandas as pd

        table = pd.DataFrame({"passage": self.ids, "score": self.scores})
        table.index = range(1, len(table) + 1)
        return table.to_html(max_rows=12)


Rankings = list[Ranking]
EMPTY = Ranking((), np.zeros(0, np.float32))


class Retriever:
    """A method: made from its settings, then ``fit`` where it learns, ``index`` and ``retrieve``.

    A subclass gives its ``name``, nests its ``Settings`` and says how it ranks (:meth:`rank`).
    Where it has something to prepare, learn or show, it has its own :meth:`index`, :meth:`fit` or
    :meth:`rank_traced`.

    Three things stand apart: ``settings`` (frozen), what ``fit`` learned, and what ``index`` made
    of a corpus. None is ever changed in place, so that :meth:`variant` can share what stays.
    """

    name: ClassVar[str]
    Settings: ClassVar[type[BaseSettings]] = BaseSettings
    #: The settings that ``index`` depends on: a variant with another value is indexed anew.
    index_settings: ClassVar[tuple[str, ...]] = ()
    #: The settings that what was learned is bound to: no variant of a trained method has others.
    fixed_by_training: ClassVar[tuple[str, ...]] = ()
    #: Settings of its own that the widget turns: up to which number, among which words, or (None)
    #: a share.
    ranges: ClassVar[dict[str, int | Texts | None]] = {}
    #: Whether it is asked :class:`kit.corpus.GoldQuery`, which holds gold fields.
    sees_gold: bool = False

    corpus: Corpus | None = None  # what `index` was given last
    learned: Any = None  # what `fit` left
    model: LanguageModel | None = None  # the language model that it asks

    def __init_subclass__(cls) -> None:
        """Make ``help`` and an editor show each setting as the argument that it is."""
        super().__init_subclass__()
        cls.__signature__ = settings.signature(cls.Settings)
        described = settings.documentation(cls.Settings)
        if described:
            summary = inspect.cleandoc(vars(cls).get("__doc__") or "")
            cls.__doc__ = f"{summary}\n\nSettings\n--------\n{described}"

    def __init__(self, **values: Any) -> None:
        """Raises :class:`InputError` for a setting or a value that the method does not have."""
        self.settings = settings.check(self.Settings, values, f"the retriever {self.name}")

    def __repr__(self) -> str:
        usual = self.defaults()
        chosen = msgspec.structs.asdict(self.settings)
        named = [f"{name}={value!r}" for name, value in chosen.items() if value != usual[name]]
        state = f", {len(self.corpus):,} passages indexed" if self.corpus is not None else ""
        return f"{type(self).__name__}({', '.join(named)}){state}"

    @classmethod
    def defaults(cls) -> dict[str, Any]:
        """The settings by name, as they are when nothing is said."""
        return settings.defaults(cls.Settings)

    # ---- what a method says of itself

    def fit(self, benchmark: Benchmark) -> None:
        """Learn from ``benchmark.train`` and choose on ``benchmark.dev``; by default, nothing."""

    def index(self, corpus: Corpus) -> None:
        """Make ready to search ``corpus``; by default there is nothing to make."""
        expect(Corpus, corpus, "corpus")
        self.corpus = corpus

    def rank(self, queries: Queries, k: int) -> Rankings:
        """The rankings of several queries, each of length min(k, passages), without traces."""
        raise NotImplementedError

    def rank_traced(self, query: Query, k: int) -> Ranking:
        """The ranking of :meth:`rank` with its trace; by default its passages are the seeds."""
        return _with_seeds(self.rank([query], k)[0])

    # ---- what one asks of a method

    def retrieve(self, query: Query | str, k: int) -> Ranking:
        """The ranking of one query over the indexed corpus; a plain string will do."""
        return self.retrieve_many([query], k)[0]

    def retrieve_many(self, queries: Queries, k: int) -> Rankings:
        """The rankings of several queries; plain strings will do.

        Of an empty corpus they are empty. A search by words may find nothing, and a question about
        pages or tables less than k; all other rankings have min(k, passages). Raises
        :class:`InputError` before ``index``, and for a k below 1.
        """
        k = self._expect_index(k)
        queries = list(map(as_query, as_list(queries)))
        if not len(self.corpus):
            return [EMPTY] * len(queries)
        return [self._checked(ranking, k) for ranking in self.rank(queries, k)]

    def explain(self, query: Query | str, k: int) -> Ranking:
        """The same ranking as :meth:`retrieve`, with the trace of how it came about."""
        k = self._expect_index(k)
        if not len(self.corpus):
            return EMPTY
        ranking = self._checked(self.rank_traced(as_query(query), k), k)
        # There are no events of a walk or a loop that had nothing to begin with.
        return ranking if ranking.trace.events else _with_seeds(ranking)

    def retrieve_next(self, texts: Sequence[Texts], k: int) -> Rankings:
        """For each question's texts so far, the ranking of the last.

        A method with a memory looks at all of them.
        """
        return self.retrieve_many([Query("", question_texts[-1]) for question_texts in texts], k)

    def variant(
        self, *, corpus: Corpus | None = None, over: PassageGraph | None = None, **values: Any
    ) -> Self:
        """The same retriever, what it learned included, with some settings changed.

        It searches another ``corpus`` or goes ``over`` another graph where one is given, and is
        indexed anew where the corpus or one of ``index_settings`` differs. Raises
        :class:`InputError` for a setting that what was learned is bound to.
        """
        other = copy(self)
        before = msgspec.structs.asdict(self.settings)
        other.settings = settings.check(
            self.Settings, before | values, f"the retriever {self.name}"
        )
        after = msgspec.structs.asdict(other.settings)
        changed = {name for name in before if before[name] != after[name]}

        bound = [name for name in self.fixed_by_training if name in changed]
        if bound and self.learned is not None:
            raise InputError(
                f"{self.name} was trained with {before[bound[0]]!r}: train another",
                field=bound[0],
            )

        is_indexed = self.corpus is not None
        if corpus is not None or (is_indexed and changed.intersection(self.index_settings)):
            other.index(corpus if corpus is not None else self.corpus)
        if over is not None:
            other.graph = over
        return other

    def ids(self, rows: Iterable[int]) -> tuple[str, ...]:
        """The ids of rows of the indexed corpus.

        Raises :class:`InputError` for a row below 0, which Python would count from the end.
        """
        ids = []
        for row in rows:
            if row < 0:
                raise InputError(f"expected rows of the corpus, not {row}", record=self.name)
            ids.append(self.corpus.passages[row].id)
        return tuple(ids)

    def usage(self) -> pd.DataFrame | None:
        """What a language model was used for; None where there is none.

        Columns as of :meth:`kit.text.LanguageModel.usage`.
        """
        return self.model.usage() if self.model else None

    def _expect_index(self, k: int) -> int:
        """The length of a ranking, where there is a corpus to search."""
        if self.corpus is None:
            raise InputError(
                f"{self.name} has no corpus yet: index one first, with index(corpus)",
            )
        return whole(k, "k")

    def _checked(self, ranking: Ranking, k: int) -> Ranking:
        """The ranking, if it is one; a method of your own may break the rules."""
        expect(Ranking, ranking, f"what {self.name} ranks")
        distinct = self.corpus.row.keys() & ranking.ids
        n_ranked = len(ranking.ids)
        is_sound = n_ranked == len(distinct) == len(ranking.scores) and n_ranked <= k
        if not is_sound or not np.isfinite(ranking.scores).all():
            raise InputError(
                f"expected at most {k} passages of the corpus, none twice, each with a number as "
                f"its score, not {ranking}",
                record=self.name,
            )
        return ranking


def _with_seeds(ranking: Ranking) -> Ranking:
    """A ranking with its passages as the seeds of a trace."""
    scored = zip(ranking.ids, ranking.scores)
    seeds = tuple(Seed(0, passage, float(score)) for passage, score in scored)
    return msgspec.structs.replace(ranking, trace=Trace(seeds))


def as_query(query: Query | Question | str) -> Query:
    """A query, that of a question, or that of a plain string; InputError for all else."""
    if isinstance(query, str):
        return Query("", query)
    if isinstance(query, Question):
        return query.query
    expect(Query, query, "query")
    return query


def ranking_from_scores(corpus: Corpus, scores: ndarray, k: int) -> Ranking:
    """The k best rows of a score vector (passages,) as a ranking.

    Equal scores stand in corpus order.
    """
    rows = best_rows(scores, k)
    return Ranking(tuple(corpus.passages[row].id for row in rows), scores[rows])


def ranking_from_order(ids: Texts) -> Ranking:
    """A ranking of passages whose order is all that is known: scores are 1 / rank."""
    return Ranking(tuple(ids), 1 / np.arange(1, len(ids) + 1))


def round_robin(rankings: Sequence[Texts]) -> list[str]:
    """The first of each ranking, then the second of each, without repeats; as long as one."""
    turns = [passage for same_rank in zip(*rankings) for passage in same_rank]
    return list(dict.fromkeys(turns))[: len(rankings[0])]
