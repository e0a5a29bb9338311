"""What walks and other searches find and what they cost, while a setting or the collection changes (kgp.txt §5.2–5.4).

Every method gets as many distinct passages as any other (all-i02).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from kit.corpus import Corpus, Question
from kit.errors import InputError
from kit.evaluation.metrics import full_at, recall_at
from kit.evaluation.timing import time_parts
from kit.retrievers import KGP, MDR, Retriever

N_PASSAGES = 30  # a question gets, whatever the method (8.2)
METRICS = ("recall@5", f"recall@{N_PASSAGES}", f"full@{N_PASSAGES}")


def ask(retriever: Retriever, questions: Sequence[Question]) -> pd.DataFrame:
    """How an indexed retriever does, a row a question: question, hops, ``METRICS``, scored.

    The last is how many passages were compared where a path went on, of KGP and MDR. Raises InputError for a question
    without supports.
    """
    rows = []
    for question in questions:
        find = retriever.explain if isinstance(retriever, KGP | MDR) else retriever.retrieve
        ranking = find(question.query, N_PASSAGES)
        ids, k = ranking.ids, N_PASSAGES
        found = (recall_at(question, ids, 5), recall_at(question, ids, k), full_at(question, ids, k))
        row = {"question": question.id, "hops": question.hops, **dict(zip(METRICS, found))}
        rows.append(row | {"scored": ranking.trace.n_scored})
    return pd.DataFrame(rows)


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
