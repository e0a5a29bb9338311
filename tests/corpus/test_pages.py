"""Whole pages in place of paragraphs: which of their passages carry the supports."""

import pytest

from kit.corpus import load, load_training
from kit.errors import InputError

ADA = """Ada Brill
====

Ada Brill (1820 – 1899) painted boats and was born in the town of Lowick. She kept seven bees.

Life
----

She went to sea. She sold a grey ferry to a man who kept boats in a town.
"""


@pytest.fixture
def pages(write):
    write("pages/Ada Brill.txt", ADA)
    write("pages/Nell.txt", "Nell Horn\n====\n\nNell Horn is a cape.")
    return write(
        "pages/Ferry.txt", "Grey ferry\n====\n\nGrey Ferry, a painting, is by Brill."
    ).parent


def test_a_support_is_the_passage_of_its_page_with_most_of_its_words(write, hotpotqa, pages):
    path = write("dev.json", hotpotqa)
    with pytest.warns(UserWarning, match="^1 of 2 questions are left out: a support is in no page"):
        benchmark = load(path, corpus=[pages], setting="pages")
    assert benchmark.name == "hotpotqa-dev-pages" and benchmark.setting == "pooled"
    assert {passage.document for passage in benchmark.corpus} == {
        "Ada Brill.txt",
        "Nell.txt",
        "Ferry.txt",
    }
    [question] = benchmark.test
    assert question.text == hotpotqa[0]["question"]
    assert question.supporting == (("Ferry.txt#1",), ("Ada_Brill.txt#1",))


def test_a_page_without_the_words_does_not_carry(write, hotpotqa, pages):
    path = write("dev.json", hotpotqa)
    write("pages/Ferry.txt", "Grey Ferry\n====\n\nA horse of another colour altogether.")
    with pytest.raises(InputError, match="expected pages with the titles and words of supports"):
        load(path, corpus=[pages], setting="pages")
    with pytest.raises(InputError, match="field corpus: expected files of pages for the setting"):
        load(path, setting="pages")


def test_what_is_learned_from_may_be_pages_too(write, hotpotqa, pages):
    write("pages/Oster.txt", "Oster Horn\n====\n\nOster Horn is a large cape.")
    benchmark = load_training([write("dev.json", hotpotqa)], corpus=[pages], setting="pages")
    assert len(benchmark.train) + len(benchmark.dev) == 2 and not benchmark.test
    questions = {
        question.id: question.supporting for question in (*benchmark.train, *benchmark.dev)
    }
    assert questions["h2"] == (("Nell.txt#1",), ("Oster.txt#1",))
