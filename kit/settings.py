"""Settings: a frozen typed struct per method, graph builder or training; values as they are typed.

A field says its type, its range, its default and, in words, what it sets::

    top_k: Annotated[Positive, "passages that send in each layer"] = 5
"""

import inspect
import typing
from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

import msgspec
import numpy as np
from msgspec import Meta, Struct
from msgspec import inspect as msgspec_types
from msgspec.structs import FieldInfo, fields

from kit.errors import InputError, known_names

Whole = Annotated[int, Meta(ge=0)]
Positive = Annotated[int, Meta(ge=1)]
Share = Annotated[float, Meta(ge=0, le=1)]
AboveZero = Annotated[float, Meta(gt=0)]
Value = bool | int | float | str


class BaseSettings(Struct, frozen=True, kw_only=True):
    """What a thing can be told; a subclass adds typed fields with defaults."""


SettingsT = TypeVar("SettingsT", bound=BaseSettings)


def check(kind: type[SettingsT], values: Mapping[str, Any], name: str) -> SettingsT:
    """The settings of the thing called ``name``, with defaults where nothing is given.

    Raises :class:`InputError` for an unknown setting, listing those that exist, and for a value of
    another type or outside its range.
    """
    names = defaults(kind)
    unknown = values.keys() - names.keys()
    if unknown:
        first = min(unknown)
        raise InputError(f"{name} has no setting {first!r}; it has {known_names(names, first)}")

    return kind(**{field.name: _checked(field, values) for field in fields(kind)})


def _checked(field: FieldInfo, values: Mapping[str, Any]) -> Any:
    """The value of a field, in its type."""
    value = values.get(field.name, field.default)
    if isinstance(value, np.generic):  # a number of NumPy's
        value = value.item()
    try:
        return msgspec.convert(value, field.type)
    except msgspec.ValidationError:
        message = f"expected {value_in_words(field.type)}, not {value!r}"
        raise InputError(message, field=field.name) from None


def defaults(kind: type[BaseSettings]) -> dict[str, Any]:
    """The settings' names with their defaults, in the order in which they are declared."""
    return {field.name: field.default for field in fields(kind)}


# ---- what help() shows


def signature(kind: type[BaseSettings]) -> inspect.Signature:
    """The signature of what takes these settings as keyword arguments.

    It says ``int`` of ``Annotated[int, …]``: the range and the words stand in the documentation.
    """
    types = typing.get_type_hints(kind)
    parameters = [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=field.default,
            annotation=types[field.name],
        )
        for field in fields(kind)
    ]
    return inspect.Signature(parameters)


def documentation(kind: type[BaseSettings]) -> str:
    """A line per setting: name, what it takes, its default, what it sets."""
    hints = typing.get_type_hints(kind, include_extras=True)
    lines = []
    for field in fields(kind):
        line = f"{field.name}: {value_in_words(field.type)} (default {field.default!r})"
        metadata = getattr(hints[field.name], "__metadata__", ())  # of Annotated[int, "the words"]
        words = [word for word in metadata if isinstance(word, str)]
        lines.append(": ".join([line, *words]))
    return "\n".join(lines)


def value_in_words(field_type: Any) -> str:
    """What a field takes, in words: ``a number from 0 to 1``."""
    return _in_words(msgspec_types.type_info(field_type))


def _in_words(kind: msgspec_types.Type) -> str:
    match kind:
        case msgspec_types.UnionType():
            members = [
                member for member in kind.types if not isinstance(member, msgspec_types.NoneType)
            ]
            return " or ".join(map(_in_words, members))
        case msgspec_types.LiteralType():
            return f"one of {', '.join(map(repr, kind.values))}"
        case msgspec_types.BoolType():
            return "true or false"
        case msgspec_types.StrType():
            return "text"

    noun = "a whole number" if isinstance(kind, msgspec_types.IntType) else "a number"
    bounds = {"from": kind.ge, "above": kind.gt, "to": kind.le, "below": kind.lt}
    ends = [f"{word} {bound:g}" for word, bound in bounds.items() if bound is not None]
    return " ".join([noun, *ends])


# ---- as a person types them


def read_value(text: str) -> Value:
    """A number or true/false where the text reads like one, else the text.

    A value in double quotes stays text.
    """
    try:
        return msgspec.json.decode(text, type=Value)
    except msgspec.DecodeError:
        return text


def read_values(text: str) -> list[Value]:
    """Values with commas between them, each once, in the order given.

    Raises :class:`InputError` where one is missing.
    """
    parts = dict.fromkeys(part.strip() for part in text.split(","))
    if "" in parts:
        raise InputError(f"expected values with commas between, not {text!r}")
    return [read_value(part) for part in parts]
