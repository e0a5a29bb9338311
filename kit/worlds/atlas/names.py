"""Invented names: each country has a tongue.

No two entities of the same sort share a name by accident.
"""

from collections.abc import Callable, Mapping, Sequence
from random import Random

from kit.worlds.atlas.phrasings import Lexicon, fill

TAIL = 3  # the exponent by which earlier names are the more likely to be taken up
MIDDLE_NAME = 0.2  # the share of people who have one


class Names:
    """Draws names that were not drawn before; longer ones come into use as short ones run out."""

    def __init__(self, rng: Random, lexicon: Lexicon) -> None:
        self.rng = rng
        self.lexicon = lexicon
        self.used: set[str] = set(lexicon["real_places"])
        self.words: list[str] = []  # that later names may take up
        self.shared: set[str] = set()  # names of two people

    def fresh(self, draw: Callable[[int], str]) -> str:
        """The first of ``draw(attempt)`` that is new.

        By ``attempt`` a grammar may lengthen its words.
        """
        for attempt in range(10_000):
            name = draw(attempt)
            if name.lower() not in self.used:
                self.used.add(name.lower())
                return name
        raise RuntimeError("the name grammar is exhausted")

    def word(self, tongue: dict, ending: str) -> str:
        """A new proper name; its ending is the tongue's for a city, surname, region or river …

        In a crowded language a share of them take up an earlier name, surnames as it stands.
        """
        choose = self.rng.choice
        if self.words and ending != "country" and self.rng.random() < self.lexicon["namesakes"]:
            return self._namesake(ending)

        def stem(attempt):
            middle = ""
            if self.rng.random() < 0.45 or attempt > 8:
                middle = choose(tongue["middle"])
            if attempt > 30:
                middle += choose("bdfglmnrstvz")
                middle += choose(tongue["middle"])

            start = choose(tongue["start"])
            return smooth(start + middle + choose(tongue[ending]))

        word = self.fresh(stem)
        if self.lexicon["namesakes"]:
            self.words.append(word)
        return word

    def _namesake(self, ending: str) -> str:
        """An earlier name, told apart by an epithet where it is no surname.

        The first names are by far the most frequent, as in a long-tailed world.
        """

        def earlier():
            row = int(len(self.words) * self.rng.random() ** TAIL)
            return self.words[row]

        if ending == "surname":
            return earlier()
        epithets = self.lexicon["epithets"]
        return self.fresh(lambda attempt: f"{self.rng.choice(epithets)} {earlier()}")

    def person(self, tongue: dict, gender: str) -> str:
        """A new full name; the surname is that of nobody else, but in a crowded language."""

        def draw(attempt):
            n_given = 2 if self.rng.random() < MIDDLE_NAME else 1
            given = self.rng.sample(tongue[gender], n_given)
            surname = self.word(tongue, "surname")
            return " ".join([*given, surname])

        return self.fresh(draw)

    def compound(self, draw: Callable[[int], str], suffix: str) -> str:
        """A new name of a drawn word and a fixed one: Amber Library."""
        return self.fresh(lambda attempt: f"{draw(attempt)} {suffix}")

    def title(self) -> str:
        """A new title of a film, book, album or song."""
        titles = self.lexicon["titles"]
        return self.fresh(lambda attempt: title(self.rng, titles, attempt))

    def band(self) -> str:
        """A new name of a band."""

        def draw(attempt):
            adjectives = "<adjective> " * (attempt // 4)
            return fill(
                f"The {adjectives}<band>",
                self.rng,
                str,
                self.lexicon["titles"],
            )

        return self.fresh(draw)


def title(rng: Random, titles: Mapping[str, Sequence[str]], attempt: int = 0) -> str:
    """A title, longer when short ones have run out; not necessarily a new one."""
    length = "short" if attempt < 30 else "long"
    phrasing = rng.choice(titles[length])
    return fill(
        phrasing,
        rng,
        str,
        titles,
    )


def smooth(word: str) -> str:
    """A word without doubled vowels and triple letters, where its syllables join."""
    kept = word[:1]
    for letter in word[1:]:
        doubled = letter == kept[-1]
        if not doubled or (letter not in "aeiou" and letter != kept[-2:-1]):
            kept += letter
    return kept


def demonym(country: str, endings: Mapping[str, str]) -> str:
    """The adjective of a country's name."""
    for ending, adjective in endings.items():
        if country.endswith(ending):
            return country.removesuffix(ending) + adjective
    return f"{country}i"
