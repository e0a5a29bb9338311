"""What a reader learns from: answers from supports, alone or among passages that are near."""

import numpy as np

from kit.corpus import Benchmark, Question
from kit.corpus.types import Texts
from kit.learning.adapters import Pair
from kit.methods.loops.teacher import is_short, worded_steps
from kit.methods.training import draw
from kit.text import TfidfIndex
from kit.text.language_models import as_request
from kit.text.prompts import answer_prompt
from kit.worlds.adapters.pairs import PairsOfQuestions, questions_of, supports_of

NEAR = 3  # passages that are no supports and stand beside them
HARDER = 0.5  # share of questions with such passages


def reader_pairs(benchmark: Benchmark, n: int, seed: int) -> PairsOfQuestions:
    """Answers to ``n`` questions at most, and to their sub-questions.

    Half of the questions have their supports to read, the others passages near to the question,
    too, in any order. A sub-question has its support, and the answers before it are filled in.
    """
    generator = np.random.default_rng(seed)
    index = TfidfIndex(benchmark.corpus)
    answered = [question for question in questions_of(benchmark) if is_short(question.answer)]
    pairs = []
    for question in draw(answered, n, seed):
        texts = supports_of(benchmark, question)
        if generator.random() < HARDER:
            texts += near_texts(benchmark, index, question)
            generator.shuffle(texts)
        pairs.append([_pair(question, texts)])
        for step in worded_steps(question):
            if is_short(step.answer):
                pairs[-1].append(_pair(step, supports_of(benchmark, step)))
    return pairs


def _pair(question: Question, texts: Texts) -> Pair:
    return Pair(as_request(answer_prompt(question.text, texts)), question.answer)


def near_texts(benchmark: Benchmark, index: TfidfIndex, question: Question) -> Texts:
    """The passages nearest to the question by TF-IDF that are no supports."""
    corpus = benchmark.corpus
    supports = {corpus.row[name] for name in question.supporting_ids}
    [rows] = index.nearest([question.text], NEAR + len(supports))
    others = [row for row in rows if row not in supports][:NEAR]
    return [corpus.passages[row].full_text for row in others]
