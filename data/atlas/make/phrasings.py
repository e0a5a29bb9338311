"""The phrasings of the atlas, read from ``prose/``, and the little language that they are written in.

``[this|that]`` chooses, ``{slot}`` is filled in, ``<pool>`` draws a word; then ``a(n)`` becomes the right article and
``word(s)`` the plural of the word.
"""

import random
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

PROSE = Path(__file__).parent / "prose"
_MARK = re.compile(r"\[|\{(?P<slot>[^}]*)\}|<(?P<pool>[^>]*)>")
_ARTICLE = re.compile(r"\b([Aa])\(n\) (?=([aeiouAEIOU]|8|11\b|18)?)")
_PLURAL = re.compile(r"(?:(?<=[^aeiou])(y)|((?<=[sx])|(?<=[cs]h)))?\(s\)")


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


#: Relations by "kind.name", sections by kind, filler by profession, and the words that names and sentences draw from.
RELATIONS: dict[str, Relation] = {}
SECTIONS: dict[str, tuple[Section, ...]] = {}
CAREERS: dict[str, list[str]] = {}
LEXICON = tomllib.loads((PROSE / "lexicon.toml").read_text("utf-8"))
for _name in ("people", "works", "places", "institutions"):
    for _kind, _tables in tomllib.loads((PROSE / f"{_name}.toml").read_text("utf-8")).items():
        SECTIONS[_kind] = msgspec.convert(_tables.pop("section"), tuple[Section, ...])
        CAREERS |= _tables.pop("careers", {})
        RELATIONS |= {f"{_kind}.{_of}": msgspec.convert(_fields, Relation) for _of, _fields in _tables.items()}


def slots(text: str) -> list[str]:
    """The names between braces, in order of appearance."""
    return re.findall(r"\{([^}]*)\}", text)


def fill(
    text: str, rng: random.Random, slot: Callable[[str], str], pools: Mapping[str, Sequence[str]] = LEXICON["pools"]
) -> str:
    """The phrasing's text, with choices and pool words drawn from ``rng`` and slots filled by calling ``slot``."""
    written = ""
    while mark := _MARK.search(text):
        written, text = written + text[: mark.start()], text[mark.end() :]
        if mark["slot"] is not None:
            written += slot(mark["slot"])
        elif mark["pool"]:
            written += rng.choice(pools[mark["pool"]])
        else:
            options, rest = _options(text)
            text = rng.choice(options) + rest
    written = _PLURAL.sub(lambda match: "ies" if match[1] else "es" if match[2] is not None else "s", written + text)
    return _ARTICLE.sub(lambda match: f"{match[1]}n " if match[2] else f"{match[1]} ", written)


def _options(text: str) -> tuple[list[str], str]:
    """The options of a choice whose opening bracket came before, and the text behind its closing one."""
    options, start, depth = [], 0, 0
    for place, mark in enumerate(text):
        if depth == 0 and mark in "|]":
            options.append(text[start:place])
            start = place + 1
        if mark == "]" and depth == 0:
            return options, text[start:]
        depth += (mark == "[") - (mark == "]")
    raise ValueError(f"unclosed choice in {text!r}")
