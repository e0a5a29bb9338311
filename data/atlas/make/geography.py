"""Countries with their regions, cities and rivers: the ground each family of articles stands on."""

import random
from dataclasses import dataclass, field

from .names import Names, demonym
from .phrasings import LEXICON
from .world import PRESENT, Entity, Literal, World, number, year


@dataclass
class Country:
    """A country under construction: its tongue and what has been built so far, by kind."""

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

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def pick(self, *kinds: str) -> Entity:
        """A thing of the kind, or of one of several."""
        return self.rng.choice(self[kinds[0] if len(kinds) == 1 else self.rng.choice(kinds)])

    def perhaps(self, probability: float, *kinds: str) -> Entity | None:
        return self.pick(*kinds) if self.chance(probability) else None

    def birth(self, person: Entity) -> int:
        return self.world.year(person, "birth_date")

    def alive(self, person: Entity, when: int, age: int = 18) -> bool:
        """Whether the person lived in that year and was at least so old."""
        death = self.world.year(person, "death_date") or PRESENT + 1
        return self.birth(person) + age <= when < death

    def suited(self, when: int, *jobs: str, age: int = 20) -> Entity | None:
        """A person of one of the professions who could have done something in that year."""
        fit = [person for person in self["person"] if person.profession in jobs and self.alive(person, when, age)]
        return self.rng.choice(fit) if fit else None


def found(world: World, names: Names, rng: random.Random, family: int) -> Country:
    """A country with three regions, two rivers and five cities."""
    tongue = LEXICON["tongues"][family % len(LEXICON["tongues"])]
    world.families.append([])
    name = names.word(tongue, "country")
    entity = world.entity("country", name, family, details={"adj": demonym(name), "country": name})
    country = Country(entity, tongue, rng, names, world)
    for _ in range(3):
        country.new("region", names.word(tongue, "region"), details={"hill": f"Mount {names.word(tongue, 'river')}"})
    for _ in range(2):
        name = names.word(tongue, "river")
        country.new("river", name, short=f"the {name}")
    for _ in range(5):
        aliases = (names.word(tongue, "city"),) if country.chance(0.3) else ()
        country.new("city", names.word(tongue, "city"), aliases=aliases)
    add, cities, regions = world.add, country["city"], country["region"]
    for place, city in enumerate(cities):
        # The first three cities are their regions' seats; the others lie anywhere.
        region = regions[place] if place < len(regions) else rng.choice(regions)
        add(city, "region", region)
        add(city, "population", number(rng.randint(80, 5200) * 100))
        add(city, "founded", year(rng.randint(1080, 1740)))
        add(city, "river", country.perhaps(0.7, "river"))
    for region, city in zip(regions, cities):
        add(region, "seat", city)
        add(region, "area", number(rng.randint(900, 19_000)))
    for river in country["river"]:
        add(river, "length", number(rng.randint(41, 890)))
        add(river, "source", rng.choice(regions))
        add(river, "tributary", listed([f"the {names.word(tongue, 'river')}" for _ in range(rng.randint(2, 6))]))
    add(entity, "capital", rng.choice(cities))
    add(entity, "independence", year(rng.randint(1806, 1931)))
    return country


def befriend(countries: list[Country]) -> None:
    """Sister cities and neighbours across the borders: mentions between families that no question relies on."""
    for country in countries:
        rng = country.rng
        near = [countries[(country.entity.family + step) % len(countries)] for step in (-4, -3, -2, -1, 1, 2, 3, 4)]
        near = [other for other in near if other is not country] or [country]
        for entity in country.world.families[country.entity.family]:
            first, second = rng.choice(near).entity, rng.choice(near).entity
            entity.details |= {"abroad": first.name, "abroad2": second.name, "abroad_adj": first.details["adj"]}
            if second is first:
                entity.details["abroad2"] = country.entity.name if entity.kind != "country" else "the islands"
        for city in country["city"]:
            if country.chance(0.8):
                sisters = {rng.choice(rng.choice(near)["city"]).name: None for _ in range(rng.choice((2, 3, 4, 5)))}
                country.world.add(city, "twin", listed(list(sisters)) if len(sisters) > 1 else None)


def listed(names: list[str]) -> Literal:
    """A list that one sentence states, as a number that a question may ask for."""
    text = f"{', '.join(names[:-1])} and {names[-1]}"
    return Literal(len(names), text, (str(len(names)),))
