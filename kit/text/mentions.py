"""Finding names in text: Aho-Corasick over folded surfaces, whole words only."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import ahocorasick
from bm25s.stopwords import STOPWORDS_EN_PLUS

_CALENDAR = (
    "january february march april may june july august september october november december "
    "monday tuesday wednesday thursday friday saturday sunday"
)
#: NLTK's list, which bm25s brings. (That of scikit-learn holds "mill", "fire", "bill" and "system".)
STOP_WORDS = frozenset(STOPWORDS_EN_PLUS)
#: Words that are no names by themselves, whatever their capital.
NO_NAMES = STOP_WORDS | frozenset(_CALENDAR.split())

_CAPITAL = "A-ZÀ-ÖØ-ÞĀ-Ž"
#: A full stop belongs to initials and titles of honour only: elsewhere it ends the sentence, and the name with it.
_WORD = rf"(?:(?:[{_CAPITAL}]\.)+|(?:St|Mt|Mr|Mrs|Dr|Jr|Sr)\.|[{_CAPITAL}][\w'’\-&]*)"
_INNER = r"(?:of|the|de|la|le|von|van|der|den|and|for|in|on|du|da|del|di|al|&)"
#: Capitalised words in a row, with up to two small words between them: "House of the Hill".
NAME = re.compile(rf"{_WORD}(?:\s+(?:{_INNER}\s+){{0,2}}{_WORD})*")

_ARTICLE = re.compile(r"^(?:the|an?)\s+")
_POSSESSIVE = re.compile(r"['’]s$")
_QUALIFIER = re.compile(r"\s*\([^)]*\)$")


def lower(text: str) -> str:
    """Lower case of the same length, so that places stay places (``İ`` would become two characters)."""
    lowered = text.lower()
    return lowered if len(lowered) == len(text) else "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


def fold(name: str) -> str:
    """A name as it is looked up: lower case, single spaces, no leading article, possessive or outer punctuation."""
    folded = _ARTICLE.sub("", " ".join(lower(name).split()).strip(" .,;:!?\"'’“”-&"))
    return _POSSESSIVE.sub("", folded)


def without_qualifier(title: str) -> str:
    """A title without what tells it from its namesakes: "Left & Right (song)" → "Left & Right"."""
    return _QUALIFIER.sub("", title).strip() or title


def is_name(folded: str) -> bool:
    return len(folded) > 2 and folded not in NO_NAMES


def names_in(text: str) -> Iterator[str]:
    """The folded names that the capitals of a text show. A single word that only opens a sentence is none."""
    for match in NAME.finditer(text):
        opens = not match.start() or text[: match.start()].rstrip()[-1:] in ".!?\n"
        words = match.group().split()
        while words and fold(words[0]) in NO_NAMES:
            words, opens = words[1:], False
        if words and not (opens and len(words) == 1) and is_name(name := fold(" ".join(words))):
            yield name


class Mentions:
    """All whole-word places of folded surfaces in a text, nested ones included ("Cassel" in "Siege of Cassel")."""

    def __init__(self, surfaces: Iterable[str]) -> None:
        self._automaton = ahocorasick.Automaton()
        for surface in surfaces:
            self._automaton.add_word(surface, surface)
        self._automaton.make_automaton()

    def find(self, text: str) -> Iterator[tuple[int, str]]:
        """Pairs of the place where it begins and the surface."""
        if self._automaton.kind != ahocorasick.AHOCORASICK:  # no surfaces at all
            return
        lowered = lower(text)
        for last, surface in self._automaton.iter(lowered):
            start, end = last - len(surface) + 1, last + 1
            if not (start and lowered[start - 1].isalnum()) and not (end < len(lowered) and lowered[end].isalnum()):
                yield start, surface
