"""What a chat model is asked about a trajectory, in the words of each loop.

The words are those of :mod:`kit.text.prompts`. A model that learned to answer them, by an adapter,
learned on the same.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from kit.corpus import Corpus
from kit.corpus.types import Texts
from kit.methods.loops.steps import Step, Trajectory
from kit.text import prompts
from kit.text.language_models import Prompt, Request

LINE = "\n"


def about_next_step(
    trajectory: Trajectory, policy: str, takes_instructions: bool, examples: str = ""
) -> Prompt:
    """The next step, or whether there is enough, in the words of a policy.

    Those of RAS are other words for a model that ``takes_instructions`` than for one that learned
    to plan. For ``examples`` see :func:`kit.text.prompts.demonstrations`; RAS has its own.
    """
    question = trajectory.query.text
    if policy == "ras":
        ask = prompts.plan_request if takes_instructions else prompts.plan_prompt
        return ask(question, _findings(trajectory))
    texts = [step.text for step in trajectory.steps]
    pairs = list(zip(texts, _sub_answers(trajectory)))
    if policy == "selfask":
        return prompts.self_ask_prompt(question, pairs, examples)
    return Request(prompts.next_step_prompt(question, pairs, examples), stop=LINE)


def about_enough(trajectory: Trajectory) -> Request:
    """Whether the sub-answers suffice."""
    prompt = prompts.critique_prompt(trajectory.query.text, _sub_answers(trajectory))
    return Request(prompt, choices=("Yes", "No"))


def about_last_step(trajectory: Trajectory, corpus: Corpus, top_k: int) -> Prompt:
    """The answer to the last step, by what it found."""
    texts = texts_of([trajectory.last], corpus, top_k)
    return prompts.sub_answer_prompt(trajectory.last.text, texts)


def about_thoughts(
    trajectory: Trajectory, corpus: Corpus, top_k: int, examples: str = ""
) -> Request:
    """IRCoT's next sentence after those of the steps, by all that was found."""
    texts = texts_of(trajectory.steps, corpus, top_k)
    thoughts = " ".join(step.text for step in trajectory.steps[1:])
    prompt = prompts.reason_prompt(trajectory.query.text, texts, thoughts, examples)
    return Request(prompt, stop=LINE)


def about_all(trajectory: Trajectory, corpus: Corpus, top_k: int, examples: str = "") -> Prompt:
    """ITER-RETGEN's whole answer, by what was found last."""
    texts = texts_of([trajectory.last], corpus, top_k)
    return prompts.reason_prompt(trajectory.query.text, texts, examples=examples)


def about_graph(trajectory: Trajectory, takes_instructions: bool) -> Request:
    """RAS's answer, by the triples of all steps."""
    request = prompts.graph_answer_request(trajectory.query.text, _findings(trajectory))
    if takes_instructions:
        return request
    return replace(request, examples=())  # its prompt has no room for them


def texts_of(steps: Sequence[Step], corpus: Corpus, top_k: int) -> Texts:
    """What the steps' retrievals brought to read, each passage once."""
    rows = dict.fromkeys(row for step in steps for row in step.rows[:top_k])
    return [corpus.passages[row].full_text for row in rows]


def _findings(trajectory: Trajectory) -> prompts.Steps:
    """Each step with its triples."""
    return [(step.text, step.triples) for step in trajectory.steps]


def _sub_answers(trajectory: Trajectory) -> Texts:
    """What answers each step, in a line."""
    return [", ".join(step.answers) for step in trajectory.steps]
