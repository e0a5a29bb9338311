"""The rule that splits text into sentences."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.corpus.sentences import split_sentences


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("", []),
        (" \n", []),
        ("Lowick", ["Lowick"]),
        (
            "It burned. Nobody knew why! Who would? He asked.",
            ["It burned.", "Nobody knew why!", "Who would?", "He asked."],
        ),
        ('"Who is it?" He did not know. (She did.) 12 others left.', None),
        ("Dr. Ada Brill met J. R. Orr of St. Marl.", ["Dr. Ada Brill met J. R. Orr of St. Marl."]),
        (
            "It cost 3.5 marks in the U.S. Navy, e.g. No. 4 of it.",
            ["It cost 3.5 marks in the U.S. Navy, e.g. No. 4 of it."],
        ),
        ("The ode ends… then begins. “Oster” is next.", ["The ode ends… then begins.", "“Oster” is next."]),
        ("Sie kam an. Éowald ging.", ["Sie kam an.", "Éowald ging."]),
    ],
)
def test_splits(text, sentences):
    expected = ['"Who is it?"', "He did not know.", "(She did.)", "12 others left."] if sentences is None else sentences
    assert split_sentences(text) == expected


@given(st.text(alphabet=st.sampled_from("aB3 .!?…\"')(\n"), max_size=60))
def test_loses_nothing_but_white_space(text):
    sentences = split_sentences(text)
    assert "".join("".join(sentences).split()) == "".join(text.split())
    assert all(sentence == sentence.strip() != "" for sentence in sentences)


def test_hostile_text_comes_to_an_end():
    # In quadratic time this would take hours.
    text = "." * 200_000 + "Mr. " * 50_000 + '."' * 50_000
    assert "".join("".join(split_sentences(text)).split()) == "".join(text.split())
