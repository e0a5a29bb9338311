"""The explorer of one's own documents, with real PDFs, retrievers and the project's reports."""

import json
import re
from io import BytesIO

import pytest
from reportlab.lib import colors
from reportlab.lib.pagesizes import A5
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Table

from kit.corpus import Corpus, Passage, read_document
from kit.errors import InputError
from kit.retrievers import KGPTfidf
from kit.views.documents import DocumentExplorer, evidence_html, table_html

TABLE = Passage(
    "plan#p2.1",
    "Plan",
    "Table 3: Costs\n\n| item | pounds |\n| --- | --- |\n| a \\| b | 1,200 |",
    "plan",
    0,
    2,
    "table",
)
TEXT = Passage("plan#p2.2", "Plan", "A <b>bridge</b>.", "plan", 1, 2)
HOSTILE = "<img src=x onerror=alert(1)> | & 'q'"


def mill(*pages: str, title: str = "The <b>Mill</b>", cell: str = "oak") -> bytes:
    """A PDF of one line a page and, on the first, a table with a caption."""
    sink = BytesIO()
    canvas = Canvas(sink, pagesize=A5, invariant=1)
    canvas.setTitle(title)
    for number, text in enumerate(pages):
        canvas.drawString(50, 500, text)
        if not number:
            canvas.drawString(50, 470, "Table 1: Wheels")
            table = Table([["Wheel", "Turns"], [cell, "12"]], style=[("GRID", (0, 0), (-1, -1), 0.5, colors.black)])
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
    return DocumentExplorer(corpus, agents={"kgp-tfidf": KGPTfidf()})


def ask(explorer: DocumentExplorer, question: str) -> list[str]:
    """Ask as a reader does, and return the ids of the evidence."""
    explorer.controls["question"].value = question
    assert explorer.canvas.problem == ""
    return [passage.id for passage in explorer.passages]


def told(explorer: DocumentExplorer) -> str:
    return " ".join(explorer.told)


def test_it_begins_with_a_question_and_shows_what_is_loaded(explorer):
    assert explorer.values == {"question": "What is on page 1?", "agent": "kgp-tfidf"}
    assert [it.id for it in explorer.passages] == ["mill#p1.1", "mill#p1.2", "weir#p1.1", "weir#p1.2"]
    assert re.search(
        r"<td>The Weir</td>\s*<td>weir</td>\s*<td>1</td>\s*<td>1</td>\s*<td>2</td>", explorer_html(explorer)
    )


def explorer_html(explorer: DocumentExplorer) -> str:
    """All that the widgets of the explorer, those within others too, hand to the browser as HTML."""
    todo, found = [explorer], []
    while todo:
        one = todo.pop(0)
        todo += getattr(one, "children", ())
        found += [one.value] if type(one).__name__ == "HTML" else []
    return "\n".join(found)


def test_a_question_about_structure_gets_what_is_named_and_nothing_else(explorer):
    assert ask(explorer, "What is on page 2 of the mill?") == ["mill#p2.1"]
    assert told(explorer) == "A question about structure: no search is needed."
    assert ask(explorer, "What differs between Table 1 of the weir and page 2 of the mill?") == [
        "weir#p1.2",
        "mill#p2.1",
    ]
    scenes = [scene.step for scene in explorer.replay().frames]
    assert scenes == ["what the question names", "table 1 of weir", "page 2 of mill", "result"]


def test_a_question_about_content_is_walked_for(explorer):
    assert ask(explorer, "Who keeps the mill?")[:2] == ["mill#p1.2", "mill#p2.1"]
    assert told(explorer).startswith("A question about content: kgp-tfidf walks the passages")
    assert explorer.replay().frames[0].step == "seeds"


def test_text_of_documents_and_files_is_escaped(explorer):
    ask(explorer, "What does Table 1 of the weir say?")
    html = explorer_html(explorer)
    assert "<img" not in html and "<b>Mill" not in html
    assert "&lt;img src=x onerror=alert(1)&gt; | &amp; 'q'</td>" in html
    explorer.load({"<b>x</b>.pdf": b""})
    assert "&lt;b&gt;x&lt;/b&gt;.pdf: expected a PDF, this file is broken" in explorer_html(explorer)
    assert "<b>x" not in explorer_html(explorer)


def test_the_first_upload_takes_the_place_of_the_beginning_and_later_ones_are_added(explorer):
    explorer.load({"mill.pdf": MILL})
    assert list(explorer.corpus.documents) == ["mill"]
    assert [it.id for it in explorer.passages] == ["mill#p1.1", "mill#p1.2"]
    explorer.load({"lock.pdf": mill("The lock is shut.")})
    assert list(explorer.corpus.documents) == ["mill", "lock"]
    explorer.load({"mill.pdf": mill("Another mill.")})  # the same name again
    assert list(explorer.corpus.documents) == ["mill", "lock"]
    assert len(explorer.corpus) == 4


def test_what_cannot_be_read_is_told_and_the_rest_stays(explorer):
    ask(explorer, "Who keeps the mill?")
    before = explorer.corpus
    explorer.load({"empty.pdf": b"", "broken.pdf": b"%PDF-1.4 and no more"})
    assert explorer.corpus is before and explorer.values["question"] == "Who keeps the mill?"
    line = "<p>empty.pdf: expected a PDF, this file is broken or none (PdfminerException)</p><p>broken.pdf: expected"
    assert line in explorer._refused.value
    explorer.load({"empty.pdf": b"", "lock.pdf": mill("The lock is shut.")})
    assert list(explorer.corpus.documents) == ["lock"]
    assert "empty.pdf" in explorer._refused.value
    explorer.load({"mill.pdf": MILL})
    assert explorer._refused.value == ""


def test_an_empty_question_is_told_and_the_last_evidence_stays(explorer):
    evidence = ask(explorer, "Who keeps the mill?")
    explorer.controls["question"].value = "  "
    assert explorer.canvas.problem == "field question: expected a question"
    assert [it.id for it in explorer.passages] == evidence


class FirstWords:
    """A reader that answers with the first three words of its first passage, and can be switched off."""

    name = "first words"
    on = True

    def answer(self, questions, contexts):
        if not self.on:
            raise InputError("the server http://127.0.0.1:9 does not answer")
        return [" ".join(context[0].split("\n")[1].split()[:3]) for context in contexts]


def test_a_reader_answers_from_the_evidence_and_its_failure_leaves_the_evidence(corpus):
    reader = FirstWords()
    explorer = DocumentExplorer(corpus, agents={"kgp-tfidf": KGPTfidf()}, reader=reader)
    ask(explorer, "What is on page 2 of the mill?")
    assert explorer.told[-1] == "Answer (first words): Ada Lund keeps"
    reader.on = False
    explorer.controls["question"].value = "What is on page 1 of the mill?"
    assert explorer.canvas.problem == "no answer from first words: the server http://127.0.0.1:9 does not answer"
    assert explorer.passages[0].id == "mill#p1.1" and "The wheel" in explorer._evidence.value
    reader.on = True
    explorer.present()  # what went wrong is tried again
    assert (explorer.canvas.problem, explorer.told[-1]) == ("", "Answer (first words): The wheel is")


def test_it_begins_with_the_projects_reports_and_their_questions():
    explorer = DocumentExplorer(question="Who rehung the gate of the dry dock?")
    assert len(explorer.corpus.documents) == 4
    assert "selby-quay-harbour-board#p1.7" in [it.id for it in explorer.passages]
    asked = explorer.controls["question"].options[0]
    explorer.controls["question"].value = asked
    story = json.loads(json.dumps(explorer.canvas.replay))
    assert story["question"].startswith(f"{asked}\nAnswer: ")
    gold = {id for id, node in story["nodes"].items() if node["gold"]}
    assert gold == {it.id for it in explorer.passages}


def test_a_table_is_shown_as_one():
    html = table_html(TABLE.text)
    assert html.startswith("<strong>Table 3: Costs</strong><table")
    assert re.findall("<t([hd])>([^<]*)", html) == [("h", "item"), ("h", "pounds"), ("d", "a | b"), ("d", "1,200")]


def test_passages_are_numbered_with_their_place():
    html = evidence_html([TABLE, TEXT])
    assert "<strong>1 · Plan</strong> <small>plan · Table 3, page 2</small>" in html
    assert "plan · page 2</small><p>A &lt;b&gt;bridge&lt;/b&gt;.</p>" in html
