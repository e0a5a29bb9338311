"""Mentions and the numbers that stand for them."""

from kit.corpus import Corpus, Passage, example
from kit.text.placeholders import MOST_NAMES, EntityLinker, Mention, Placeholders, key_of, plain

LINKER = EntityLinker(example().corpus)


def test_titles_come_first_and_dates_and_numbers_are_mentions_where_asked_for() -> None:
    text = "Ines Moravec left Selby Quay on 3 July 1901 with 1,200 nets."
    assert [mention.entity for mention in LINKER.mentions(text)] == [
        "Ines Moravec",
        "Selby Quay",
        "3 July 1901",
    ]
    mentions = LINKER.mentions(text, numbers=True)
    assert [mention.entity for mention in mentions] == [
        "Ines Moravec",
        "Selby Quay",
        "3 July 1901",
        "1,200",
    ]
    assert all(
        text[mention.start : mention.end].startswith(mention.entity[:4]) for mention in mentions
    )


def test_of_namesakes_the_written_name_is_meant() -> None:
    assert LINKER.mentions("the film The Glass Harbour")[0].entity == "Glass Harbour"
    assert key_of("The Glass Harbour (film)") == key_of("Glass Harbour") == "glass harbour"


def test_the_subject_is_the_title_or_part_of_it_that_is_no_other_title() -> None:
    linker = EntityLinker(
        Corpus(
            [
                Passage("u", "Selby College", "It is old.", "u"),
                Passage("s", "Selby", "A town.", "s"),
            ]
        )
    )
    assert linker.is_subject("Selby College", "Selby College (old)") and linker.is_subject(
        "College", "Selby College"
    )
    assert not linker.is_subject("Selby", "Selby College") and not linker.is_subject(
        "York", "Selby College"
    )


def test_a_name_keeps_its_number_and_is_put_back() -> None:
    names = Placeholders()
    text = "Was Selby Quay the home of Ines Moravec?"
    assert names.hide(text, LINKER.mentions(text)) == "was <n0> the home of <n1> ?"
    assert (names.placeholder("SELBY QUAY"), names.placeholder("Oll"), names.entity("<n2>")) == (
        "<n0>",
        "<n2>",
        "Oll",
    )
    assert names.entity("<n3>") is None and names.entity("oll") is None
    assert "Ines Moravec" in names and "York" not in names
    subject = [mention for mention in LINKER.mentions(text) if mention.entity == "Selby Quay"]
    assert (
        Placeholders().hide(text, LINKER.mentions(text), subject) == "was <new> the home of <n0> ?"
    )


def test_beyond_the_last_number_a_name_is_written() -> None:
    names = Placeholders()
    assert [names.placeholder(f"Name {index}") for index in range(MOST_NAMES + 1)][-2:] == [
        f"<n{MOST_NAMES - 1}>",
        "name 40",
    ]


def test_plain_is_lower_case_with_spaces_between_tokens() -> None:
    assert plain("Who's <n1>'s aunt, 1,200?") == "who's <n1> ' s aunt , 1 , 200 ?"
    assert Placeholders().hide("no names", [Mention(0, 0, "")][:0]) == "no names"
