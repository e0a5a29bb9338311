"""The explorer of one's own documents as a reader meets it: upload by the file chooser, ask, read, step."""

from __future__ import annotations

from io import BytesIO

import pytest
from playwright.sync_api import Locator, Page, expect
from reportlab.lib import colors
from reportlab.lib.pagesizes import A5
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Table

pytestmark = pytest.mark.browser

SLOW = 60_000  # milliseconds, for a machine that has much else to do
CELLS = [
    "from kit.views import explore_documents",
    "explorer = explore_documents()\nexplorer",
    "explorer.storyboard('A way', question='What is on page 1 of the river survey?')",
]


def weir() -> bytes:
    """A PDF of two pages with a table whose text would do harm if it were taken for markup."""
    sink = BytesIO()
    canvas = Canvas(sink, pagesize=A5)
    canvas.drawString(50, 500, "The weir holds back the pond of the mill.")
    canvas.drawString(50, 470, "Table 1: Gates")
    cells = [["Gate", "Width"], ['<img src=x onerror="window.HACKED=1">', "12"]]
    table = Table(cells, style=[("GRID", (0, 0), (-1, -1), 0.5, colors.black)])
    table.wrapOn(canvas, 300, 300)
    table.drawOn(canvas, 50, 420)
    canvas.showPage()
    canvas.drawString(50, 500, "Ada Lund keeps the gates.")
    canvas.save()
    return sink.getvalue()


@pytest.fixture
def canvas(page) -> Locator:
    return page.locator(".kit-canvas").first


@pytest.fixture
def evidence(page) -> Locator:
    return page.locator(".kit-sheet ol").first


def ask(page: Page, text: str) -> None:
    field = page.get_by_label("question", exact=True)
    field.fill(text)
    field.press("Enter")
    expect(page.locator(".kit-canvas .kit-question").first).to_contain_text(text, timeout=SLOW)


def upload(page: Page, *files: tuple[str, bytes]) -> None:
    with page.expect_file_chooser() as chosen:
        page.get_by_role("button", name="Upload PDFs").click()
    given = [{"name": name, "mimeType": "application/pdf", "buffer": data} for name, data in files]
    chosen.value.set_files(given)


def test_a_page_is_asked_for_and_its_passages_are_shown(page, canvas, evidence):
    ask(page, "What is on page 2 of the river survey?")
    expect(evidence.locator("> li")).to_have_count(5)
    expect(evidence.locator("> li").nth(1).locator("td").first).to_have_text("Chalk Head")
    expect(evidence.locator("> li").nth(1)).to_contain_text("oll-valley-river-survey · Table 1, page 2")
    expect(canvas.locator(".kit-step")).to_have_text("1 of 3: what the question names")


def test_the_way_is_stepped_by_keyboard_and_its_passages_are_marked(page, canvas, evidence):
    ask(page, "What is on page 2 of the river survey?")
    expect(page.locator(".kit-on-path")).to_have_count(0)
    canvas.locator("input").focus()
    page.keyboard.press("ArrowRight")
    expect(canvas.locator(".kit-step")).to_have_text("2 of 3: page 2 of oll-valley-river-survey")
    expect(page.locator(".kit-on-path")).to_have_count(5)
    places = "nodes => Object.fromEntries(nodes.map(n => [n.ariaLabel.split(',')[0], n.getAttribute('transform')]))"
    before = canvas.locator(".kit-node").evaluate_all(places)
    page.keyboard.press("ArrowRight")
    expect(canvas.locator(".kit-step")).to_have_text("3 of 3: result")
    expect(page.locator(".kit-on-path")).to_have_count(0)
    assert canvas.locator(".kit-node").evaluate_all(places) == before


def test_a_question_about_content_is_walked_for_by_another_agent_too(page, canvas, evidence):
    ask(page, "Who rehung the gate of the dry dock?")
    expect(evidence.locator("> li").first).to_contain_text("Lioba Frey")
    expect(canvas.locator(".kit-step")).to_contain_text("seeds")
    page.get_by_label("agent").select_option("kgp-dense")
    expect(page.locator(".kit-sheet[role=status]").last).to_contain_text("kgp-dense walks", timeout=SLOW)
    expect(evidence.locator("> li").first).to_contain_text("Lioba Frey")
    page.get_by_label("agent").select_option("kgp-tfidf")
    expect(page.locator(".kit-sheet[role=status]").last).to_contain_text("kgp-tfidf walks", timeout=SLOW)


def test_the_evidence_is_reached_and_scrolled_by_keyboard(page, evidence):
    ask(page, "What is on page 1 of the river survey?")
    box = page.locator(".widget-html", has=evidence)
    box.focus()
    expect(box).to_be_focused()
    page.keyboard.press("End")
    page.wait_for_function("box => box.scrollTop > 0", arg=box.element_handle())


def test_a_broken_pdf_is_told_in_a_line_and_all_else_stays(page, evidence):
    ask(page, "What is on page 2 of the river survey?")
    upload(page, ("broken <b>.pdf", b"%PDF-1.4 and no more"), ("empty.pdf", b""))
    problem = page.locator(".kit-problem[role=alert] p")
    expect(problem).to_have_text(
        [
            "broken <b>.pdf: expected a PDF, this file is broken or none (PdfminerException)",
            "empty.pdf: expected a PDF, the file is empty",
        ],
        timeout=SLOW,
    )
    expect(page.get_by_role("table", name="Documents loaded").locator("tbody tr")).to_have_count(5)
    expect(evidence.locator("> li")).to_have_count(5)


def test_a_pdf_is_uploaded_asked_and_answered_from(page, canvas, evidence):
    upload(page, ("weir.pdf", weir()))
    loaded = page.get_by_role("table", name="Documents loaded").locator("tbody tr")
    expect(loaded).to_have_count(2, timeout=SLOW)
    expect(loaded.first).to_have_text("weirweir213")  # title, file, pages, tables, passages
    expect(page.locator(".kit-problem[role=alert] p")).to_have_count(0)
    ask(page, "In Table 1, which gate is the widest?")
    expect(evidence.locator("td").first).to_have_text('<img src=x onerror="window.HACKED=1">')
    ask(page, "Who keeps the gates?")
    expect(evidence).to_contain_text("Ada Lund keeps the gates.")
    expect(canvas.locator(".kit-step")).to_contain_text("seeds")
    upload(page, ("weir.pdf", weir()))  # the same file again
    expect(page.locator(".kit-sheet[role=status]").first).to_contain_text("1 of 1 read", timeout=SLOW)
    expect(loaded).to_have_count(2)
    assert page.evaluate("window.HACKED") is None
    page.get_by_role("button", name="Start again").click()
    expect(loaded).to_have_count(5, timeout=SLOW)


def test_an_empty_question_is_told(page, canvas):
    field = page.get_by_label("question", exact=True)
    field.fill("")
    page.get_by_role("button", name="Ask").click()
    expect(canvas.locator(".kit-problem")).to_have_text("field question: expected a question")
    ask(page, "What is on page 2 of the river survey?")
    expect(canvas.locator(".kit-problem")).to_be_hidden()


def test_nothing_is_asked_of_another_host_and_the_console_has_no_error(page, seen):
    assert page.locator("[data-mime-type='application/vnd.jupyter.error']").count() == 0
    assert page.locator(".jp-RenderedImage img").count() == 1
    assert seen.elsewhere == []
    assert seen.errors == []
