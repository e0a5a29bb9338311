"""What a question costs, the same way for every method (kgp.txt §5.3)."""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from unittest.mock import patch

import numpy as np
import pandas as pd

from kit.corpus import Corpus, Question
from kit.learning.training import one_thread
from kit.methods import Retriever
from kit.methods.kgp.walk import KGP
from kit.text import Encoder, TfidfIndex
from kit.text.language_models import SequenceToSequence

PARTS = ("seeding", "matching", "encoding", "rest")  # of the time of a question


def time_parts(
    retriever: Retriever, questions: Sequence[Question], k: int = 30, cold: bool = True
) -> pd.DataFrame:
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
    with (
        one_thread(),
        patch.object(Encoder, "encode", encode),
        patch.object(TfidfIndex, "scores", search),
    ):
        for question in [questions[-1], *questions]:
            seconds.clear()
            texts.clear()
            with (
                patch.object(Encoder, "cold", {} if cold else None),
                patch.object(SequenceToSequence, "cold", cold),
            ):
                retrieve([question.gold_query if retriever.sees_gold else question.query], k)
            parts = {part: seconds[part] for part in PARTS}
            rows.append(
                {"question": question.id, **parts, "seconds": seconds.total(), "texts": len(texts)}
            )
    return pd.DataFrame(rows[1:])


def growing_collections(
    corpus: Corpus, questions: Sequence[Question], sizes: Sequence[int], seed: int
) -> Iterator[Corpus]:
    """Parts of a corpus, from small to large, of at least so many passages, where it has as many (kgp.txt Figure 7c).

    A part holds the supports of the questions, random other documents, whole, and all smaller parts.
    """
    rows = {corpus.row[id] for question in questions for id in question.supporting_ids}
    documents = list(corpus.documents.values())
    others = iter(np.random.default_rng(seed).permutation(len(documents)))
    for size in sorted(size for size in sizes if size <= len(corpus)):
        while len(rows) < size:
            rows.update(documents[next(others)].tolist())
        yield corpus.subset(sorted(rows))
