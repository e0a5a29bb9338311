"""Entities and the facts between them: what the atlas knows before a word of it is written."""

import random
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import date

#: Relations that hold both ways though only one of the two articles states them.
SYMMETRIC = frozenset({"person.spouse"})
PRESENT = 2012  # the year in which the encyclopedia was written
WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


@dataclass(eq=False, slots=True)
class Entity:
    """A thing with an article. ``family`` is the country whose article and inhabitants it belongs with.

    ``short`` is how an article calls its subject after the first mention; ``details`` are words for the prose alone,
    and a person's ``profession`` in general: every chemist is a scientist.
    """

    id: int
    kind: str
    name: str
    family: int
    short: str = ""
    aliases: tuple[str, ...] = ()
    gender: str = ""
    job: str = ""
    title: str = ""
    details: dict[str, str] = field(default_factory=dict)

    @property
    def profession(self) -> str:
        return self.details["profession"]

    @property
    def sort(self) -> str:
        """The word for what it is: a profession, a form of building, or the kind."""
        return self.job or {"team": "football club", "book": "novel"}.get(self.kind, self.kind)

    @property
    def surfaces(self) -> tuple[str, ...]:
        """Every way a text may name it, its title's name first."""
        return tuple(dict.fromkeys((self.name, *self.aliases)))


@dataclass(frozen=True, slots=True)
class Literal:
    """What is no entity: ``value`` compares and counts, ``text`` is how it is written; years and days are ``dated``."""

    value: int | date
    text: str
    aliases: tuple[str, ...] = ()
    dated: bool = False

    @property
    def number(self) -> int:
        """The value, or the year of a day."""
        return self.value.year if isinstance(self.value, date) else self.value


@dataclass(eq=False, slots=True)
class Fact:
    """``subject`` has ``relation`` to ``object``, with qualifiers such as a year; a passage's ``sentence`` says so."""

    subject: Entity
    relation: str
    object: Entity | Literal
    qualifiers: dict[str, str] = field(default_factory=dict)
    passage: str = ""
    sentence: str = ""

    def other(self, entity: Entity) -> Entity | Literal:
        """The end of the fact that is not ``entity``."""
        return self.object if entity is self.subject else self.subject


class World:
    """Entities, facts and the indexes over them.

    ``of`` holds the facts of an article; ``out`` and ``into`` find facts by one end and relation; ``reached`` lists the
    relations that lead to an entity.
    """

    def __init__(self) -> None:
        self.entities: list[Entity] = []
        self.facts: list[Fact] = []
        self.families: list[list[Entity]] = []
        self.out: defaultdict[tuple[int, str], list[Fact]] = defaultdict(list)
        self.into: defaultdict[tuple[int, str], list[Fact]] = defaultdict(list)
        self.of: defaultdict[int, list[Fact]] = defaultdict(list)
        self.reached: defaultdict[int, dict[str, None]] = defaultdict(dict)

    def entity(self, kind: str, name: str, family: int, **fields) -> Entity:
        entity = Entity(len(self.entities), kind, name, family, **fields)
        entity.short = entity.short or name
        self.entities.append(entity)
        self.families[family].append(entity)
        return entity

    def add(
        self,
        subject: Entity,
        relation: str,
        object: Entity | Literal | None,
        /,
        **qualifiers: object,
    ) -> None:
        """State that ``subject`` has ``relation`` (named without its kind) to ``object``; None states nothing."""
        if object is None:
            return
        relation = f"{subject.kind}.{relation}"
        fact = Fact(
            subject, relation, object, {name: str(value) for name, value in qualifiers.items()}
        )
        self.facts.append(fact)
        self.of[subject.id].append(fact)
        for source, target in ((subject, object), (object, subject))[: 1 + (relation in SYMMETRIC)]:
            self.out[source.id, relation].append(fact)
            if isinstance(target, Entity):
                self.into[target.id, relation].append(fact)
                self.reached[target.id][relation] = None

    def year(self, entity: Entity, relation: str) -> int | None:
        """The year of a dated fact of the entity, if it has one."""
        facts = self.out.get((entity.id, f"{entity.kind}.{relation}"), ())
        return facts[0].object.number if facts else None


def number(value: int, words: bool = False) -> Literal:
    """A number as prose writes it: years and small numbers plain, others with a thousands separator."""
    if words:
        return Literal(value, WORDS[value], (str(value),))
    return Literal(value, f"{value:,}", (str(value),) if value > 999 else ())


def year(value: int) -> Literal:
    return Literal(value, str(value), dated=True)


def day(rng: random.Random, in_year: int) -> Literal:
    """A day of the year."""
    value = date(in_year, rng.randint(1, 12), rng.randint(1, 28))
    return Literal(value, f"{value.day} {value:%B} {value.year}", dated=True)
