"""What adapters learn from: prompts as the kit asks them, with the answers they ought to have."""

from collections.abc import Iterator

import numpy as np

from kit.corpus import Benchmark, Corpus, Question
from kit.corpus.types import Texts
from kit.learning.adapters import Pair
from kit.methods.training import draw
from kit.text import TfidfIndex
from kit.text.language_models import as_request
from kit.text.prompts import answer_prompt

NEAR = 3  # passages that are no supports and stand beside them
HARDER = 0.5  # share of questions with such passages
MOST_WORDS = 5  # of an answer, as the prompt asks for


def reader_pairs(benchmark: Benchmark, n: int, seed: int) -> list[Pair]:
    """Answers to ``n`` training questions at most, and to their sub-questions.

    Half of the questions have their supports to read, the others passages near to the question,
    too, in any order. A sub-question has its support, and the answers before it are filled in.
    """
    generator = np.random.default_rng(seed)
    index = TfidfIndex(benchmark.corpus)
    answered = [question for question in benchmark.train if _is_short(question.answer)]
    pairs = []
    for question in draw(answered, n, seed):
        texts = _supports(benchmark.corpus, question)
        if generator.random() < HARDER:
            texts += _near(benchmark.corpus, index, question)
            generator.shuffle(texts)
        pairs.append(_pair(question.text, texts, question.answer))
        pairs += _sub_pairs(benchmark.corpus, question)
    return pairs


def _is_short(answer: str) -> bool:
    return 0 < len(answer.split()) <= MOST_WORDS


def _pair(question: str, texts: Texts, answer: str) -> Pair:
    return Pair(as_request(answer_prompt(question, texts)), answer)


def _supports(corpus: Corpus, question: Question) -> list[str]:
    return [corpus[name].full_text for name in question.supporting_ids]


def _near(corpus: Corpus, index: TfidfIndex, question: Question) -> list[str]:
    """The passages nearest to the question by TF-IDF that are no supports."""
    supports = {corpus.row[name] for name in question.supporting_ids}
    [rows] = index.nearest([question.text], NEAR + len(supports))
    others = [row for row in rows if row not in supports][:NEAR]
    return [corpus.passages[row].full_text for row in others]


def _sub_pairs(corpus: Corpus, question: Question) -> Iterator[Pair]:
    answers = [step.answer for step in question.decomposition]
    for step in question.decomposition:
        if step.support is not None and _is_short(step.answer):
            support = question.supporting[step.support][0]
            yield _pair(step.filled(answers), [corpus[support].full_text], step.answer)
