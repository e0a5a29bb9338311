"""HippoRAG corpora and OpenIE files: passages without questions."""

from __future__ import annotations

import pytest

from kit.corpus import check, load, load_corpus
from kit.errors import InputError

PARAGRAPHS = [
    {"title": "Ode", "text": "The Ode is a river."},
    {"title": "Ode", "text": "The Ode is a poem."},
    {"title": "Ode", "text": " The Ode is a  river.\n"},
]


def test_equal_paragraphs_are_one_and_equal_titles_are_not_one_document(write):
    corpus = load_corpus([write("corpus.json", PARAGRAPHS)])
    assert [passage.text for passage in corpus.passages] == ["The Ode is a river.", "The Ode is a poem."]
    assert len(corpus.documents) == 2


def test_an_openie_file_is_a_corpus_even_with_nan_in_its_statistics(write):
    docs = '{"docs": [{"title": "Ode", "text": "A river.", "extracted_triples": []}], "avg_ent_chars": NaN}'
    path = write("openie.json", docs)
    assert check(path) == []
    assert [passage.title for passage in load_corpus([path]).passages] == ["Ode"]


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ('{"docs": [{"title": "Ode"}]}', "record 1, field text: missing"),
        ('{"docs": [{"title": "Ode", "text": 5}, []]}', "record 1, field text: expected text, got a whole number"),
        ('{"docs": 5}', "field docs: expected a list of objects"),
        ('{"docs": [', "not valid JSON"),
        ('{"docs": [{"title": "\\ud800", "text": ""}]}', "expected UTF-8"),
        (b'{"docs": ["\xff"]}', "expected UTF-8"),
        ('{"docs": ' + "[" * 100_000, "not valid JSON"),
        ('[{"title": "Ode", "text": "A river."}, {"title": null, "text": ""}]', "record 2, field title: expected text"),
    ],
)
def test_what_is_wrong_ends_in_one_line(write, content, line):
    path = write("corpus.json", content)
    with pytest.raises(InputError) as raised:
        load_corpus([path], format="hipporag")
    assert line in str(raised.value) and str(raised.value).startswith(str(path))


def test_a_corpus_alone_cannot_be_a_benchmark(write):
    with pytest.raises(InputError, match="expected questions, this is a corpus"):
        load(write("corpus.json", PARAGRAPHS))
