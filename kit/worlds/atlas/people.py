"""The people of a country, with their lives."""

from collections.abc import Sequence
from string import ascii_uppercase

from kit.worlds.atlas.country import Country
from kit.worlds.atlas.phrasings import Texts
from kit.worlds.atlas.world import PRESENT, Entity, day, spelled

STAGE_NAMES = ("novelist", "musician", "actor")  # professions in which people may have one
NAMESAKE = 0.12  # the share of people who have the name of a stranger


def add_person(country: Country, calling: str, born: int, strangers: Sequence[Entity]) -> None:
    """Somebody of this calling, born in that year; a stranger may lend the name."""
    rng = country.rng
    lexicon = country.lexicon
    gender = rng.choice(("women", "men"))
    job = rng.choice(lexicon["titles"]["science"]) if calling == "scientist" else calling
    others = [other for other in strangers if other.job != job and other.gender == gender]
    name = _full_name(country, gender, others)
    person = country.build(
        "person",
        name,
        short=name.rsplit(" ", 1)[1],
        aliases=_aliases(country, name, calling, gender),
        gender=gender,
        job=job,
        details={"profession": calling, "job": job},
    )
    country.world.add(person, "birth_date", day(rng, born, lexicon["date"]))

    died = born + rng.randint(56, 93)
    if died < PRESENT - 3 and not (born > 1928 and country.chance(0.6)):
        country.world.add(person, "death_date", day(rng, died, lexicon["date"]))
        if country.chance(0.5):
            country.world.add(person, "death_place", country.pick("city"))
        person.details["died"] = "yes"


def _full_name(country: Country, gender: str, strangers: Sequence[Entity]) -> str:
    """A new name or, now and then, a stranger's, which nobody else shares."""
    names = country.names
    namesakes = [other.name for other in strangers if other.name not in names.shared]
    if namesakes and country.chance(NAMESAKE):
        name = country.rng.choice(namesakes)
        names.shared.add(name)
        return name
    return names.person(country.tongue, gender)


def _aliases(country: Country, name: str, calling: str, gender: str) -> Texts:
    """A stage name, or initials; or none."""
    names = country.names
    if calling in STAGE_NAMES and country.chance(0.45):
        return (names.person(country.tongue, gender),)
    if not country.chance(0.25):
        return ()

    surname = name.rsplit(" ", 1)[1]

    def initials(attempt):
        return f"{name[0]}. {country.rng.choice(ascii_uppercase)}. {surname}"

    return (names.fresh(initials),)


def marry(country: Country) -> None:
    """Marry people of about the same age, the oldest first."""
    free = sorted(country["person"], key=country.begun)
    while free:
        person = free.pop(0)
        partner = _partner(country, person, free)
        if partner:
            free.remove(partner)
            _add_marriage(country, person, partner)


def _partner(country: Country, person: Entity, candidates: Sequence[Entity]) -> Entity | None:
    for candidate in candidates:
        years_apart = country.begun(candidate) - country.begun(person)
        fits = candidate.gender != person.gender and years_apart < 14
        if fits and country.chance(0.75):
            return candidate
    return None


def _add_marriage(country: Country, person: Entity, partner: Entity) -> None:
    rng = country.rng
    world = country.world
    first, second = rng.sample((person, partner), 2)
    married = country.begun(partner) + rng.randint(21, 31)
    world.add(
        first,
        "spouse",
        second,
        year=married,
    )
    if country.chance(0.7):
        world.add(first, "children", spelled(rng.randint(2, 6)))
