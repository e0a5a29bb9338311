"""Settings: a frozen typed struct a method, graph builder or training; and their values as a person types them."""

from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta, inspect

from kit.errors import InputError

Whole = Annotated[int, Meta(ge=0)]
Positive = Annotated[int, Meta(ge=1)]
Share = Annotated[float, Meta(ge=0, le=1)]
Value = bool | int | float | str


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """What a thing can be told; subclasses add typed fields with defaults, ``Literal`` where only some words do."""


SettingsT = TypeVar("SettingsT", bound=Settings)


def check(kind: type[SettingsT], values: Mapping[str, Any], name: str) -> SettingsT:
    """The settings of the thing called ``name``, defaults where nothing is given.

    Raises :class:`InputError` for an unknown setting, with the known ones, and for a value of another type or range.
    """
    known = defaults(kind)
    if unknown := values.keys() - known.keys():
        raise InputError(f"{name} has no setting {min(unknown)!r}; it has {', '.join(known) or 'none'}")
    typed = {}
    for field in msgspec.structs.fields(kind):
        try:
            typed[field.name] = msgspec.convert(values.get(field.name, field.default), field.type)
        except msgspec.ValidationError:
            expected = f"expected {_expected(inspect.type_info(field.type))}, not {values[field.name]!r}"
            raise InputError(expected, field=field.name) from None
    return kind(**typed)


def _expected(about: inspect.Type) -> str:
    """What a field takes, in words."""
    if isinstance(about, inspect.UnionType):
        return " or ".join(_expected(each) for each in about.types if not isinstance(each, inspect.NoneType))
    if isinstance(about, inspect.LiteralType):
        return f"one of {', '.join(map(repr, about.values))}"
    if not isinstance(about, inspect.IntType | inspect.FloatType):
        return {"BoolType": "true or false", "StrType": "text"}[type(about).__name__]
    words = "a whole number" if isinstance(about, inspect.IntType) else "a number"
    bounds = {"from": about.ge, "above": about.gt, "to": about.le, "below": about.lt}
    return " ".join([words, *(f"{word} {bound:g}" for word, bound in bounds.items() if bound is not None)])


def defaults(kind: type[Settings]) -> dict[str, Any]:
    """The settings' names with their defaults, in the order in which they are declared."""
    return {field.name: field.default for field in msgspec.structs.fields(kind)}


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
