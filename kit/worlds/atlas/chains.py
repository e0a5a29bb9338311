"""Chains of facts that lead to an entity."""

from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from kit.worlds.atlas.world import SYMMETRIC, Entity, Fact, World

FORWARD = 0.3  # share of steps from subject to object, where the way back is open, too


class Step(NamedTuple):
    """One fact, read from ``source`` to ``target``."""

    fact: Fact
    source: Entity
    target: Entity

    @property
    def backwards(self) -> bool:
        """Whether it is read from its object to its subject."""
        return self.source is self.fact.object and self.fact.relation not in SYMMETRIC


def lead(
    world: World,
    rng: Random,
    end: Entity,
    length: int,
    used: Sequence[Fact],
) -> list[Step] | None:
    """``length`` steps that lead to ``end`` from an entity that the question can name.

    Every step has one possible outcome, and its passage is none of those of ``used`` or of another
    step. None where there is no such chain.
    """
    steps: list[Step] = []
    passages = {fact.passage for fact in used}
    seen = {end}
    for fact in used:
        seen.add(fact.subject)
        seen.add(fact.object)

    while len(steps) < length:
        options = [
            step
            for step in _arrivals(world, rng, end)
            if step.source not in seen and step.fact.passage not in passages
        ]
        if not options:
            return None
        # Relations first, so that frequent ones do not crowd out the others.
        relations = {step.fact.relation for step in options}
        relation = rng.choice(sorted(relations))
        step = rng.choice([step for step in options if step.fact.relation == relation])
        steps.insert(0, step)
        passages.add(step.fact.passage)
        seen.add(step.source)
        end = step.source
    return steps


def _arrivals(world: World, rng: Random, end: Entity) -> list[Step]:
    """The steps that end there, all in one direction."""
    forward = _forward(world, end)
    backward = _backward(world, end)
    if forward and backward:
        return forward if rng.random() < FORWARD else backward
    return forward or backward


def _forward(world: World, end: Entity) -> list[Step]:
    """Steps from a subject to its only object of a relation."""
    steps = []
    for relation, facts in world.into[end.id].items():
        if facts and facts[0].phrasings.noun:
            for fact in facts:
                source = fact.other(end)
                if len(world.out[source.id][relation]) == 1:
                    steps.append(Step(fact, source, end))
    return steps


def _backward(world: World, end: Entity) -> list[Step]:
    """Steps from an object to its only subject."""
    steps = []
    for fact in world.about[end.id]:
        relation = fact.relation
        source = fact.object
        readable = relation not in SYMMETRIC and fact.phrasings.clause
        if readable and isinstance(source, Entity):
            if len(world.into[source.id][relation]) == 1:
                steps.append(Step(fact, source, end))
    return steps
