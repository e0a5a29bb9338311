"""How a relation is put into words, as it is read off texts."""

import pytest

from kit.methods.qsgnn.wording import (
    ask_for_object,
    ask_for_subject,
    object_described,
    plain_name,
    subject_described,
    verb_phrase,
)


@pytest.mark.parametrize(
    ("relation", "phrase"),
    [
        ("moved to", "moved to"),
        ("It won the", ""),  # nothing but stop words
        ("She won a place at the", "won a place at"),
        ("and where he hailed from", "hailed from"),
        ("Married to", "was married to"),
        ("designed by", "was designed by"),
        ("born", "was born"),
        ("A native of", "is a native of"),
        ("is in", "is in"),
        ("director", "has the director"),
        # Fillers, single stop words, and what reads like nothing.
        ("is mentioned with", ""),
        ("The", ""),
        ("on", ""),
        ("since", ""),
        ("is a", ""),
        ("Printers from", ""),
        ("", ""),
    ],
)
def test_what_stands_between_a_subject_and_an_object(relation: str, phrase: str) -> None:
    assert verb_phrase(relation) == phrase


def test_a_question_for_each_end() -> None:
    assert ask_for_object("Orm", "is a port of") == "What is Orm a port of?"
    assert ask_for_object("Ada Venn", "moved to") == "Ada Venn moved to what?"
    assert ask_for_object("Ada Venn", "was born in", is_date=True) == "When was Ada Venn born?"
    assert ask_for_object("Ada Venn", "died on", is_date=True) == "Ada Venn died when?"
    assert ask_for_subject("is a port of", "Venland") == "What is a port of Venland?"


def test_what_lies_between_is_described() -> None:
    assert object_described("Ada Venn", "moved to") == "something that Ada Venn moved to"
    assert subject_described("moved to", "Orm") == "something that moved to Orm"
    assert ask_for_object("something that moved to Orm", "died in").startswith("Something")


def test_a_name_without_its_qualifier() -> None:
    assert plain_name("The Glass Harbour (film)") == "The Glass Harbour"
    assert plain_name("(500) Days") == "(500) Days"
