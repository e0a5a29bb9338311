"""The institutions and the people of a country: professions, lives, marriages and offices, with dates that fit."""

from string import ascii_uppercase

from .geography import Country, listed
from .phrasings import LEXICON
from .world import PRESENT, Entity, day, number, year

TITLES = LEXICON["titles"]
FOUNDERS = ("industrialist", "scientist", "novelist", "film director", "composer", "actor")


def settle(country: Country, strangers: list[Entity]) -> None:
    """Fill the country with institutions and people. ``strangers`` of other countries may lend their names."""
    _universities(country)
    for calling, first, last in LEXICON["professions"]:
        _person(country, calling, country.rng.randint(first, last), strangers)
    _companies(country)
    _buildings(country)
    _club(country)
    _awards(country)
    _lives(country)
    _marriages(country)
    _offices(country)


def _universities(country: Country) -> None:
    """Two universities, older than everybody who could study there."""
    rng, names, add = country.rng, country.names, country.world.add
    for place in range(2):
        seat, word = country.pick("city"), names.word(country.tongue, "city")
        name = f"{word} University" if place else rng.choice((f"University of {seat.name}", f"{seat.name} Polytechnic"))
        university = country.new("university", name, short=word if place else name)
        add(university, "city", seat)
        add(university, "founded", year(rng.randint(1580, 1876)))
        add(university, "faculty", listed(rng.sample(TITLES["faculty"], rng.randint(3, 7))))


def _companies(country: Country) -> None:
    """A publisher, a film company, a record company and one firm of another trade."""
    rng, names, add = country.rng, country.names, country.world.add
    for trade, suffixes in (
        ("publishing house", ("Press", "& Sons", "Books")),
        ("film company", ("Film", "Pictures", "Studios")),
        ("record company", ("Records", "Sound")),
        (rng.choice(TITLES["trade"]), ("Works", "& Company", "Brothers")),
    ):
        name = names.compound(lambda attempt: names.surname(country.tongue), rng.choice(suffixes))
        company = country.new("company", name, short=name.split()[0], details={"trade": trade})
        when = rng.randint(1930, 1958) if trade == "record company" else rng.randint(1894, 1926)
        add(company, "founder", country.suited(when, *FOUNDERS, age=22))
        add(company, "founded", year(when))
        add(company, "headquarters", country.pick("city"))
        add(company, "employees", number(rng.randint(12, 940) * 5))


def _buildings(country: Country) -> None:
    """A stadium and three buildings of other forms."""
    rng, names, add = country.rng, country.names, country.world.add

    def word(attempt: int) -> str:
        new = TITLES["adjective"] + TITLES["noun"]
        return rng.choice(new) if attempt < 8 else names.word(country.tongue, "city")

    for form in ("stadium", *rng.sample(TITLES["form"], 3)):
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


def _club(country: Country) -> None:
    """A football club with the stadium as its ground."""
    rng, add = country.rng, country.world.add
    name = country.names.compound(lambda attempt: country.pick("city").name, rng.choice(TITLES["team"]))
    team = country.new("team", name)
    add(team, "ground", country["building"][0])
    add(team, "founded", year(rng.randint(1881, 1929)))
    add(team, "sponsor", country.perhaps(0.6, "company"))


def _awards(country: Country) -> None:
    """Two awards in the gift of a university or a company."""
    rng, names, add = country.rng, country.names, country.world.add

    def word(attempt: int) -> str:
        return names.surname(country.tongue) if attempt else rng.choice(TITLES["noun"])

    for suffix in rng.sample(("Prize", "Medal", "Laurel", "Award"), 2):
        award = country.new("award", f"the {names.compound(word, suffix)}", short=f"the {suffix.lower()}")
        when = rng.randint(1921, 1966)
        add(award, "presenter", country.pick("university", "company"))
        add(award, "first", year(when))
        add(award, "ceremony", country.perhaps(0.7, "city"))
        _honour(country, award, when)


def _honour(country: Country, entity: Entity, when: int) -> None:
    """Perhaps name the entity after somebody who had died by then."""
    dead = [person for person in country["person"] if (country.world.year(person, "death_date") or PRESENT) <= when]
    if dead and country.chance(0.5):
        country.world.add(entity, "named_after", country.rng.choice(dead))


def _person(country: Country, calling: str, born: int, strangers: list[Entity]) -> None:
    rng, names, tongue = country.rng, country.names, country.tongue
    gender = rng.choice(("women", "men"))
    job = rng.choice(TITLES["science"]) if calling == "scientist" else calling
    namesakes = [other for other in strangers if other.job != job and other.gender == gender]
    if namesakes and country.chance(0.08):
        other = rng.choice(namesakes)
        strangers.remove(other)
        full = other.name
    else:
        full = names.person(tongue, gender)
    given, last = full.rsplit(" ", 1)
    aliases: tuple[str, ...] = ()
    if calling in ("novelist", "musician", "actor") and country.chance(0.45):
        aliases = (names.person(tongue, gender),)
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
        born, death = country.birth(person), world.year(person, "death_date")
        add(person, "birthplace", country.perhaps(0.92, "city"))
        if school := country.perhaps(0.7, "university"):
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
            position, when = rng.choice(TITLES["position"]), born + rng.randint(18, 24)
            add(person, "club", country["team"][0], position=position, year=when)
        elif country.chance(0.6):
            when = born + rng.randint(24, 36)
            houses = [it for it in (*country["company"], *country["university"]) if world.year(it, "founded") < when]
            add(person, "employer", rng.choice(houses) if houses else None, role=rng.choice(TITLES["role"]), year=when)
        award = country.pick("award")
        first, last = max(born + 32, world.year(award, "first") + 1), min(death or PRESENT, born + 80)
        if first < last and country.chance(0.6):
            add(person, "award", award, year=rng.randint(first, last))
        add(person, "residence", country.perhaps(0.6, "city"))
        add(person, "death_place", country.perhaps(0.85, "city") if death else None)


def _marriages(country: Country) -> None:
    rng, add, free = country.rng, country.world.add, sorted(country["person"], key=country.birth)
    while free:
        person = free.pop(0)
        for other in free:
            near = country.birth(other) - country.birth(person) < 14
            if other.gender != person.gender and near and country.chance(0.75):
                free.remove(other)
                when = country.birth(other) + rng.randint(21, 31)
                couple = [person, other]
                rng.shuffle(couple)
                add(couple[0], "spouse", couple[1], year=when)
                if country.chance(0.7):
                    add(couple[0], "children", number(rng.randint(2, 6), words=True))
                break


def _offices(country: Country) -> None:
    """Who holds which office at present."""
    rng, add = country.rng, country.world.add

    def holder(*jobs: str) -> Entity | None:
        fit = [one for one in country["person"] if country.alive(one, PRESENT) and (not jobs or one.profession in jobs)]
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
