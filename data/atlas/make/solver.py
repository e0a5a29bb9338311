"""Answers questions over the facts, so that every question of the atlas is known to have exactly one answer."""

from __future__ import annotations

from dataclasses import dataclass

from .world import Entity, Literal, World

Answer = Entity | Literal | str


@dataclass(frozen=True)
class Named:
    """An entity that the question names."""

    entity: Entity


@dataclass(frozen=True)
class Object:
    """What the fact says: the director of a film."""

    relation: str
    of: Expression


@dataclass(frozen=True)
class Subject:
    """Whom the fact is about: the films of a director."""

    relation: str
    of: Expression


@dataclass(frozen=True)
class All:
    """What satisfies every part."""

    parts: tuple[Expression, ...]


@dataclass(frozen=True)
class Detail:
    """A qualifier of a fact: the year of an award. ``object`` narrows the fact down where it is given."""

    relation: str
    qualifier: str
    of: Expression
    object: Expression | None = None


@dataclass(frozen=True)
class Extreme:
    """Which of several has the smallest, or the largest, value."""

    relation: str
    options: tuple[Expression, ...]
    largest: bool


@dataclass(frozen=True)
class Same:
    """Whether two expressions mean the same thing."""

    first: Expression
    second: Expression


@dataclass(frozen=True)
class Below:
    """How many of several have a value below ``limit``; a day counts by its year."""

    relation: str
    options: tuple[Expression, ...]
    limit: int


@dataclass(frozen=True)
class Size:
    """How many things there are; a list that is stated as a whole counts its items."""

    of: Expression


@dataclass(frozen=True)
class Truth:
    """Whether a number is not zero."""

    of: Expression


Expression = Named | Object | Subject | All | Detail | Extreme | Same | Below | Size | Truth


class NoAnswer(Exception):
    """Something a question takes to be single is missing or ambiguous."""


def solve(world: World, expression: Expression) -> Answer:
    """The one answer of the expression; raises NoAnswer where there is none or more than one."""
    found = _solve(world, expression)
    if len(found) != 1:
        raise NoAnswer(f"{len(found)} answers")
    return found[0]


def _solve(world: World, expression: Expression) -> list[Answer]:
    match expression:
        case Named(entity):
            return [entity]
        case Object(relation, of):
            subject = _entity(world, of)
            return [fact.other(subject) for fact in world.out[subject.id, relation]]
        case Subject(relation, of):
            thing = _entity(world, of)
            return [fact.other(thing) for fact in world.into[thing.id, relation]]
        case All(parts):
            first, *others = (_solve(world, part) for part in parts)
            return [thing for thing in first if all(thing in other for other in others)]
        case Detail(relation, qualifier, of, object):
            subject = _entity(world, of)
            facts = world.out[subject.id, relation]
            if object is not None:
                wanted = _entity(world, object)
                facts = [fact for fact in facts if fact.other(subject) is wanted]
            return [fact.qualifiers[qualifier] for fact in facts]
        case Extreme(relation, options, largest):
            valued = [(_value(world, relation, option).value, solve(world, option)) for option in options]
            best = (max if largest else min)(value for value, _ in valued)
            return [option for value, option in valued if value == best]
        case Same(first, second):
            return ["yes" if solve(world, first) is solve(world, second) else "no"]
        case Below(relation, options, limit):
            values = [_value(world, relation, option).value for option in options]
            return [str(sum(getattr(value, "year", value) < limit for value in values))]
        case Size(of):
            return [str(sum(thing.value if isinstance(thing, Literal) else 1 for thing in _solve(world, of)))]
        case Truth(of):
            return ["no" if solve(world, of) == "0" else "yes"]
    raise TypeError(f"not an expression: {expression!r}")


def _entity(world: World, expression: Expression) -> Entity:
    answer = solve(world, expression)
    if not isinstance(answer, Entity):
        raise NoAnswer("not an entity")
    return answer


def _value(world: World, relation: str, of: Expression) -> Literal:
    answer = solve(world, Object(relation, of))
    if not isinstance(answer, Literal):
        raise NoAnswer("not a value")
    return answer
