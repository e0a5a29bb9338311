"""A country under construction: who and what is in it, and what the objects of its facts are."""

from dataclasses import dataclass, field
from random import Random

import msgspec

from kit.worlds.atlas.names import Names
from kit.worlds.atlas.phrasings import Lexicon, Texts, read
from kit.worlds.atlas.world import PRESENT, Entity, World

#: The relation that dates the beginning of an entity, where it is not ``founded``.
BEGINNINGS = {
    "book": "year",
    "film": "year",
    "album": "year",
    "person": "birth_date",
    "band": "formed",
    "award": "first",
    "building": "opened",
}
POPULARITY = -1.2  # the exponent: more happens in the first cities


class Rule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the object of a fact is drawn from, when, and with what ``chance`` there is one.

    See prose/rules.toml.
    """

    kinds: Texts = ()
    jobs: Texts = ()
    trade: str = ""
    dead: bool = False
    chance: float = 1
    age: int = 20
    years: tuple[int, int] = (0, 0)
    since: bool = False
    details: Texts = ()


RULES = msgspec.convert(read("rules"), dict[str, dict[str, Rule]])


@dataclass
class Country:
    """A country: its tongue and what has been built so far, by kind."""

    entity: Entity
    tongue: dict
    rng: Random
    names: Names
    world: World
    by_kind: dict[str, list[Entity]] = field(default_factory=dict)

    def __getitem__(self, kind: str) -> list[Entity]:
        return self.by_kind.setdefault(kind, [])

    def build(self, kind: str, name: str, **fields) -> Entity:
        """A new entity in this country."""
        details = fields.pop("details", {})
        entity = self.world.entity(
            kind,
            name,
            self.entity.family,
            details=self.entity.details | details,
            **fields,
        )
        self[kind].append(entity)
        return entity

    @property
    def lexicon(self) -> Lexicon:
        return self.world.language.lexicon

    def word(self, ending: str) -> str:
        """A new proper name in the country's tongue."""
        return self.names.word(self.tongue, ending)

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def pick(self, *kinds: str) -> Entity:
        """An entity of the kind, or of one of several."""
        kind = self.rng.choice(kinds)
        ranks = range(1, len(self[kind]) + 1)
        weights = [rank**POPULARITY for rank in ranks]
        return self.rng.choices(self[kind], weights)[0]

    def begun(self, entity: Entity) -> int:
        """The year of its birth or beginning, 0 if it is older than all that."""
        relation = BEGINNINGS.get(entity.kind, "founded")
        return self.world.year(entity, relation) or 0

    def last_year(self, entity: Entity) -> int:
        """The year of death, or the present."""
        return self.world.year(entity, "death_date") or PRESENT

    def add(self, subject: Entity, year: int = PRESENT) -> None:
        """State the facts of the subject that have a rule.

        Each has its chance, and an object that fits the year in which the subject began.
        """
        profession = subject.details.get("profession")
        rules = RULES[subject.kind] | RULES.get(profession, {})
        for relation, rule in rules.items():
            then = self._draw_year(rule, year)
            if self.chance(rule.chance) and then <= self.last_year(subject):
                self._add_by_rule(
                    subject,
                    relation,
                    rule,
                    then,
                )

    def _draw_year(self, rule: Rule, year: int) -> int:
        if rule.since:
            return self.rng.randint(1994, PRESENT - 1)
        return year + self.rng.randint(*rule.years)

    def _add_by_rule(self, subject: Entity, relation: str, rule: Rule, year: int) -> None:
        """State one fact of that year, if any object fits."""
        taken = [fact.object for fact in self.world.about[subject.id]]
        taken.append(subject)
        options = [
            option
            for option in self._options(rule, year)
            if option not in taken and self.begun(option) <= year
        ]
        if not options:
            return

        titles = self.lexicon["titles"]
        details = [
            year if name == "year" else self.rng.choice(titles[name]) for name in rule.details
        ]
        self.world.add(
            subject,
            relation,
            self.rng.choice(options),
            **dict(zip(rule.details, details)),
        )

    def _options(self, rule: Rule, year: int) -> list[Entity]:
        """What a rule's object may be in that year."""
        if rule.trade:
            companies = self["company"]
            return [company for company in companies if company.details["trade"] == rule.trade]
        if rule.kinds:
            return [self.pick(*rule.kinds)]

        people = self["person"]
        if rule.dead:
            return [person for person in people if self.last_year(person) <= year]
        when = PRESENT if rule.since else year
        return [person for person in people if self._could(person, rule, when)]

    def _could(self, person: Entity, rule: Rule, year: int) -> bool:
        """Whether somebody lived in that year, was old enough and had one of the professions."""
        death = self.world.year(person, "death_date") or PRESENT + 1
        if rule.jobs and person.profession not in rule.jobs:
            return False
        return self.begun(person) + rule.age <= year < death
