"""The people of a country: professions, lives, marriages and offices, with dates that fit."""

from __future__ import annotations

from string import ascii_uppercase

from . import institutions
from .geography import Country
from .phrasings import LEXICON
from .world import PRESENT, Entity, day, number

TITLES = LEXICON["titles"]


def settle(country: Country, strangers: list[Entity]) -> None:
    """Fill the country with institutions and people. ``strangers`` of other countries may lend their names."""
    institutions.universities(country)
    for calling, first, last in LEXICON["professions"]:
        _person(country, calling, country.rng.randint(first, last), strangers)
    institutions.companies(country)
    institutions.buildings(country)
    institutions.club(country)
    institutions.awards(country)
    _lives(country)
    _offices(country)


def _person(country: Country, calling: str, born: int, strangers: list[Entity]) -> None:
    rng, names, tongue = country.rng, country.names, country.tongue
    gender = rng.choice(("women", "men"))
    job = rng.choice(TITLES["science"]) if calling == "scientist" else calling
    namesakes = [other for other in strangers if other.job != job and other.gender == gender]
    if namesakes and country.chance(0.08):
        other = rng.choice(namesakes)
        strangers.remove(other)
        full, given, last = other.name, other.name.rsplit(" ", 1)[0], other.short
    else:
        full, given, last = names.person(tongue, gender)
    aliases: tuple[str, ...] = ()
    if calling in ("novelist", "musician", "actor") and country.chance(0.45):
        aliases = (names.person(tongue, gender)[0],)
    elif country.chance(0.25):
        middle = rng.choice(tongue[gender]).upper()

        def initials(attempt: int) -> str:
            return f"{given[0]}. {rng.choice(middle if attempt < 9 else ascii_uppercase)}. {last}"

        aliases = (names.fresh(initials),)
    details = {"profession": calling, "job": job}
    person = country.new("person", full, short=last, aliases=aliases, gender=gender, job=job, details=details)
    country.world.add(person, "birth_date", day(rng, born))
    age = rng.randint(56, 93)
    if born + age < PRESENT - 3 and not (born > 1928 and country.chance(0.6)):
        country.world.add(person, "death_date", day(rng, born + age))
        person.details["died"] = "yes"


def _lives(country: Country) -> None:
    """Birthplaces, schooling, teachers, work, marriages, homes, honours and deaths."""
    rng, add, world = country.rng, country.world.add, country.world
    for person in country["person"]:
        born = country.birth(person)
        add(person, "birthplace", country.pick("city") if country.chance(0.92) else None)
        if country.chance(0.7):
            school = country.pick("university")
            add(person, "education", school, subject=rng.choice(TITLES["subject"]), year=born + rng.randint(21, 26))
        teachers = [
            other
            for other in country["person"]
            if other.profession in LEXICON["teachers"][person.profession]
            and 12 < born - country.birth(other)
            and country.alive(other, born + 23)
        ]
        add(person, "mentor", rng.choice(teachers) if teachers and country.chance(0.8) else None)
        if person.profession == "footballer":
            add(
                person,
                "club",
                country["team"][0],
                position=rng.choice(TITLES["position"]),
                year=born + rng.randint(18, 24),
            )
        elif country.chance(0.6):
            when = born + rng.randint(24, 36)
            houses = [
                house for house in (*country["company"], *country["university"]) if world.year(house, "founded") < when
            ]
            add(person, "employer", rng.choice(houses) if houses else None, role=rng.choice(TITLES["role"]), year=when)
        death = world.year(person, "death_date")
        award = country.pick("award")
        first, last = max(born + 32, world.year(award, "first") + 1), min(death or PRESENT, born + 80)
        if first < last and country.chance(0.6):
            add(person, "award", award, year=rng.randint(first, last))
        add(person, "residence", country.pick("city") if country.chance(0.6) else None)
        add(person, "death_place", country.pick("city") if death and country.chance(0.85) else None)
    _marriages(country)


def _marriages(country: Country) -> None:
    rng, free = country.rng, sorted(country["person"], key=lambda person: country.birth(person))
    for person in list(free):
        if person not in free:
            continue
        free.remove(person)
        for other in free:
            if (
                other.gender != person.gender
                and country.birth(other) - country.birth(person) < 14
                and country.chance(0.75)
            ):
                free.remove(other)
                when = country.birth(other) + rng.randint(21, 31)
                couple = [person, other]
                rng.shuffle(couple)
                country.world.add(couple[0], "spouse", couple[1], year=when)
                country.world.add(
                    couple[0], "children", number(rng.randint(2, 6), words=True) if country.chance(0.7) else None
                )
                break


def _offices(country: Country) -> None:
    """Who holds which office at present."""
    rng, add = country.rng, country.world.add

    def holder(*jobs: str) -> Entity | None:
        fit = country.living(*jobs)
        return rng.choice(fit) if fit and country.chance(0.75) else None

    def since() -> int:
        return rng.randint(1994, PRESENT - 1)

    add(country.entity, "president", holder("politician"), year=since())
    add(country.entity, "anthem", next(person for person in country["person"] if person.job == "composer"))
    for region in country["region"]:
        add(region, "governor", holder() if country.chance(0.5) else None, year=since())
    for city in country["city"]:
        add(city, "mayor", holder() if country.chance(0.45) else None, year=since())
    for university in country["university"]:
        add(university, "rector", holder("scientist", "novelist"), year=since())
    for company in country["company"]:
        add(company, "director", holder() if country.chance(0.5) else None, year=since())
    add(country["team"][0], "coach", holder("footballer"), year=since())
    for river in country["river"]:
        add(river, "surveyor", country.suited(1935, "scientist", "architect") if country.chance(0.7) else None)
