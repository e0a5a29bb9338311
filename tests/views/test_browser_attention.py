"""The explorer of QSGNN's attention as a reader meets it: in JupyterLab, with mouse and keyboard."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, expect

pytestmark = pytest.mark.browser

CELLS = [
    "from kit.corpus import Benchmark, Corpus, Passage\n"
    "from kit.corpus.example import example\n"
    "from kit.retrievers import make\n"
    "from kit.views import *\n"
    "hostile = '<img src=x onerror=\"window.HACKED=1\">'\n"
    "text = f'{hostile} is a film by Ines Moravec. {hostile} won the Lantern Prize.'\n"
    "passages = [*example().corpus.passages, Passage('bad', hostile, text, 'bad')]\n"
    "hand = Benchmark('hand', Corpus(passages), test=example().test[::-1])\n"
    "retriever = make('qsgnn', dimension=16)",
    "explore_attention(retriever, hand, hand.test)",
    "compare_attention(retriever, hand, hand.test, question='town')",
    "compare_attention(retriever, hand, hand.test, question='town').storyboard('Attention')",
]


@pytest.fixture
def canvas(page) -> Locator:
    """The first canvas at its first step, for the first question and node."""
    canvas = page.locator(".kit-canvas").nth(0)
    canvas.scroll_into_view_if_needed()
    page.get_by_label("query alignment").first.select_option("on")
    for index, words in ((1, "In which town"), (0, "Which river")):
        page.get_by_label("question").first.select_option(index=index)
        expect(canvas.locator(".kit-question")).to_contain_text(words, timeout=60_000)
    canvas.locator("input").focus()
    for key in ("Escape", *["ArrowLeft"] * 6):
        page.keyboard.press(key)
    expect(canvas.locator(".kit-step")).to_have_text("1 of 4: layer 1 · between: o → d")
    return canvas


def test_keys_step_from_level_to_level_and_from_sender_to_sender(page, canvas):
    page.keyboard.press("ArrowRight")
    expect(canvas.locator(".kit-step")).to_have_text("2 of 4: layer 1 · between: c → d")
    expect(canvas.locator(".kit-caption")).to_contain_text("Steered by the query: of 2 sentences one gets ")
    expect(canvas.locator(".kit-stage .kit-halo")).to_have_count(1)
    expect(canvas.locator(".kit-note")).to_contain_text("after the last layer score ")
    canvas.locator("li").nth(0).focus()
    best = canvas.locator("li .kit-score").nth(0).inner_text()
    expect(canvas.locator(".kit-note")).to_contain_text(f"attention {best}, ")
    expect(canvas.locator(".kit-note")).to_contain_text("0.500 with the query alignment off")
    page.keyboard.press("ArrowDown")
    expect(canvas.locator("li:focus")).to_have_count(1)
    expect(canvas.locator("li").nth(1)).to_be_focused()


def test_a_node_stands_still_and_has_its_number_in_the_picture(page, canvas):
    places = "nodes => Object.fromEntries(nodes.map(n => [n.kitNode, n.getAttribute('transform')]))"
    before = canvas.locator(".kit-node").evaluate_all(places)
    scores = canvas.locator("li .kit-score").all_inner_texts()
    labels = canvas.locator(".kit-label").all_text_contents()
    assert len(before) == len(scores) + 1
    assert all(any(f"{float(score):.3f}" in label for label in labels) for score in scores)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(canvas.locator(".kit-step")).to_have_text("3 of 4: layer 2 · between: o → d")
    assert canvas.locator(".kit-node").evaluate_all(places) == before


def test_a_node_and_the_alignment_are_chosen_with_the_keyboard(page, canvas):
    node = page.get_by_label("node").first
    node.focus()
    node.press("ArrowDown")
    expect(node).to_have_value(node.locator("option").nth(1).get_attribute("value"))
    expect(canvas.locator(".kit-detail strong")).to_have_text("§1 Ines Moravec")
    alignment = page.get_by_label("query alignment").first
    alignment.focus()
    alignment.press("ArrowDown")
    expect(canvas.locator(".kit-caption")).to_contain_text("Query alignment off: ")


def test_another_question_brings_other_nodes(page, canvas):
    node = page.get_by_label("node").first
    before = node.locator("option").all_inner_texts()
    typed = page.get_by_label("or type one").first
    typed.fill("Which prize did <b>Moravec</b> win?")
    typed.press("Enter")
    expect(canvas.locator(".kit-question")).to_have_text("Which prize did <b>Moravec</b> win?", timeout=60_000)
    expect(canvas.locator(".kit-gold")).to_have_count(0)
    names = node.locator("option").all_inner_texts()
    assert names != before
    node.select_option(index=next(i for i, name in enumerate(names) if name.startswith("passage\xa0·\xa0<img")))
    expect(canvas.locator(".kit-detail strong")).to_have_text('<img src=x onerror="window.HACKED=1">')
    assert canvas.locator("img").count() == 0 and page.evaluate("() => window.HACKED") is None


def test_on_and_off_go_in_step_at_one_node(page):
    left, right = page.locator(".kit-canvas").nth(1), page.locator(".kit-canvas").nth(2)
    left.scroll_into_view_if_needed()
    page.get_by_label("node").nth(1).select_option(label="entity · Ines Moravec")
    for canvas in (left, right):
        expect(canvas.locator(".kit-step")).to_have_text("1 of 6: layer 1 · within: o → o")
    left.locator("input").focus()
    page.keyboard.press("ArrowRight")
    for canvas, words in ((left, "Steered by the query: "), (right, "Query alignment off: each of ")):
        expect(canvas.locator(".kit-step")).to_have_text("2 of 6: layer 1 · between: c → o")
        expect(canvas.locator(".kit-caption")).to_contain_text(words)
    spot = "nodes => Object.fromEntries(nodes.map(n => [n.kitNode, n.getAttribute('transform')]))"
    one, two = (each.locator(".kit-node").evaluate_all(spot) for each in (left, right))
    assert one == two and len(one) > 2
    marks = "nodes => nodes.map(n => n.querySelector('path').getAttribute('fill'))"
    assert len(set(right.locator(".kit-node").evaluate_all(marks)[1:])) == 1


def test_nothing_is_asked_of_another_host_and_the_console_has_no_error(page, seen):
    assert page.locator("[data-mime-type='application/vnd.jupyter.error']").count() == 0
    assert page.locator(".jp-RenderedImage img").count() == 1
    assert seen.elsewhere == []
    assert seen.errors == []
