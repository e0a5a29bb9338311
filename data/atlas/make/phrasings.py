"""The phrasings of the atlas: what articles say of each relation and how questions ask for it, read from ``prose/``."""

from __future__ import annotations

import tomllib
from pathlib import Path

import msgspec

PROSE = Path(__file__).parent / "prose"


class Relation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One relation. ``says`` and ``opens`` write articles; every other field words questions.

    ``noun`` names the object given the subject ("the birthplace of {x}"), ``clause`` says of a subject that its object
    is {x}, ``verify`` asks yes or no, ``same`` compares two subjects; ``less``, ``more``, ``below``, ``verify_below``
    compare values; ``count`` asks how many objects there are; ``qualifiers`` ask for a detail of the fact.
    """

    label: str
    says: tuple[str, ...]
    opens: tuple[str, ...] = ()
    asks: tuple[str, ...] = ()
    noun: tuple[str, ...] = ()
    clause: tuple[str, ...] = ()
    verify: tuple[str, ...] = ()
    same: tuple[str, ...] = ()
    less: tuple[str, ...] = ()
    more: tuple[str, ...] = ()
    below: tuple[str, ...] = ()
    verify_below: tuple[str, ...] = ()
    count: tuple[str, ...] = ()
    qualifiers: dict[str, tuple[str, ...]] = {}


class Section(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A section of an article: the relations it states, its first sentence, and the unrelated matter around them.

    A section with ``optional`` is only written when that fact is known; ``closing`` is the fact that it ends with.
    """

    facts: tuple[str, ...]
    filler: tuple[str, ...]
    opening: tuple[str, ...] = ()
    optional: str = ""
    closing: str = ""


def _load() -> tuple[dict[str, Relation], dict[str, tuple[Section, ...]], dict[str, tuple[str, ...]], dict]:
    relations, sections, careers = {}, {}, {}
    for name in ("people", "works", "places", "institutions"):
        for kind, tables in tomllib.loads((PROSE / f"{name}.toml").read_text("utf-8")).items():
            sections[kind] = msgspec.convert(tables.pop("section"), tuple[Section, ...])
            careers |= msgspec.convert(tables.pop("careers", {}), dict[str, tuple[str, ...]])
            for relation, fields in tables.items():
                relations[f"{kind}.{relation}"] = msgspec.convert(fields, Relation)
    return relations, sections, careers, tomllib.loads((PROSE / "lexicon.toml").read_text("utf-8"))


#: Relations by "kind.name", sections by kind, filler by profession, and the words that names and sentences draw from.
RELATIONS, SECTIONS, CAREERS, LEXICON = _load()
POOLS: dict[str, tuple[str, ...]] = {name: tuple(words) for name, words in LEXICON["pools"].items()}
