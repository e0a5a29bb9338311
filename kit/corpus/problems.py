"""What is wrong, or only odd, in a file: all of it, a plain line each."""

from __future__ import annotations

from pathlib import Path

import msgspec

from kit.errors import InputError


class Problem(msgspec.Struct, frozen=True):
    """One line about a file. An ``error`` keeps the file from being loaded; anything else is a published oddity."""

    line: str
    error: bool

    def __str__(self) -> str:
        return f"{'error' if self.error else 'note'}: {self.line}"


class Problems:
    """Collects the problems of a file while it is read."""

    def __init__(self, file: str | Path) -> None:
        self.file = file
        self.found: list[Problem] = []

    def error(self, expected: str, *, record: object = None, field: object = None, file: object = None) -> None:
        line = str(InputError(expected, file=file or self.file, record=record, field=field))
        self.found.append(Problem(line, error=True))

    def note(self, remark: str, *, record: object = None, field: object = None, file: object = None) -> None:
        line = str(InputError(remark, file=file or self.file, record=record, field=field))
        self.found.append(Problem(line, error=False))

    @property
    def errors(self) -> list[Problem]:
        return [problem for problem in self.found if problem.error]

    def raise_first(self) -> None:
        """Raise the first error, with the count of the rest."""
        if self.errors:
            first, *rest = self.errors
            more = f" (and {len(rest)} more: `kit data check` tells all)" if rest else ""
            raise InputError(first.line + more)


def quote(text: object) -> str:
    """A text from a file as it may stand in a line for a terminal: short, control characters escaped."""
    shown = repr(text)
    return shown if len(shown) <= 80 else shown[:76] + "...'"
