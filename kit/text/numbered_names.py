"""Names as numbers, so that a small model can copy a name that it has never met."""

from __future__ import annotations

import re
from collections.abc import Container

MOST_NAMES = 40  # of a prompt; what goes beyond is NEW
NEW, YEAR = "<new>", "<year>"
PLACEHOLDERS = (NEW, YEAR, *(f"<n{number}>" for number in range(MOST_NAMES)))
TOKEN = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*|\d+|[^\w\s]")
_NUMBERED = re.compile(r"<n(\d+)>|<new>|<year>")


class Names:
    """The names of a prompt. The model reads and writes ``<n0>`` for the first, ``<n1>`` for the second …

    They are put back into what it wrote. A name is a word with a capital letter that is not, in lower case, a word of
    the ``vocabulary``. Numbers of four digits are years.
    """

    def __init__(self, vocabulary: Container[str]) -> None:
        self.vocabulary = vocabulary
        self.numbers: dict[str, int] = {}

    def hide(self, text: str, *, learn: bool) -> str:
        """The text in lower case with spaces between all tokens, and a placeholder for each name.

        ``learn``: a name that has no number yet gets the next one; otherwise, and when there are too many, it is new.
        """
        return " ".join(part for token in TOKEN.findall(text) for part in self._hidden(token, learn))

    def _hidden(self, token: str, learn: bool) -> list[str]:
        if token.isdecimal():
            return [YEAR if len(token) == 4 else token]
        name, mark, owner = token.replace("’", "'").partition("'s")
        if len(name) < 2 or not name[0].isupper() or name.lower() in self.vocabulary:
            return [token.lower()]
        if learn and name not in self.numbers and len(self.numbers) < MOST_NAMES:
            self.numbers[name] = len(self.numbers)
        number = self.numbers.get(name)
        return [NEW if number is None else f"<n{number}>", *([mark + owner] if mark else [])]

    def show(self, text: str) -> str:
        """The names in the place of their placeholders; those of new names and of years are left out."""
        names = dict(enumerate(self.numbers))
        found = _NUMBERED.sub(lambda match: names.get(int(match[1]), "") if match[1] else "", text)
        return " ".join(found.split())
