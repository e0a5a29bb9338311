"""What walks and other searches find and what they cost, while a setting or the collection changes (kgp.txt §5.2–5.4).

Every method gets as many distinct passages as any other (all-i02). In the per-question setting a walk is made in each
question's own collection.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from unittest.mock import patch

import numpy as np
import pandas as pd

from kit.corpus import Benchmark, Corpus, Question
from kit.errors import InputError
from kit.evaluation.metrics import full_at, recall_at
from kit.retrievers import KGP, MDR, Retriever
from kit.text import Encoder, TfidfIndex
from kit.text.encoder import cold_queries
from kit.text.precision import one_thread

N_PASSAGES = 30  # a question gets, whatever the method (8.2)
METRICS = ("recall@5", f"recall@{N_PASSAGES}", f"full@{N_PASSAGES}")
PARTS = ("seeding", "matching", "encoding", "rest")


def ask(retriever: Retriever, questions: Sequence[Question]) -> pd.DataFrame:
    """How an indexed retriever does, a row a question: question, hops, ``METRICS``, scored.

    The last is how many passages were compared where a path went on, of KGP and MDR. Raises InputError for a question
    without supports.
    """
    rows = []
    for question in questions:
        find = retriever.explain if isinstance(retriever, KGP | MDR) else retriever.retrieve
        ranking = find(question.query, N_PASSAGES)
        found = {
            "recall@5": recall_at(question, ranking.ids, 5),
            METRICS[1]: recall_at(question, ranking.ids, N_PASSAGES),
        }
        found[METRICS[2]] = full_at(question, ranking.ids, N_PASSAGES)
        rows.append({"question": question.id, "hops": question.hops, **found, "scored": ranking.trace.n_scored})
    return pd.DataFrame(rows)


def ask_variants(
    retriever: Retriever, benchmark: Benchmark, questions: Sequence[Question], settings: Sequence[Mapping[str, object]]
) -> pd.DataFrame:
    """How variants of a fitted retriever do: the columns of :func:`ask`, and a column a setting."""
    tables = []
    for corpus, together in benchmark.asked_together(questions):
        placed = retriever.variant(corpus=corpus)
        tables += [ask(placed.variant(**chosen), together).assign(**chosen) for chosen in settings]
    return pd.concat(tables, ignore_index=True)


class Clock:
    """Seconds spent in parts of a retrieval, each without what is spent in another part that it calls."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()
        self._within = [0.0]  # seconds of the parts within each part that is running

    def around(self, part: str, function: Callable) -> Callable:
        """The function, whose time is added to a part's."""

        def run(*args: object, **settings: object) -> object:
            begun = time.perf_counter()
            self._within.append(0.0)
            found = function(*args, **settings)
            whole = time.perf_counter() - begun
            self.seconds[part] += whole - self._within.pop()
            self._within[-1] += whole
            return found

        return run


def time_parts(retriever: Retriever, questions: Sequence[Question], cold: bool = True) -> pd.DataFrame:
    """What a question's time goes to, for an indexed retriever, as a user waits for it.

    On one thread, one question after another, from a cold query cache, without a trace; a question that does not count
    goes first. (Not ``cold``, vectors come from the store: where only the other parts matter.) Columns: question,
    seeding (a walk's keyword search), matching (finding its candidates and comparing them), encoding (of whatever is
    read for the question), rest, seconds (all of them), texts (how many are read).
    """
    clock, read, rows = Clock(), set(), []
    encode = clock.around("encoding", Encoder.encode)

    def noted(encoder: Encoder, texts: Sequence[str], **settings: object) -> np.ndarray:
        read.update(texts)
        return encode(encoder, texts, **settings)

    timed = retriever.variant()
    if isinstance(timed, KGP):
        timed.score = clock.around("matching", timed.score)
        timed.neighbours = clock.around("matching", timed.graph.neighbours)  # anew each time
    search = clock.around("seeding", TfidfIndex.scores)
    with one_thread(), patch.object(Encoder, "encode", noted), patch.object(TfidfIndex, "scores", search):
        for question in [questions[-1], *questions]:
            clock.seconds.clear()
            read.clear()
            with cold_queries() if cold else nullcontext():
                begun = time.perf_counter()
                timed.retrieve_many([question.query], N_PASSAGES)
                whole = time.perf_counter() - begun
            parts = {part: clock.seconds[part] for part in PARTS[:-1]}
            parts |= {"rest": whole - sum(parts.values()), "seconds": whole, "texts": len(read)}
            rows.append({"question": question.id, **parts})
    return pd.DataFrame(rows[1:])


def by_size(
    retrievers: Mapping[str, Retriever], corpus: Corpus, questions: Sequence[Question], sizes: Sequence[int], seed: int
) -> pd.DataFrame:
    """Time and quality of fitted retrievers while the collection grows (Figure 7c): a row a retriever, size, question.

    Columns: those of :func:`ask` and of :func:`time_parts`, passages (in the collection), retriever. A collection holds
    the supports of the questions and random other documents, whole, and all smaller ones. Sizes beyond the corpus are
    left out.
    """
    if not [size for size in sizes if size <= len(corpus)]:
        raise InputError(f"expected a size of at most {len(corpus)} passages", field="sizes")
    rows = {corpus.row[id] for question in questions for id in question.supporting_ids}
    documents = list(corpus.documents.values())
    others = iter(np.random.default_rng(seed).permutation(len(documents)))
    tables = []
    for size in sorted(size for size in sizes if size <= len(corpus)):
        while len(rows) < size:
            rows.update(documents[next(others)].tolist())
        part = corpus.subset(sorted(rows))
        for name, retriever in retrievers.items():
            placed = retriever.variant(corpus=part)
            found = ask(placed, questions).merge(time_parts(placed, questions), on="question")
            tables.append(found.assign(passages=len(part), retriever=name))
    return pd.concat(tables, ignore_index=True)
