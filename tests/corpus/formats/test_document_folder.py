"""Folders of PDFs: a corpus, and with questions beside them a benchmark."""

import pytest

from kit.corpus import check, load, load_corpus
from kit.errors import InputError


def test_a_folder_with_questions_is_a_benchmark(documents):
    benchmark = load(documents)
    assert benchmark.name == "documents-papers"
    assert [(passage.id, passage.page, passage.text) for passage in benchmark.corpus.passages] == [
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


def test_every_file_that_cannot_be_read_is_told(documents, write):
    write("papers/empty.pdf", b"")
    write("papers/letter.pdf", "Dear all")
    lines, _ = check(documents)
    reason = "expected a PDF, this file is broken or none (PdfminerException)"
    assert lines == [
        f"{documents / 'empty.pdf'}: {reason}",
        f"{documents / 'letter.pdf'}: {reason}",
    ]
    with pytest.raises(
        InputError, match=r"empty\.pdf: .* \(and 1 more: `kit data check` tells all\)"
    ):
        load(documents)
