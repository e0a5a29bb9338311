"""Invented names: each country has a tongue, and no two things of the same sort share a name by accident."""

import random
from collections.abc import Callable

from .phrasings import LEXICON

TITLES = LEXICON["titles"]


class Names:
    """Draws names that were not drawn before. Longer ones come into use as the short ones run out."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.used: set[str] = set(LEXICON["real_places"])

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
        return self.fresh(lambda attempt: self._stem(tongue, attempt, ending))

    def _stem(self, tongue: dict, attempt: int, ending: str) -> str:
        choose = self.rng.choice
        middle = choose(tongue["middle"]) if self.rng.random() < 0.45 or attempt > 20 else ""
        if attempt > 200:
            middle += choose("bdfglmnrstvz") + choose(tongue["middle"])
        return smooth(choose(tongue["start"]) + middle + choose(tongue[ending]))

    def surname(self, tongue: dict) -> str:
        return self._stem(tongue, self.rng.choice((0, 30, 30)), "surname")

    def person(self, tongue: dict, gender: str) -> str:
        """A new full name. A middle name comes in when two are not enough."""

        def draw(attempt: int) -> str:
            given = self.rng.choice(tongue[gender])
            if attempt > 20 or self.rng.random() < 0.2:
                second = self.rng.choice([name for name in tongue[gender] if name != given])
                given = f"{given} {second}"
            return f"{given} {self.surname(tongue)}"

        return self.fresh(draw)

    def compound(self, draw: Callable[[int], str], suffix: str) -> str:
        """A new name of a drawn word and a fixed one: Amber Library."""
        return self.fresh(lambda attempt: f"{draw(attempt)} {suffix}")

    def title(self) -> str:
        """A new title of a film, book, album or song."""
        return self.fresh(lambda attempt: title(self.rng, attempt))

    def band(self) -> str:
        """A new name of a band."""

        def draw(attempt: int) -> str:
            plain, *others = (self.rng.choice(TITLES[sort]) for sort in ("band", "adjective", "adjective"))
            return " ".join(["The", *others[: (attempt >= 3) + (attempt >= 40)], plain])

        return self.fresh(draw)


def title(rng: random.Random, attempt: int = 0) -> str:
    """A title, longer when short ones have run out; not necessarily a new one."""
    choose = rng.choice
    adjective, noun, other, place = (choose(TITLES[sort]) for sort in ("adjective", "noun", "noun", "place"))
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
        if letter != kept[-1] or (letter not in "aeiou" and letter != kept[-2:-1]):
            kept += letter
    return kept


def demonym(country: str) -> str:
    """The adjective of a country's name."""
    for ending, adjective in LEXICON["demonyms"].items():
        if country.endswith(ending):
            return country[: -len(ending)] + adjective
    return country + "i"
