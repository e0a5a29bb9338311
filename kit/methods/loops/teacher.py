"""A teacher who goes through loops of retrieval, for models that are to learn from it.

It knows the sub-questions, their answers and their supports. What was found, and what was not, is
what the retriever really finds.
"""

import re

from msgspec.structs import replace

from kit.corpus import Corpus, Question
from kit.corpus.types import Questions
from kit.methods.loops.agents import GoldAgent
from kit.methods.loops.loops import Loop
from kit.methods.loops.steps import (
    SUBQ,
    SUFFICIENT,
    NextSteps,
    Step,
    Trajectories,
    Trajectory,
)
from kit.readers.windows import steps_of

MOST_WORDS = 5  # of an answer, as the prompts ask for
_HEADED = re.compile(r"(.+) >> (.+)")  # as MuSiQue words some sub-questions


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
    """An answer in a few words; of a sentence, the object of a triple that stands in it last.

    A sentence may be short, too: "She is French."
    """
    objects = [value for _, _, value in question.triples if value and value in answer]
    plain = answer if is_short(answer) else ""
    return max(objects, key=answer.rfind, default=plain)


def has_short_steps(question: Question) -> bool:
    """Whether there are sub-questions, and each has an answer in a few words."""
    steps = worded_steps(question)
    return bool(steps) and all(is_short(step.answer) for step in steps)


class Teacher(GoldAgent):
    """Plans with the sub-questions of the data set, of which it leaves out what was found.

    So RAS's Algorithm 1 has it, where the question itself is searched for first. Found is what
    stands in the first ``top_k`` passages of a retrieval.
    """

    def __init__(self, corpus: Corpus, top_k: int) -> None:
        self.corpus = corpus
        self.top_k = top_k

    def plan(self, trajectories: Trajectories, policy: str = "ras") -> NextSteps:
        return list(map(self.next_step, trajectories))

    def next_step(self, trajectory: Trajectory) -> Step | None:
        """The first sub-question that was not asked, and whose support was not found."""
        earlier = {step.text for step in trajectory.steps}
        rows = {row for step in trajectory.steps for row in step.rows[: self.top_k]}
        for step in worded_steps(trajectory.query.question):
            carriers = {self.corpus.row[name] for name in step.supporting_ids}
            if step.text not in earlier and carriers.isdisjoint(rows):
                return Step(step.text, answers=(step.answer,))
        return None

    def reply(self, trajectory: Trajectory) -> str:
        """What a planner ought to reply (RAS, Eq. 2)."""
        step = self.next_step(trajectory)
        return f"{SUBQ} {step.text}" if step else SUFFICIENT

    def think(self, trajectories: Trajectories, top_k: int) -> NextSteps:
        steps = []
        for trajectory in trajectories:
            n_thoughts = len(trajectory.steps) - 1
            rest = thoughts(trajectory.query.question)[n_thoughts:]
            steps.append(Step(rest[0]) if rest else None)
        return steps


def taught(loop: Loop, questions: Questions) -> list[Trajectory]:
    """How the questions go through a loop with a teacher as its agent."""
    loop.agent = Teacher(loop.corpus, loop.settings.top_k)
    return loop.run([question.gold_query for question in questions])


def thoughts(question: Question) -> list[str]:
    """A sentence for each sub-question, which has its answer."""
    sentences = []
    for step in worded_steps(question):
        [published] = step.aliases
        sentence = f"{step.text} {step.answer}" if is_short(published) else published
        sentences.append(sentence.rstrip(".") + ".")
    return sentences
