"""What a text mentions, and texts with numbers in the place of names: what a small language model reads and writes.

A model of a million weights that has never met a name cannot write it out, but it can copy its number.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from kit.corpus import Corpus
from kit.text.entities import MONTHS, SurfaceMatcher, fold, names_in, surfaces, without_qualifier

_MONTH = "|".join(MONTHS)
#: A day, a month of a year, or a year: the values that questions ask for and that have no capital letter.
DATE = re.compile(
    rf"\b(?:(?:\d{{1,2}} )?(?:{_MONTH})(?: \d{{1,2}},)? \d{{4}}|(?:{_MONTH}) \d{{1,2}}|[12]\d{{3}})\b"
)
NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")
MOST_NAMES = 40  # of a prompt
SUBJECT = "<new>"  # what a passage is about
PLACEHOLDER = re.compile(r"<n\d+>")
_TOKEN = re.compile(r"<\w+>|[^\W\d_]+(?:['’-][^\W\d_]+)*|\d+|[^\w\s]")


class Mention(NamedTuple):
    """Where a name, a date or a number begins and ends in a text, and what it means: a title where there is one."""

    start: int
    end: int
    entity: str


def key_of(entity: str) -> str:
    """What mentions of one entity share: the name in lower case, without what tells it from its namesakes."""
    return fold(without_qualifier(entity))


class EntityLinker:
    """Finds mentions over a corpus. A name means the document that it is the title or an alias of; of two namesakes
    neither, and then, as a name without a page, itself.
    """

    def __init__(self, corpus: Corpus) -> None:
        known = surfaces(corpus)
        names = {
            name
            for passage in corpus.passages
            for name in names_in(f"{passage.title}\n{passage.text}")
        }
        self._finder, self._meaning = SurfaceMatcher(names | known.keys()), {}
        for name, documents in known.items():
            meant = [
                document
                for document, weight in documents.items()
                if weight == max(documents.values())
            ]
            self._meaning[name] = (
                corpus.passages[corpus.documents[meant[0]][0]].title if len(meant) == 1 else ""
            )

    def mentions(self, text: str, *, numbers: bool = False) -> list[Mention]:
        """From left to right, none within another: titles and aliases first, then the longer ones."""
        patterns = (DATE, NUMBER) if numbers else (DATE,)
        found = [
            (True, -len(it[0]), it.start(), it[0])
            for pattern in patterns
            for it in pattern.finditer(text)
        ]
        for start, surface in self._finder.find(text):
            if text[start].isupper() or text[start].isdigit():
                entity = self._meaning.get(surface) or text[start : start + len(surface)]
                found.append((surface not in self._meaning, -len(surface), start, entity))
        kept: list[Mention] = []
        for _, minus_length, start, entity in sorted(found, key=lambda mention: mention[:3]):
            end = start - minus_length
            if all(end <= other.start or other.end <= start for other in kept):
                kept.append(Mention(start, end, entity))
        return sorted(kept)

    def is_subject(self, entity: str, title: str) -> bool:
        """Whether a mention is the thing of this title, or its short name."""
        short = fold(entity) not in self._meaning and set(key_of(title).split()).issuperset(
            key_of(entity).split()
        )
        return key_of(entity) == key_of(title) or short


linker_of = lru_cache(maxsize=2)(EntityLinker)


class Placeholders:
    """The entities of a prompt by their numbers: ``<n0>`` is the first of ``entities``."""

    def __init__(self) -> None:
        self.entities: list[str] = []
        self._number: dict[str, int] = {}

    def of(self, entity: str) -> str:
        """The placeholder of an entity, which gets a number where it has none; beyond the last one there is none."""
        key = key_of(entity)
        if key not in self._number and len(self.entities) < MOST_NAMES:
            self._number[key] = len(self.entities)
            self.entities.append(entity)
        return f"<n{self._number[key]}>" if key in self._number else fold(entity)

    def __contains__(self, entity: str) -> bool:
        return key_of(entity) in self._number

    def entity(self, placeholder: str) -> str | None:
        """What a placeholder stands for; None for one that stands for nothing."""
        number = (
            int(placeholder[2:-1]) if PLACEHOLDER.fullmatch(placeholder) else len(self.entities)
        )
        return self.entities[number] if number < len(self.entities) else None

    def hide(self, text: str, mentions: Sequence[Mention], subject: Sequence[Mention] = ()) -> str:
        """The text in lower case, spaces between all tokens, with placeholders, one for all that is the subject."""
        parts, end = [], 0
        for mention in mentions:
            parts += [
                text[end : mention.start],
                SUBJECT if mention in subject else self.of(mention.entity),
            ]
            end = mention.end
        return plain(" ".join([*parts, text[end:]]))


def plain(text: str) -> str:
    """In lower case with spaces between all tokens, as a small model reads it."""
    return " ".join(token.lower() for token in _TOKEN.findall(text))
