"""What functions are called with: one where several are meant, and what is not meant at all."""

from collections.abc import Collection, Iterable
from numbers import Integral
from reprlib import repr as short
from typing import Any

from kit.errors import InputError, known_names


def as_list(values: Any) -> list[Any]:
    """The values as a list; a text, or what can't be gone through, is a list of one."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        return [values]
    return list(values)


def expect(kind: type, value: object, field: str) -> None:
    """Raise :class:`InputError` for a value of another kind."""
    if not isinstance(value, kind):
        raise InputError(f"expected a {kind.__name__}, not {short(value)}", field=field)


def expect_known(names: Iterable[object], choices: Collection[str], what: str) -> None:
    """Raise :class:`InputError` for the first name that is not among the known ones."""
    for name in map(str, names):
        if name not in choices:
            raise InputError(f"no {what} {name!r}; known are {known_names(choices, name)}")


def whole(value: object, field: str, *, least: int = 1) -> int:
    """A whole number of any type; raises :class:`InputError` for all else and for smaller ones."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise InputError(f"expected a whole number from {least}, not {short(value)}", field=field)
    return int(value)
