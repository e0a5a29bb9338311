"""What is read of a method without its room is what the room says."""

import pytest

from kit.methods import METHODS, Retriever, learns, method, settings_of


@pytest.mark.parametrize("name", METHODS)
def test_settings_and_learning_are_those_of_the_class(name: str) -> None:
    assert settings_of(name) == list(method(name).defaults())
    assert learns(name) == (method(name).fit is not Retriever.fit)
