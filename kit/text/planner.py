"""Planners: what is to be asked next, given the question and what is known (ras.txt §3.1, Eqs. 1 and 2).

The small one, ``data/planner``, reads numbers in the place of names. A sub-question of its is a triple with a hole,
``<n0> > employer`` (what is the employer of the first name?) or ``<n0> < employer`` (of whom is it the employer?), so
that its answers can be read off the graph. A chat model writes sentences, and reads the triples of each step.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

import msgspec

from kit.corpus import Corpus, Query
from kit.text.language_models import BEGUN, LanguageModel, SequenceToSequence, language_model
from kit.text.placeholders import PLACEHOLDER, EntityLinker, Placeholders, key_of, linker_of
from kit.text.prompts import Fact, plan_prompt

SUBQ, SUFFICIENT, NO_RETRIEVAL = "[SUBQ]", "[SUFFICIENT]", "[NO_RETRIEVAL]"
SMALL_SUBQ, SMALL_SUFFICIENT = "subq", "sufficient"  # the small planner's, a token each
LONGEST_PLAN = 64  # tokens of what a model writes at once
PLANNER = "data/planner"  # where the committed small model lies in the project


class Hole(msgspec.Struct, frozen=True):
    """A triple of which one end is known: its object if ``backward``, else its subject."""

    entity: str
    relation: str
    backward: bool = False

    @property
    def text(self) -> str:
        """What is searched for."""
        return f"{self.relation} {self.entity}" if self.backward else f"{self.entity} {self.relation}"

    def answers(self, triples: Iterable[Fact]) -> list[str]:
        """The other ends of the triples that fit, each once, as it is written first."""
        key, found = key_of(self.entity), {}
        for subject, relation, object in triples:
            known, other = (object, subject) if self.backward else (subject, object)
            if relation == self.relation and key_of(known) == key:
                found.setdefault(key_of(other), other)
        return list(found.values())


class Step(msgspec.Struct):
    """A sub-question q_i with its holes, where the planner writes such, and what it led to.

    ``rows`` are the passages that were found (none where the graph had the answer), ``triples`` g_i, those that the
    graph did not hold yet, ``answers`` what was read off.
    """

    text: str
    holes: tuple[Hole, ...] = ()
    rows: tuple[int, ...] = ()
    triples: tuple[Fact, ...] = ()
    answers: tuple[str, ...] = ()

    def read(self, triples: Iterable[Fact]) -> tuple[str, ...]:
        """What fills all holes, by the triples known."""
        found = [hole.answers(triples) for hole in self.holes]
        keys = [set(map(key_of, each)) for each in found]
        return tuple(each for each in found[0] if all(key_of(each) in of for of in keys)) if found else ()


class Planner(Protocol):
    """For each question with its steps so far the next one, None for SUFFICIENT, at the start also NO_RETRIEVAL."""

    def plan(self, asked: Sequence[tuple[Query, Sequence[Step]]]) -> list[Step | None]: ...


def planner(text: str, corpus: Corpus) -> Planner:
    """A planner by its language model, as :func:`language_model` takes it; a ``t5:`` is one of the kit's small ones."""
    model = language_model(text, longest_answer=LONGEST_PLAN)
    return SmallPlanner(model, corpus) if isinstance(model, SequenceToSequence) else ChatPlanner(model)


class SmallPlanner:
    """A small sequence-to-sequence model that learned on invented worlds other than the one it plans for."""

    def __init__(self, model: SequenceToSequence, corpus: Corpus) -> None:
        self.model, self.linker = model, linker_of(corpus)

    @property
    def history(self) -> list[dict[str, float]]:
        """Of its training, where the model's folder tells it: ``measured``, minus the loss on dev, after each epoch."""
        file = self.model.folder and self.model.folder / "history.json"
        rows = msgspec.json.decode(file.read_bytes()) if file and file.is_file() else []
        return [{"step": row["epoch"], "measured": -row["dev_loss"]} for row in rows]

    def plan(self, asked: Sequence[tuple[Query, Sequence[Step]]]) -> list[Step | None]:
        prompts = []
        for query, steps in asked:
            prompt, names = small_prompt(query.text, self.linker)
            begun = begun_plan([step for step in steps if step.holes], names)
            prompts.append((f"{prompt} {BEGUN} {begun}", names))
        replies = self.model.generate([prompt for prompt, _ in prompts], progress=len(prompts) > 64)
        return [read_plan(reply.text, names) for reply, (_, names) in zip(replies, prompts)]


def small_prompt(question: str, linker: EntityLinker) -> tuple[str, Placeholders]:
    """``plan : who teaches at the employer of <n0> ?``, and what the placeholders stand for."""
    names = Placeholders()
    return f"plan : {names.hide(question, linker.mentions(question, numbers=True))}", names


def begun_plan(steps: Sequence[Step], names: Placeholders) -> str:
    """Steps with their answers, as the small planner goes on from them: ``subq <n0> > employer = <n1> ;``."""
    told = []
    for step in steps:
        holes = (f"{names.of(it.entity)} {'<' if it.backward else '>'} {it.relation}" for it in step.holes)
        told.append(f"{SMALL_SUBQ} {' & '.join(holes)} = {' '.join(map(names.of, step.answers)) or 'nothing'} ;")
    return " ".join(told)


def read_plan(reply: str, names: Placeholders) -> Step | None:
    """The first step that the small planner wrote; SUFFICIENT where that is none about entities that it knows."""
    holes = []
    for part in reply.partition(" = ")[0].removeprefix(SMALL_SUBQ).split(" & "):
        known, _, rest = part.strip().partition(" ")
        direction, _, relation = rest.partition(" ")
        entity = names.entity(known) if PLACEHOLDER.fullmatch(known) else None
        if entity is None or direction not in ("<", ">") or not relation:
            return None
        holes.append(Hole(entity, relation, direction == "<"))
    return Step("; ".join(hole.text for hole in holes), tuple(holes))


class ChatPlanner:
    """A chat model, asked with the instruction of ras.txt, Figure 17."""

    def __init__(self, model: LanguageModel) -> None:
        self.model = model

    def plan(self, asked: Sequence[tuple[Query, Sequence[Step]]]) -> list[Step | None]:
        told = [[(step.text, step.triples) for step in steps] for _, steps in asked]
        prompts = [plan_prompt(query.text, steps) for (query, _), steps in zip(asked, told)]
        replies = self.model.generate(prompts, progress=len(prompts) > 64)
        return [read_reply(reply.text) for reply in replies]


def read_reply(reply: str) -> Step | None:
    """What a chat model wrote in its first line; SUFFICIENT where that is neither of the other two."""
    first = reply.strip().partition("\n")[0]
    text = first.removeprefix(SUBQ).strip()
    return Step(NO_RETRIEVAL) if first.startswith(NO_RETRIEVAL) else Step(text) if text != first and text else None
