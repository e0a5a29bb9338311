"""What adapters learn from: prompts as the kit asks them, with the answers they ought to have.

A role's pairs come by question, so that what chooses the weights shares none with what teaches.
"""

import re

from msgspec.structs import replace

from kit.corpus import Benchmark, Question
from kit.corpus.types import Questions, Texts
from kit.learning.adapters import Pair
from kit.readers.windows import steps_of

MOST_WORDS = 5  # of an answer, as the prompts ask for
_HEADED = re.compile(r"(.+) >> (.+)")  # as MuSiQue words some sub-questions

PairsOfQuestions = list[list[Pair]]


def questions_of(benchmark: Benchmark) -> Questions:
    """All that there is to learn from."""
    return [*benchmark.train, *benchmark.dev]


def is_short(answer: str) -> bool:
    return 0 < len(answer.split()) <= MOST_WORDS


def worded_steps(question: Question) -> list[Question]:
    """The sub-questions that have a support, in words, with short answers.

    ``aliases`` has the answer as the data set has it, which may be a sentence.
    """
    steps = []
    for step in steps_of(question):
        answer = _short(question, step.answer)
        text = _HEADED.sub(r"What is the \2 of \1?", step.text).replace(" ?", "?")
        steps.append(replace(step, text=text, answer=answer, aliases=(step.answer,)))
    return steps


def _short(question: Question, answer: str) -> str:
    """An answer in a few words; of a sentence, the object of a triple that stands in it last."""
    if is_short(answer):
        return answer
    objects = [value for _, _, value in question.triples if value in answer]
    return max(objects, key=answer.rfind, default="")


def has_short_steps(question: Question) -> bool:
    """Whether there are sub-questions, and each has an answer in a few words."""
    steps = worded_steps(question)
    return bool(steps) and all(is_short(step.answer) for step in steps)


def supports_of(benchmark: Benchmark, question: Question) -> Texts:
    """The texts that the question needs, in its order."""
    return [benchmark.corpus[names[0]].full_text for names in question.supporting]
