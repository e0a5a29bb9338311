"""Chains of facts that lead from a named entity to another, and how a question words them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from .phrasings import LEXICON, RELATIONS
from .solver import Expression, named, object_of, subject_of
from .world import SYMMETRIC, Entity, Fact, World

NOUNS = LEXICON["nouns"]  # what a question calls a thing that it describes


@dataclass(frozen=True)
class Step:
    """One fact read from ``source`` to ``target``, against its direction if ``source`` is its object."""

    fact: Fact
    source: Entity
    target: Entity

    @property
    def backwards(self) -> bool:
        return self.source is self.fact.object and self.fact.relation not in SYMMETRIC


def lead(world: World, rng: random.Random, end: Entity, length: int, used: Sequence[Fact]) -> list[Step] | None:
    """``length`` steps that lead to ``end`` from an entity that the question can name.

    Every step has one possible outcome, and its passage is none of those of ``used`` or of another step.
    """
    steps: list[Step] = []
    passages = {fact.passage for fact in used}
    seen = {end.id} | {thing.id for fact in used for thing in (fact.subject, fact.object) if isinstance(thing, Entity)}
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
    forward = [
        Step(fact, fact.other(end), end)
        for relation in world.reached[end.id]
        for fact in world.into[end.id, relation]
        if RELATIONS[relation].noun and len(world.out[fact.other(end).id, relation]) == 1
    ]
    backward = [
        Step(fact, fact.object, end)
        for fact in world.of[end.id]
        if isinstance(fact.object, Entity)
        and fact.relation not in SYMMETRIC
        and RELATIONS[fact.relation].clause
        and len(world.into[fact.object.id, fact.relation]) == 1
    ]
    # Most people ask from a thing to what is said of it, so most steps are forward where both ways are open.
    return forward if forward and (not backward or rng.random() < 0.85) else backward


def expression(steps: Sequence[Step], end: Entity) -> Expression:
    """The steps as the solver reads them; without steps, ``end`` itself."""
    inner = named(steps[0].source if steps else end)
    for step in steps:
        inner = (subject_of if step.backwards else object_of)(step.fact.relation, inner)
    return inner


def describe(rng: random.Random, steps: Sequence[Step], end: Entity) -> str:
    """Words for ``end`` that name only the start of the steps; without steps, its name."""
    words = name(rng, steps[0].source if steps else end)
    for step in steps:
        relation = RELATIONS[step.fact.relation]
        if step.backwards:
            pronoun = "who" if step.target.kind == "person" else "that"
            words = f"the {noun(rng, step.target)} {pronoun} {word(rng, relation.clause, x=words)}"
        else:
            words = word(rng, relation.noun, x=words)
    return words


def ask(rng: random.Random, step: Step, words: str) -> str:
    """The step as a question of its own about ``words``."""
    relation = RELATIONS[step.fact.relation]
    if not step.backwards:
        return word(rng, relation.asks, x=words)
    if step.target.kind == "person":
        return f"Who {word(rng, relation.clause, x=words)}?"
    return f"Which {noun(rng, step.target)} {word(rng, relation.clause, x=words)}?"


def name(rng: random.Random, entity: Entity) -> str:
    """How a question names an entity: with its sort where others share the name, and sometimes anyway."""
    sort = "novel" if entity.kind == "book" else entity.sort
    bare = entity.name
    if entity.kind == "river":
        return f"the {bare}" if entity.title == bare else f"the river {bare}"
    if "(" in entity.title or (entity.kind in ("film", "book", "album", "song") and rng.random() < 0.6):
        return f"the {sort} {bare}"
    return bare


def noun(rng: random.Random, entity: Entity) -> str:
    return rng.choice(NOUNS[entity.kind])


def word(rng: random.Random, phrasings: Sequence[str], **slots: str) -> str:
    """One of the phrasings with its slots filled."""
    text = rng.choice(phrasings)
    for slot, words in slots.items():
        text = text.replace(f"{{{slot}}}", words)
    return text
