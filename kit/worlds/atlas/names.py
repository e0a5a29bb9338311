"""Invented names: each country has a tongue, and no two things of the same sort share a name by accident."""

import random
from collections.abc import Callable

from kit.worlds.atlas.phrasings import LEXICON, fill

TITLES = LEXICON["titles"]


class Names:
    """Draws names that were not drawn before. Longer ones come into use as the short ones run out."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.used: set[str] = set(LEXICON["real_places"])
        self.shared: set[str] = set()  # names of two people

    def fresh(self, draw: Callable[[int], str]) -> str:
        """The first of ``draw(attempt)`` that is new; ``attempt`` lets a grammar lengthen its words."""
        for attempt in range(10_000):
            name = draw(attempt)
            if name.lower() not in self.used:
                self.used.add(name.lower())
                return name
        raise RuntimeError("the name grammar is exhausted")

    def word(self, tongue: dict, ending: str) -> str:
        """A new proper name with an ending of the tongue for a city, surname, region, country or river."""
        choose = self.rng.choice

        def stem(attempt: int) -> str:
            middle = choose(tongue["middle"]) if self.rng.random() < 0.45 or attempt > 8 else ""
            middle += choose("bdfglmnrstvz") + choose(tongue["middle"]) if attempt > 30 else ""
            return smooth(choose(tongue["start"]) + middle + choose(tongue[ending]))

        return self.fresh(stem)

    def person(self, tongue: dict, gender: str) -> str:
        """A new full name, its surname that of nobody else; some have a middle name."""
        given = self.rng.sample(tongue[gender], 1 + (self.rng.random() < 0.2))
        return " ".join([*given, self.word(tongue, "surname")])

    def compound(self, draw: Callable[[int], str], suffix: str) -> str:
        """A new name of a drawn word and a fixed one: Amber Library."""
        return self.fresh(lambda attempt: f"{draw(attempt)} {suffix}")

    def title(self) -> str:
        """A new title of a film, book, album or song."""
        return self.fresh(lambda attempt: title(self.rng, attempt))

    def band(self) -> str:
        """A new name of a band."""
        return self.fresh(
            lambda attempt: fill(
                f"The {'<adjective> ' * (attempt // 4)}<band>", self.rng, str, TITLES
            )
        )


def title(rng: random.Random, attempt: int = 0) -> str:
    """A title, longer when short ones have run out; not necessarily a new one."""
    return fill(rng.choice(TITLES["short" if attempt < 30 else "long"]), rng, str, TITLES)


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
