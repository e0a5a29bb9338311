"""What writers of the next evidence learn from (KGP §8.1), and those of triples (RAS C.2)."""

from collections import defaultdict

import numpy as np

from kit.corpus import Benchmark, Passage, PlainTriple, Question
from kit.corpus.sentences import split_sentences
from kit.learning.adapters import Pair
from kit.methods.loops.teacher import worded_steps
from kit.methods.training import draw
from kit.text.entities import fold
from kit.text.language_models import as_request
from kit.text.prompts import evidence_prompt, written_triple
from kit.worlds.adapters.pairs import PairsOfQuestions, questions_of, supports_of


def evidence_pairs(benchmark: Benchmark, n: int, seed: int) -> PairsOfQuestions:
    """To ``n`` questions at most, with some supports in order, a sentence of the next support."""
    generator = np.random.default_rng(seed)
    pairs = []
    for question in draw(questions_of(benchmark), n, seed):
        n_found = int(generator.integers(question.hops))
        path = supports_of(benchmark, question)[:n_found]
        prompt = evidence_prompt(question.text, path, "prefixed_evidence")
        pairs.append([Pair(as_request(prompt), _evidence(benchmark, question, n_found))])
    return pairs


def _evidence(benchmark: Benchmark, question: Question, support: int) -> str:
    """The title of a support, and its first sentence with what the question needs of it.

    That is an answer, the title of another support or, where it has neither, anything.
    """
    passage = benchmark.corpus[question.supporting[support][0]]
    needed = [question.answer, *(step.answer for step in worded_steps(question))]
    needed += [benchmark.corpus[names[0]].title for names in question.supporting]
    sentences = split_sentences(passage.text) or [passage.text]
    telling = [
        sentence
        for sentence in sentences
        if any(name and name in sentence and name != passage.title for name in needed)
    ]
    return f"{passage.title}: {(telling or sentences)[0]}"


def triples_pairs(benchmark: Benchmark, n: int, seed: int) -> PairsOfQuestions:
    """Of ``n`` supports at most, the triples that any question needs of them."""
    needed = defaultdict(dict)
    for question in questions_of(benchmark):
        passages = [benchmark.corpus[name] for name in question.supporting_ids]
        for passage in passages:
            needed[passage].update(dict.fromkeys(_stated(question, passage)))
    telling = [passage for passage, triples in needed.items() if triples]
    return [
        [Pair(as_request(passage.full_text), ", ".join(map(written_triple, needed[passage])))]
        for passage in draw(telling, n, seed)
    ]


def _stated(question: Question, passage: Passage) -> list[PlainTriple]:
    """The triples of a question that a passage states: about its title, with the object in it."""
    title, _, _ = fold(passage.title).partition(" (")
    return [
        (subject, relation, value)
        for subject, relation, value in question.triples
        if fold(subject) in (title, fold(passage.title)) and value in passage.text
    ]
