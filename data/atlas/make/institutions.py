"""The institutions of a country: universities, companies, buildings, a football club and awards."""

from __future__ import annotations

from .geography import Country, faculties
from .phrasings import LEXICON
from .world import PRESENT, Entity, number, year

WORDS = LEXICON["titles"]
FOUNDERS = ("industrialist", "scientist", "novelist", "film director", "composer", "actor")


def universities(country: Country) -> None:
    """Two universities, older than everybody who could study there."""
    rng, names = country.rng, country.names
    for place in range(2):
        seat, word = country.pick("city"), names.word(country.tongue, "city")
        name = (
            rng.choice((f"University of {seat.name}", f"{seat.name} Polytechnic"))
            if not place
            else f"{word} University"
        )
        university = country.new("university", name, short=word if place else name)
        country.world.add(university, "city", seat)
        country.world.add(university, "founded", year(rng.randint(1580, 1876)))
        country.world.add(university, "faculty", faculties(rng))


def companies(country: Country) -> None:
    """A publisher, a film company, a record company and one firm of another trade."""
    rng, names, add = country.rng, country.names, country.world.add
    for trade, suffixes in (
        ("publishing house", ("Press", "& Sons", "Books")),
        ("film company", ("Film", "Pictures", "Studios")),
        ("record company", ("Records", "Sound")),
        (rng.choice(WORDS["trade"]), ("Works", "& Company", "Brothers")),
    ):
        name = names.compound(lambda attempt: names.surname(country.tongue), rng.choice(suffixes))
        company = country.new("company", name, short=name.split()[0], details={"trade": trade})
        when = rng.randint(1930, 1958) if trade == "record company" else rng.randint(1894, 1926)
        add(company, "founder", country.suited(when, *FOUNDERS, age=22))
        add(company, "founded", year(when))
        add(company, "headquarters", country.pick("city"))
        add(company, "employees", number(rng.randint(12, 940) * 5))


def buildings(country: Country) -> None:
    """A stadium and three buildings of other forms."""
    rng, names, add = country.rng, country.names, country.world.add

    def word(attempt: int) -> str:
        return rng.choice((*WORDS["adjective"], *WORDS["noun"])) if attempt < 8 else names.word(country.tongue, "city")

    for form in ("stadium", *rng.sample(WORDS["form"], 3)):
        suffix = form.split()[-1].capitalize()
        fields = {"short": f"the {suffix.lower()}", "job": form, "details": {"form": form}}
        building = country.new("building", names.compound(word, suffix), **fields)
        when = rng.randint(1904, 1972)
        architect = country.suited(when, "architect", age=27)
        add(building, "city", country.pick("city"))
        add(building, "architect", architect or country.suited(when, "industrialist", "scientist", age=27))
        add(building, "opened", year(when))
        add(building, "height", number(rng.randint(11, 138)))
        _honour(country, building, when)


def club(country: Country) -> None:
    """A football club with the stadium as its ground."""
    rng = country.rng
    name = country.names.compound(lambda attempt: country.pick("city").name, rng.choice(WORDS["team"]))
    team = country.new("team", name)
    country.world.add(team, "ground", country["building"][0])
    country.world.add(team, "founded", year(rng.randint(1881, 1929)))
    country.world.add(team, "sponsor", country.pick("company") if country.chance(0.6) else None)


def awards(country: Country) -> None:
    """Two awards in the gift of a university or a company."""
    rng, names, add = country.rng, country.names, country.world.add

    def word(attempt: int) -> str:
        return names.surname(country.tongue) if attempt else rng.choice(WORDS["noun"])

    for suffix in rng.sample(("Prize", "Medal", "Laurel", "Award"), 2):
        award = country.new("award", f"the {names.compound(word, suffix)}", short=f"the {suffix.lower()}")
        when = rng.randint(1921, 1966)
        add(award, "presenter", country.pick(rng.choice(("university", "company"))))
        add(award, "first", year(when))
        add(award, "ceremony", country.pick("city") if country.chance(0.7) else None)
        _honour(country, award, when)


def _honour(country: Country, entity: Entity, when: int) -> None:
    """Perhaps name the entity after somebody who had died by then."""
    dead = [person for person in country["person"] if (country.world.year(person, "death_date") or PRESENT) <= when]
    if dead and country.chance(0.5):
        country.world.add(entity, "named_after", country.rng.choice(dead))
