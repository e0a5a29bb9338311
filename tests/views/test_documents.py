"""The explorer of one's own documents, with real PDFs, retrievers and the project's reports."""

import re
from io import BytesIO

import pytest
from reportlab.lib import colors
from reportlab.lib.pagesizes import A5
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Table

from kit.corpus import Corpus, Passage, load, load_corpus, read_document
from kit.paths import ROOT
from kit.views.documents import DocumentExplorer
from kit.views.sheets import evidence_html, table_html

COSTS = "Table 3: Costs\n\n| item | pounds |\n| --- | --- |\n| a \\| b | 1,200 |"
TABLE = Passage("plan#p2.1", "Plan", COSTS, "plan", 0, 2, "table")
TEXT = Passage("plan#p2.2", "Plan", "A <b>bridge</b>.", "plan", 1, 2)
HOSTILE = "<img src=x onerror=alert(1)> | & 'q'"


def mill(*pages: str, title: str = "The <b>Mill</b>", cell: str = "oak") -> bytes:
    """A PDF of one line a page and, on the first, a table with a caption."""
    sink = BytesIO()
    canvas = Canvas(sink, pagesize=A5, invariant=1)
    canvas.setTitle(title)
    for page, text in enumerate(pages):
        canvas.drawString(50, 500, text)
        if page == 0:
            canvas.drawString(50, 470, "Table 1: Wheels")
            table = Table(
                [["Wheel", "Turns"], [cell, "12"]],
                style=[("GRID", (0, 0), (-1, -1), 0.5, colors.black)],
            )
            table.wrapOn(canvas, 300, 300)
            table.drawOn(canvas, 50, 420)
        canvas.showPage()
    canvas.save()
    return sink.getvalue()


MILL = mill("The wheel is made of wood.", "Ada Lund keeps the mill.")


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    weir = mill("The weir holds back the pond.", title="The Weir", cell=HOSTILE)
    return Corpus([*read_document("mill.pdf", MILL), *read_document("weir.pdf", weir)])


@pytest.fixture
def explorer(corpus) -> DocumentExplorer:
    return DocumentExplorer(corpus)


def ask(explorer: DocumentExplorer, question: str) -> list[str]:
    """Ask as a reader does, and return the ids of the evidence."""
    explorer.controls["question"].value = question
    assert explorer.canvas.problem == ""
    return [passage.id for passage in explorer.passages]


def html_of(explorer: DocumentExplorer) -> str:
    """All that the widgets of the explorer, but for the canvas, hand to the browser as HTML."""
    return "\n".join(
        widget.value for widget in explorer.children if type(widget).__name__ == "HTML"
    )


def test_it_begins_with_a_question_and_shows_what_is_loaded(explorer):
    assert explorer.values == {"question": "What is on page 1?", "agent": "kgp-tfidf"}
    assert [passage.id for passage in explorer.passages] == [
        "mill#p1.1",
        "mill#p1.2",
        "weir#p1.1",
        "weir#p1.2",
    ]
    assert "<p>The Weir (weir): 1 page, 1 table, 2 passages</p>" in html_of(explorer)


def test_a_question_about_structure_gets_what_is_named_and_nothing_else(explorer):
    assert ask(explorer, "What is on page 2 of the mill?") == ["mill#p2.1"]
    assert explorer.explanation == "A question about structure: no search is needed."
    comparison = "What differs between Table 1 of the weir and page 2 of the mill?"
    assert ask(explorer, comparison) == ["weir#p1.2", "mill#p2.1"]
    scenes = [scene.step for scene in explorer.replay().frames]
    assert scenes == ["what the question names", "table 1 of weir", "page 2 of mill", "result"]


def test_a_question_about_content_is_walked_for(explorer):
    assert ask(explorer, "Who keeps the mill?")[:2] == ["mill#p1.2", "mill#p2.1"]
    assert explorer.explanation.startswith("A question about content: kgp-tfidf walks the passages")
    assert explorer.replay().frames[0].step == "seeds"


def test_text_of_documents_and_files_is_escaped(explorer):
    ask(explorer, "What does Table 1 of the weir say?")
    html = html_of(explorer)
    assert "<img" not in html and "<b>Mill" not in html
    assert "&lt;img src=x onerror=alert(1)&gt; | &amp; 'q'</td>" in html
    explorer.load({"<b>x</b>.pdf": b""})
    assert "&lt;b&gt;x&lt;/b&gt;.pdf: expected a PDF, this file is broken" in html_of(explorer)
    assert "<b>x" not in html_of(explorer)


def test_the_first_upload_takes_the_place_of_the_beginning_and_later_ones_are_added(explorer):
    explorer.load({"mill.pdf": MILL})
    assert [passage.id for passage in explorer.passages] == ["mill#p1.1", "mill#p1.2"] and len(
        explorer.corpus
    ) == 3
    explorer.load({"lock.pdf": mill("The lock is shut.")})
    explorer.load({"mill.pdf": mill("Another mill.")})  # the same name again
    assert list(explorer.corpus.documents) == ["mill", "lock"] and len(explorer.corpus) == 4


def test_what_cannot_be_read_is_told_and_the_rest_stays(explorer):
    ask(explorer, "Who keeps the mill?")
    before = explorer.corpus
    explorer.load({"empty.pdf": b"", "broken.pdf": b"%PDF-1.4 and no more"})
    assert explorer.corpus is before and explorer.values["question"] == "Who keeps the mill?"
    broken = "expected a PDF, this file is broken or none (PdfminerException)"
    assert f"<p>empty.pdf: {broken}</p><p>broken.pdf: expected" in html_of(explorer)
    explorer.load({"empty.pdf": b"", "lock.pdf": mill("The lock is shut.")})
    assert list(explorer.corpus.documents) == ["lock"]
    assert "empty.pdf" in html_of(explorer)
    explorer.load({"mill.pdf": MILL})
    assert "empty.pdf" not in html_of(explorer)


def test_an_empty_question_is_told_and_the_last_evidence_stays(explorer):
    evidence = ask(explorer, "Who keeps the mill?")
    explorer.controls["question"].value = "  "
    assert explorer.canvas.problem == "field question: expected a question"
    assert [passage.id for passage in explorer.passages] == evidence


def test_of_a_known_question_answer_and_supports_are_shown():
    reports = load(ROOT / "data" / "reports")
    explorer = DocumentExplorer(reports.corpus, reports.test)
    assert "selby-quay-harbour-board#p1.7" in ask(explorer, "Who rehung the gate of the dry dock?")
    first = reports.test[0]
    evidence = ask(explorer, first.text)
    shown = explorer.replay()
    assert shown.question == f"{first.text}\nAnswer: {first.answer}"
    assert {node.id for node in shown.nodes if node.gold} == {*evidence}


def test_a_table_is_shown_as_one():
    html = table_html(TABLE.text)
    assert html.startswith("<p><strong>Table 3: Costs</strong></p><table")
    assert re.findall("<t([hd])>([^<]*)", html) == [
        ("h", "item"),
        ("h", "pounds"),
        ("d", "a | b"),
        ("d", "1,200"),
    ]


def test_passages_are_numbered_with_their_place():
    html = evidence_html([TABLE, TEXT])
    assert (
        '<ol aria-label="Evidence"><li><strong>Plan</strong> <small>plan · Table 3, page 2</small>'
        in html
    )
    assert "plan · page 2</small><p>A &lt;b&gt;bridge&lt;/b&gt;.</p>" in html


def test_documents_without_pages_are_asked_too(tmp_path):
    (tmp_path / "weir.md").write_text("# The weir\n\nThe weir holds the water back.")
    explorer = DocumentExplorer(load_corpus([tmp_path]))
    assert [passage.id for passage in explorer.passages] == ["weir.md#1"]
