"""Answers questions, so that each is known to have exactly one answer.

A question is an expression, made by the functions below.
"""

from collections.abc import Callable, Sequence

from kit.worlds.atlas.world import Entity, Literal, World

Answer = Entity | Literal | str
Answers = list[Answer]
Expression = Callable[[World], Answers]


class NoAnswer(Exception):
    """What a question takes to be single is missing or ambiguous."""


def solve(world: World, expression: Expression) -> Answer:
    """The one answer of the expression; raises NoAnswer where there is none or more than one."""
    answers = expression(world)
    if len(answers) != 1:
        raise NoAnswer(f"{len(answers)} answers")
    return answers[0]


def named(entity: Entity) -> Expression:
    """An entity that the question names."""
    return lambda world: [entity]


def object_of(relation: str, subject: Expression) -> Expression:
    """What the fact says: the director of a film."""

    def answers(world):
        entity = solve(world, subject)
        return [fact.other(entity) for fact in world.out[entity.id][relation]]

    return answers


def subject_of(relation: str, target: Expression) -> Expression:
    """Whom the fact is about: the films of a director."""

    def answers(world):
        entity = solve(world, target)
        return [fact.other(entity) for fact in world.into[entity.id][relation]]

    return answers


def every(parts: Sequence[Expression]) -> Expression:
    """What satisfies every part."""

    def answers(world):
        candidates, *others = [part(world) for part in parts]
        for other in others:
            candidates = [candidate for candidate in candidates if candidate in other]
        return candidates

    return answers


def detail(
    relation: str,
    qualifier: str,
    subject: Expression,
    target: Expression | None = None,
) -> Expression:
    """A qualifier of a fact: the year of an award; ``target`` may narrow the fact down."""

    def answers(world):
        entity = solve(world, subject)
        facts = world.out[entity.id][relation]
        if target:
            other = solve(world, target)
            facts = [fact for fact in facts if fact.other(entity) is other]
        return [fact.qualifiers[qualifier] for fact in facts]

    return answers


def extreme(relation: str, options: Sequence[Expression], largest: bool) -> Expression:
    """Which of several has the smallest, or the largest, value."""

    def answers(world):
        values = [solve(world, object_of(relation, option)).value for option in options]
        best = max(values) if largest else min(values)
        return [solve(world, option) for value, option in zip(values, options) if value == best]

    return answers


def below(relation: str, options: Sequence[Expression], limit: int) -> Expression:
    """How many of several have a value below ``limit``; a day counts by its year."""

    def answers(world):
        values = [solve(world, object_of(relation, option)) for option in options]
        count = sum(value.number < limit for value in values)
        return [str(count)]

    return answers


def below_among(relation: str, entities: Expression, limit: int) -> Expression:
    """How many of those that an expression means have a value below ``limit``."""

    def answers(world):
        options = [named(entity) for entity in entities(world)]
        return below(relation, options, limit)(world)

    return answers


def same(first: Expression, second: Expression) -> Expression:
    """Whether two expressions mean the same entity."""

    def answers(world):
        alike = solve(world, first) is solve(world, second)
        return ["yes" if alike else "no"]

    return answers


def size_of(entities: Expression) -> Expression:
    """How many there are; a list that is stated as a whole counts its items."""

    def answers(world):
        count = 0
        for answer in entities(world):
            count += answer.value if isinstance(answer, Literal) else 1
        return [str(count)]

    return answers


def truth(count: Expression) -> Expression:
    """Whether a number is not zero."""
    return lambda world: ["no" if solve(world, count) == "0" else "yes"]
