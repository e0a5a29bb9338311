"""What patterns build questions from: the facts a split may use, chains of them, and the evidence collected so far."""

import random
import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Self

from kit.corpus.types import EvidenceGraph, SubQuestion
from kit.worlds.atlas.phrasings import LEXICON, RELATIONS
from kit.worlds.atlas.solver import Answer, Expression, named, object_of, solve, subject_of
from kit.worlds.atlas.world import SYMMETRIC, Entity, Fact, World

NOUNS = LEXICON["nouns"]  # what a question calls a thing that it describes
FORWARD = 0.3  # share of steps from a thing to what is said of it, where the way back is open, too


class Step(NamedTuple):
    """One fact read from ``source`` to ``target``, against its direction if ``source`` is its object."""

    fact: Fact
    source: Entity
    target: Entity

    @property
    def backwards(self) -> bool:
        return self.source is self.fact.object and self.fact.relation not in SYMMETRIC


class Arm(NamedTuple):
    """A chain that a question walks before it asks something about its end.

    ``words`` describe the end and name only the chain's start; ``reference`` is what a sub-question calls it, the
    answer to the sub-question ``last`` where there is one.
    """

    expression: Expression
    words: str
    reference: str
    last: int | None

    def fill(self, question: str) -> tuple[str, str]:
        """The question about the end, as a step that refers to an earlier one and as a whole."""
        return question.replace("{x}", self.reference), question.replace("{x}", self.words)


class Pool:
    """The facts that one split may use as evidence, by relation, and the random stream that draws from them."""

    def __init__(self, world: World, families: Sequence[int], rng: random.Random) -> None:
        self.world, self.rng = world, rng
        self.facts: dict[str, list[Fact]] = defaultdict(list)
        for fact in (
            fact
            for family in families
            for entity in world.families[family]
            for fact in world.of[entity.id]
        ):
            self.facts[fact.relation].append(fact)

    def fact(self, fits: Callable[[str], object]) -> Fact:
        """A fact whose relation fits, with all relations alike likely."""
        return self.rng.choice(
            self.facts[self.rng.choice([relation for relation in self.facts if fits(relation)])]
        )


@dataclass
class Draft:
    """A question while it is made, before it is checked.

    ``supports`` are facts in reasoning order, ``also`` further facts that their passages state; ``hidden`` are the
    entities that the question may not name.
    """

    pool: Pool
    type: str = ""
    text: str = ""
    expression: Expression | None = None
    supports: list[Fact] = field(default_factory=list)
    edges: list[tuple[int, int]] = field(default_factory=list)
    steps: list[SubQuestion] = field(default_factory=list)
    hidden: list[Entity] = field(default_factory=list)
    also: list[Fact] = field(default_factory=list)

    def approach(self, end: Entity, length: int, used: Sequence[Fact]) -> Arm | None:
        """Find a chain to ``end`` and take it up; None where there is none of that length."""
        rng = self.pool.rng
        steps = _lead(self.pool.world, rng, end, length, [*self.supports, *used])
        if steps is None:
            return None
        start, last = steps[0].source if steps else end, None
        expression, words, reference = named(start), name(rng, start), name(rng, start)
        for step in steps:
            relation = RELATIONS[step.fact.relation]
            expression = (subject_of if step.backwards else object_of)(
                step.fact.relation, expression
            )
            if step.backwards:
                noun, pronoun = (
                    rng.choice(NOUNS[step.target.kind]),
                    "who" if step.target.kind == "person" else "that",
                )
                words = f"the {noun} {pronoun} {word(rng, relation.clause, words)}"
            else:
                words = word(rng, relation.noun, words)
            last = self.support(step.fact, ask(rng, step, reference), text_of(step.target), [last])
            reference = f"#{last + 1}"
            self.hidden.append(step.target)
        return Arm(expression, words, reference, last)

    @property
    def evidence(self) -> EvidenceGraph:
        return EvidenceGraph(len(self.supports), tuple(self.edges))

    def support(self, fact: Fact, question: str, answer: str, needs: Sequence[int | None]) -> int:
        """Add a support with its sub-question; ``needs`` are the steps before it (None: a named entity)."""
        depends, own = tuple(step for step in needs if step is not None), len(self.supports)
        self.edges += [(self.steps[step].support, own) for step in depends]
        self.supports.append(fact)
        self.steps.append(SubQuestion(question, answer, own, depends))
        return len(self.steps) - 1

    def compute(self, question: str, whole: Expression) -> None:
        """Add a step that only computes, from the answers that its question refers to."""
        depends = tuple(sorted({int(number) - 1 for number in re.findall(r"#(\d+)", question)}))
        self.steps.append(
            SubQuestion(question, text_of(solve(self.pool.world, whole)), None, depends)
        )

    def finish(self, type: str, text: str, expression: Expression) -> Self:
        self.type, self.text, self.expression = type, text, expression
        return self


def _lead(
    world: World, rng: random.Random, end: Entity, length: int, used: Sequence[Fact]
) -> list[Step] | None:
    """``length`` steps that lead to ``end`` from an entity that the question can name.

    Every step has one possible outcome, and its passage is none of those of ``used`` or of another step.
    """
    steps: list[Step] = []
    passages = {fact.passage for fact in used}
    seen = {end.id} | {
        thing.id
        for fact in used
        for thing in (fact.subject, fact.object)
        if isinstance(thing, Entity)
    }
    while len(steps) < length:
        options = [step for step in _arrivals(world, rng, end) if step.source.id not in seen]
        options = [step for step in options if step.fact.passage not in passages]
        if not options:
            return None
        # Relations first, so that frequent ones do not crowd out the others.
        relation = rng.choice(sorted({step.fact.relation for step in options}))
        step = rng.choice([step for step in options if step.fact.relation == relation])
        steps.insert(0, step)
        passages.add(step.fact.passage)
        seen.add(step.source.id)
        end = step.source
    return steps


def _arrivals(world: World, rng: random.Random, end: Entity) -> list[Step]:
    into = [fact for relation in world.reached[end.id] for fact in world.into[end.id, relation]]
    forward = [Step(fact, fact.other(end), end) for fact in into if RELATIONS[fact.relation].noun]
    forward = [step for step in forward if len(world.out[step.source.id, step.fact.relation]) == 1]
    facts = [
        fact
        for fact in world.of[end.id]
        if fact.relation not in SYMMETRIC and RELATIONS[fact.relation].clause
    ]
    facts = [fact for fact in facts if isinstance(fact.object, Entity)]
    backward = [
        Step(it, it.object, end) for it in facts if len(world.into[it.object.id, it.relation]) == 1
    ]
    return forward if forward and (not backward or rng.random() < FORWARD) else backward


def ask(rng: random.Random, step: Step, words: str) -> str:
    """The step as a question of its own about ``words``."""
    relation = RELATIONS[step.fact.relation]
    if not step.backwards:
        return word(rng, relation.asks, words)
    who = "Who" if step.target.kind == "person" else f"Which {rng.choice(NOUNS[step.target.kind])}"
    return f"{who} {word(rng, relation.clause, words)}?"


def name(rng: random.Random, entity: Entity) -> str:
    """How a question names an entity: with its sort where others share the name, and sometimes anyway."""
    if entity.kind == "river":
        return f"the {entity.name}" if entity.title == entity.name else f"the river {entity.name}"
    if "(" in entity.title or (
        entity.kind in ("film", "book", "album", "song") and rng.random() < 0.6
    ):
        return f"the {entity.sort} {entity.name}"
    return entity.name


def word(rng: random.Random, phrasings: Sequence[str], x: str) -> str:
    """One of the phrasings, about ``x``; the last, which is the plainest, twice as often as another."""
    return rng.choice((*phrasings, phrasings[-1])).replace("{x}", x)


def text_of(thing: Answer) -> str:
    """How an answer or a triple writes it."""
    if isinstance(thing, str):
        return thing
    return thing.name.removeprefix("the ") if isinstance(thing, Entity) else thing.text
