"""Names as numbers: by hand, and what holds for any text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kit.text.language_models.sequence_to_sequence import MOST_NAMES, Names

WORDS = {"the", "river", "in", "valley", "born", "source", "who", "?", ":", "(", ")", "'s", "met"}


def test_names_are_numbered_as_they_appear() -> None:
    names = Names(WORDS)
    text = "The river Oll's source: Maren Skarstrom (born 1920) in the Oll valley"
    hidden = "the river <n0> 's source : <n1> <n2> ( born <year> ) in the <n0> valley"
    assert names.hide(text, learn=True) == hidden
    assert list(names.numbers) == ["Oll", "Maren", "Skarstrom"]


def test_a_name_that_has_no_number_is_new() -> None:
    names = Names(WORDS)
    names.hide("Who met Skarstrom in 12?", learn=True)
    assert names.hide("Skarstrom met Bob in 12", learn=False) == "<n0> met <new> in 12"
    assert list(names.numbers) == ["Skarstrom"]


def test_names_are_put_back() -> None:
    names = Names(WORDS)
    names.hide("Maren met Oll", learn=True)
    assert names.show("<n1> : <new> met <n0> 's river in <year> , <n7>") == "Oll : met Maren 's river in ,"


def test_placeholders_in_a_text_are_only_text() -> None:
    names = Names(WORDS)
    names.hide("Maren", learn=True)
    assert names.hide("<n0> <year>", learn=True) == "< n 0 > < year >"


def test_beyond_the_most_names_all_are_new() -> None:
    names = Names(WORDS)
    text = " ".join(f"Name{chr(97 + one)}{chr(97 + two)}" for one in range(7) for two in range(7))
    assert names.hide(text, learn=True).split().count("<new>") == 49 - MOST_NAMES


@given(st.text(), st.text())
def test_any_text_can_be_hidden_and_shown(prompt: str, answer: str) -> None:
    names = Names(WORDS)
    hidden = names.hide(prompt, learn=True)
    assert hidden == " ".join(hidden.split())
    numbers = dict(names.numbers)
    shown = names.show(names.hide(answer, learn=False))
    assert names.numbers == numbers
    assert "<n" not in shown or "<n" in answer
