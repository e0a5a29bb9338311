"""Books, films, bands, albums and songs, each later than what it needs."""

from .geography import Country
from .world import PRESENT, Entity, year

LYRICISTS = ("novelist", "musician", "composer", "politician", "actor")


def create(country: Country) -> None:
    """The country's works, in the order in which one may draw on another."""
    for make, times in ((_book, 4), (_film, 4), (_band, 2), (_album, 4), (_song, 3)):
        for _ in range(times):
            make(country)


def _maker(country: Country, *jobs: str, earliest: int, youth: int) -> tuple[Entity, int]:
    """Somebody of the professions and a year in which they could have made a work."""
    maker = country.rng.choice([person for person in country["person"] if person.job in jobs])
    born = country.birth(maker)
    last = min(born + 64, (country.world.year(maker, "death_date") or PRESENT) - 1)
    return maker, country.rng.randint(max(born + youth, earliest), last)


def _company(country: Country, trade: str, when: int) -> Entity | None:
    """The company of the trade, if it existed by then."""
    company = next(company for company in country["company"] if company.details["trade"] == trade)
    return company if country.world.year(company, "founded") <= when else None


def _book(country: Country) -> None:
    add, chance = country.world.add, country.chance
    author, when = _maker(country, "novelist", earliest=1898, youth=25)
    book = country.new("book", country.names.title())
    add(book, "year", year(when))
    add(book, "author", author)
    add(book, "publisher", _company(country, "publishing house", when))
    add(book, "set_in", country.perhaps(0.85, "city"))
    friends = [person for person in country["person"] if person is not author and country.alive(person, when)]
    add(book, "dedicated_to", country.rng.choice(friends) if friends and chance(0.55) else None)
    linguist = country.suited(when + 6, "novelist", "scientist", "politician", "composer", age=24)
    add(book, "translator", linguist if linguist is not author and chance(0.8) else None)


def _film(country: Country) -> None:
    add, chance, world = country.world.add, country.chance, country.world
    director, when = _maker(country, "film director", earliest=1919, youth=28)
    sources = [book for book in country["book"] if world.year(book, "year") < when]
    source = country.rng.choice(sources) if sources and chance(0.65) else None
    taken = {film.name for film in country["film"]}
    same_title = source is not None and source.name not in taken and chance(0.5)
    film = country.new("film", source.name if same_title else country.names.title())
    add(film, "year", year(when))
    add(film, "director", director)
    add(film, "star", country.suited(when, "actor", age=18))
    add(film, "based_on", source)
    add(film, "shot_in", country.perhaps(0.85, "city"))
    add(film, "studio", _company(country, "film company", when) if chance(0.7) else None)
    add(film, "composer", country.suited(when, "composer", "musician") if chance(0.85) else None)


def _band(country: Country) -> None:
    add, chance = country.world.add, country.chance
    singers = [person for person in country["person"] if person.job == "musician"]
    singer = singers[len(country["band"]) % len(singers)]
    name, aliases = country.names.band(), (country.names.title(),) if chance(0.3) else ()
    band = country.new("band", name, aliases=aliases, short="the group")
    add(band, "city", country.pick("city"))
    formed = country.birth(singer) + country.rng.randint(18, 27)
    add(band, "formed", year(formed))
    add(band, "singer", singer)
    others = [person for person in country["person"] if person is not singer and country.alive(person, formed + 2, 22)]
    add(band, "manager", country.rng.choice(others) if others and chance(0.7) else None)
    add(band, "named_after", country.perhaps(0.6, "book", "river", "building"))


def _album(country: Country) -> None:
    add, chance = country.world.add, country.chance
    band = country.pick("band")
    when = country.world.year(band, "formed") + country.rng.randint(1, 19)
    album = country.new("album", country.names.title())
    add(album, "year", year(when))
    add(album, "artist", band)
    add(album, "label", _company(country, "record company", when) if chance(0.75) else None)
    add(album, "recorded_in", country.perhaps(0.85, "city"))
    add(album, "producer", country.suited(when, "musician", "composer", "actor") if chance(0.85) else None)


def _song(country: Country) -> None:
    add, chance = country.world.add, country.chance
    album = country.pick("album")
    taken = {song.name for song in country["song"]}
    title = album.name if album.name not in taken and chance(0.3) else country.names.title()
    song = country.new("song", title)
    add(song, "album", album)
    add(song, "lyricist", country.suited(country.world.year(album, "year"), *LYRICISTS) if chance(0.85) else None)
    add(song, "about", country.perhaps(0.75, "river", "building", "city"))
