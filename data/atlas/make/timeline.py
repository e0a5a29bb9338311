"""Who was alive when: what keeps births before careers and careers before deaths."""

from __future__ import annotations

from .geography import Country
from .world import Entity

#: The year in which the encyclopedia was written.
PRESENT = 2012


def birth(country: Country, person: Entity) -> int:
    """The year of birth."""
    return country.world.year(person, "birth_date")


def alive(country: Country, person: Entity, when: int, age: int = 18) -> bool:
    """Whether the person lived in that year and was at least so old."""
    death = country.world.year(person, "death_date") or PRESENT + 1
    return birth(country, person) + age <= when < death


def living(country: Country, *jobs: str) -> list[Entity]:
    """Those alive at present, of the professions if any are given."""
    return [
        person
        for person in country["person"]
        if alive(country, person, PRESENT) and (not jobs or profession(person) in jobs)
    ]


def suited(country: Country, when: int, *jobs: str, age: int = 20) -> Entity | None:
    """A person of one of the professions who could have done something in that year."""
    fit = [person for person in country["person"] if profession(person) in jobs and alive(country, person, when, age)]
    return country.rng.choice(fit) if fit else None


def profession(person: Entity) -> str:
    """The profession in general: every chemist is a scientist."""
    return person.details["profession"]
