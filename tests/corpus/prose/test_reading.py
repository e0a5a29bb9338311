"""Texts cut into passages."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.corpus.prose import read_prose
from kit.corpus.prose.cutting import cut, n_tokens
from kit.errors import InputError


def test_tokens_are_words_and_marks():
    assert n_tokens("It isn't 1,820 m, is it?") == 12  # It isn ' t 1 , 820 m , is it ?
    assert n_tokens("磨坊在河边。 The mill") == 8
    assert n_tokens(" \n") == 0


def test_passages_are_whole_sentences_up_to_a_number_of_tokens():
    paragraphs = ["One two three. Four five.", "Six. Seven eight nine ten."]
    assert list(cut(paragraphs, 9)) == ["One two three. Four five.\nSix.", "Seven eight nine ten."]
    assert list(cut(paragraphs, 7)) == ["One two three. Four five.", "Six. Seven eight nine ten."]
    assert list(cut(paragraphs, 4)) == [
        "One two three.",
        "Four five.",
        "Six.",
        "Seven eight nine ten",
        ".",
    ]


def test_a_heading_begins_the_first_passage_and_counts():
    assert list(cut(["One two three. Four."], 7, "A mill")) == ["A mill\nOne two three.", "Four."]
    assert list(cut([], 7, "A mill")) == ["A mill"]


def test_sentences_of_chinese_end_without_white_space():
    assert list(cut(["磨坊在河边。它烧了！"], 6)) == ["磨坊在河边。", "它烧了！"]


@given(
    st.lists(st.text(alphabet="ab.!? 河。-\n", min_size=1), max_size=5),
    st.integers(1, 9),
)
def test_nothing_is_lost_and_nothing_is_too_long(paragraphs, most):
    passages = list(cut(paragraphs, most))
    assert all(0 < n_tokens(passage) <= most for passage in passages if passage.strip())
    assert re.sub(r"\s", "", "".join(passages)) == re.sub(r"\s", "", "".join(paragraphs))


def test_the_title_is_the_main_heading_and_others_stand_in_the_text():
    text = "# Mill\n\nOn the Ode.\n\n## Later\n\n### Fire\n\nIt burned. A bell was saved.\n\n## End"
    passages = read_prose("a/My mill.md", text.encode(), "My mill.md", [], passage_tokens=6)
    assert [(passage.id, passage.position, passage.text) for passage in passages] == [
        ("My_mill.md#1", 0, "On the Ode."),
        ("My_mill.md#2", 1, "Later\nFire\nIt burned."),
        ("My_mill.md#3", 2, "A bell was saved."),
        ("My_mill.md#4", 3, "End"),
    ]
    assert {(passage.title, passage.document) for passage in passages} == {("Mill", "My mill.md")}


@pytest.mark.parametrize(
    "name, text, title",
    [
        ("a.html", "<title>Page</title><h2>Part</h2><p>Text", "Page"),
        ("a.html", "<title>Page</title><h1>Main</h1><p>Text", "Main"),
        ("a.htm", "<h2>Part</h2><p>Text", "Part"),
        ("the_old-mill.txt", "It stands on the Ode.", "the old mill"),
        ("a.txt", "Mill", "Mill"),
    ],
)
def test_titles(name, text, title):
    passages = read_prose(name, text.encode(), name, [])
    assert [passage.title for passage in passages] == [title]


def test_other_encodings():
    notes = []
    page = '<meta charset="koi8-r"><p>мельница'.encode("koi8-r")
    assert read_prose("a.html", page, "a.html", notes)[0].text == "мельница"
    assert notes == []
    assert read_prose("a.txt", b"Caf\xe9.", "a.txt", notes)[0].text == "Café."
    assert notes == ["a.txt: read as windows-1252, since it is not in UTF-8"]
    assert read_prose("b.txt", b" \n", "b.txt", notes) == []
    assert notes[1:] == ["b.txt: it is left out, since there is no text in it"]
    with pytest.raises(InputError, match=r"^a\.txt: expected text, this file has NUL characters"):
        read_prose("a.txt", b"a\0b", "a.txt", [])
