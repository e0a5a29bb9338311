"""What a text mentions, and texts with numbers in the place of names, for a small language model.

A model of a million weights that has never met a name cannot write it out, but it can copy its
number.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from kit.corpus import Corpus
from kit.text.derived import kept
from kit.text.entities import (
    MONTHS,
    SurfaceMatcher,
    fold,
    is_written_as_name,
    names_in,
    surfaces,
    without_qualifier,
)

_MONTH = "|".join(MONTHS)
#: A day, a month of a year, or a year: values that questions ask for and that have no capital.
DATE = re.compile(
    rf"\b(?:(?:\d{{1,2}} )?(?:{_MONTH})(?: \d{{1,2}},)? \d{{4}}"
    rf"|(?:{_MONTH}) \d{{1,2}}|[12]\d{{3}})\b"
)
NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")
MOST_NAMES = 40  # of a prompt
SUBJECT = "<new>"  # what a passage is about
PLACEHOLDER = re.compile(r"<n\d+>")
_TOKEN = re.compile(r"<\w+>|[^\W\d_]+(?:['’-][^\W\d_]+)*|\d+|[^\w\s]")


class Mention(NamedTuple):
    """Where a name, a date or a number begins and ends in a text, and what it means.

    That is a title where there is one.
    """

    start: int
    end: int
    entity: str


Mentions = Sequence[Mention]


def key_of(entity: str) -> str:
    """What mentions of one entity share: its folded name, without what tells namesakes apart."""
    return fold(without_qualifier(entity))


class EntityLinker:
    """Finds mentions over a corpus.

    A name means the document that it is the title or an alias of. Of two namesakes it means
    neither, and then, as a name without a page, itself.
    """

    def __init__(self, corpus: Corpus) -> None:
        documents_of = surfaces(corpus)
        names = kept(_names, list[str], corpus, corpus.hash)
        self._matcher = SurfaceMatcher({*documents_of, *names})

        #: Of each title and alias the title that is meant; "" of namesakes.
        self._title = dict.fromkeys(documents_of, "")
        for name, documents in documents_of.items():
            largest = max(documents.values())
            meant = [document for document in documents if documents[document] == largest]
            if len(meant) == 1:
                row = corpus.documents[meant[0]][0]
                self._title[name] = corpus.passages[row].title

    def mentions(self, text: str, *, numbers: bool = False) -> list[Mention]:
        """From left to right, none within another.

        Titles and aliases go before others, and then the longer before the shorter.
        """
        titles = []
        others = []
        for pattern in (DATE, NUMBER) if numbers else (DATE,):
            for match in pattern.finditer(text):
                others.append(Mention(*match.span(), match[0]))
        for start, surface in self._matcher.find(text):
            end = start + len(surface)
            form = text[start:end]
            if is_written_as_name(form):
                group = titles if surface in self._title else others
                group.append(Mention(start, end, self._title.get(surface) or form))

        titles.sort(key=_longest_first)
        others.sort(key=_longest_first)
        return _without_overlap(titles + others)

    def is_subject(self, entity: str, title: str) -> bool:
        """Whether a mention is the thing of this title, or its short name."""
        if key_of(entity) == key_of(title):
            return True
        if fold(entity) in self._title:
            return False
        words = set(key_of(title).split())
        return words.issuperset(key_of(entity).split())


def _names(corpus: Corpus) -> list[str]:
    """The folded names that the capitals of all passages show."""
    return sorted({name for passage in corpus.passages for name in names_in(passage.full_text)})


def _longest_first(mention: Mention) -> tuple[int, int]:
    return mention.start - mention.end, mention.start


def _without_overlap(mentions: Mentions) -> list[Mention]:
    """From left to right; of two that overlap the earlier in ``mentions`` is kept."""
    kept = []
    for mention in mentions:
        start, end, _ = mention
        if all(end <= other.start or other.end <= start for other in kept):
            kept.append(mention)
    return sorted(kept)


linker_of = lru_cache(maxsize=2)(EntityLinker)


class Placeholders:
    """The entities of a prompt by their numbers: ``<n0>`` is the first of ``entities``."""

    def __init__(self) -> None:
        self.entities = []
        self._index = {}  # by key

    def __contains__(self, entity: str) -> bool:
        return key_of(entity) in self._index

    def placeholder(self, entity: str) -> str:
        """The placeholder of an entity, which gets a number where it has none.

        Beyond the last number there is none: the entity is written out.
        """
        key = key_of(entity)
        if key not in self._index:
            if len(self.entities) == MOST_NAMES:
                return fold(entity)
            self._index[key] = len(self.entities)
            self.entities.append(entity)
        return f"<n{self._index[key]}>"

    def entity(self, placeholder: str) -> str | None:
        """What a placeholder stands for; None for one that stands for nothing."""
        if not PLACEHOLDER.fullmatch(placeholder):
            return None
        index = int(placeholder[2:-1])
        return self.entities[index] if index < len(self.entities) else None

    def hide(
        self,
        text: str,
        mentions: Mentions,
        subject: Mentions = (),
    ) -> str:
        """The text as :func:`plain`, with placeholders, one for all mentions of the subject."""
        parts = []
        end = 0
        for mention in mentions:
            parts.append(text[end : mention.start])
            if mention in subject:
                parts.append(SUBJECT)
            else:
                parts.append(self.placeholder(mention.entity))
            end = mention.end
        parts.append(text[end:])
        return plain(" ".join(parts))


def plain(text: str) -> str:
    """In lower case with spaces between all tokens, as a small model reads it."""
    return " ".join(token.lower() for token in _TOKEN.findall(text))
