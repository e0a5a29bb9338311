"""Answers questions, expressions made by the functions below, so that each is known to have exactly one answer."""

from collections.abc import Callable, Sequence

from kit.worlds.atlas.world import Entity, Literal, World

Answer = Entity | Literal | str
Expression = Callable[[World], list[Answer]]


class NoAnswer(Exception):
    """Something a question takes to be single is missing or ambiguous."""


def solve(world: World, expression: Expression) -> Answer:
    """The one answer of the expression; raises NoAnswer where there is none or more than one."""
    found = expression(world)
    if len(found) != 1:
        raise NoAnswer(f"{len(found)} answers")
    return found[0]


def named(entity: Entity) -> Expression:
    """An entity that the question names."""
    return lambda world: [entity]


def object_of(relation: str, subject: Expression) -> Expression:
    """What the fact says: the director of a film."""
    return lambda world: [
        fact.other(it) for it in [solve(world, subject)] for fact in world.out[it.id, relation]
    ]


def subject_of(relation: str, object: Expression) -> Expression:
    """Whom the fact is about: the films of a director."""
    return lambda world: [
        fact.other(it) for it in [solve(world, object)] for fact in world.into[it.id, relation]
    ]


def every(parts: Sequence[Expression]) -> Expression:
    """What satisfies every part."""
    return lambda world: [
        it for it in parts[0](world) if all(it in part(world) for part in parts[1:])
    ]


def detail(
    relation: str, qualifier: str, subject: Expression, object: Expression | None = None
) -> Expression:
    """A qualifier of a fact: the year of an award. ``object`` narrows the fact down where it is given."""

    def answers(world: World) -> list[Answer]:
        of, wanted = solve(world, subject), object and solve(world, object)
        facts = [
            fact
            for fact in world.out[of.id, relation]
            if wanted is None or fact.other(of) is wanted
        ]
        return [fact.qualifiers[qualifier] for fact in facts]

    return answers


def extreme(relation: str, options: Sequence[Expression], largest: bool) -> Expression:
    """Which of several has the smallest, or the largest, value."""

    def answers(world: World) -> list[Answer]:
        values = [solve(world, object_of(relation, option)).value for option in options]
        best = max(values) if largest else min(values)
        return [solve(world, option) for value, option in zip(values, options) if value == best]

    return answers


def below(relation: str, options: Sequence[Expression], limit: int) -> Expression:
    """How many of several have a value below ``limit``; a day counts by its year."""
    values = [object_of(relation, option) for option in options]
    return lambda world: [str(sum(solve(world, value).number < limit for value in values))]


def same(first: Expression, second: Expression) -> Expression:
    """Whether two expressions mean the same thing."""
    return lambda world: ["yes" if solve(world, first) is solve(world, second) else "no"]


def size_of(things: Expression) -> Expression:
    """How many things there are; a list that is stated as a whole counts its items."""
    return lambda world: [
        str(sum(it.value if isinstance(it, Literal) else 1 for it in things(world)))
    ]


def truth(number: Expression) -> Expression:
    """Whether a number is not zero."""
    return lambda world: ["no" if solve(world, number) == "0" else "yes"]
