"""Who thinks in a loop of retrieval: gold sub-questions, the kit's small model, or a chat model."""

from collections.abc import Callable, Sequence
from functools import partial

from kit import cost
from kit.corpus import Corpus
from kit.corpus.types import Queries, Texts
from kit.methods.loops import asking
from kit.methods.loops.fact_reader import FactReader
from kit.methods.loops.next_steps import NEXT_STEP, next_thought
from kit.methods.loops.small_plan import LONGEST_PLAN, begun_plan, read_plan, small_prompt
from kit.methods.loops.steps import (
    SUFFICIENT,
    UNREADABLE,
    NextSteps,
    Step,
    Trajectories,
    Trajectory,
    gold_steps,
)
from kit.methods.trace import Exchange
from kit.text.language_models import (
    BEGUN,
    LanguageModel,
    Prompt,
    SequenceToSequence,
    language_model,
)
from kit.text.language_models.answers import as_request
from kit.text.placeholders import linker_of
from kit.text.replies import counted, final_answer, labelled, plain_reply, whole_answer

GOLD = "gold"  # the model that stands for the data's own sub-questions
MANY_PROMPTS = 64  # above which a progress bar is shown


class Agent:
    """What the loops ask of a model, about many questions at once.

    It reads the first ``top_k`` passages of each retrieval.
    """

    model: LanguageModel | None = None

    def plan(self, trajectories: Trajectories, policy: str = "ras") -> NextSteps:
        """The next step, or None where there is enough (RAS §3.1, Eqs. 1 and 2).

        ``policy`` is the name of a loop; a chat model is asked in the words of each.
        """
        raise NotImplementedError

    def suffices(self, trajectories: Trajectories) -> list[bool]:
        """RGNN-Ret's self-critique (GNN-Ret §3.3); by default it is the plan that says so."""
        return [False] * len(trajectories)

    def answer(self, trajectories: Trajectories, top_k: int) -> None:
        """Fill in what answers the last steps, by what they found."""

    def think(self, trajectories: Trajectories, top_k: int) -> NextSteps:
        """IRCoT's next sentence, by all that was found; None after the last.

        By default it is the plan's next step with its answers.
        """
        self.answer(trajectories, top_k)
        steps = self.plan(trajectories)
        for trajectory, step in zip(trajectories, steps):
            if step:
                step.answers = step.answers or step.read(trajectory.graph)
                step.text = step.sentence
        return steps

    def draft(self, trajectories: Trajectories, top_k: int) -> list[str]:
        """ITER-RETGEN's whole answer, by what was found last."""
        raise NotImplementedError

    def conclude(self, trajectories: Trajectories) -> None:
        """Fill in RAS's answers to the questions; by default there are none (RAS §3.4)."""


class GoldAgent(Agent):
    """The sub-questions of the data set, and their answers: more than any model has."""

    def plan(self, trajectories: Trajectories, policy: str = "ras") -> NextSteps:
        steps = []
        for trajectory in trajectories:
            query = trajectory.query
            n_done = sum(step.text != query.text for step in trajectory.steps)
            steps.append(next(iter(gold_steps(query)[n_done:]), None))
        return steps

    def draft(self, trajectories: Trajectories, top_k: int) -> list[str]:
        drafts = []
        for trajectory in trajectories:
            steps = gold_steps(trajectory.query)[: len(trajectory.steps)]
            drafts.append(" ".join(step.sentence for step in steps))
        return drafts


class SmallAgent(Agent):
    """A small sequence-to-sequence model, which learned on invented worlds other than this one."""

    def __init__(self, model: SequenceToSequence, corpus: Corpus, triples: str) -> None:
        self.model = model
        self.linker = linker_of(corpus)
        self.facts = FactReader(corpus, triples)

    def answer(self, trajectories: Trajectories, top_k: int) -> None:
        self.facts.read(trajectories, top_k)

    def plan(self, trajectories: Trajectories, policy: str = "ras") -> NextSteps:
        questions = []
        names_of_each = []
        for trajectory in trajectories:
            prompt, names = small_prompt(trajectory.query.text, self.linker)
            # The question itself, where it was searched for, is no step of the planner's.
            begun = begun_plan([step for step in trajectory.steps if step.holes], names)
            questions.append(f"{prompt} {BEGUN} {begun}")
            names_of_each.append(names)
        return list(map(read_plan, replies(self.model, questions), names_of_each))

    def draft(self, trajectories: Trajectories, top_k: int) -> list[str]:
        self.answer(trajectories, top_k)
        queries = [trajectory.query for trajectory in trajectories]
        rows = [trajectory.last.rows[:top_k] for trajectory in trajectories]
        return [
            "; ".join(step.sentence for step in trajectory.steps)
            for trajectory in self.reason(queries, rows)
        ]

    def reason(self, queries: Queries, rows: Sequence[Sequence[int]]) -> list[Trajectory]:
        """How far each question's plan comes with the triples of some passages, and no others."""
        trajectories = [
            Trajectory(query, graph=graph) for query, graph in zip(queries, self.facts.graphs(rows))
        ]
        while active := [trajectory for trajectory in trajectories if trajectory.goes_on]:
            for trajectory, step in zip(active, self.plan(active)):
                if trajectory.is_ended_by(step):
                    trajectory.ended = SUFFICIENT
                    continue
                step.answers = step.read(trajectory.graph)
                trajectory.steps.append(step)
                if not step.answers:
                    trajectory.ended = "not found"
        return trajectories


class ChatAgent(Agent):
    """A chat model, asked with the papers' prompts (``prompts.toml``).

    A reply that can't be read is counted; where it was to say what is next, it ends the loop.
    ``examples`` names the data set whose :func:`kit.text.prompts.demonstrations` are shown.
    """

    def __init__(self, model: LanguageModel, corpus: Corpus, examples: str = "") -> None:
        self.model = model
        self.corpus = corpus
        self.examples = examples

    def plan(self, trajectories: Trajectories, policy: str = "ras") -> NextSteps:
        takes_instructions = self.model.takes_instructions
        questions = [
            asking.about_next_step(trajectory, policy, takes_instructions, self.examples)
            for trajectory in trajectories
        ]
        return self._next_steps(trajectories, questions, NEXT_STEP[policy])

    def _next_steps(
        self,
        trajectories: Trajectories,
        questions: Sequence[Prompt],
        read: Callable[[str, Texts], str | None],
    ) -> NextSteps:
        steps = []
        for trajectory, reply in zip(trajectories, self._ask(trajectories, questions)):
            text = read(reply, [step.text for step in trajectory.steps])
            if text is None:
                trajectory.ended = UNREADABLE
                cost.count(unread=1)
            elif not text:
                trajectory.answer = final_answer(reply)
            steps.append(Step(text) if text else None)
        return steps

    def suffices(self, trajectories: Trajectories) -> list[bool]:
        questions = list(map(asking.about_enough, trajectories))
        verdicts = []
        for reply in self._ask(trajectories, questions, of_last=True):
            words = [word.lower() for word, _ in labelled(reply, r"(?:yes|no)\b")]
            cost.count(unread=int(not words))
            verdicts.append(words[:1] == ["yes"])  # what can't be read counts as no (gnn-ret-i25)
        return verdicts

    def answer(self, trajectories: Trajectories, top_k: int) -> None:
        questions = self._questions(asking.about_last_step, trajectories, top_k)
        for trajectory, answer in zip(trajectories, self._answers(trajectories, questions)):
            trajectory.last.answers = (answer,)

    def think(self, trajectories: Trajectories, top_k: int) -> NextSteps:
        ask = partial(asking.about_thoughts, examples=self.examples)
        questions = self._questions(ask, trajectories, top_k)
        return self._next_steps(trajectories, questions, next_thought)

    def draft(self, trajectories: Trajectories, top_k: int) -> list[str]:
        ask = partial(asking.about_all, examples=self.examples)
        questions = self._questions(ask, trajectories, top_k)
        drafts = list(map(plain_reply, self._ask(trajectories, questions)))
        for trajectory, draft in zip(trajectories, drafts):
            trajectory.answer = final_answer(draft)
        return counted(drafts)

    def conclude(self, trajectories: Trajectories) -> None:
        takes_instructions = self.model.takes_instructions
        questions = [
            asking.about_graph(trajectory, takes_instructions) for trajectory in trajectories
        ]
        for trajectory, answer in zip(trajectories, self._answers(trajectories, questions)):
            trajectory.answer = answer

    def _questions(
        self,
        ask: Callable[[Trajectory, Corpus, int], Prompt],
        trajectories: Trajectories,
        top_k: int,
    ) -> list[Prompt]:
        """What is asked where passages are read."""
        return [ask(trajectory, self.corpus, top_k) for trajectory in trajectories]

    def _answers(self, trajectories: Trajectories, questions: Sequence[Prompt]) -> list[str]:
        texts = self._ask(trajectories, questions, of_last=True)
        return counted(list(map(whole_answer, texts)))

    def _ask(
        self,
        trajectories: Trajectories,
        questions: Sequence[Prompt],
        *,
        of_last: bool = False,
    ) -> list[str]:
        """The replies to what is asked about the next or the last steps; trajectories note both."""
        texts = self.replies(trajectories, questions)
        for trajectory, question, text in zip(trajectories, questions, texts):
            position = max(len(trajectory.steps) - of_last, 0)
            prompt = as_request(question).plain_text
            trajectory.exchanges.append(Exchange(position, prompt, text))
        return texts

    def replies(self, trajectories: Trajectories, questions: Sequence[Prompt]) -> list[str]:
        """What the model writes to what is asked about trajectories."""
        return replies(self.model, questions)


def replies(model: LanguageModel, questions: Sequence[Prompt]) -> list[str]:
    """What a language model writes to each prompt, with a progress bar where they are many."""
    return [
        answer.text for answer in model.generate(questions, progress=len(questions) > MANY_PROMPTS)
    ]


def agent_of(text: str, corpus: Corpus, triples: str = "", examples: str = "") -> Agent:
    """``gold``, or an agent by its language model, as :func:`language_model` takes it.

    A ``t5:`` of the kit's is a small one; ``triples`` is the source of the facts that it reads, by
    default the same model. Any other is asked in words, and shown ``examples``.
    """
    if text == GOLD:
        return GoldAgent()
    model = language_model(text, longest_answer=LONGEST_PLAN)
    if model.reads_placeholders:
        return SmallAgent(model, corpus, triples or text)
    return ChatAgent(model, corpus, examples)
