"""Values as they are typed, on the command line and into widgets."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.errors import InputError
from kit.values import read_value, read_values, typed

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.one_of(st.booleans(), st.integers(-(2**63), 2**63), st.floats(allow_nan=False, allow_infinity=False), TEXTS)


@pytest.mark.parametrize(
    ("text", "value"),
    [("1", 1), ("0.5", 0.5), ("1e-3", 0.001), ("true", True), ("min", "min"), ('""', ""), ('"1"', "1"), ("a=b", "a=b")],
)
def test_a_value_is_read(text: str, value: object) -> None:
    found = read_value(text)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1, 2,5", [1, 2, 5]),
        ("0.5,0.5,1", [0.5, 1]),
        ('"", query', ["", "query"]),
        ('"a, b",c', ["a, b", "c"]),
        ('a"b,c', ['a"b', "c"]),
        ("a b", ["a b"]),
    ],
)
def test_values_are_read(text: str, values: list[object]) -> None:
    assert read_values(text) == values


@pytest.mark.parametrize("text", ["", " ", "1,", ",1", "1,,2"])
def test_a_missing_value_is_told(text: str) -> None:
    with pytest.raises(InputError, match="expected values with commas between, not "):
        read_values(text)


@given(VALUES)
def test_what_is_typed_is_read_again(value: object) -> None:
    found = read_value(typed(value))
    assert (found, type(found)) == (value, type(value))


@given(st.lists(TEXTS, min_size=1, unique=True))
def test_several_are_read_again(values: list[str]) -> None:
    assert read_values(", ".join(map(typed, values))) == values
