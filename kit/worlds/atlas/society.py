"""What fills a country: institutions, people and works, each later than what it needs."""

from collections.abc import Sequence

from kit.worlds.atlas.country import BEGINNINGS, Country
from kit.worlds.atlas.people import add_person, marry
from kit.worlds.atlas.world import Entity, amount, listed, year

N_UNIVERSITIES = 3
SHARED_TITLE = 0.3  # the share of works that have the title of what they draw on


def settle(country: Country, strangers: Sequence[Entity]) -> None:
    """Fill the country with institutions, people and works.

    ``strangers`` of other countries may lend their names.
    """
    for rank in range(N_UNIVERSITIES):  # older than everybody who could study there
        _add_university(country, rank)
    for calling, first, last in country.lexicon["professions"]:
        born = country.rng.randint(first, last)
        add_person(
            country,
            calling,
            born,
            strangers,
        )
    _add_companies(country)
    _add_buildings(country)
    _add_team(country)
    _add_awards(country)

    for person in country["person"]:
        country.add(person, country.begun(person))
    marry(country)
    country.add(country.entity)
    for kind in ("region", "city", "river", "university"):
        for entity in country[kind]:
            country.add(entity)
    _add_works(country)


def _add_institution(
    country: Country,
    kind: str,
    name: str,
    years: tuple[int, int],
    **fields,
) -> Entity:
    """An institution that began between two years.

    Its facts are stated if there are people to be in them.
    """
    institution = country.build(kind, name, **fields)
    began = country.rng.randint(*years)
    relation = BEGINNINGS.get(kind, "founded")
    country.world.add(institution, relation, year(began))
    if kind != "university":
        country.add(institution, began)
    return institution


def _add_university(country: Country, rank: int) -> None:
    rng = country.rng
    seat = country.pick("city")
    word = country.word("city")
    names = (f"University of {seat.name}", f"{seat.name} Polytechnic")
    name = f"{word} University" if rank else rng.choice(names)
    university = _add_institution(
        country,
        "university",
        name,
        (1580, 1876),
    )
    if rank:
        university.short = word
    country.world.add(university, "city", seat)
    faculties = rng.sample(country.lexicon["titles"]["faculty"], rng.randint(3, 7))
    country.world.add(university, "faculty", listed(faculties))


def _add_companies(country: Country) -> None:
    rng = country.rng
    for trade, suffixes, first, last in country.lexicon["companies"]:
        word = country.word("surname")
        trade = trade or rng.choice(country.lexicon["titles"]["trade"])
        company = _add_institution(
            country,
            "company",
            _company_name(country, word, suffixes),
            (first, last),
            short=word,
            details={"trade": trade},
        )
        country.world.add(company, "employees", amount(rng.randint(12, 940) * 5))


def _company_name(country: Country, word: str, suffixes: list[str]) -> str:
    """The name of a company that is called by a word, and of no other."""
    return country.names.fresh(lambda attempt: f"{word} {country.rng.choice(suffixes)}")


def _add_buildings(country: Country) -> None:
    rng = country.rng
    titles = country.lexicon["titles"]
    sights = (*titles["adjective"], *titles["noun"])

    def word(attempt):
        return country.word("city") if attempt > 8 else rng.choice(sights)

    for form in ("stadium", *rng.sample(titles["form"], 3)):
        noun = form.split()[-1]
        building = _add_institution(
            country,
            "building",
            country.names.compound(word, noun.capitalize()),
            (1904, 1972),
            short=f"the {noun.lower()}",
            job=form,
            details={"form": form},
        )
        country.world.add(building, "height", amount(rng.randint(11, 138)))


def _add_team(country: Country) -> None:
    suffix = country.rng.choice(country.lexicon["titles"]["team"])
    name = country.names.compound(lambda attempt: country.pick("city").name, suffix)
    team = _add_institution(
        country,
        "team",
        name,
        (1881, 1929),
    )
    country.world.add(team, "ground", country["building"][0])


def _add_awards(country: Country) -> None:
    titles = country.lexicon["titles"]

    def word(attempt):
        return country.word("surname") if attempt else country.rng.choice(titles["noun"])

    for suffix in country.rng.sample(titles["award"], 2):
        name = country.names.compound(word, suffix)
        _add_institution(
            country,
            "award",
            f"the {name}",
            (1921, 1966),
            short=f"the {suffix.lower()}",
        )


def _add_works(country: Country) -> None:
    people = country["person"]
    novelists = [person for person in people if person.job == "novelist"]
    directors = [person for person in people if person.job == "film director"]
    for _ in range(4):
        _add_work(
            country,
            "book",
            "author",
            novelists,
            (25, 64),
            1898,
        )
    for _ in range(5):
        _add_work(
            country,
            "film",
            "director",
            directors,
            (28, 64),
            1919,
        )
    for person in people:
        if person.job == "musician":
            _add_band(country, person)
    for _ in range(4):
        _add_work(
            country,
            "album",
            "artist",
            country["band"],
            (1, 19),
        )
    for _ in range(4):
        _add_work(
            country,
            "song",
            "album",
            country["album"],
            (0, 0),
        )


def _add_band(country: Country, singer: Entity) -> None:
    names = country.names
    aliases = (names.title(),) if country.chance(0.3) else ()
    band = country.build(
        "band",
        names.band(),
        aliases=aliases,
        short="the group",
    )
    formed = country.begun(singer) + country.rng.randint(18, 27)
    country.world.add(band, "formed", year(formed))
    country.world.add(band, "singer", singer)
    country.add(band, formed)


def _add_work(
    country: Country,
    kind: str,
    relation: str,
    makers: Sequence[Entity],
    ages: tuple[int, int],
    earliest: int = 0,
) -> None:
    """A work of one of the makers, made at one of the ages and not before ``earliest``."""
    maker = country.rng.choice(makers)
    began = country.begun(maker)
    youngest, oldest = ages
    first = max(began + youngest, earliest)
    last = min(began + oldest, country.last_year(maker) - 1)
    made = country.rng.randint(first, last)

    work = country.build(kind, country.names.title())
    if kind != "song":
        country.world.add(work, "year", year(made))
    country.world.add(work, relation, maker)
    country.add(work, made)
    _share_title(country, work)


def _share_title(country: Country, work: Entity) -> None:
    """Give some works the title of what they draw on, if no other of their kind has it."""
    facts = country.world.about[work.id]
    relations = ("film.based_on", "song.album")
    sources = [fact.object for fact in facts if fact.relation in relations]
    if sources and country.chance(SHARED_TITLE):
        title = sources[0].name
        if title not in [other.name for other in country[work.kind]]:
            work.name = title
            work.short = title
