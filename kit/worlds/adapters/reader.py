"""What a reader learns from: answers from supports, alone or among passages that are near.

A question with sub-questions is answered step by step, a sentence each, as chain-of-thought
prompting has it (Wei et al., NeurIPS 2022); one without, in a few words.
"""

import numpy as np

from kit.corpus import Benchmark, Question
from kit.corpus.types import Texts
from kit.learning.adapters import Pair
from kit.methods.loops.teacher import has_short_steps, is_short, thoughts, worded_steps
from kit.methods.training import draw
from kit.text import TfidfIndex
from kit.text.language_models import as_request
from kit.text.prompts import answer_prompt
from kit.worlds.adapters.comparisons import comparisons
from kit.worlds.adapters.pairs import PairsOfQuestions, questions_of, supports_of

NEAR = 3  # passages that are no supports and stand beside them
HARDER = 0.3  # share of questions with such passages
SINGLE = 0.2  # share of questions whose sub-questions are asked, too
COMPARED = 40  # questions of each kind of comparison


def reader_pairs(benchmark: Benchmark, n: int, seed: int) -> PairsOfQuestions:
    """Answers to ``n`` questions at most, to comparisons of what others say, and to sub-questions.

    Questions have their supports to read, some of them passages near to the question, too, in any
    order. A sub-question has its support, and the answers before it are filled in.
    """
    generator = np.random.default_rng(seed)
    index = TfidfIndex(benchmark.corpus)
    answered = [question for question in questions_of(benchmark) if is_short(question.answer)]
    pairs = []
    for question in [*draw(answered, n, seed), *comparisons(benchmark, COMPARED, seed)]:
        texts = supports_of(benchmark, question)
        if generator.random() < HARDER:
            texts += near_texts(benchmark, index, question)
            generator.shuffle(texts)
        pairs.append([_pair(question, texts, reasoned(question))])
        if generator.random() < SINGLE:
            for step in filter(lambda step: is_short(step.answer), worded_steps(question)):
                pairs[-1].append(_pair(step, supports_of(benchmark, step), step.answer))
    return pairs


def reasoned(question: Question) -> str:
    """The answer with a sentence for each sub-question before it, where these have short answers.

    What reads it looks for "the answer is" (:func:`kit.text.replies.whole_answer`).
    """
    if not has_short_steps(question):
        return question.answer
    return " ".join([*thoughts(question), f"So the answer is: {question.answer}"])


def _pair(question: Question, texts: Texts, answer: str) -> Pair:
    return Pair(as_request(answer_prompt(question.text, texts)), answer)


def near_texts(benchmark: Benchmark, index: TfidfIndex, question: Question) -> Texts:
    """The passages nearest to the question by TF-IDF that are no supports."""
    corpus = benchmark.corpus
    supports = {corpus.row[name] for name in question.supporting_ids}
    [rows] = index.nearest([question.text], NEAR + len(supports))
    others = [row for row in rows if row not in supports][:NEAR]
    return [corpus.passages[row].full_text for row in others]
