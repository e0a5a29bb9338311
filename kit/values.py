"""Values as a person types them: after an option of the command line, or into a widget."""

from __future__ import annotations

import msgspec

from kit.errors import InputError

Value = bool | int | float | str


def read_value(text: str) -> Value:
    """A number or true/false where the text reads like one, else the text; one in double quotes stays text."""
    try:
        return msgspec.json.decode(text, type=Value)
    except msgspec.DecodeError:
        return text


def read_values(text: str) -> list[Value]:
    """Values with commas between, each once, in the order given. Raises :class:`InputError` where one is missing."""
    each = dict.fromkeys(part.strip() for part in text.split(","))
    if "" in each:
        raise InputError(f"expected values with commas between, not {text!r}")
    return [read_value(part) for part in each]


def whole_numbers(text: str, field: str) -> tuple[int, ...]:
    """Whole numbers from 1 with commas between. Raises :class:`InputError`, about the ``field``, for anything else."""
    parts = text.split(",")
    if not all(part.strip().isdecimal() and int(part) > 0 for part in parts):
        raise InputError(f"expected whole numbers from 1 with commas between, not {text!r}", field=field)
    return tuple(int(part) for part in parts)
