"""HippoRAG corpora and OpenIE files: passages without questions."""

import pytest

from kit.corpus import check, load_corpus

PARAGRAPHS = [
    {"title": "Ode", "text": "The Ode is a river."},
    {"title": "Ode", "text": "The Ode is a poem."},
    {"title": "Ode", "text": " The Ode is a  river.\n"},
]


def test_equal_paragraphs_are_one_and_equal_titles_are_not_one_document(write):
    corpus = load_corpus([write("corpus.json", PARAGRAPHS)])
    assert [passage.text for passage in corpus.passages] == [
        "The Ode is a river.",
        "The Ode is a poem.",
    ]
    assert len(corpus.documents) == 2


def test_an_openie_file_is_a_corpus_even_with_nan_in_its_statistics(write):
    docs = '[{"title": "Ode", "text": "A river.", "extracted_triples": []}]'
    path = write("openie.json", f'{{"docs": {docs}, "avg_ent_chars": NaN}}')
    assert check(path) == ([], [])
    assert [passage.title for passage in load_corpus([path]).passages] == ["Ode"]


@pytest.mark.parametrize("content", ["[%s, %s]", '{"docs": [%s, %s, []]}'])
def test_what_is_wrong_ends_in_one_line(write, content):
    path = write(
        "corpus.json",
        content % ('{"title": "Ode", "text": "A river."}', '{"title": "Ode", "text": 5}'),
    )
    [first, *_], _ = check(path)
    assert first == f"{path}, record 2, field text: expected text, got a whole number"
