"""Ids made from content, and the joining of several files."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.corpus import EvidenceGraph, Passage, Question
from kit.corpus.source import Item, Source, combine, content_id
from kit.errors import InputError


def test_an_id_is_the_words_of_the_title_and_a_digest_of_the_content():
    # printf 'Salt Road (film)\nA film.' | b2sum -l 64
    assert content_id("Salt Road (film)", "A film.") == "Salt_Road_film#08c8e3d66ba7932f"
    assert content_id("Salt  Road (film)\n", " A\tfilm. ") == content_id("Salt Road (film)", "A film.")
    assert content_id("", "") != content_id("", "a")


@given(st.text(), st.text())
def test_an_id_has_no_white_space_or_markup(title, text):
    id = content_id(title, text)
    assert len(id.split()) == 1 and len(id) <= 57 and not set(id) & set("<>&\"'\0")


def source(*paragraphs, own=False, question=None):
    made = Source("test")
    ids = []
    for title, text in paragraphs:
        if own:
            made.add_passage(Passage(f"own-{title}", title, text, title))
            ids.append(f"own-{title}")
        else:
            ids.append(made.add(title, text))
    if question:
        made.items.append(Item(Question(question, "?", "", tuple((id,) for id in ids)), own=tuple(ids)))
    return made


def test_equal_paragraphs_of_a_later_file_take_the_earlier_id():
    first = source(("Ode", "A river."), ("Marl", "A town."), own=True, question="q1")
    second = source(("Ode", "A  river."), ("Lowick", "A town."), question="q2")
    joint = combine(first, second)
    assert [passage.title for passage in joint.paragraphs.values()] == ["Ode", "Marl", "Lowick"]
    asked = joint.items[1]
    assert asked.question.supporting[0] == ("own-Ode",) and asked.own[0] == "own-Ode"
    assert asked.question.supporting[1] == (content_id("Lowick", "A town."),)


def test_one_id_for_two_texts_is_an_error():
    with pytest.raises(InputError, match=r"^passage 'own-Ode': an earlier file has its id for another text$"):
        combine(source(("Ode", "A."), own=True), source(("Ode", "B."), own=True))


def test_one_question_twice_is_an_error():
    with pytest.raises(InputError, match=r"^question 'q' is in an earlier file too$"):
        combine(source(("Ode", "A."), question="q"), source(("Ode", "B."), question="q"))


@pytest.mark.parametrize(
    ("edges", "kept"), [([], ()), ([(0, 1), (0, 1), (1, 1)], ((0, 1),)), ([(1, 2), (0, 2)], ((0, 2), (1, 2)))]
)
def test_an_evidence_graph_has_each_edge_once_and_no_loop(edges, kept):
    assert EvidenceGraph.of(3, edges).edges == kept


def test_edges_with_a_cycle_make_no_evidence_graph():
    assert EvidenceGraph.of(2, [(0, 1), (1, 0)]) is None
