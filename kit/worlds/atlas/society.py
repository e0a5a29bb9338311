"""What fills a country: institutions, people with their lives, and works, each later than what it needs."""

from string import ascii_uppercase

from kit.worlds.atlas.country import TITLES, Country, listed
from kit.worlds.atlas.phrasings import LEXICON
from kit.worlds.atlas.world import PRESENT, Entity, day, number, year

SIGHTS = (*TITLES["adjective"], *TITLES["noun"])


def settle(country: Country, strangers: list[Entity]) -> None:
    """Fill the country with institutions, people and works. ``strangers`` of other countries may lend their names."""
    rng = country.rng
    for place in range(3):  # universities, older than everybody who could study there
        seat, word = country.pick("city"), country.word("city")
        name = (
            f"{word} University"
            if place
            else rng.choice((f"University of {seat.name}", f"{seat.name} Polytechnic"))
        )
        university = _house(
            country, "university", name, (1580, 1876), short=word if place else name
        )
        country.world.add(university, "city", seat)
        country.world.add(
            university, "faculty", listed(rng.sample(TITLES["faculty"], rng.randint(3, 7)))
        )
    for calling, first, last in LEXICON["professions"]:
        _person(country, calling, rng.randint(first, last), strangers)
    for trade, suffixes, first, last in LEXICON["companies"]:
        word, trade = country.word("surname"), trade or rng.choice(TITLES["trade"])
        name, details = f"{word} {rng.choice(suffixes)}", {"trade": trade}
        company = _house(country, "company", name, (first, last), short=word, details=details)
        country.world.add(company, "employees", number(rng.randint(12, 940) * 5))
    for form in ("stadium", *rng.sample(TITLES["form"], 3)):
        suffix, fields = form.split()[-1].capitalize(), {"job": form, "details": {"form": form}}
        name = country.names.compound(
            lambda n: country.word("city") if n > 8 else rng.choice(SIGHTS), suffix
        )
        building = _house(
            country,
            "building",
            name,
            (1904, 1972),
            "opened",
            short=f"the {suffix.lower()}",
            **fields,
        )
        country.world.add(building, "height", number(rng.randint(11, 138)))
    name = country.names.compound(lambda n: country.pick("city").name, rng.choice(TITLES["team"]))
    country.world.add(_house(country, "team", name, (1881, 1929)), "ground", country["building"][0])
    for suffix in rng.sample(("Prize", "Medal", "Laurel", "Award"), 2):
        name = country.names.compound(
            lambda n: country.word("surname") if n else rng.choice(TITLES["noun"]), suffix
        )
        _house(
            country, "award", f"the {name}", (1921, 1966), "first", short=f"the {suffix.lower()}"
        )
    for person in country["person"]:
        country.add(person, country.begun(person))
    _marriages(country)
    for entity in (
        country.entity,
        *country["region"],
        *country["city"],
        *country["river"],
        *country["university"],
    ):
        country.add(entity)
    of = {
        job: [one for one in country["person"] if one.job == job]
        for job, *_ in LEXICON["professions"]
    }
    for _ in range(4):
        _work(country, "book", "author", of["novelist"], 25, 64, 1898)
    for _ in range(5):
        _work(country, "film", "director", of["film director"], 28, 64, 1919)
    for singer in of["musician"]:
        _band(country, singer)
    for _ in range(4):
        _work(country, "album", "artist", country["band"], 1, 19)
    for _ in range(4):
        _work(country, "song", "album", country["album"], 0, 0)


def _house(
    country: Country,
    kind: str,
    name: str,
    years: tuple[int, int],
    founded: str = "founded",
    **fields,
) -> Entity:
    """An institution founded between two years, with the facts that have rules if there are people to be in them."""
    house, when = country.new(kind, name, **fields), country.rng.randint(*years)
    country.world.add(house, founded, year(when))
    if kind != "university":
        country.add(house, when)
    return house


def _person(country: Country, calling: str, born: int, strangers: list[Entity]) -> None:
    rng, names, tongue = country.rng, country.names, country.tongue
    gender = rng.choice(("women", "men"))
    job = rng.choice(TITLES["science"]) if calling == "scientist" else calling
    namesakes = [other.name for other in strangers if other.job != job and other.gender == gender]
    namesakes = [name for name in namesakes if name not in names.shared]
    if namesakes and country.chance(0.12):
        full = rng.choice(namesakes)
        names.shared.add(full)
    else:
        full = names.person(tongue, gender)
    given, last = full.rsplit(" ", 1)
    aliases: tuple[str, ...] = ()
    if calling in ("novelist", "musician", "actor") and country.chance(0.45):
        aliases = (names.person(tongue, gender),)
    elif country.chance(0.25):
        aliases = (
            names.fresh(lambda attempt: f"{given[0]}. {rng.choice(ascii_uppercase)}. {last}"),
        )
    details = {"profession": calling, "job": job}
    person = country.new(
        "person", full, short=last, aliases=aliases, gender=gender, job=job, details=details
    )
    country.world.add(person, "birth_date", day(rng, born))
    age = rng.randint(56, 93)
    if born + age < PRESENT - 3 and not (born > 1928 and country.chance(0.6)):
        country.world.add(person, "death_date", day(rng, born + age))
        country.world.add(
            person, "death_place", country.pick("city") if country.chance(0.5) else None
        )
        person.details["died"] = "yes"


def _marriages(country: Country) -> None:
    rng, add, free = country.rng, country.world.add, sorted(country["person"], key=country.begun)
    while free:
        person = free.pop(0)
        for other in free:
            near = country.begun(other) - country.begun(person) < 14
            if other.gender != person.gender and near and country.chance(0.75):
                free.remove(other)
                one, two = rng.sample((person, other), 2)
                add(one, "spouse", two, year=country.begun(other) + rng.randint(21, 31))
                add(
                    one,
                    "children",
                    number(rng.randint(2, 6), words=True) if country.chance(0.7) else None,
                )
                break


def _band(country: Country, singer: Entity) -> None:
    aliases = (country.names.title(),) if country.chance(0.3) else ()
    band = country.new("band", country.names.band(), aliases=aliases, short="the group")
    formed = country.begun(singer) + country.rng.randint(18, 27)
    country.world.add(band, "formed", year(formed))
    country.world.add(band, "singer", singer)
    country.add(band, formed)


def _work(
    country: Country,
    kind: str,
    relation: str,
    makers: list[Entity],
    first: int,
    last: int,
    earliest: int = 0,
) -> None:
    """A work of one of the makers, first to last years after that began; some have the title of what they draw on."""
    rng, world, maker = country.rng, country.world, country.rng.choice(makers)
    began, end = country.begun(maker), (world.year(maker, "death_date") or PRESENT) - 1
    when = rng.randint(max(began + first, earliest), min(began + last, end))
    work = country.new(kind, country.names.title())
    world.add(work, "year", year(when) if kind != "song" else None)
    world.add(work, relation, maker)
    country.add(work, when)
    source = next(
        (
            fact.object
            for fact in world.of[work.id]
            if fact.relation in ("film.based_on", "song.album")
        ),
        None,
    )
    if (
        source
        and country.chance(0.3)
        and source.name not in {other.name for other in country[kind]}
    ):
        work.name = work.short = source.name
