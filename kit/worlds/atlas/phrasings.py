"""The phrasings of the atlas, read from ``prose/``, and the little language they are written in.

``[this|that]`` chooses, ``{slot}`` is filled in, ``<pool>`` draws a word; then ``a(n)`` becomes the
right article and ``word(s)`` the plural of the word.
"""

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import msgspec

Texts = tuple[str, ...]
Lexicon = dict[str, Any]
PROSE = Path(__file__).parent / "prose"
_CHOICE = re.compile(r"\[([^\[\]]*)\]")
_MARK = re.compile(r"\{([^}]*)\}|<([^>]*)>")
_SLOT = re.compile(r"\{([^}]*)\}")
_ARTICLE = re.compile(r"\b([Aa])\(n\) (?=([aeiouAEIOU]|8|11\b|18)?)")
_PLURAL = re.compile(r"(?:(?<=[^aeiou])(y)|((?<=[sx])|(?<=[cs]h)))?\(s\)")


class Relation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One relation. ``says`` and ``opens`` write articles; every other field words questions.

    ``noun`` names the object given the subject ("the birthplace of {x}"), ``clause`` says of a
    subject that its object is {x}, ``verify`` asks yes or no, ``same`` compares two subjects;
    ``less``, ``more``, ``below``, ``verify_below`` compare values; ``count`` asks how many objects
    there are; ``qualifiers`` ask for a detail of the fact.
    """

    label: str
    says: Texts
    opens: Texts = ()
    asks: Texts = ()
    noun: Texts = ()
    clause: Texts = ()
    verify: Texts = ()
    same: Texts = ()
    less: Texts = ()
    more: Texts = ()
    below: Texts = ()
    verify_below: Texts = ()
    count: Texts = ()
    qualifiers: dict[str, Texts] = {}


class Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A passage of an article.

    The relations that it states in order, the matter around them, and its first sentence.
    """

    facts: Texts
    filler: Texts
    opening: Texts


def read(name: str) -> dict:
    """A file of ``prose/``."""
    text = (PROSE / f"{name}.toml").read_text("utf-8")
    return tomllib.loads(text)


class Language(NamedTuple):
    """What a world is written in.

    ``relations`` by "kind.name"; the ``parts`` of articles by kind, those of people by profession,
    too; and the ``lexicon`` that names and sentences draw from.
    """

    relations: dict[str, Relation]
    parts: dict[str, tuple[Part, ...]]
    lexicon: Lexicon


def _read_language() -> Language:
    """The language of the atlas: all of ``prose/`` as it stands."""
    relations = {}
    all_parts = {}
    for file in ("people", "works", "places", "institutions"):
        for kind, tables in read(file).items():
            parts = msgspec.convert(tables.pop("part"), tuple[Part, ...])
            all_parts[kind] = parts
            for job, filler in tables.pop("careers", {}).items():
                life, work = parts
                all_parts[job] = (life, Part(work.facts, tuple(filler), work.opening))

            for relation, fields in tables.items():
                relations[f"{kind}.{relation}"] = msgspec.convert(fields, Relation)
    return Language(relations, all_parts, read("lexicon"))


PLAIN = _read_language()
RELATIONS = PLAIN.relations


def slots(text: str) -> list[str]:
    """The names between braces, in order of appearance."""
    return _SLOT.findall(text)


def fill(
    text: str,
    rng: Random,
    slot: Callable[[str], str],
    pools: Mapping[str, Sequence[str]],
) -> str:
    """The text of a phrasing: choices and pool words are drawn, ``slot`` fills the slots."""

    def choose(match):
        options = match[1].split("|")
        return rng.choice(options)

    def replace(match):
        name, pool = match.groups()
        return rng.choice(pools[pool]) if name is None else slot(name)

    while "[" in text:  # the innermost choices first
        text = _CHOICE.sub(choose, text)
    text = _MARK.sub(replace, text)
    text = _PLURAL.sub(_plural, text)
    return _ARTICLE.sub(_article, text)


def _plural(match: re.Match) -> str:
    y, hiss = match.groups()  # of a word such as notary; of one such as coach, here ""
    if y:
        return "ies"
    return "s" if hiss is None else "es"


def _article(match: re.Match) -> str:
    article, vowel = match.groups()
    return f"{article}n " if vowel else f"{article} "
