"""Scores of answers, worked out by hand from the text of HotpotQA's official script."""

import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.readers.scoring import contains, exact_match, f1, nearest_option, normalise


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The  Glass Harbour!", "glass harbour"),
        ("an A the", "an a the"),  # articles stay where nothing else is there
        ("The.", "the"),
        (" ! ", "!"),
        ("\n", ""),
        ("A-team", "ateam"),  # punctuation goes first, so no article is left to see
        ("6,960\t", "6960"),
        ("“quoted” – dash", "“quoted” dash"),  # beside dashes, only ASCII punctuation goes
        ("1914–1918", "19141918"),
        ("—", "-"),
    ],
)
def test_normalise(text: str, expected: str) -> None:
    assert normalise(text) == expected


@pytest.mark.parametrize(
    ("prediction", "answers", "em", "overlap", "contained"),
    [
        ("The Glass Harbour", ["glass harbour."], 1, 1, 1),
        ("film Glass Harbour", ["The Glass Harbour"], 0, 0.8, 1),  # precision 2/3, recall 1
        ("Glass", ["The Glass Harbour"], 0, 2 / 3, 0),  # precision 1, recall 1/2
        (
            "a b b c",
            ["b b d"],
            0,
            2 / 3,
            0,
        ),  # "a" is an article: b b c and b b d share two of three
        ("b b", ["b"], 0, 2 / 3, 1),  # a repeated word counts as often as it is in both
        ("yes", ["Yes."], 1, 1, 1),
        ("yes it is", ["yes"], 0, 0, 1),  # yes and no are right as a whole or not at all
        ("no", ["no one"], 0, 0, 0),
        ("Norway", ["no"], 0, 0, 0),  # contained in whole words
        (
            "It is in Norway, I think",
            ["Norway"],
            0,
            0.2857142857142857,
            1,
        ),  # precision 1/6, recall 1
        ("two", ["2", "two"], 1, 1, 1),
        (
            "river Selby",
            ["Oslo", "the Selby", "river Selby quay"],
            0,
            0.8,
            1,
        ),  # the nearest answer counts
        ("The", ["A"], 0, 0, 0),  # where nothing is left of either, the texts are compared
        ("A.", ["A"], 1, 1, 1),
        ("the", ["The A"], 0, 2 / 3, 0),
        ("-", ["+"], 0, 0, 0),
        ("", ["", "A"], 0, 0, 0),  # an empty alias is no answer
        ("1914-1918", ["1914–1918"], 1, 1, 1),
        ("from −5 to 3", ["-5"], 0, 0.4, 1),  # precision 1/4, recall 1
    ],
)
def test_scores(
    prediction: str, answers: list[str], em: float, overlap: float, contained: float
) -> None:
    assert exact_match(prediction, answers) == em
    assert f1(prediction, answers) == pytest.approx(overlap)
    assert contains(prediction, answers) == contained


def test_dashes_of_all_kinds_are_one() -> None:
    """Those that Unicode puts among them, and minus signs."""
    dashes = [
        character
        for character in map(chr, range(sys.maxunicode))
        if unicodedata.category(character) == "Pd"
    ]
    for dash in [*dashes, "\N{MINUS SIGN}", "\N{SUPERSCRIPT MINUS}"]:
        assert exact_match(f"10{dash}20", ["10-20"]) == 1


@given(
    st.text("aAtThe .–-\n") | st.text(),
    st.lists(st.text("aAtThe .–-\n") | st.text()),
)
def test_an_exact_match_has_the_best_f1(prediction: str, answers: list[str]) -> None:
    assert exact_match(prediction, answers) <= f1(prediction, answers) <= 1
    assert exact_match(prediction, answers) <= contains(prediction, answers)
    if prediction.strip():
        assert exact_match(prediction, [prediction]) == 1


def test_the_option_that_an_answer_means() -> None:
    options = ["It was sold", "The ferry sank", "The grey ferry sank at night"]
    assert nearest_option("sank", options) == options[1]  # F1 2/3 there, 1/3 in the last
    assert nearest_option("at night the grey ferry", options) == options[2]
    assert nearest_option("sold, sank", ["sank once", "sold once"]) == "sank once"  # of equals
    assert nearest_option("nobody knows", options) == nearest_option("", options) == ""
