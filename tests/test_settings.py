"""Settings, and values as they are typed on the command line and into widgets."""

from typing import Literal

import numpy as np
import pytest

from kit.errors import InputError
from kit.settings import BaseSettings, Positive, Share, check, read_value, read_values


class Taught(BaseSettings, frozen=True):
    share: Share = 0.5
    depth: Positive | None = None
    kind: Literal["mean", "min"] = "min"
    loud: bool = False


def test_settings_are_typed_and_have_defaults() -> None:
    made = check(Taught, {"share": 1, "depth": 3}, "it")
    assert made == Taught(share=1.0, depth=3) and isinstance(made.share, float)


def test_numbers_of_numpy_are_numbers() -> None:
    values = {
        "share": np.float32(0.25),
        "depth": np.int64(7),
        "kind": np.str_("mean"),
        "loud": np.True_,
    }
    made = check(Taught, values, "it")
    assert made == Taught(share=0.25, depth=7, kind="mean", loud=True)
    plain = {"share": float, "depth": int, "kind": str, "loud": bool}
    assert {name: type(getattr(made, name)) for name in plain} == plain


@pytest.mark.parametrize(
    ("values", "line"),
    [
        (
            {"shar": 1},
            "it has no setting 'shar'; it has share, depth, kind, loud; did you mean 'share'?",
        ),
        (
            {"sound": 1},
            "it has no setting 'sound'; it has share, depth, kind, loud; did you mean 'loud'?",
        ),
        ({"size": 1}, "it has no setting 'size'; it has share, depth, kind, loud"),
        ({"share": 2}, "field share: expected a number from 0 to 1, not 2"),
        ({"depth": 0}, "field depth: expected a whole number from 1, not 0"),
        ({"kind": "max"}, "field kind: expected one of 'mean', 'min', not 'max'"),
        ({"depth": np.int64(0)}, "field depth: expected a whole number from 1, not 0"),
        ({"depth": np.float64(2)}, "field depth: expected a whole number from 1, not 2.0"),
        ({"loud": 1}, "field loud: expected true or false, not 1"),
    ],
)
def test_bad_settings_are_told(values: dict, line: str) -> None:
    with pytest.raises(InputError) as caught:
        check(Taught, values, "it")
    assert str(caught.value) == line


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1, 2,5", [1, 2, 5]),
        ("0.5,0.5,1e-3", [0.5, 0.001]),
        ("true,min", [True, "min"]),
        ('"", "1",a b', ["", "1", "a b"]),
        ('"', ['"']),
    ],
)
def test_values_are_read(text: str, values: list[object]) -> None:
    assert [(value, type(value)) for value in read_values(text)] == [
        (value, type(value)) for value in values
    ]
    assert read_value("1,2") == "1,2"


@pytest.mark.parametrize("text", ["", " ", "1,", ",1", "1,,2"])
def test_a_missing_value_is_told(text: str) -> None:
    with pytest.raises(InputError, match="expected values with commas between, not "):
        read_values(text)
