"""Values as a person types them: after an option of the command line, or into a widget."""

from __future__ import annotations

import re

import msgspec

from kit.errors import InputError

Value = bool | int | float | str

_AFTER_COMMA = re.compile(r',((?:"(?:\\.|[^"\\])*"|[^,])*)')  # up to the next comma that stands in no quotes


def read_value(text: str) -> Value:
    """A number or true/false where the text reads like one, else the text; one in double quotes stays text.

    The quotes are for what could not be typed otherwise: ``""`` is the empty text, ``"1"`` no number, ``"a,b"`` one.
    """
    try:
        return msgspec.json.decode(text, type=Value)
    except msgspec.DecodeError:
        return text


def read_values(text: str) -> list[Value]:
    """Values with commas between, each once, in the order given. Raises :class:`InputError` where one is missing."""
    each = dict.fromkeys(part.strip() for part in _AFTER_COMMA.findall("," + text))
    if "" in each:
        raise InputError(f"expected values with commas between, not {text!r}")
    return [read_value(part) for part in each]


def typed(value: object) -> str:
    """The value as it is typed, alone or among others, so that it is read as the same value again."""
    plain = isinstance(value, str) and value == value.strip() != "" and read_value(value) == value
    return value if plain and not set(value) & set(',"') else msgspec.json.encode(value).decode()
