"""Loops of a language model, and what readers answer from what methods find (Tables 1, 2, 4, 8).

A method that thinks with golden sub-questions has `` (gold)`` after its name.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pandas import DataFrame

from kit.corpus import Benchmark
from kit.corpus.types import Questions, Texts
from kit.evaluation import Experiment, per_question
from kit.evaluation.answers import Reading, reader_of
from kit.lab.claims.findings import cannot_read
from kit.lab.claims.kgp_answers import taught_reader
from kit.methods import Retriever, make
from kit.methods.loops.agents import GOLD, Agent
from kit.methods.loops.steps import UNREADABLE, Step, Trajectory
from kit.methods.loops.teacher import has_short_steps, worded_steps
from kit.readers.base import Reader
from kit.text.language_models.local import LocalModel

SUFFIX = " (gold)"
POLICIES = ("selfask", "ircot", "iter-retgen")
MOST = "3500tokens"  # what a reader gets, as in the paper
FIVE = "5"  # passages, which is what the extractive reader can read
#: α and β of RGNN-Ret without one of its parts, or both.
PARTS = {
    "sub-questions alone": (1.0, 1.0),
    "memory, no graph": (1.0, 0.9),
    "graph, no memory": (0.5, 1.0),
}


@dataclass(frozen=True)
class Answers:
    """How right a reader is: questions × methods, with ``none`` and ``golden`` among these.

    It read ``size`` of what each method found, and learned with what is ``taught``. ``unread`` says
    why nothing that it says counts, if so.
    """

    right: DataFrame
    reader: str
    size: str
    taught: Sequence[Retriever]
    unread: str = ""

    @property
    def counts(self) -> bool:
        """Whether the paper's are tested: from as many tokens as there, or by a language model."""
        return self.size == MOST or not self.taught


@dataclass(frozen=True)
class Loops:
    """What loops bring: questions × methods by criterion, ``recall`` (Full@17) and ``answers``.

    ``trained`` is what they rest on, ``unread`` why they are no test, both by criterion. ``suffix``
    stands after the names of loops that think with golden sub-questions.
    """

    values: Mapping[str, DataFrame]
    trained: Mapping[str, Sequence[Retriever]]
    unread: Mapping[str, str]
    suffix: str = ""

    @property
    def bound(self) -> str:
        return "a bound: gold sub-questions in all loops" if self.suffix else ""


def suffix_of(thinks: str) -> str:
    return SUFFIX if thinks == GOLD else ""


def loops_of(thinks: str, *, is_chat: bool, is_small: bool) -> dict[str, Retriever]:
    """Each loop over dense retrieval, and over RGNN-Ret; RGNN-Ret's own loop; RAS.

    A chat model criticises itself, too: a small model's plan is its own critique, and golden
    sub-questions need none.
    """
    suffix = suffix_of(thinks)
    loops = {f"selfask{suffix}": make("selfask", model=thinks)}
    if is_chat:
        loops["self-critique"] = make("self-critique", model=thinks)
    for name in POLICIES[1:]:
        loops[f"{name}{suffix}"] = make(name, model=thinks)
        loops[f"{name}{suffix}, rgnn-ret"] = make(name, model=thinks, inner="rgnn-ret")
    loops[f"rgnn-ret{suffix}"] = make("rgnn-ret", decomposer=thinks)
    loops[f"ras{suffix}"] = make("ras", planner=thinks, triples="rules")
    if is_small:
        loops["ras"] = make("ras")
    return loops


def parts_of_rgnn_ret(thinks: str) -> dict[str, Retriever]:
    """RGNN-Ret without the graph, without the memory, and without both (Table 2)."""
    return {
        name: make("rgnn-ret", decomposer=thinks, alpha=alpha, beta=beta)
        for name, (alpha, beta) in PARTS.items()
    }


def readers_for(
    training: Benchmark | None,
    model: str,
    *,
    on_atlas: bool,
    n_lessons: int,
    settings: Mapping[str, object],
) -> list[tuple[Reader, str, Sequence[Retriever]]]:
    """Who reads, how much, and what it rests on; the first reads most.

    A language model, where one is named (of this machine, it reads five passages); on the atlas
    RAS's reader; and the extractive one.
    """
    readers = []
    if model:
        reader = reader_of(model)
        size = FIVE if isinstance(reader.model, LocalModel) else MOST
        readers.append((reader, size, ()))
    if training and any(question.answer for question in training.train):
        if on_atlas:
            graph_reader = taught_reader(training, on_atlas=True, n=n_lessons)
            readers.append((graph_reader, MOST, (make("ras"),)))
        extractive = taught_reader(training, on_atlas=False, n=n_lessons, **settings)
        readers.append((extractive, FIVE, (extractive,)))
    return readers


def read(
    reader: Reader,
    size: str,
    taught: Sequence[Retriever],
    experiment: Experiment,
    names: Texts,
) -> tuple[Answers, Experiment]:
    """The accuracy of a reader's answers from what methods found, also as an experiment."""
    reading = Reading(reader, size).answers(experiment.only(names))
    order = [question.id for question in experiment.questions]
    right = per_question(reading, "accuracy").reindex(order).dropna()
    golden = right["golden"].to_numpy()
    nothing = right["none"].to_numpy()
    unread = cannot_read(golden, nothing, **experiment.draws)
    return Answers(right, reader.name, size, taught, unread), reading


def stops(agent: Agent, questions: Questions) -> DataFrame:
    """Whether SelfAsk, and the self-critique, stop at the right step, of each question.

    Both see the same states: the first 1, 2, … golden sub-questions with their answers. It is right
    to stop after the last of them, and not before.
    """
    rows = []
    states = []
    for question in filter(has_short_steps, questions):
        steps = [Step(step.text, answers=(step.answer,)) for step in worded_steps(question)]
        for n in range(1, len(steps) + 1):
            rows.append({"question": question.id, "is_last": n == len(steps)})
            states.append(Trajectory(question.query, steps[:n]))

    table = DataFrame(rows, columns=["question", "is_last"])
    next_steps = agent.plan(states, "selfask")
    ended = [step is None and state.ended != UNREADABLE for step, state in zip(next_steps, states)]
    table["selfask"] = table["is_last"] == ended
    table["self-critique"] = table["is_last"] == agent.suffices(states)
    return table.groupby("question", sort=False)[["selfask", "self-critique"]].all()


def looped(
    experiment: Experiment,
    answers: Answers | None,
    thinkers: Sequence[Retriever],
    suffix: str,
) -> Loops:
    """What the loops of an experiment bring, by what is found and, where it counts, answered."""
    values = {"recall": per_question(experiment, "full@17")}
    trained = {"recall": tuple(thinkers)}
    unread = {"recall": ""}
    if answers and answers.counts:
        values["answers"] = answers.right
        trained["answers"] = (*thinkers, *answers.taught)
        unread["answers"] = answers.unread
    return Loops(values, trained, unread, suffix)
