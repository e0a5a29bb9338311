"""Questions while they are made: the facts that a split may use, and the evidence so far."""

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple, Self

from kit.corpus.types import EvidenceGraph, SubQuestion
from kit.worlds.atlas.chains import lead
from kit.worlds.atlas.phrasings import Lexicon, Relation
from kit.worlds.atlas.solver import Answer, Expression, named, object_of, solve, subject_of
from kit.worlds.atlas.wording import ask, describe, name_of, text_of
from kit.worlds.atlas.world import Entity, Fact, World


class Pool:
    """The facts that one split may use as evidence, by relation, and the stream that draws them."""

    def __init__(self, world: World, families: Sequence[int], rng: Random) -> None:
        self.world = world
        self.rng = rng
        self.facts: dict[str, list[Fact]] = defaultdict(list)
        for family in families:
            for entity in world.families[family]:
                for fact in world.about[entity.id]:
                    self.facts[fact.relation].append(fact)

    @property
    def lexicon(self) -> Lexicon:
        return self.world.language.lexicon

    def fact(self, fits: Callable[[Relation], object]) -> Fact:
        """A fact whose relation fits, with all relations alike likely."""
        all_relations = self.world.language.relations
        relations = [name for name in self.facts if fits(all_relations[name])]
        relation = self.rng.choice(relations)
        return self.rng.choice(self.facts[relation])


class Arm(NamedTuple):
    """A chain that a question walks before it asks something about its end.

    ``words`` describe the end and name only the chain's start; ``reference`` is what a sub-question
    calls it: the answer to the sub-question ``last`` where there is one.
    """

    expression: Expression
    words: str
    reference: str
    last: int | None

    def fill(self, question: str) -> tuple[str, str]:
        """The question about the end, as a step after others and as a whole."""
        step = question.replace("{x}", self.reference)
        return step, question.replace("{x}", self.words)


@dataclass
class Draft:
    """A question while it is made, before it is checked.

    ``supports`` are facts in reasoning order, ``also`` further facts that their passages state;
    ``hidden`` are the entities that the question may not name.
    """

    pool: Pool
    type: str
    text: str = ""
    expression: Expression | None = None
    supports: list[Fact] = field(default_factory=list)
    edges: list[tuple[int, int]] = field(default_factory=list)
    steps: list[SubQuestion] = field(default_factory=list)
    hidden: list[Entity] = field(default_factory=list)
    also: list[Fact] = field(default_factory=list)

    def approach(self, end: Entity, length: int, used: list[Fact]) -> Arm | None:
        """Find a chain to ``end`` and take it up; None where there is none of that length."""
        rng = self.pool.rng
        lexicon = self.pool.lexicon
        steps = lead(
            self.pool.world,
            rng,
            end,
            length,
            self.supports + used,
        )
        if steps is None:
            return None

        start = steps[0].source if steps else end
        expression = named(start)
        words = name_of(rng, start)
        reference = name_of(rng, start)
        last = None
        for step in steps:
            read = subject_of if step.backwards else object_of
            expression = read(step.fact.relation, expression)
            words = describe(
                rng,
                lexicon,
                step,
                words,
            )
            question = ask(
                rng,
                lexicon,
                step,
                reference,
            )
            last = self.support(
                step.fact,
                question,
                step.target,
                last,
            )
            reference = f"#{last + 1}"
        return Arm(
            expression,
            words,
            reference,
            last,
        )

    @property
    def evidence(self) -> EvidenceGraph:
        return EvidenceGraph(len(self.supports), tuple(self.edges))

    def support(self, fact: Fact, question: str, answer: Answer, *needs: int | None) -> int:
        """Add a support with its sub-question, and return the index of that.

        ``needs`` are the steps before it (None: a named entity). An entity that answers it is not
        to be named by the question.
        """
        if isinstance(answer, Entity):
            self.hidden.append(answer)
        support = len(self.supports)
        depends_on = tuple(step for step in needs if step is not None)
        for step in depends_on:
            self.edges.append((self.steps[step].support, support))
        self.supports.append(fact)
        self.steps.append(SubQuestion(question, text_of(answer), support, depends_on))
        return len(self.steps) - 1

    def compute(self, question: str, whole: Expression) -> None:
        """Add a step that only computes, from the answers that its question refers to."""
        references = {int(digits) for digits in re.findall(r"#(\d+)", question)}
        depends_on = tuple(reference - 1 for reference in sorted(references))
        answer = text_of(solve(self.pool.world, whole))
        self.steps.append(SubQuestion(question, answer, None, depends_on))

    def finish(self, text: str, expression: Expression) -> Self:
        self.text = text
        self.expression = expression
        return self
