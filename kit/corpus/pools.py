"""The setting ``per-question`` where questions come without paragraphs: documents for each."""

from dataclasses import replace
from hashlib import blake2b

import numpy as np
from numpy import ndarray

from kit.corpus.types import Benchmark, Corpus, Question

N_DOCUMENTS = 12  # of a question (KGP Table 3)


def document_pools(benchmark: Benchmark) -> Benchmark:
    """The same questions, each asked of 12 documents with all their passages (KGP §8.1).

    They are the documents of its supports, of the first passage that carries each, and others drawn
    by the question's id.
    """
    questions = [*benchmark.train, *benchmark.dev, *benchmark.test]
    names = list(benchmark.corpus.documents)
    collections = {question.id: _pool(question, benchmark.corpus, names) for question in questions}
    return replace(benchmark, collections=collections)


def generator_of(question: Question) -> np.random.Generator:
    """What draws the same for a question each time, by its id alone."""
    seed = blake2b(question.id.encode(), digest_size=8).digest()
    return np.random.default_rng(int.from_bytes(seed))


def _pool(question: Question, corpus: Corpus, names: list[str]) -> ndarray:
    """The rows of the question's documents, in the order of the corpus."""
    golden = {}
    for carriers in question.supporting:
        golden[corpus[carriers[0]].document] = None

    order = generator_of(question).permutation(len(names))
    drawn = order[: N_DOCUMENTS + len(golden)]
    others = [names[index] for index in drawn if names[index] not in golden]

    n_others = max(N_DOCUMENTS - len(golden), 0)
    rows = [corpus.documents[name] for name in (*golden, *others[:n_others])]
    return np.sort(np.concatenate(rows))
