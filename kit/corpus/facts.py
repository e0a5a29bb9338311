"""The setting ``facts``: each question with a small database of single facts (BGR §4.3)."""

from dataclasses import replace

import numpy as np
from msgspec.structs import replace as with_fields
from numpy import ndarray

from kit.corpus.pools import generator_of
from kit.corpus.sentences import split_sentences
from kit.corpus.types import Benchmark, Collections, Corpus, Question
from kit.errors import InputError

N_FACTS = 25  # in the database of a question (BGR §A.3)


def single_facts(benchmark: Benchmark) -> Benchmark:
    """The same questions over sentences: every passage is one sentence with its title.

    A question is asked of 25 of them: its supports and a third of each kind (BGR §4.3). The
    kinds are those nearest to the question by TF-IDF, others of the supports' documents as far as
    there are enough, and any. They are drawn by the question's id.

    Raises InputError for a question whose ``facts`` are not set, or are no sentences of its
    supports.
    """
    sentences = []
    ids = {}
    for passage in benchmark.corpus.passages:
        for position, text in enumerate(split_sentences(passage.text)):
            sentence_id = f"{passage.id}.{position}"
            ids[passage.id, text] = sentence_id
            sentences.append(
                with_fields(
                    passage,
                    id=sentence_id,
                    text=text,
                    position=position,
                )
            )

    facts = replace(
        benchmark,
        corpus=Corpus(sentences),
        train=[_over_sentences(question, ids) for question in benchmark.train],
        dev=[_over_sentences(question, ids) for question in benchmark.dev],
        test=[_over_sentences(question, ids) for question in benchmark.test],
    )
    return replace(facts, collections=_databases(facts))


def _over_sentences(question: Question, ids: dict[tuple[str, str], str]) -> Question:
    """The question with sentences for supports; ``ids`` are theirs by passage and text."""
    if not question.facts:
        raise InputError(
            "expected the sentence of each support (`facts`)",
            record=question.id,
            field="facts",
        )

    supporting = []
    for carriers, fact in zip(question.supporting, question.facts, strict=True):
        stated = [ids[carrier, fact] for carrier in carriers if (carrier, fact) in ids]
        if not stated:
            raise InputError(
                f"expected a sentence of its support, not {fact!r}",
                record=question.id,
                field="facts",
            )
        supporting.append(tuple(stated))
    return with_fields(question, supporting=tuple(supporting))


def _databases(benchmark: Benchmark) -> Collections:
    """The rows of each question's facts."""
    from sklearn.feature_extraction.text import TfidfVectorizer  # takes a second

    corpus = benchmark.corpus
    questions = [*benchmark.train, *benchmark.dev, *benchmark.test]
    model = TfidfVectorizer(
        stop_words="english",
        sublinear_tf=True,
        dtype=np.float32,
    )
    try:
        words = model.fit_transform(sentence.full_text for sentence in corpus.passages)
    except ValueError:  # sklearn's, for an empty vocabulary
        raise InputError("expected words in the passages, there are none to search") from None
    likeness = model.transform(question.text for question in questions) @ words.T
    # (questions, sentences)

    return {
        question.id: _database(question, corpus, row.toarray().ravel())
        for question, row in zip(questions, likeness)
    }


def _database(
    question: Question,
    corpus: Corpus,
    likeness: ndarray,
) -> ndarray:
    """The question's 25 facts, in an order that tells nothing."""
    rng = generator_of(question)
    gold = [corpus.row[passage_id] for passage_id in question.supporting_ids]
    beside = [corpus.documents[corpus.passages[row].document] for row in gold]
    third = (N_FACTS - len(gold)) // 3
    chosen = dict.fromkeys(gold)

    def choose(candidates: ndarray, count: int) -> None:
        """Add the first candidates that are not chosen yet."""
        free = [row for row in candidates.tolist() if row not in chosen]
        chosen.update(dict.fromkeys(free[:count]))

    choose(rng.permutation(np.concatenate(beside)), third)
    choose(rng.permutation(len(corpus)), third)
    nearest = np.argsort(-likeness, kind="stable")[: 2 * N_FACTS]
    choose(nearest, N_FACTS - len(chosen))
    return rng.permutation(np.array(list(chosen)))
