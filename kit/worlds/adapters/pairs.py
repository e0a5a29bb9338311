"""What adapters learn from: prompts as the kit asks them, with the answers they ought to have.

A role's pairs come by question, so that what chooses the weights shares none with what teaches.
"""

from kit.corpus import Benchmark, Question
from kit.corpus.types import Questions, Texts
from kit.learning.adapters import Pair

PairsOfQuestions = list[list[Pair]]


def questions_of(benchmark: Benchmark) -> Questions:
    """All that there is to learn from."""
    return [*benchmark.train, *benchmark.dev]


def supports_of(benchmark: Benchmark, question: Question) -> Texts:
    """The texts that the question needs, in its order."""
    return [benchmark.corpus[names[0]].full_text for names in question.supporting]
