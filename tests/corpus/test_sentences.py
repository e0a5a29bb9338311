"""The rule that splits text into sentences; what sentences as passages make of supports, evidence and steps."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.corpus import EvidenceGraph, GoldQuery, Passage, Query, Question, SubQuestion
from kit.corpus.example import example
from kit.corpus.sentences import by_sentence, split_sentences
from kit.corpus.source import Item, Source


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("", []),
        (" \n", []),
        ("Lowick", ["Lowick"]),
        ("It burned. Nobody knew why! Who would?", ["It burned.", "Nobody knew why!", "Who would?"]),
        ('"Who is it?" He left. (She did.) 12 others.', ['"Who is it?"', "He left.", "(She did.)", "12 others."]),
        ("Dr. Ada Brill met J. R. Orr of St. Marl.", ["Dr. Ada Brill met J. R. Orr of St. Marl."]),
        ("It cost 3.5 in the U.S. Navy, e.g. No. 4 of it.", ["It cost 3.5 in the U.S. Navy, e.g. No. 4 of it."]),
        ("The ode ends… then begins. “Oster” is next.", ["The ode ends… then begins.", "“Oster” is next."]),
        ("Sie kam an. Éowald ging.", ["Sie kam an.", "Éowald ging."]),
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


def test_edges_join_all_sentences_of_one_support_with_all_of_the_next():
    source = Source("test")
    first = source.add("A", "One. Two.", ["One.", "Two."])
    second = source.add("B", "Three.", ["Three."])
    question = Question(
        "q",
        "?",
        "",
        supporting=((first,), (second,)),
        decomposition=(SubQuestion("a", "b", support=0), SubQuestion("c", "d", support=1, depends_on=(0,))),
        evidence=EvidenceGraph(2, ((0, 1),)),
    )
    source.items = {"named": Item(question, named=(("Two.", "One."), ("Three.",))), "whole": Item(question)}
    asked, whole = (item.question for item in by_sentence(source).items.values())
    assert asked.supporting == ((f"{first}.1",), (f"{first}.0",), (f"{second}.0",))
    assert asked.evidence == EvidenceGraph(3, ((0, 2), (1, 2)))
    assert [step.support for step in asked.decomposition] == [0, 2]
    assert asked.decomposition[1].depends_on == (0,)
    assert whole.supporting == ((f"{first}.0", f"{first}.1"), (f"{second}.0",))
    assert whole.evidence == question.evidence


def test_positions_follow_the_document_and_not_the_file():
    source = Source("test")
    for id, position, text in (("late", 1, "Three. Four."), ("early", 0, "One. Two."), ("blank", 2, " ")):
        source.add_passage(Passage(id, "T", text, "doc", position))
    made = by_sentence(source).paragraphs.values()
    assert [passage.id for passage in made] == ["late.0", "late.1", "early.0", "early.1", "blank.0"]
    assert [passage.position for passage in made] == [2, 3, 0, 1, 4]
    assert [passage.text for passage in made] == ["Three.", "Four.", "One.", "Two.", ""]


def test_a_plain_query_holds_no_gold_field_and_a_gold_one_the_question() -> None:
    town = example().test[0]
    assert type(town.query) is Query and msgspec.to_builtins(town.query) == {"id": "town", "text": town.text}
    assert isinstance(town.gold_query, GoldQuery) and town.gold_query.question is town
    assert town.query != town.gold_query
