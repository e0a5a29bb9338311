"""The rule that splits text into sentences; what a retriever may see of a question."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.corpus import GoldQuery, Query, example
from kit.corpus.sentences import split_sentences


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("", []),
        (" \n", []),
        ("Lowick", ["Lowick"]),
        (
            "It burned. Nobody knew why! Who would?",
            ["It burned.", "Nobody knew why!", "Who would?"],
        ),
        (
            '"Who is it?" He left. (She did.) 12 others.',
            ['"Who is it?"', "He left.", "(She did.)", "12 others."],
        ),
        ("Dr. Ada Brill met J. R. Orr of St. Marl.", ["Dr. Ada Brill met J. R. Orr of St. Marl."]),
        (
            "It cost 3.5 in the U.S. Navy, e.g. No. 4 of it.",
            ["It cost 3.5 in the U.S. Navy, e.g. No. 4 of it."],
        ),
        (
            "The ode ends… then begins. “Oster” is next.",
            ["The ode ends… then begins.", "“Oster” is next."],
        ),
        ("Sie kam an. Éowald ging.", ["Sie kam an.", "Éowald ging."]),
        ("Он жил на ул. ленина. Потом уехал.", ["Он жил на ул. ленина.", "Потом уехал."]),
        ("他来了。“你好！”她说？没有", ["他来了。", "“你好！”", "她说？", "没有"]),
        ("ولد هنا. هل سافر؟ نعم.", ["ولد هنا.", "هل سافر؟", "نعم."]),
        ("वह आया। फिर गया।", ["वह आया।", "फिर गया।"]),
    ],
)
def test_splits(text, sentences):
    assert split_sentences(text) == sentences


@given(st.text(alphabet=st.sampled_from("aB3 .!?…\"')(\n"), max_size=60))
def test_loses_nothing_but_white_space(text):
    sentences = split_sentences(text)
    assert "".join("".join(sentences).split()) == "".join(text.split())
    assert all(sentence == sentence.strip() != "" for sentence in sentences)


def test_hostile_text_comes_to_an_end():
    # In quadratic time this would take hours.
    text = "." * 200_000 + "Mr. " * 50_000 + '."' * 50_000
    assert "".join("".join(split_sentences(text)).split()) == "".join(text.split())


def test_a_plain_query_holds_no_gold_field_and_a_gold_one_the_question() -> None:
    town = example().test[0]
    assert type(town.query) is Query and msgspec.to_builtins(town.query) == {
        "id": "town",
        "text": town.text,
    }
    assert isinstance(town.gold_query, GoldQuery) and town.gold_query.question is town
    assert town.query != town.gold_query
