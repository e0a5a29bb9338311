"""A country under construction: who and what there is in it, and where the objects of its facts come from."""

import random
from dataclasses import dataclass, field

import msgspec

from kit.worlds.atlas.names import Names, demonym
from kit.worlds.atlas.phrasings import LEXICON, read
from kit.worlds.atlas.world import PRESENT, Entity, Literal, World, number, year

TITLES = LEXICON["titles"]
N_REGIONS, N_RIVERS, N_CITIES = 6, 3, 18  # of a country
#: The relation that dates the beginning of a thing, where it is not ``founded``.
BEGAN = dict.fromkeys(("book", "film", "album"), "year")
BEGAN |= {"person": "birth_date", "band": "formed", "award": "first", "building": "opened"}


class Rule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the object of a fact is drawn from, when, and with what ``chance`` there is one; see prose/rules.toml."""

    of: tuple[str, ...] = ()
    jobs: tuple[str, ...] = ()
    trade: str = ""
    dead: bool = False
    chance: float = 1
    age: int = 20
    years: tuple[int, int] = (0, 0)
    since: bool = False
    details: tuple[str, ...] = ()


RULES = {kind: msgspec.convert(rules, dict[str, Rule]) for kind, rules in read("rules").items()}


@dataclass
class Country:
    """A country: its tongue and what has been built so far, by kind."""

    entity: Entity
    tongue: dict
    rng: random.Random
    names: Names
    world: World
    by_kind: dict[str, list[Entity]] = field(default_factory=dict)

    def __getitem__(self, kind: str) -> list[Entity]:
        return self.by_kind.setdefault(kind, [])

    def new(self, kind: str, name: str, **fields) -> Entity:
        fields["details"] = {**self.entity.details, **fields.get("details", {})}
        entity = self.world.entity(kind, name, self.entity.family, **fields)
        self[kind].append(entity)
        return entity

    def word(self, ending: str) -> str:
        return self.names.word(self.tongue, ending)

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def pick(self, *kinds: str) -> Entity:
        """A thing of the kind, or of one of several."""
        things = self[self.rng.choice(kinds)]
        weights = [(place + 1) ** -1.2 for place in range(len(things))]
        return self.rng.choices(things, weights)[0]  # more happens in the first cities

    def begun(self, thing: Entity) -> int:
        """The year in which somebody was born or something began, 0 if it is older than all that."""
        return self.world.year(thing, BEGAN.get(thing.kind, "founded")) or 0

    def alive(self, when: int, *jobs: str, age: int = 20) -> list[Entity]:
        """Who lived in that year and was at least so old, of the professions if any are given."""
        people = [person for person in self["person"] if not jobs or person.profession in jobs]
        death = [self.world.year(person, "death_date") or PRESENT + 1 for person in people]
        return [
            person for person, end in zip(people, death) if self.begun(person) + age <= when < end
        ]

    def add(self, subject: Entity, when: int = PRESENT) -> None:
        """State the facts of the subject that have a rule, each with its chance and where an object fits the year."""
        rng, world = self.rng, self.world
        rules = RULES[subject.kind] | RULES.get(subject.details.get("profession"), {})
        last = world.year(subject, "death_date") if subject.kind == "person" else None
        for relation, rule in rules.items():
            then = rng.randint(1994, PRESENT - 1) if rule.since else when + rng.randint(*rule.years)
            if not self.chance(rule.chance) or then > (last or PRESENT):
                continue
            if rule.trade:
                options = [one for one in self["company"] if one.details["trade"] == rule.trade]
            elif rule.dead:
                options = [
                    one
                    for one in self["person"]
                    if (world.year(one, "death_date") or PRESENT) <= then
                ]
            elif rule.of:
                options = [self.pick(*rule.of)]
            else:
                options = self.alive(PRESENT if rule.since else then, *rule.jobs, age=rule.age)
            taken = [subject, *(fact.object for fact in world.of[subject.id])]
            options = [one for one in options if one not in taken and self.begun(one) <= then]
            if options:
                details = {
                    name: str(then) if name == "year" else rng.choice(TITLES[name])
                    for name in rule.details
                }
                world.add(subject, relation, rng.choice(options), **details)


def found(world: World, names: Names, rng: random.Random, family: int) -> Country:
    """A country with its regions, rivers and cities."""
    tongue = LEXICON["tongues"][family % len(LEXICON["tongues"])]
    world.families.append([])
    name = names.word(tongue, "country")
    entity = world.entity("country", name, family, details={"adj": demonym(name), "country": name})
    country = Country(entity, tongue, rng, names, world)
    for _ in range(N_REGIONS):
        region = country.new("region", country.word("region"))
        world.add(region, "area", number(rng.randint(900, 19_000)))
    for _ in range(N_RIVERS):
        name = country.word("river")
        river = country.new("river", name, short=f"the {name}")
        world.add(river, "length", number(rng.randint(41, 890)))
        world.add(river, "source", rng.choice(country["region"]))
        world.add(
            river,
            "tributary",
            listed([f"the {country.word('river')}" for _ in range(rng.randint(2, 6))]),
        )
    for place in range(N_CITIES):
        aliases = (country.word("city"),) if country.chance(0.3) else ()
        city = country.new("city", country.word("city"), aliases=aliases)
        # The first cities are their regions' seats; the others lie anywhere.
        region = country["region"][place] if place < N_REGIONS else rng.choice(country["region"])
        world.add(city, "region", region)
        world.add(region, "seat", city if place < N_REGIONS else None)
        world.add(city, "population", number(rng.randint(80, 5200) * 100))
        world.add(city, "founded", year(rng.randint(1080, 1740)))
    world.add(entity, "capital", rng.choice(country["city"]))
    world.add(entity, "independence", year(rng.randint(1806, 1931)))
    return country


def befriend(countries: list[Country]) -> None:
    """Sister cities and neighbours across the borders: mentions between families that no question relies on."""
    for country in countries:
        rng = country.rng
        near = {
            (country.entity.family + step) % len(countries) for step in (-4, -3, -2, -1, 1, 2, 3, 4)
        }
        near = [countries[place] for place in sorted(near - {country.entity.family})] or [country]
        for entity in country.world.families[country.entity.family]:
            first, second = rng.sample(near, 2) if len(near) > 1 else (country, country)
            entity.details |= {
                "abroad": first.entity.name,
                "abroad_adj": first.entity.details["adj"],
            }
            entity.details["abroad2"] = second.entity.name if second is not first else "the islands"
        for city in country["city"]:
            sisters = {
                rng.choice(rng.choice(near)["city"]).name: None
                for _ in range(rng.choice((2, 3, 4)))
            }
            if country.chance(0.25) and len(sisters) > 1:
                country.world.add(city, "twin", listed(list(sisters)))


def listed(names: list[str]) -> Literal:
    """A list that one sentence states, as a number that a question may ask for."""
    return Literal(len(names), f"{', '.join(names[:-1])} and {names[-1]}", (str(len(names)),))
