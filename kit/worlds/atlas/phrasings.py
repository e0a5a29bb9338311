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
_CHOICE = re.compile(r"\[([^\[\]]*)\]")
_MARK = re.compile(r"\{([^}]*)\}|<([^>]*)>")
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


class Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A passage of an article: the relations it states in order, the matter around them, and its first sentence."""

    facts: tuple[str, ...]
    filler: tuple[str, ...]
    opening: tuple[str, ...]


def read(name: str) -> dict:
    """A file of ``prose/``."""
    return tomllib.loads((PROSE / f"{name}.toml").read_text("utf-8"))


#: Relations by "kind.name", passages by kind (people by profession), and what names and sentences draw from.
RELATIONS: dict[str, Relation] = {}
PARTS: dict[str, tuple[Part, ...]] = {}
LEXICON = read("lexicon")
for _name in ("people", "works", "places", "institutions"):
    for _kind, _tables in read(_name).items():
        PARTS[_kind] = msgspec.convert(_tables.pop("part"), tuple[Part, ...])
        for _job, _filler in _tables.pop("careers", {}).items():
            _life, _work = PARTS[_kind]
            PARTS[_job] = _life, Part(_work.facts, tuple(_filler), _work.opening)
        RELATIONS |= {
            f"{_kind}.{_of}": msgspec.convert(_fields, Relation) for _of, _fields in _tables.items()
        }


def slots(text: str) -> list[str]:
    """The names between braces, in order of appearance."""
    return re.findall(r"\{([^}]*)\}", text)


def fill(
    text: str,
    rng: random.Random,
    slot: Callable[[str], str],
    pools: Mapping[str, Sequence[str]] = LEXICON["pools"],
) -> str:
    """The phrasing's text, with choices and pool words drawn from ``rng`` and slots filled by calling ``slot``."""
    while "[" in text:  # the innermost choices first
        text = _CHOICE.sub(lambda match: rng.choice(match[1].split("|")), text)
    text = _MARK.sub(
        lambda match: slot(match[1]) if match[1] is not None else rng.choice(pools[match[2]]), text
    )
    if "(" not in text:
        return text
    text = _PLURAL.sub(
        lambda match: "ies" if match[1] else "es" if match[2] is not None else "s", text
    )
    return _ARTICLE.sub(lambda match: f"{match[1]}n " if match[2] else f"{match[1]} ", text)
