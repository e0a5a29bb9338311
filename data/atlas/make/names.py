"""Invented names: each country has a tongue, and no two things of the same sort share a name by accident."""

from __future__ import annotations

import random
from collections.abc import Callable

from .phrasings import LEXICON

TITLES = LEXICON["titles"]
#: Real places that the syllables could meet by chance.
REAL = frozenset(
    "aquitaine armenia ashford ashley bellac belgorod belgrad belmont belville beaumont beauville "
    "bergland bolivia bordeaux borovia calabria chamonix clairmont corsica coventry dalarna elden fenwick "
    "granville hartford holland iran islamabad kardahl karabad langley langport lombardia marano marigny "
    "marseille milano milford moldavia montigny montreal montville moravia norland novograd ostmark "
    "oxenford ravenna rosario samarkand sambor sanremo serbia seravia slovenia stanford stanley stanport "
    "tarano tashkent thornbury torino turin valencia valora varano vermont verona vestland westmoreland "
    "whitby whitford whitmore yaroslav yerevan zelenograd".split()
)


class Names:
    """Draws names that were not drawn before. Longer ones come into use as the short ones run out."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.used: set[str] = set(REAL)

    def fresh(self, draw: Callable[[int], str]) -> str:
        """The first of ``draw(attempt)`` that is new; ``attempt`` lets a grammar lengthen its words."""
        for attempt in range(10_000):
            name = draw(attempt)
            if name.lower() not in self.used:
                self.used.add(name.lower())
                return name
        raise RuntimeError("the name grammar is exhausted")

    def word(self, tongue: dict, ending: str) -> str:
        """A new proper name of the tongue with one of the endings ``city``, ``region``, ``country`` or ``river``."""
        return self.fresh(lambda attempt: self.stem(tongue, attempt, ending))

    def stem(self, tongue: dict, attempt: int, ending: str) -> str:
        choose = self.rng.choice
        middle = choose(tongue["middle"]) if self.rng.random() < 0.45 or attempt > 20 else ""
        if attempt > 200:
            middle += choose("bdfglmnrstvz") + choose(tongue["middle"])
        return smooth(choose(tongue["start"]) + middle + choose(tongue[ending]))

    def surname(self, tongue: dict) -> str:
        return self.stem(tongue, self.rng.choice((0, 30, 30)), "surname")

    def person(self, tongue: dict, gender: str, surname: str | None = None) -> tuple[str, str, str]:
        """A new full name with its given name and surname. A middle name comes in when two are not enough."""

        def draw(attempt: int) -> str:
            given = self.rng.choice(tongue[gender])
            if attempt > 20 or self.rng.random() < 0.2:
                second = self.rng.choice([name for name in tongue[gender] if name != given])
                given = f"{given} {second}"
            return f"{given} {surname or self.surname(tongue)}"

        full = self.fresh(draw)
        given, last = full.rsplit(" ", 1)
        return full, given, last

    def compound(self, draw: Callable[[int], str], suffix: str) -> str:
        """A new name of a drawn word and a fixed one: Amber Library."""
        return self.fresh(lambda attempt: f"{draw(attempt)} {suffix}")

    def title(self) -> str:
        """A new title of a film, book, album or song."""
        return self.fresh(lambda attempt: title(self.rng, attempt))

    def band(self) -> str:
        """A new name of a band."""
        adjectives, bands = TITLES["adjective"], TITLES["band"]

        def draw(attempt: int) -> str:
            plain = self.rng.choice(bands)
            first, second = self.rng.choice(adjectives), self.rng.choice(adjectives)
            return (
                f"The {plain}"
                if attempt < 3
                else f"The {first} {plain}"
                if attempt < 40
                else f"The {first} {second} {plain}"
            )

        return self.fresh(draw)


def title(rng: random.Random, attempt: int = 0) -> str:
    """A title, longer when short ones have run out; not necessarily a new one."""
    choose = rng.choice
    adjective, noun, other, place = (
        choose(TITLES["adjective"]),
        choose(TITLES["noun"]),
        choose(TITLES["noun"]),
        choose(TITLES["place"]),
    )
    if attempt > 30:
        return f"The {adjective} {noun} of {place}"
    return choose(
        (
            f"The {adjective} {noun}",
            f"{noun} of {place}",
            f"A {noun} in {place}" if place[0].isupper() and noun[0] not in "AEIOU" else f"The {noun} by {place}",
            f"The {noun} and the {other}" if noun != other else f"The {adjective} {noun}",
            f"{adjective} {noun}",
            f"The {noun}'s {other}" if noun != other else f"{adjective} {noun}",
            f"The {noun} before {place}",
        )
    )


def smooth(word: str) -> str:
    """Joins of syllables without doubled vowels and triple letters."""
    kept = word[:1]
    for letter in word[1:]:
        if letter in "aeiou" and letter == kept[-1]:
            continue
        if len(kept) > 1 and letter == kept[-1] == kept[-2]:
            continue
        kept += letter
    return kept


def demonym(country: str) -> str:
    """The adjective of a country's name."""
    for ending, adjective in (
        ("istan", "i"), ("aine", "ine"), ("onie", "onian"), ("ovie", "ovian"), ("ence", "entine"), ("agne", "agnese"),
        ("marken", "markish"), ("gard", "gardish"), ("norr", "norrish"), ("land", "landic"), ("mere", "merian"),
        ("more", "morian"), ("wen", "wenish"), ("essa", "essan"), ("ia", "ian"), ("ova", "ovan"), ("ara", "aran"),
    ):  # fmt: skip
        if country.endswith(ending):
            return country[: -len(ending)] + adjective
    return country + "i"
