"""HippoRAG corpora and OpenIE files: passages without questions."""

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
    assert check(path) == ([], [])
    assert [passage.title for passage in load_corpus([path]).passages] == ["Ode"]


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ('{"docs": [{"title": "Ode", "text": 5}, []]}', "record 1, field text: expected text, got a whole number"),
        ('{"docs": [', "not valid JSON"),
        (b'[{"title": "\xff", "text": ""}]', "expected UTF-8"),
        ('[{"title": "Ode", "text": "A river."}, {"title": null, "text": ""}]', "record 2, field title: expected text"),
    ],
)
def test_what_is_wrong_ends_in_one_line(write, content, line):
    path = write("corpus.json", content)
    [first, *_], _ = check(path, "hipporag")
    assert line in first and first.startswith(str(path))


def test_a_corpus_alone_cannot_be_a_benchmark(write):
    with pytest.raises(InputError, match="expected questions, this is a corpus"):
        load(write("corpus.json", PARAGRAPHS))
