"""What patterns build questions from: the facts a split may use, and the evidence a question has collected so far."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from kit.corpus.types import SubQuestion

from . import solver
from .chains import Step, ask, describe, expression, lead, name
from .world import Entity, Fact, Literal, World


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


@dataclass
class Draft:
    """A question while it is made, before it is checked.

    ``supports`` are facts in reasoning order, ``also`` further facts that their passages state; ``hidden`` are the
    entities that the question may not name.
    """

    pool: Pool
    type: str = ""
    text: str = ""
    expression: solver.Expression | None = None
    supports: list[Fact] = field(default_factory=list)
    edges: list[tuple[int, int]] = field(default_factory=list)
    steps: list[SubQuestion] = field(default_factory=list)
    hidden: list[Entity] = field(default_factory=list)
    also: list[Fact] = field(default_factory=list)

    def approach(self, end: Entity, length: int, used: Sequence[Fact]) -> Arm | None:
        """Find a chain to ``end`` and take it up; None where there is none of that length."""
        steps = lead(self.pool.world, self.pool.rng, end, length, [*self.supports, *used])
        return None if steps is None else Arm(self, steps, end)

    def support(self, fact: Fact, question: str, answer: str, needs: Sequence[int | None]) -> int:
        """Add a support with its sub-question; ``needs`` are the steps before it (None: a named entity)."""
        depends = tuple(step for step in needs if step is not None)
        own = len(self.supports)
        self.edges += [(self.steps[step].support, own) for step in depends]
        self.supports.append(fact)
        self.steps.append(SubQuestion(question, answer, own, depends))
        return len(self.steps) - 1

    def compute(self, question: str, whole: solver.Expression) -> None:
        """Add a step that only computes, from the answers that its question refers to."""
        answer = solver.solve(self.pool.world, whole)
        words = answer if isinstance(answer, str) else text_of(answer)
        depends = tuple(sorted({int(number) - 1 for number in re.findall(r"#(\d+)", question)}))
        self.steps.append(SubQuestion(question, words, None, depends))

    def finish(self, type: str, text: str, expression: solver.Expression) -> Draft:
        self.type, self.text, self.expression = type, text, expression
        return self


class Arm:
    """A chain that a question walks before it asks something about its end."""

    def __init__(self, draft: Draft, steps: list[Step], end: Entity) -> None:
        rng = draft.pool.rng
        self.expression = expression(steps, end)
        self.words = describe(rng, steps, end)
        self.last: int | None = None
        self.reference = name(rng, steps[0].source if steps else end)
        for step in steps:
            question = ask(rng, step, self.reference)
            self.last = draft.support(step.fact, question, text_of(step.target), [self.last])
            self.reference = f"#{self.last + 1}"
            draft.hidden.append(step.target)

    def fill(self, question: str, slot: str = "{x}") -> tuple[str, str]:
        """The question about the end, as a step that refers to an earlier one and as a whole."""
        return question.replace(slot, self.reference), question.replace(slot, self.words)


def text_of(thing: Entity | Literal) -> str:
    """How an answer or a triple writes it."""
    return thing.name.removeprefix("the ") if isinstance(thing, Entity) else thing.text
