"""Each question with a small database of single facts, its own (bgr.txt §4.3): the setting ``facts``."""

from dataclasses import replace
from hashlib import blake2b

import numpy as np
from msgspec.structs import replace as with_fields

from kit.corpus.sentences import split_sentences
from kit.corpus.types import Benchmark, Corpus, Question
from kit.errors import InputError

N_FACTS = 25  # in the database of a question (bgr.txt §A.3)


def single_facts(benchmark: Benchmark) -> Benchmark:
    """The same questions over sentences: every passage is one sentence with its title, and so is every support.

    A question is asked of 25 of them: its supports and, a third each (bgr.txt §4.3), those nearest to the question by
    TF-IDF, others of the supports' documents, as far as there are enough, and any. Drawn by the question's id.
    Raises InputError for a question whose ``facts`` are not set, or are no sentences of its supports.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer  # takes a second

    passages = [
        with_fields(passage, id=f"{passage.id}.{number}", text=text, position=number)
        for passage in benchmark.corpus.passages
        for number, text in enumerate(split_sentences(passage.text))
    ]
    corpus = Corpus(passages)
    named = {(passage.id.rpartition(".")[0], passage.text): passage.id for passage in passages}
    splits = {
        name: [_over(question, named) for question in them]
        for name, them in benchmark.splits.items()
    }
    questions = [question for them in splits.values() for question in them]
    model = TfidfVectorizer(stop_words="english", sublinear_tf=True, dtype=np.float32)
    words = model.fit_transform(passage.full_text for passage in passages)
    likeness = model.transform(question.text for question in questions) @ words.T
    collections = {
        question.id: _database(question, corpus, likeness[place].toarray().ravel())
        for place, question in enumerate(questions)
    }
    return replace(benchmark, corpus=corpus, collections=collections, **splits)


def _over(question: Question, named: dict[tuple[str, str], str]) -> Question:
    """The question with sentences for supports."""
    if not question.facts:
        raise InputError(
            "expected the sentence of each support (`facts`)", record=question.id, field="facts"
        )
    supporting = [
        tuple(named[id, fact] for id in carriers if (id, fact) in named)
        for carriers, fact in zip(question.supporting, question.facts, strict=True)
    ]
    if not all(supporting):
        missing = question.facts[supporting.index(())]
        raise InputError(
            f"expected a sentence of its support, not {missing!r}",
            record=question.id,
            field="facts",
        )
    return with_fields(question, supporting=tuple(supporting))


def _database(question: Question, corpus: Corpus, likeness: np.ndarray) -> np.ndarray:
    """Rows of the question's 25 facts, in an order that tells nothing."""
    rng = np.random.default_rng(
        int.from_bytes(blake2b(question.id.encode(), digest_size=8).digest())
    )
    gold = [corpus.row[id] for id in question.supporting_ids]
    beside = np.concatenate([corpus.documents[corpus.passages[row].document] for row in gold])
    third = (N_FACTS - len(gold)) // 3
    chosen = dict.fromkeys(gold)
    for candidates, n in ((rng.permutation(beside), third), (rng.permutation(len(corpus)), third)):
        chosen |= dict.fromkeys([row for row in candidates.tolist() if row not in chosen][:n])
    near = np.argsort(-likeness, kind="stable")[: 2 * N_FACTS].tolist()
    chosen |= dict.fromkeys([row for row in near if row not in chosen][: N_FACTS - len(chosen)])
    return rng.permutation(np.array(list(chosen)))
