"""Values as they are typed, on the command line and into widgets."""

from __future__ import annotations

import pytest

from kit.errors import InputError
from kit.values import read_value, read_values, whole_numbers


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


def test_whole_numbers() -> None:
    assert whole_numbers("2, 5,10", "k") == (2, 5, 10)
    for text in ("", "0", "1.5", "1,,2", "-1"):
        with pytest.raises(InputError, match="field k: expected whole numbers from 1"):
            whole_numbers(text, "k")
