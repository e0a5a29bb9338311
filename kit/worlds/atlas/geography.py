"""Regions, rivers and cities of a country, and what connects countries."""

from random import Random

from kit.worlds.atlas.country import Country
from kit.worlds.atlas.names import Names, demonym
from kit.worlds.atlas.world import Entity, World, amount, listed, year

N_REGIONS = 6  # of a country
N_RIVERS = 3
N_CITIES = 18
NEIGHBOURS = (-4, -3, -2, -1, 1, 2, 3, 4)  # steps to them, in the order of countries


def found_country(world: World, names: Names, rng: Random, family: int) -> Country:
    """A country with its regions, rivers and cities."""
    lexicon = world.language.lexicon
    tongues = lexicon["tongues"]
    tongue = tongues[family % len(tongues)]
    name = names.word(tongue, "country")
    world.families.append([])
    entity = world.entity(
        "country",
        name,
        family,
        details={"adj": demonym(name, lexicon["demonyms"]), "country": name},
    )
    country = Country(
        entity,
        tongue,
        rng,
        names,
        world,
    )

    for _ in range(N_REGIONS):
        region = country.build("region", country.word("region"))
        world.add(region, "area", amount(rng.randint(900, 19_000)))
    for _ in range(N_RIVERS):
        _add_river(country)
    for rank in range(N_CITIES):
        _add_city(country, rank)

    world.add(entity, "capital", rng.choice(country["city"]))
    world.add(entity, "independence", year(rng.randint(1806, 1931)))
    return country


def _add_river(country: Country) -> None:
    rng = country.rng
    world = country.world
    name = country.word("river")
    river = country.build("river", name, short=f"the {name}")
    world.add(river, "length", amount(rng.randint(41, 890)))
    world.add(river, "source", rng.choice(country["region"]))

    n_tributaries = rng.randint(2, 6)
    tributaries = [f"the {country.word('river')}" for _ in range(n_tributaries)]
    world.add(river, "tributary", listed(tributaries))


def _add_city(country: Country, rank: int) -> None:
    """The first cities are their regions' seats; the others lie anywhere."""
    rng = country.rng
    world = country.world
    regions = country["region"]
    aliases = (country.word("city"),) if country.chance(0.3) else ()
    city = country.build("city", country.word("city"), aliases=aliases)

    is_seat = rank < N_REGIONS
    region = regions[rank] if is_seat else rng.choice(regions)
    world.add(city, "region", region)
    if is_seat:
        world.add(region, "seat", city)
    world.add(city, "population", amount(rng.randint(80, 5200) * 100))
    world.add(city, "founded", year(rng.randint(1080, 1740)))


def befriend(countries: list[Country]) -> None:
    """Sister cities and neighbours across the borders.

    No question relies on these mentions between families.
    """
    for country in countries:
        neighbours = _neighbours(country, countries)
        for entity in country.world.families[country.entity.family]:
            _mention_neighbours(entity, country, neighbours)
        for city in country["city"]:
            _add_sisters(city, country, neighbours)


def _neighbours(country: Country, countries: list[Country]) -> list[Country]:
    """Other countries close by; a country that is alone is its own."""
    family = country.entity.family
    families = {(family + step) % len(countries) for step in NEIGHBOURS}
    families.discard(family)
    return [countries[neighbour] for neighbour in sorted(families)] or [country]


def _mention_neighbours(entity: Entity, country: Country, neighbours: list[Country]) -> None:
    first = second = country
    if len(neighbours) > 1:
        first, second = country.rng.sample(neighbours, 2)
    entity.details |= {
        "abroad": first.entity.name,
        "abroad_adj": first.entity.details["adj"],
        "abroad2": "the islands" if second is first else second.entity.name,
    }


def _add_sisters(city: Entity, country: Country, neighbours: list[Country]) -> None:
    rng = country.rng
    sisters = {}  # keeps their order
    for _ in range(rng.choice((2, 3, 4))):
        neighbour = rng.choice(neighbours)
        sister = rng.choice(neighbour["city"])
        sisters[sister.name] = None
    if country.chance(0.25) and len(sisters) > 1:
        country.world.add(city, "twin", listed(list(sisters)))
