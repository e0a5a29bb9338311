"""What a question costs, measured in the same way for every method (KGP §5.3)."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from time import perf_counter

from numpy.random import default_rng
from pandas import DataFrame

from kit import timer
from kit.corpus import Corpus
from kit.corpus.types import Questions
from kit.methods import Retriever
from kit.methods.training import query_for

PARTS = ("seeding", "matching", "messages", "encoding", "rest")  # of the time of a question


def time_parts(
    retriever: Retriever,
    questions: Questions,
    k: int = 30,
    cold: bool = True,
) -> DataFrame:
    """How long a user waits for ``k`` passages of an indexed retriever, and what takes the time.

    A row per question. They are put one after another, on one thread, without a trace; a question
    that does not count goes first. Whatever is read for a question is encoded as if it was never
    read before; not ``cold``, vectors come from the store.

    Columns: question, seeding (a walk's keyword search, a reranker's candidates), matching (of a
    walk's neighbours), messages (of GNN-Ret), encoding, rest, seconds (the sum of these parts),
    texts (how many the encoder was asked for).
    """
    rows = []
    for question in [questions[-1], *questions]:
        query = query_for(retriever, question)
        with _one_thread(), timer.running(cold=cold) as clock, timer.part("rest"):
            retriever.retrieve_many([query], k)

        rows.append(
            {
                "question": question.id,
                **{part: clock.seconds[part] for part in PARTS},
                "seconds": clock.seconds.total(),
                "texts": len(clock.texts),
            }
        )
    return DataFrame(rows[1:])


def time_index(retriever: Retriever, corpus: Corpus) -> float:
    """The seconds until a retriever is ready to search a corpus, with what the store has of it."""
    unknown_here = Corpus(corpus.passages)  # to what this process remembers by the corpus
    begun = perf_counter()
    retriever.index(unknown_here)
    return perf_counter() - begun


def _one_thread() -> AbstractContextManager[None]:
    """torch on one thread, if it is loaded.

    A method without a network does not load it, and should not have to for being timed. A method
    with one has loaded it by the first question, which does not count.
    """
    if "torch" not in sys.modules:
        return nullcontext()

    from kit.learning.training import one_thread

    return one_thread()


def growing_collections(
    corpus: Corpus,
    questions: Questions,
    sizes: Sequence[int],
    seed: int,
) -> Iterator[Corpus]:
    """Parts of a corpus, from small to large, of at least so many passages (KGP Figure 7c).

    A part holds the supports of the questions, random other documents, whole, and all smaller
    parts. Sizes beyond the corpus are left out.
    """
    rows = {corpus.row[passage] for question in questions for passage in question.supporting_ids}
    documents = list(corpus.documents.values())
    others = iter(default_rng(seed).permutation(len(documents)))
    for size in sorted(sizes):
        if size > len(corpus):
            return
        while len(rows) < size:
            rows.update(documents[next(others)].tolist())
        yield corpus.subset(sorted(rows))
