"""What fills a country: institutions, people with their lives, and works, each later than what it needs."""

from string import ascii_uppercase

from .country import Country, listed
from .phrasings import LEXICON
from .world import PRESENT, Entity, day, number, year

TITLES = LEXICON["titles"]
FOUNDERS = ("industrialist", "scientist", "novelist", "film director", "composer", "actor")


def settle(country: Country, strangers: list[Entity]) -> None:
    """Fill the country with institutions, people and works. ``strangers`` of other countries may lend their names."""
    _universities(country)
    for calling, first, last in LEXICON["professions"]:
        _person(country, calling, country.rng.randint(first, last), strangers)
    _companies(country)
    _buildings(country)
    _awards(country)
    for person in country["person"]:
        _life(country, person)
    _marriages(country)
    for kind in ("country", "region", "city", "river", "university", "company", "team"):
        for entity in country[kind] if kind != "country" else [country.entity]:
            country.add(entity, 1960 if kind == "river" else PRESENT)
    for make, times in ((_book, 4), (_film, 5), (_band, 2), (_album, 4), (_song, 4)):
        for _ in range(times):
            make(country)


def _universities(country: Country) -> None:
    """Three universities, older than everybody who could study there."""
    rng, add = country.rng, country.world.add
    for place in range(3):
        seat, word = country.pick("city"), country.word("city")
        name = f"{word} University" if place else rng.choice((f"University of {seat.name}", f"{seat.name} Polytechnic"))
        university = country.new("university", name, short=word if place else name)
        add(university, "city", seat)
        add(university, "founded", year(rng.randint(1580, 1876)))
        add(university, "faculty", listed(rng.sample(TITLES["faculty"], rng.randint(3, 7))))


def _companies(country: Country) -> None:
    """A publisher, a film company, a record company and one firm of another trade."""
    rng, add = country.rng, country.world.add
    for trade, suffixes in (
        ("publishing house", ("Press", "& Sons", "Books")),
        ("film company", ("Film", "Pictures", "Studios")),
        ("record company", ("Records", "Sound")),
        (rng.choice(TITLES["trade"]), ("Works", "& Company", "Brothers")),
    ):
        word = country.word("surname")
        company = country.new("company", f"{word} {rng.choice(suffixes)}", short=word, details={"trade": trade})
        when = rng.randint(1930, 1958) if trade == "record company" else rng.randint(1894, 1926)
        founders = country.alive(when, *FOUNDERS, age=22)
        add(company, "founder", rng.choice(founders) if founders else None)
        add(company, "founded", year(when))
        add(company, "headquarters", country.pick("city"))
        add(company, "employees", number(rng.randint(12, 940) * 5))


def _buildings(country: Country) -> None:
    """A stadium and three buildings of other forms, and a football club with the stadium as its ground."""
    rng, names, add = country.rng, country.names, country.world.add

    def word(attempt: int) -> str:
        return rng.choice(TITLES["adjective"] + TITLES["noun"]) if attempt < 8 else country.word("city")

    for form in ("stadium", *rng.sample(TITLES["form"], 3)):
        suffix = form.split()[-1].capitalize()
        fields = {"short": f"the {suffix.lower()}", "job": form, "details": {"form": form}}
        building, when = country.new("building", names.compound(word, suffix), **fields), rng.randint(1904, 1972)
        add(building, "opened", year(when))
        add(building, "height", number(rng.randint(11, 138)))
        country.add(building, when)
    name = names.compound(lambda attempt: country.pick("city").name, rng.choice(TITLES["team"]))
    team = country.new("team", name)
    add(team, "ground", country["building"][0])
    add(team, "founded", year(rng.randint(1881, 1929)))


def _awards(country: Country) -> None:
    rng = country.rng
    for suffix in rng.sample(("Prize", "Medal", "Laurel", "Award"), 2):
        name = country.names.compound(lambda n: country.word("surname") if n else rng.choice(TITLES["noun"]), suffix)
        award, when = country.new("award", f"the {name}", short=f"the {suffix.lower()}"), rng.randint(1921, 1966)
        country.world.add(award, "first", year(when))
        country.add(award, when)


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
        aliases = (names.fresh(lambda attempt: f"{given[0]}. {rng.choice(ascii_uppercase)}. {last}"),)
    details = {"profession": calling, "job": job}
    person = country.new("person", full, short=last, aliases=aliases, gender=gender, job=job, details=details)
    country.world.add(person, "birth_date", day(rng, born))
    age = rng.randint(56, 93)
    if born + age < PRESENT - 3 and not (born > 1928 and country.chance(0.6)):
        country.world.add(person, "death_date", day(rng, born + age))
        country.world.add(person, "death_place", country.pick("city") if country.chance(0.5) else None)
        person.details["died"] = "yes"


def _life(country: Country, person: Entity) -> None:
    """Home, schooling, teacher, work and honours."""
    rng, world = country.rng, country.world
    born, death = country.birth(person), world.year(person, "death_date")
    country.add(person)
    if country.chance(0.55):
        subject, when = rng.choice(TITLES["subject"]), born + rng.randint(21, 26)
        world.add(person, "education", country.pick("university"), subject=subject, year=when)
    teachers = country.alive(born + 23, *LEXICON["teachers"][person.profession], age=36)
    world.add(person, "mentor", rng.choice(teachers) if teachers and country.chance(0.5) else None)
    if person.profession == "footballer":
        position, when = rng.choice(TITLES["position"]), born + rng.randint(18, 24)
        world.add(person, "club", country["team"][0], position=position, year=when)
    elif country.chance(0.45):
        when = born + rng.randint(24, 36)
        houses = [it for it in (*country["company"], *country["university"]) if world.year(it, "founded") < when]
        world.add(person, "employer", rng.choice(houses) if houses else None, role=rng.choice(TITLES["role"]), year=when)
    award = country.pick("award")
    first, last = max(born + 32, world.year(award, "first") + 1), min(death or PRESENT, born + 80)
    if first < last and country.chance(0.5):
        world.add(person, "award", award, year=rng.randint(first, last))


def _marriages(country: Country) -> None:
    rng, add, free = country.rng, country.world.add, sorted(country["person"], key=country.birth)
    while free:
        person = free.pop(0)
        for other in free:
            near = country.birth(other) - country.birth(person) < 14
            if other.gender != person.gender and near and country.chance(0.75):
                free.remove(other)
                one, two = rng.sample((person, other), 2)
                add(one, "spouse", two, year=country.birth(other) + rng.randint(21, 31))
                add(one, "children", number(rng.randint(2, 6), words=True) if country.chance(0.7) else None)
                break


def _maker(country: Country, *jobs: str, earliest: int, youth: int) -> tuple[Entity, int]:
    """Somebody of the professions and a year in which they could have made a work."""
    maker = country.rng.choice([person for person in country["person"] if person.job in jobs])
    born = country.birth(maker)
    last = min(born + 64, (country.world.year(maker, "death_date") or PRESENT) - 1)
    return maker, country.rng.randint(max(born + youth, earliest), last)


def _work(country: Country, kind: str, name: str, relation: str, maker: Entity, when: int) -> Entity:
    work = country.new(kind, name)
    country.world.add(work, "year", year(when))
    country.world.add(work, relation, maker)
    country.add(work, when)
    return work


def _book(country: Country) -> None:
    _work(country, "book", country.names.title(), "author", *_maker(country, "novelist", earliest=1898, youth=25))


def _film(country: Country) -> None:
    """A film; one of a novel may have its title."""
    director, when = _maker(country, "film director", earliest=1919, youth=28)
    sources = [book for book in country["book"] if country.world.year(book, "year") < when]
    source = country.rng.choice(sources) if sources and country.chance(0.65) else None
    same_title = source and country.chance(0.3) and source.name not in {film.name for film in country["film"]}
    film = _work(country, "film", source.name if same_title else country.names.title(), "director", director, when)
    country.world.add(film, "based_on", source)


def _band(country: Country) -> None:
    singers = [person for person in country["person"] if person.job == "musician"]
    singer = singers[len(country["band"]) % len(singers)]
    aliases = (country.names.title(),) if country.chance(0.3) else ()
    band = country.new("band", country.names.band(), aliases=aliases, short="the group")
    formed = country.birth(singer) + country.rng.randint(18, 27)
    country.world.add(band, "formed", year(formed))
    country.world.add(band, "singer", singer)
    country.add(band, formed)


def _album(country: Country) -> None:
    band = country.pick("band")
    when = country.world.year(band, "formed") + country.rng.randint(1, 19)
    _work(country, "album", country.names.title(), "artist", band, when)


def _song(country: Country) -> None:
    album = country.pick("album")
    same_title = country.chance(0.2) and album.name not in {song.name for song in country["song"]}
    song = country.new("song", album.name if same_title else country.names.title())
    country.world.add(song, "album", album)
    country.add(song, country.world.year(album, "year"))
