"""A little language for sentences: ``[this|that]`` chooses, ``{slot}`` is filled in, ``<pool>`` draws a word.

After filling in, ``a(n)`` becomes the right article and ``word(s)`` the plural of the word.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache

TOKENS = re.compile(r"\[|\]|\||\{[^}]*\}|<[^>]*>|[^\[\]|{}<>]+")
ARTICLE = re.compile(r"\b([Aa])\(n\) (?=([aeiouAEIOU]|8|11\b|18)?)")
PLURAL = re.compile(r"(?:(?<=[^aeiou])(y)|((?<=[sx])|(?<=[cs]h)))?\(s\)")


class Template:
    """A parsed phrasing. ``slots`` are the names between braces, in order of appearance."""

    def __init__(self, parts: tuple, slots: tuple[str, ...], source: str) -> None:
        self.parts, self.slots, self.source = parts, slots, source

    def fill(self, rng: random.Random, slot: Callable[[str], str], pools: Mapping[str, Sequence[str]]) -> str:
        """The text, with choices and pool words drawn from ``rng`` and slots filled by calling ``slot``."""
        text = "".join(_expand(self.parts, rng, slot, pools))
        text = PLURAL.sub(lambda match: "ies" if match[1] else "es" if match[2] is not None else "s", text)
        return ARTICLE.sub(lambda match: f"{match[1]}n " if match[2] else f"{match[1]} ", text)


def _expand(parts: tuple, rng: random.Random, slot: Callable[[str], str], pools: Mapping[str, Sequence[str]]):
    for kind, value in parts:
        if kind == "text":
            yield value
        elif kind == "slot":
            yield slot(value)
        elif kind == "pool":
            yield rng.choice(pools[value])
        else:
            yield from _expand(rng.choice(value), rng, slot, pools)


@cache
def compile_template(text: str) -> Template:
    """Parse a phrasing once."""
    tokens = TOKENS.findall(text)
    slots: list[str] = []

    def sequence(closing: bool) -> tuple[list, str]:
        parts: list = []
        while tokens:
            token = tokens.pop(0)
            if token in "]|" and closing:
                return parts, token
            if token == "[":
                options, end = [], "|"
                while end == "|":
                    option, end = sequence(True)
                    options.append(tuple(option))
                parts.append(("choice", tuple(options)))
            elif token[0] == "{":
                slots.append(token[1:-1])
                parts.append(("slot", token[1:-1]))
            elif token[0] == "<":
                parts.append(("pool", token[1:-1]))
            else:
                parts.append(("text", token))
        if closing:
            raise ValueError(f"unclosed choice in {text!r}")
        return parts, ""

    parts, _ = sequence(False)
    return Template(tuple(parts), tuple(slots), text)
