"""What a question costs, the same way for every method, and what is found for it (kgp.txt §5.2–5.4)."""

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from unittest.mock import patch

import numpy as np
import pandas as pd

from kit.corpus import Corpus, Question
from kit.evaluation.metrics import full_at, recall_at
from kit.retrievers import KGP, MDR, Retriever
from kit.text import Encoder, TfidfIndex
from kit.text.precision import one_thread

PARTS = ("seeding", "matching", "encoding", "rest")  # of the time of a question
N_PASSAGES = 30  # a question gets, whatever the method (8.2, all-i02)
METRICS = ("recall@5", f"recall@{N_PASSAGES}", f"full@{N_PASSAGES}")


def time_parts(retriever: Retriever, questions: Sequence[Question], k: int = 30, cold: bool = True) -> pd.DataFrame:
    """The time that a user waits for an indexed retriever to find ``k`` passages, and what it goes to, by question.

    One question after another, on one thread, without a trace; whatever is read for a question is encoded, as if it was
    never asked before (not ``cold``: vectors come from the store). A question that does not count goes first. Columns:
    question, seeding (a walk's keyword search), matching (of its candidates), encoding, rest, seconds (all), texts.
    """
    seconds: Counter[str] = Counter()
    texts: set[str] = set()

    def around(part: str, function: Callable) -> Callable:
        """The function, whose time is added to a part's, without what other parts take within it."""

        def run(*args: object, **settings: object) -> object:
            begun = time.perf_counter() - seconds.total()
            found = function(*args, **settings)
            seconds[part] += time.perf_counter() - seconds.total() - begun
            if part == "encoding":
                texts.update(args[1])
            return found

        return run

    timed, rows = retriever, []
    if isinstance(retriever, KGP):
        timed = retriever.variant()
        timed.score = around("matching", timed.score)
        timed.neighbours = around("matching", timed.graph.neighbours)  # anew each time
    retrieve = around("rest", timed.retrieve_many)
    encode, search = around("encoding", Encoder.encode), around("seeding", TfidfIndex.scores)
    with one_thread(), patch.object(Encoder, "encode", encode), patch.object(TfidfIndex, "scores", search):
        for question in [questions[-1], *questions]:
            seconds.clear()
            texts.clear()
            with patch.object(Encoder, "cold", {} if cold else None):
                retrieve([question.gold_query if retriever.sees_gold else question.query], k)
            parts = {part: seconds[part] for part in PARTS}
            rows.append({"question": question.id, **parts, "seconds": seconds.total(), "texts": len(texts)})
    return pd.DataFrame(rows[1:])


def ask(retriever: Retriever, questions: Sequence[Question]) -> pd.DataFrame:
    """How an indexed retriever does, a row a question: question, hops, ``METRICS``, passages scored (KGP, MDR)."""
    rows = []
    for question in questions:
        find = retriever.explain if isinstance(retriever, KGP | MDR) else retriever.retrieve
        ranking = find(question.query, N_PASSAGES)
        found = [recall_at(question, ranking.ids, k) for k in (5, N_PASSAGES)]
        found += [full_at(question, ranking.ids, N_PASSAGES), ranking.trace.n_scored]
        rows.append((question.id, question.hops, *found))
    return pd.DataFrame(rows, columns=["question", "hops", *METRICS, "scored"])


def by_size(
    retrievers: Mapping[str, Retriever], corpus: Corpus, questions: Sequence[Question], sizes: Sequence[int], seed: int
) -> pd.DataFrame:
    """:func:`ask` and :func:`time_parts` of fitted retrievers while the collection (``passages``) grows (Figure 7c).

    A collection holds the supports of the questions, random other documents, whole, and all smaller ones.
    """
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
