"""Scores of answers, worked out by hand from the text of HotpotQA's official script."""

import pytest

from kit.readers.scoring import contains, exact_match, f1, normalise


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The  Glass Harbour!", "glass harbour"),
        ("an A the", ""),
        ("A-team", "ateam"),  # punctuation goes first, so no article is left to see
        ("6,960\t", "6960"),
        ("“quoted” – dash", "“quoted” – dash"),  # only ASCII punctuation goes
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
        ("the", ["The A"], 1, 0, 0),  # nothing is left of either: equal, but no word in common
    ],
)
def test_scores(
    prediction: str, answers: list[str], em: float, overlap: float, contained: float
) -> None:
    assert exact_match(prediction, answers) == em
    assert f1(prediction, answers) == pytest.approx(overlap)
    assert contains(prediction, answers) == contained
