"""What a planner learns from: all that loops of retrieval ask of a model, and a teacher's replies.

The teacher is that of :mod:`kit.methods.loops.teacher`.
"""

from dataclasses import dataclass

import numpy as np

from kit.corpus import Benchmark, Corpus, Question
from kit.corpus.types import Questions
from kit.learning.adapters import Pair
from kit.methods.loops import asking
from kit.methods.loops.loops import IRCoT
from kit.methods.loops.steps import NO_RETRIEVAL, SUFFICIENT, Step, Trajectory
from kit.methods.loops.teacher import (
    Teacher,
    has_short_steps,
    is_short,
    taught,
    thoughts,
    worded_steps,
)
from kit.methods.ras.retriever import RAS
from kit.methods.training import draw
from kit.readers.scoring import contains
from kit.text.language_models import CausalModel, Prompt, as_request
from kit.text.language_models.smollm2 import NAME
from kit.text.prompts import answer_prompt
from kit.worlds.adapters.pairs import PairsOfQuestions, questions_of

STRUCTURED = 1  # passages of a retrieval whose triples are read: rules find some ten in each
READ = 2  # passages of a retrieval that are read as they are
LONGEST_GUESS = 24  # tokens of an answer without any passage

_MORE = "Are follow up questions needed here: Yes.\nFollow up: "
_NO_MORE = "Are follow up questions needed here: No.\nSo the final answer is: "
_SO = "So the answer is: "


def planner_pairs(benchmark: Benchmark, n: int, seed: int) -> PairsOfQuestions:
    """Some of what the loops ask about each of ``n`` questions at most, drawn by a seed."""
    decomposed = [
        question
        for question in questions_of(benchmark)
        if is_short(question.answer) and has_short_steps(question)
    ]
    questions = draw(decomposed, n, seed)
    ras = RAS(planner="gold", triples="rules", top_k=STRUCTURED)
    ras.index(benchmark.corpus)
    structured = taught(ras, questions)
    ircot = IRCoT(top_k=READ)
    ircot.inner = ras.inner
    ircot.corpus = ras.corpus
    thinking = taught(ircot, questions)
    ids_of_known = known_without_reading(questions)

    generator = np.random.default_rng(seed)
    pairs = []
    for question, grown, thought in zip(questions, structured, thinking):
        lesson = Lesson(benchmark.corpus, question, generator)
        pairs.append([*lesson.of_ras(grown, question.id in ids_of_known), *lesson.of_steps()])
        pairs[-1].append(lesson.of_thoughts(thought))
    return pairs


def known_without_reading(questions: Questions) -> set[str]:
    """The ids of those that the model answers right without any passage (Algorithm 1, Line 4).

    What can be guessed does not count: yes or no, and names that the question has.
    """
    model = CausalModel(NAME, longest_answer=LONGEST_GUESS)
    guesses = model.generate([answer_prompt(question.text) for question in questions])
    ids = set()
    for question, guess in zip(questions, guesses):
        can_be_guessed = question.answer in ("yes", "no") or question.answer in question.text
        if contains(guess.text, question.answers) and not can_be_guessed:
            ids.add(question.id)
    return ids


@dataclass
class Lesson:
    """What is asked about a question at some of its states, and what the teacher replies."""

    corpus: Corpus
    question: Question
    generator: np.random.Generator

    def of_ras(self, grown: Trajectory, is_known: bool) -> list[Pair]:
        """What is next at one state with a step left; then, of every other question, at the end.

        To a question that the model knows, there is no step.
        """
        ask = asking.about_next_step
        if is_known:
            return [_pair(ask(Trajectory(grown.query), "ras", False), NO_RETRIEVAL)]

        n_done = int(self.generator.integers(len(grown.steps)))
        state = grown.up_to(n_done)
        reply = Teacher(self.corpus, STRUCTURED).reply(state)
        pairs = [_pair(ask(state, "ras", False), reply)]
        if self.generator.random() < 0.5:
            pairs.append(_pair(ask(grown, "ras", False), SUFFICIENT))
            pairs.append(_pair(asking.about_graph(grown, False), self.question.answer))
        return pairs

    def of_steps(self) -> list[Pair]:
        """What loops ask that answer each step: the next step, its answer, whether it is enough."""
        steps = worded_steps(self.question)
        n_done = int(self.generator.integers(len(steps) + 1))
        state = Trajectory(self.question.query, list(map(_answered, steps[:n_done])))
        follow_up = _NO_MORE + self.question.answer
        if n_done < len(steps):
            follow_up = _MORE + steps[n_done].text
        pairs = [
            _pair(asking.about_next_step(state, "selfask", False), follow_up),
            _pair(asking.about_enough(state), "Yes" if n_done == len(steps) else "No"),
        ]
        if n_done < len(steps):
            step = steps[n_done]
            ask = asking.about_next_step
            pairs.append(_pair(ask(state, "self-critique", False), step.text))
            state.steps.append(Step(step.text, rows=self._rows_to_read(step)))
            pairs.append(_pair(asking.about_last_step(state, self.corpus, READ + 1), step.answer))
        return pairs

    def _rows_to_read(self, step: Question) -> tuple[int, ...]:
        """A step's support among passages at random."""
        others = self.generator.integers(len(self.corpus), size=READ)
        rows = [self.corpus.row[step.supporting_ids[0]], *others.tolist()]
        return tuple(self.generator.permutation(rows).tolist())

    def of_thoughts(self, thought: Trajectory) -> Pair:
        """All sentences that are left at one state, and the answer."""
        n_done = int(self.generator.integers(1, len(thought.steps) + 1))
        rest = [*thoughts(self.question), _SO + self.question.answer][n_done - 1 :]
        state = thought.up_to(n_done)
        return _pair(asking.about_thoughts(state, self.corpus, READ), "\n".join(rest))


def _answered(step: Question) -> Step:
    return Step(step.text, answers=(step.answer,))


def _pair(prompt: Prompt, answer: str) -> Pair:
    return Pair(as_request(prompt), answer)
