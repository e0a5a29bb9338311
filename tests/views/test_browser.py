"""The widgets as a reader meets them: one notebook in JupyterLab, with mouse and keyboard."""

from io import BytesIO

import pytest
from playwright.sync_api import Locator, Page, expect
from reportlab.pdfgen.canvas import Canvas

pytestmark = pytest.mark.browser

HOSTILE = (
    "<img src=x onerror=\"window.HACKED=1\"> & 'q' $x^2$ "
    "</script><script>window.HACKED=2</script>\nline two"
)
SLOW = 60_000  # milliseconds, for a machine that has much else to do
#: The cells by name, in their order; a test finds its own by it.
CELLS = {
    "setup": f"""
import ipywidgets
import pandas as pd
from kit.corpus import Corpus, Passage, load
from kit.corpus import example
from kit.errors import InputError
from kit.graphs import build
from kit.paths import ROOT
from kit.views import *
HOSTILE = {HOSTILE!r}
hand, reports = example(), load(ROOT / "data" / "reports")
questions = hand.test[::-1]""",
    "canvas": """
nodes = tuple(Node(f"n{i}", f"Port {i}" if i else HOSTILE, f"Text of port {i}." if i else HOSTILE,
                   (i % 10) / 9, (i // 10) / 5, gold=i == 0) for i in range(60))
edges = tuple(Edge(f"n{i}", f"n{(i * 7 + j) % 60}", ("knn", "tfidf"), HOSTILE)
              for i in range(60) for j in range(1, 6))
def frame(step):
    states = tuple(NodeState(node.id, "seed" if i <= step else "reached", note=HOSTILE)
                   for i, node in enumerate(nodes))
    ranking = Column(HOSTILE, tuple(RankItem(f"n{(i + step) % 10}", 0.5, 1) for i in range(10)))
    return Frame(f"round {step}", f"caption {step} {HOSTILE}", states, edges, (ranking,))
GraphCanvas(Replay(nodes, tuple(frame(step) for step in range(3)), HOSTILE), HOSTILE)""",
    "fails": """
def tell(mood):
    if mood == "bad":
        raise InputError(HOSTILE)
    return Replay((Node("a", "Only one"),), (Frame(states=(NodeState("a"),)),))
Explorer("moods", {"mood": ipywidgets.Dropdown(options=["good", "bad"])}, tell)""",
    "table": """
show_table(pd.DataFrame({'title': [HOSTILE, '$a$ and $b$'], 'n': [1234, 5]}), HOSTILE)""",
    "print": "storyboard(Replay(nodes, (frame(1),)), HOSTILE)",
    "page": """
passages = [("Marrow", "Marrow is a port on the Halle."), ("Tilsby", "Tilsby lies on the Halle."),
            (HOSTILE + "<a href='javascript:window.HACKED=3'>", HOSTILE)]
corpus = Corpus(Passage(f"p{i}", title, text, "d", i) for i, (title, text) in enumerate(passages))
graph_page(build("structure", corpus), gold=["p1"])""",
    "gnn": "explore('gnn-ret', hand, questions, top_k=2)",
    "beside": """
left = explore('gnn-ret', hand, questions, top_k=1)
SideBySide(left, explore('rgnn-ret', hand, questions, top_k=2))""",
    "walk": "explore('kgp-tfidf', hand, questions, budget=6, branching=3, depth=3)",
    "evidence": "explore('bgr', hand, questions, start='untrained')",
    "growth": "explore('ras', hand, questions, top_k=1)",
    "documents": "DocumentExplorer(reports.corpus, reports.test)",
}


def cell(page: Page, name: str) -> Locator:
    """The output of a cell, in view."""
    output = page.locator(".jp-Cell-outputWrapper").nth(list(CELLS).index(name))
    output.scroll_into_view_if_needed()
    return output


def canvas_of(page: Page, name: str, index: int = 0) -> Locator:
    """A canvas of a cell, at its first step and with nothing in hand."""
    canvas = cell(page, name).locator(".kit-canvas").nth(index)
    canvas.scroll_into_view_if_needed()
    canvas.locator("input").focus()
    for key in ("Escape", "0", *["ArrowLeft"] * 6):
        page.keyboard.press(key)
    expect(canvas.locator(".kit-step")).to_contain_text("1 of ")
    return canvas


def places(canvas: Locator) -> dict[str, str]:
    script = "nodes => Object.fromEntries(nodes.map(n => [n.kitNode, n.getAttribute('transform')]))"
    return canvas.locator(".kit-node").evaluate_all(script)


def test_all_cells_show_what_they_should(page):
    assert page.locator("[data-mime-type='application/vnd.jupyter.error']").count() == 0
    assert page.locator(".kit-canvas").count() == 9
    assert cell(page, "print").locator("img[width='960']").count() == 1


def test_keys_on_the_step_bar_step_and_play_and_positions_stay(page):
    canvas = canvas_of(page, "canvas")
    step = canvas.locator(".kit-step")
    before = places(canvas)
    page.keyboard.press("ArrowRight")
    expect(step).to_have_text("2 of 3: round 1")
    assert places(canvas) == before and len(before) == 60
    page.keyboard.press(" ")
    expect(canvas.get_by_role("button", name="Play or pause")).to_have_text("Pause")
    expect(step).to_have_text("3 of 3: round 2", timeout=8000)
    expect(canvas.get_by_role("button", name="Play or pause")).to_have_text(
        "Play", timeout=8000
    )  # ends by itself


def test_keys_walk_the_graph_and_pin_a_passage(page):
    canvas = canvas_of(page, "canvas")
    detail = canvas.locator(".kit-detail")
    cells = page.locator(".jp-Notebook .jp-Cell").count()
    canvas.locator(".kit-node").nth(11).focus()
    page.keyboard.press("ArrowRight")
    expect(detail).to_contain_text("Text of port 12.")
    page.keyboard.press("ArrowDown")
    expect(detail).to_contain_text("Text of port 22.")
    page.keyboard.press("Enter")
    canvas.locator(".kit-node").nth(55).hover()
    expect(canvas.locator(".kit-tip")).to_have_text("Port 55")
    expect(detail).to_contain_text("Text of port 22.")
    page.keyboard.press("Escape")
    canvas.locator(".kit-node").nth(54).hover()
    expect(detail).to_contain_text("Text of port 54.")
    assert canvas.locator(".kit-stage [tabindex='0']").count() == 1  # the Tab key stops once
    for key in "ddxab":  # which would delete and add cells
        page.keyboard.press(key)
    assert page.locator(".jp-Notebook .jp-Cell").count() == cells


def test_wheel_zooms_once_the_picture_was_clicked_and_drag_pans(page):
    canvas = canvas_of(page, "canvas")
    node = canvas.locator(".kit-node").first
    box = canvas.locator(".kit-stage > svg").bounding_box()
    before = node.get_attribute("transform")
    x = box["x"] + box["width"] / 2
    y = box["y"] + box["height"] / 2 + 15
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 40, y + 5)
    page.mouse.up()
    expect(node).not_to_have_attribute("transform", before)
    moved = node.get_attribute("transform")
    page.mouse.wheel(0, -300)
    expect(node).not_to_have_attribute("transform", moved)
    page.keyboard.press("0")
    expect(node).to_have_attribute("transform", before)


def test_an_error_in_a_callback_is_shown_to_the_reader(page):
    output = cell(page, "fails")
    output.locator("select").select_option("bad")
    expect(output.get_by_role("alert")).to_contain_text("<img src=x onerror=")
    expect(output.locator(".kit-node")).to_have_count(1)


def test_hostile_text_is_shown_and_never_run(page):
    canvas = canvas_of(page, "canvas")
    canvas.locator(".kit-node").first.hover()
    parts = (
        ".kit-question",
        ".kit-caption",
        ".kit-detail strong",
        ".kit-detail p",
        ".kit-tip",
        "h4",
        "li .kit-title",
    )
    for part in parts:
        assert canvas.locator(part).filter(has_text="<script>window.HACKED=2</script>").count(), (
            part
        )
    expect(cell(page, "table").locator("table")).to_contain_text("$a$ and $b$")
    assert page.evaluate("() => window.HACKED") is None
    assert page.locator(".kit-canvas img, .kit-canvas script, table img, table script").count() == 0
    assert page.locator("mjx-container").count() == 0


def test_a_graph_page_draws_and_its_text_is_inert(page):
    frame = cell(page, "page").locator("iframe")
    assert frame.get_attribute("sandbox") == "allow-scripts"
    inside = frame.content_frame
    nodes = inside.locator(".kit-node")
    expect(nodes).to_have_count(3, timeout=SLOW)
    before = nodes.nth(2).get_attribute("transform")
    inside.get_by_role("button", name="Zoom in").click()
    expect(nodes.nth(2)).not_to_have_attribute("transform", before)
    nodes.nth(2).focus()
    detail = inside.locator(".kit-detail")
    expect(detail).to_contain_text("<script>window.HACKED=2</script>")
    assert detail.locator("img, a, script").count() == 0
    assert inside.locator("body").evaluate("() => window.HACKED ?? null") is None


def test_steps_send_messages_and_show_the_arithmetic_of_the_node_in_hand(page):
    canvas = canvas_of(page, "gnn")
    before = places(canvas)
    fills = "nodes => nodes.map(node => node.querySelector('path').getAttribute('fill'))"
    colours = canvas.locator(".kit-node").evaluate_all(fills)
    step = canvas.get_by_role("button", name="One step on")
    step.click()
    expect(canvas.locator(".kit-step")).to_have_text("2 of 5: layer 1 · senders")
    expect(canvas.locator(".kit-stage .kit-halo")).to_have_count(2)
    step.click()
    expect(canvas.locator(".kit-strong .kit-arrow")).to_have_count(1)
    expect(canvas.locator(".kit-note")).to_have_text(
        "0.5 · 0.709 + 0.5 · 0.244 = 0.476, place 4 → 3"
    )
    expect(canvas.locator("li").nth(2)).to_contain_text("▲1")
    assert places(canvas) == before
    after = canvas.locator(".kit-node").evaluate_all(fills)
    assert (
        sum(before != now for before, now in zip(colours, after)) == 1
    )  # colour follows the distance
    canvas.locator("li").nth(0).focus()
    expect(canvas.locator(".kit-note")).to_have_text("distance 0.244, place 1")


def test_two_methods_go_in_step(page):
    left, right = (canvas_of(page, "beside", index) for index in (0, 1))
    boxes = left.bounding_box(), right.bounding_box()
    assert boxes[0]["x"] + boxes[0]["width"] <= boxes[1]["x"] + 1 and boxes[0]["y"] == boxes[1]["y"]
    for canvas in (left, right):
        canvas.locator("input").focus()
        page.keyboard.press("ArrowRight")
    expect(left.locator(".kit-step")).to_contain_text("3 of 15: layer 1 · sender 1 of 1")
    expect(right.locator(".kit-step")).to_have_text("3 of 15: step 1 · layer 1 · sender 1 of 2")
    expect(right.locator(".kit-asked")).to_have_text(
        "Who directed the film The Glass Harbour? → Ines Moravec"
    )
    assert places(left) == places(right)
    headings = [canvas.locator(".kit-heading").text_content() for canvas in (left, right)]
    assert headings == ["GNN-Ret · K 1", "RGNN-Ret · K 2"]
    page.set_viewport_size({"width": 900, "height": 1000})
    cut = "node => node.scrollWidth > node.clientWidth"
    assert not any(canvas.evaluate(cut) for canvas in (left, right))
    page.set_viewport_size({"width": 1300, "height": 1000})


def test_a_path_grows_step_by_step(page):
    output = cell(page, "walk")
    canvas = canvas_of(page, "walk")
    before = places(canvas)
    for _ in range(3):
        canvas.get_by_role("button", name="One step on").click()
    expect(canvas.locator(".kit-step")).to_have_text("4 of 6: hop 2 · path 1 of 2")
    expect(canvas.locator(".kit-strong .kit-arrow")).to_have_count(2)
    expect(canvas.locator(".kit-note")).to_have_text("visited now: scores 0.239")
    assert before.items() <= places(canvas).items()
    output.get_by_label("graph", exact=True).first.select_option("structure")
    expect(canvas.locator(".kit-step")).to_contain_text("1 of ", timeout=SLOW)


def test_evidence_is_searched_both_ways_and_merged(page):
    output = cell(page, "evidence")
    canvas = canvas_of(page, "evidence")
    before = places(canvas)
    expect(canvas.locator(".kit-step")).to_have_text(
        "1 of 6: forward · Q"
    )  # untrained: each search takes one fact
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    expect(canvas.locator(".kit-step")).to_have_text("5 of 6: merge")
    after = places(canvas)
    assert len(after) > 1 and after.items() <= before.items()
    output.get_by_label("direction", exact=True).select_option("forward")
    expect(canvas.locator(".kit-step")).to_have_text("1 of 3: forward · Q", timeout=SLOW)


def test_a_graph_grows_round_by_round(page):
    output = cell(page, "growth")
    canvas = canvas_of(page, "growth")
    expect(canvas.locator(".kit-caption")).to_contain_text("Then: a further question.")
    before = places(canvas)
    few = len(before)
    page.keyboard.press("ArrowRight")
    expect(canvas.locator(".kit-caption")).to_have_text(
        "No retrieval: the graph has it; read off: Ines Moravec. Then: a further question."
    )
    expect(canvas.locator(".kit-asked")).to_have_text("Glass Harbour director")
    page.keyboard.press("ArrowRight")
    expect(canvas.locator(".kit-caption")).to_contain_text("read off: Selby Quay")
    after = places(canvas)
    assert before.items() <= after.items() and len(after) > few
    output.get_by_label("question", exact=True).first.select_option(index=1)
    expect(canvas.locator(".kit-question")).to_contain_text("In which town", timeout=SLOW)


def ask(output: Locator, text: str) -> None:
    field = output.get_by_label("question", exact=True)
    field.fill(text)
    field.press("Enter")
    line = ".kit-question" if text else ".kit-canvas .kit-problem"
    expect(output.locator(line)).to_contain_text(
        text or "field question: expected a question", timeout=SLOW
    )


def upload(page: Page, output: Locator, name: str, data: bytes) -> None:
    with page.expect_file_chooser() as chosen:
        output.get_by_role("button", name="Upload PDFs").click()
    chosen.value.set_files([{"name": name, "mimeType": "application/pdf", "buffer": data}])


def test_a_page_is_asked_for(page):
    output = cell(page, "documents")
    ask(output, "What is on page 2 of the river survey?")
    expect(output.locator("ol[aria-label=Evidence] > li").nth(1)).to_contain_text(
        "survey · Table 1, page 2"
    )
    canvas = canvas_of(page, "documents")
    page.keyboard.press("ArrowRight")
    expect(canvas.locator(".kit-step")).to_have_text("2 of 3: page 2 of oll-valley-river-survey")


def test_pdfs_are_uploaded_asked_and_answered_from(page):
    output = cell(page, "documents")
    problem = output.locator(".kit-problem[role=alert] p")
    loaded = output.locator(".kit-sheet[role=status] p", has_text="pages,")
    sheet = BytesIO()
    canvas = Canvas(sheet)
    canvas.drawString(50, 500, f"Ada Lund keeps the gates. {HOSTILE.splitlines()[0]}")
    canvas.save()
    upload(page, output, "broken <b>.pdf", b"%PDF-1.4 and no more")
    expect(problem.first).to_contain_text("broken <b>.pdf: expected a PDF", timeout=SLOW)
    expect(loaded).to_have_count(4)
    upload(page, output, "weir.pdf", sheet.getvalue())
    expect(output.get_by_text("weir (weir): 1 page, 0 tables, 1 passage")).to_be_visible(
        timeout=SLOW
    )
    expect(loaded).to_have_count(0)
    ask(output, "Who keeps the gates?")
    expect(output.locator(".kit-sheet ol")).to_contain_text(
        'keeps the gates. <img src=x onerror="window.HACKED'
    )
    assert page.evaluate("window.HACKED") is None
    ask(output, "")


def test_nothing_is_asked_of_another_host_and_the_console_has_no_error(seen):
    assert seen.elsewhere == []
    assert seen.errors == []
