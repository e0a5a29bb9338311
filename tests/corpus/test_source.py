"""Ids made from content, and the joining of several files."""

import pytest

from kit.corpus import EvidenceGraph, Passage, Question
from kit.corpus.source import Item, Source, combine, content_id


def test_an_id_is_the_words_of_the_title_and_a_digest_of_the_content():
    # printf 'Salt Road (film)\nA film.' | b2sum -l 64
    assert content_id("Salt Road (film)", "A film.") == "Salt_Road_film#08c8e3d66ba7932f"
    assert content_id("Salt  Road (film)\n", " A\tfilm. ") == content_id(
        "Salt Road (film)", "A film."
    )
    assert content_id("", "") != content_id("", "a")


def test_equal_paragraphs_of_a_later_file_take_the_earlier_id():
    first = Source()
    second = Source()
    for title, text in (("Ode", "A river."), ("Marl", "A town.")):
        first.add_passage(Passage(f"own-{title}", title, text, title))
    ids = second.add_paragraph("Ode", "A  river."), second.add_paragraph("Lowick", "A town.")
    supporting = tuple((passage_id,) for passage_id in ids)
    second.add_question(Item(Question("q2", "?", "", supporting), collection=ids))
    joint = combine(first, second)
    assert [passage.title for passage in joint.paragraphs.values()] == ["Ode", "Marl", "Lowick"]
    item = joint.items["q2"]
    assert item.question.supporting[0] == ("own-Ode",) and item.collection[0] == "own-Ode"
    assert item.question.supporting[1] == (content_id("Lowick", "A town."),)


@pytest.mark.parametrize(
    ("edges", "kept"),
    [([], ()), ([(0, 1), (0, 1), (1, 1)], ((0, 1),)), ([(1, 2), (0, 2)], ((0, 2), (1, 2)))],
)
def test_an_evidence_graph_has_each_edge_once_and_no_loop(edges, kept):
    assert EvidenceGraph.acyclic(3, edges).edges == kept
    assert EvidenceGraph.acyclic(3, [(0, 1), (1, 2), (2, 0)]) is None
