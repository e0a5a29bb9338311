"""What a user is meant to read: the one exception, and notes while work goes on."""

import warnings
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from typing import Any


class InputError(ValueError):
    """Bad input, told in one plain line: where (file, record, field) and what was expected.

    The command line prints the line and exits with status 2; nothing has been written by then.
    """

    def __init__(
        self, expected: str, *, file: object = None, record: object = None, field: object = None
    ) -> None:
        where = [str(file)] if file is not None else []
        where += [
            f"{what} {name}"
            for what, name in (("record", record), ("field", field))
            if name is not None
        ]
        line = f"{', '.join(where)}: {expected}" if where else expected
        plain = " ".join(line.split())
        # A file's name may hold what is no character.
        super().__init__(plain.encode("utf-8", "backslashreplace").decode())


class Note(UserWarning):
    """What the kit tells while it goes on, in one plain line."""


def note(line: str) -> None:
    """Tell a :class:`Note`: what was left out of a file, say, or is not as it was meant."""
    warnings.warn(line, Note, stacklevel=3)


def show_notes(tell: Callable[[str], None]) -> None:
    """Let notes be told as plain lines, each once; other warnings are shown as before."""
    show_other = warnings.showwarning
    lines = set()

    def show(message: Warning | str, category: type[Warning], filename: str, *rest: Any) -> None:
        line = f"note: {message}"
        if not issubclass(category, Note):
            show_other(message, category, filename, *rest)
        elif line not in lines:
            lines.add(line)
            tell(line)

    warnings.showwarning = show


def known_names(names: Iterable[str], meant: str) -> str:
    """The names with commas between, and the one that may have been meant: for an error."""
    listed = list(names)
    line = ", ".join(listed) or "none"
    similar = get_close_matches(meant.lower(), listed, 1)
    return f"{line}; did you mean {similar[0]!r}?" if similar else line
