"""Folders of PDFs: a corpus, and with questions beside them a benchmark."""

import pytest

from kit.corpus import check, load, load_corpus
from kit.errors import InputError


def test_a_folder_with_questions_is_a_benchmark(documents):
    benchmark = load(documents)
    assert benchmark.name == "documents-papers"
    assert [(it.id, it.page, it.text) for it in benchmark.corpus.passages] == [
        ("mill#p1.1", 1, "The mill stands at Lowick."),
        ("mill#p2.1", 2, "It burned in 1820. A bell was saved."),
    ]
    about_page, about_content = benchmark.test
    assert (about_page.type, about_page.supporting) == ("page", (("mill#p2.1",),))
    assert (about_content.type, about_content.supporting) == ("content", (("mill#p1.1",),))


def test_a_folder_or_a_file_without_questions_is_a_corpus(documents):
    (documents / "test.jsonl").unlink()
    for path in (documents, documents / "mill.pdf"):
        assert len(load_corpus([path])) == 2
        assert check(path) == ([], [])
        with pytest.raises(InputError, match="expected questions, this is a corpus"):
            load(path)


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (
            {"structures": [{"document": "mill", "kind": "page", "label": "3"}]},
            "field structures[0]: expected a structure of a document, 'page 3 of mill' is none",
        ),
        ({"quotes": [{"document": "mill", "text": "stood"}]}, "field quotes[0]: expected words of a passage of 'mill'"),
        ({"quotes": [{"document": "mill", "text": " "}]}, "field quotes[0]: expected words of a passage"),
        ({}, "expected structures or quotes, and not both"),
        ({"text": "", "quotes": [{"document": "mill", "text": "mill"}]}, "field text: expected text that is not blank"),
    ],
)
def test_a_question_that_leads_nowhere_ends_in_one_line(documents, write, told, change, line):
    path = write("papers/test.jsonl", [{"id": "q1", "text": "?", "answer": ""} | change])
    shown = told(documents)
    assert shown.startswith(f"{path}, record 1 (id 'q1')") and line in shown


def test_every_file_that_cannot_be_read_is_told(documents, write):
    write("papers/empty.pdf", b"")
    write("papers/letter.pdf", "Dear all")
    lines, _ = check(documents)
    assert lines == [
        f"{documents / 'empty.pdf'}: expected a PDF, this file is broken or none (PdfminerException)",
        f"{documents / 'letter.pdf'}: expected a PDF, this file is broken or none (PdfminerException)",
    ]
    with pytest.raises(InputError, match=r"empty\.pdf: .* \(and 1 more: `kit data check` tells all\)"):
        load(documents)
