"""What patterns build questions from: the facts a split may use, and the evidence a question has collected so far."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kit.corpus.types import SubQuestion

from . import solver
from .chains import Step, ask, describe, expression, lead, name
from .world import Entity, Fact, Literal, World


@dataclass
class Draft:
    """A question before it is checked.

    ``supports`` are facts in reasoning order, ``also`` further facts that their passages state; ``hidden`` are the
    entities that the question may not name.
    """

    type: str
    text: str
    expression: solver.Expression
    supports: list[Fact]
    edges: list[tuple[int, int]]
    steps: list[SubQuestion]
    hidden: list[Entity]
    also: list[Fact]


class Pool:
    """The facts that one split may use as evidence, by relation, and the random stream that draws from them."""

    def __init__(self, world: World, families: Sequence[int], rng: random.Random) -> None:
        self.world, self.rng = world, rng
        self.facts: dict[str, list[Fact]] = defaultdict(list)
        for family in families:
            for entity in world.families[family]:
                for fact in world.of[entity.id]:
                    self.facts[fact.relation].append(fact)

    def fact(self, fits: Callable[[str], object]) -> Fact:
        """A fact whose relation fits, with all relations alike likely."""
        relation = self.rng.choice([relation for relation in self.facts if fits(relation)])
        return self.rng.choice(self.facts[relation])


class Evidence:
    """Collects a draft's supports, edges and sub-questions."""

    def __init__(self, pool: Pool) -> None:
        self.world, self.rng = pool.world, pool.rng
        self.facts: list[Fact] = []
        self.edges: list[tuple[int, int]] = []
        self.steps: list[SubQuestion] = []
        self.hidden: list[Entity] = []
        self.also: list[Fact] = []

    def approach(self, end: Entity, length: int, used: Sequence[Fact]) -> Arm | None:
        """Find a chain to ``end`` and take it up; None where there is none of that length."""
        steps = lead(self.world, self.rng, end, length, [*self.facts, *used])
        return None if steps is None else Arm(self, steps, end)

    def support(self, fact: Fact, question: str, answer: str, needs: Sequence[int | None]) -> int:
        """Add a support with its sub-question; ``needs`` are the steps before it (None: a named entity)."""
        depends = tuple(step for step in needs if step is not None)
        own = len(self.facts)
        self.edges += [(self.steps[step].support, own) for step in depends]
        self.facts.append(fact)
        self.steps.append(SubQuestion(question, answer, own, depends))
        return len(self.steps) - 1

    def draft(self, type: str, text: str, expression: solver.Expression) -> Draft:
        return Draft(type, text, expression, self.facts, self.edges, self.steps, self.hidden, self.also)


class Arm:
    """A chain that a question walks before it asks something about its end."""

    def __init__(self, evidence: Evidence, steps: list[Step], end: Entity) -> None:
        self.expression = expression(steps, end)
        self.words = describe(evidence.rng, steps, end)
        self.last: int | None = None
        self.reference = name(evidence.rng, steps[0].source if steps else end)
        for step in steps:
            question = ask(evidence.rng, step, self.reference)
            self.last = evidence.support(step.fact, question, text_of(step.target), [self.last])
            self.reference = f"#{self.last + 1}"
            evidence.hidden.append(step.target)


def text_of(thing: Entity | Literal) -> str:
    """How an answer or a triple writes it."""
    return thing.name.removeprefix("the ") if isinstance(thing, Entity) else thing.text
