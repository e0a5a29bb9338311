"""Folders of documents: a corpus, and with questions beside them a benchmark."""

import pytest

from kit.corpus import check, load, load_corpus
from kit.errors import InputError
from kit.graphs import build


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


NOTED = pytest.mark.filterwarnings("ignore:.*passed over, :UserWarning")


@pytest.fixture
def shelf(documents, write):
    """PDFs, texts and a web page in a folder and one within it, and what other systems left."""
    write("papers/weir.txt", "The weir. " * 30)
    write("papers/README.md", "What these papers are.")
    write("papers/more/README.md", "# Lock\n\nThe lock is at Selby.")
    write("papers/more/bell.HTML", "<h1>Bell</h1><p>A bell was saved.")
    for name in ("._mill.pdf", "Thumbs.db", "~$plan.docx", ".DS_Store", ".git/notes.txt"):
        write(f"papers/{name}", "?")
    write("papers/more/plan.docx", "?")
    return documents


@NOTED
def test_texts_and_web_pages_stand_beside_pdfs(shelf):
    benchmark = load(shelf)
    documents = {
        document: benchmark.corpus.passages[rows[0]].title
        for document, rows in benchmark.corpus.documents.items()
    }
    assert documents == {
        "mill": "mill",
        "weir.txt": "weir",
        "more/README.md": "Lock",
        "more/bell.HTML": "Bell",
    }
    assert [question.supporting for question in benchmark.test] == [
        (("mill#p2.1",),),
        (("mill#p1.1",),),
    ]


@NOTED
def test_what_is_passed_over_is_told(shelf):
    _, notes = check(shelf)
    assert notes == [
        f"{shelf}: passed over, left by a system or an editor: .git and 4 more",
        f"{shelf}: passed over, not .pdf, .txt, .md or .html: more/plan.docx",
    ]
    with pytest.warns(UserWarning, match=r"passed over, left by a system"):
        load(shelf)


@NOTED
def test_quotes_may_be_of_any_document(shelf, write):
    quotes = [{"document": "more/bell.HTML", "text": "bell was"}]
    question = {"id": "q", "text": "What was saved?", "answer": "a bell", "quotes": quotes}
    write("papers/test.jsonl", [question])
    assert load(shelf).test[0].supporting == (("more/bell.HTML#1",),)


def test_long_texts_are_cut_and_neighbours_joined(write):
    text = write("weir.txt", "The weir. " * 30)
    corpus = load_corpus([text], passage_tokens=30)
    assert [passage.text for passage in corpus.passages] == [" ".join(["The weir."] * 10)] * 3
    edges = build("structure", corpus).to_networkx().edges
    assert sorted(tuple(sorted(edge)) for edge in set(edges)) == [(0, 1), (1, 2)]


def test_a_folder_of_nothing_that_is_read(write):
    folder = write("shelf/plan.docx", "?").parent
    lines, _ = check(folder)
    assert lines == [
        f"{folder}: expected a file, or a folder with corpus.jsonl (beir), passages.jsonl (kit) "
        "or .pdf, .txt, .md, .html (documents)"
    ]
    blank = write("blank/a.txt", " ").parent
    lines, notes = check(blank)
    assert lines == [f"{blank}: expected a document (.pdf, .txt, .md, .html) or a folder with some"]
    assert notes == [f"{blank / 'a.txt'}: it is left out, since there is no text in it"]


def test_a_text_of_records_is_no_document(write, hotpotqa):
    assert len(load(write("dev.txt", hotpotqa)).test) == len(hotpotqa)
