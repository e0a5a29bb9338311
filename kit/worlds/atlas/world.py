"""Entities and the facts between them: what the atlas knows before a word of it is written."""

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import date
from functools import partial
from random import Random

from kit.worlds.atlas.phrasings import PLAIN, Language, Relation, Texts

#: Relations that hold both ways though only one of the two articles states them.
SYMMETRIC = frozenset({"person.spouse"})
PRESENT = 2012  # the year in which the encyclopedia was written
WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


@dataclass(eq=False, slots=True)
class Entity:
    """What has an article. ``family`` is the country to whose documents that belongs.

    ``short`` is how an article calls its subject after the first mention; ``details`` are words for
    the prose alone, and a person's ``profession`` in general: every chemist is a scientist.
    ``matter`` are phrasings of unrelated matter that its article has not used.
    """

    id: int
    kind: str
    name: str
    family: int
    short: str = ""
    aliases: Texts = ()
    gender: str = ""
    job: str = ""
    title: str = ""
    details: dict[str, str] = field(default_factory=dict)
    matter: list[str] = field(default_factory=list)

    @property
    def profession(self) -> str:
        return self.details["profession"]

    @property
    def sort(self) -> str:
        """The word for what it is: a profession, a form of building, or the kind."""
        nouns = {"team": "football club", "book": "novel"}
        return self.job or nouns.get(self.kind, self.kind)

    @property
    def surfaces(self) -> Texts:
        """Every way a text may name it, its title's name first."""
        names = (self.name, *self.aliases)
        return tuple(dict.fromkeys(names))


@dataclass(frozen=True, slots=True)
class Literal:
    """What is no entity: ``value`` compares and counts, ``text`` is how it is written.

    Years and days are ``dated``.
    """

    value: int | date
    text: str
    aliases: Texts = ()
    dated: bool = False

    @property
    def number(self) -> int:
        """The value, or the year of a day."""
        return self.value.year if isinstance(self.value, date) else self.value


@dataclass(eq=False, slots=True)
class Fact:
    """``subject`` has ``relation`` to ``object``, with qualifiers such as a year.

    A passage's ``sentence`` says so, in one of its ``phrasings``.
    """

    subject: Entity
    relation: str
    object: Entity | Literal
    phrasings: Relation
    qualifiers: dict[str, str] = field(default_factory=dict)
    passage: str = ""
    sentence: str = ""

    def other(self, entity: Entity) -> Entity | Literal:
        """The end of the fact that is not ``entity``."""
        return self.object if entity is self.subject else self.subject


Index = defaultdict[int, defaultdict[str, list[Fact]]]


class World:
    """Entities, facts and the indexes over them.

    ``about`` holds the facts of an article; ``out`` and ``into`` find facts by one end, by its id,
    and a relation. Its texts are written in its ``language``.
    """

    def __init__(self, language: Language = PLAIN) -> None:
        self.language = language
        self.entities: list[Entity] = []
        self.facts: list[Fact] = []
        self.families: list[list[Entity]] = []
        self.out: Index = defaultdict(partial(defaultdict, list))
        self.into: Index = defaultdict(partial(defaultdict, list))
        self.about: defaultdict[int, list[Fact]] = defaultdict(list)

    def entity(self, kind: str, name: str, family: int, **fields) -> Entity:
        """A new entity."""
        entity = Entity(
            len(self.entities),
            kind,
            name,
            family,
            **fields,
        )
        entity.short = entity.short or name
        self.entities.append(entity)
        self.families[family].append(entity)
        return entity

    def add(
        self,
        subject: Entity,
        relation: str,
        target: Entity | Literal,
        /,
        **qualifiers: object,
    ) -> None:
        """State that ``subject`` has ``relation`` (named without its kind) to ``target``."""
        relation = f"{subject.kind}.{relation}"
        texts = {name: str(value) for name, value in qualifiers.items()}
        fact = Fact(
            subject,
            relation,
            target,
            self.language.relations[relation],
            texts,
        )

        self.facts.append(fact)
        self.about[subject.id].append(fact)
        self._connect(subject, target, fact)
        if relation in SYMMETRIC:
            self._connect(target, subject, fact)

    def _connect(self, source: Entity, target: Entity | Literal, fact: Fact) -> None:
        self.out[source.id][fact.relation].append(fact)
        if isinstance(target, Entity):
            self.into[target.id][fact.relation].append(fact)

    def year(self, entity: Entity, relation: str) -> int | None:
        """The year of a dated fact of the entity, if it has one."""
        facts = self.out[entity.id][f"{entity.kind}.{relation}"]
        return facts[0].object.number if facts else None


def amount(value: int) -> Literal:
    """A number as prose writes it, with a thousands separator."""
    text = f"{value:,}"
    aliases = (str(value),) if "," in text else ()
    return Literal(value, text, aliases)


def spelled(value: int) -> Literal:
    """A small number in words."""
    return Literal(value, WORDS[value], (str(value),))


def listed(names: list[str]) -> Literal:
    """A list that one sentence states, as a number that a question may ask for."""
    *others, last = names
    text = f"{', '.join(others)} and {last}"
    return Literal(len(names), text, (str(len(names)),))


def year(value: int) -> Literal:
    return Literal(value, str(value), dated=True)


def day(rng: Random, in_year: int, form: str) -> Literal:
    """A day of the year, written in a form such as "{day} {month} {year}"."""
    month = rng.randint(1, 12)
    value = date(in_year, month, rng.randint(1, 28))
    text = form.format(
        day=value.day,
        month=f"{value:%B}",
        year=value.year,
    )
    return Literal(value, text, dated=True)
