"""How passages, questions and what holds them show themselves: short, and without gold fields."""

from dataclasses import replace

import numpy as np
import pytest
from msgspec.structs import astuple

from kit.corpus import (
    Benchmark,
    Corpus,
    Passage,
    Query,
    Question,
    SubQuestion,
    example,
    export,
    load,
)


def test_a_corpus_tells_how_many_passages_it_has() -> None:
    assert repr(example().corpus) == "Corpus: 6 passages"


def test_a_corpus_is_passed_through_in_its_order() -> None:
    passages = [Passage("b", "", "two", "b"), Passage("a", "", "one", "a")]
    assert list(Corpus(passages)) == passages


def test_a_query_shows_its_text_and_not_its_question() -> None:
    town = example().test[0]
    assert repr(town.query) == f"Query town: {town.text}"
    assert repr(town.gold_query) == f"GoldQuery town: {town.text}"


def test_a_benchmark_tells_its_size_and_neither_questions_nor_gold() -> None:
    line = "2,020 passages; 600 train, 200 dev, 500 test questions (pooled)"
    assert repr(load()) == f"Benchmark atlas: {line}"


def test_a_benchmark_names_only_the_splits_that_it_has() -> None:
    benchmark = example()
    assert repr(benchmark) == "Benchmark example: 6 passages; 2 test questions (pooled)"
    rows = {question.id: np.arange(6) for question in benchmark.test}
    single = replace(benchmark, collections=rows)
    assert repr(single) == "Benchmark example: 6 passages; 2 test questions (per-question)"
    assert (
        repr(Benchmark("bare", Corpus([]))) == "Benchmark bare: 0 passages; no questions (pooled)"
    )


def test_a_notebook_shows_a_table_in_which_the_name_is_escaped() -> None:
    page = replace(example(), name="<b>&")._repr_html_()
    assert page == (
        "<table><caption>Benchmark &lt;b&gt;&amp;</caption>"
        "<tr><th>passages<td>6<tr><th>test<td>2</table>"
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("half \ud800", "half \ufffd"),
        ("\udc00\ud800é", "\ufffd\ufffdé"),
        ("nul\0", "nul\ufffd"),
        ("\ud83d\ude00", "\N{GRINNING FACE}"),  # two halves make a whole
        (r"\u0000", r"\u0000"),  # six plain characters
        ("a\x01\u2028b", "a\x01\u2028b"),
    ],
)
def test_texts_made_in_python_can_be_written(text: str, expected: str, tmp_path) -> None:
    passage = Passage("p\ud800", text, text, text)
    assert astuple(passage)[:4] == ("p\ufffd", expected, expected, expected)
    question = Question(
        "q",
        text,
        text,
        ((passage.id,),),
        aliases=(text,),
        decomposition=(SubQuestion(text, text),),
        triples=((text, text, text),),
    )
    assert question.answers == (expected, expected)
    assert question.decomposition[0].text == expected
    assert question.triples == ((expected,) * 3,)
    assert Query("", text).text == expected

    benchmark = Benchmark("small", Corpus([passage]), test=[question])
    folder = export(benchmark, tmp_path / "folder", "kit")
    assert load(folder).hash == benchmark.hash


def test_what_is_no_text_stays_as_it_is() -> None:
    passage = Passage("p", "\0", "", "p", position=np.int64(3), page=None)
    assert passage == Passage("p", "\ufffd", "", "p", position=3)
