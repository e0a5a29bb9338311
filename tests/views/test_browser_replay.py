"""The explorers of GNN-Ret and RGNN-Ret as a reader meets them: in JupyterLab, with mouse and keyboard."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

pytestmark = pytest.mark.browser

CELLS = [
    "from kit.corpus.example import example\nfrom kit.views import *\nhand = example()\nquestions = hand.test[::-1]",
    "explore_gnn_ret(hand, questions, top=3, top_k=2)",
    "side_by_side(explore_gnn_ret(hand, questions, top_k=1), explore_rgnn_ret(hand, questions, top_k=2))",
    "explore_gnn_ret(hand, questions, top_k=2).storyboard('Messages')",
]


@pytest.fixture
def canvas(page) -> Locator:
    """The canvas of GNN-Ret at its first step, under its first settings."""
    canvas = page.locator(".kit-canvas").nth(0)
    canvas.scroll_into_view_if_needed()
    page.get_by_label("question").first.select_option(index=0)
    set_slider(page, 1, "0.50")
    canvas.locator("input").focus()
    for key in ("Escape", *["ArrowLeft"] * 6):
        page.keyboard.press(key)
    expect(canvas.locator(".kit-step")).to_have_text("1 of 5: start")
    return canvas


def set_slider(page: Page, number: int, value: str) -> None:
    """Press arrow keys on a slider of the page until it says so."""
    slider = page.locator(".widget-slider").nth(number)
    for _ in range(40):
        now = slider.locator(".widget-readout").inner_text().strip()
        if now == value:
            return
        slider.locator(".noUi-handle").press("ArrowLeft" if float(now) > float(value) else "ArrowRight")
    raise AssertionError(f"the slider stays at {now}")


def places(canvas: Locator) -> list[str]:
    return sorted(
        canvas.locator(".kit-node").evaluate_all("nodes => nodes.map(node => node.getAttribute('transform'))")
    )


def test_the_step_button_sends_messages_and_shows_the_arithmetic(page, canvas):
    before = places(canvas)
    step = canvas.get_by_role("button", name="One step on")
    step.click()
    expect(canvas.locator(".kit-step")).to_have_text("2 of 5: layer 1 · senders")
    expect(canvas.locator(".kit-stage .kit-halo")).to_have_count(2)
    step.click()
    expect(canvas.locator(".kit-step")).to_have_text("3 of 5: layer 1 · sender 1 of 2")
    expect(canvas.locator(".kit-strong .kit-arrow")).to_have_count(1)
    expect(canvas.locator(".kit-note")).to_have_text("0.50 · 0.709 + 0.50 · 0.244 = 0.476, place 4 → 3")
    expect(canvas.locator(".kit-detail p").first).to_contain_text("Ines Moravec was a painter")
    expect(canvas.locator("li").nth(2)).to_contain_text("▲1")
    assert places(canvas) == before


def test_a_node_in_hand_shows_its_own_arithmetic(page, canvas):
    page.keyboard.press("ArrowRight")
    canvas.locator("li").nth(0).focus()
    expect(canvas.locator(".kit-note")).to_have_text("sends 0.244, its distance before this layer")
    page.keyboard.press("Enter")  # pinned: it stays in hand from step to step
    canvas.locator("input").focus()
    page.keyboard.press("ArrowRight")
    expect(canvas.locator(".kit-note")).to_have_text("distance 0.244, place 1")


def test_keys_step_back_and_forth_and_play(page, canvas):
    step = canvas.locator(".kit-step")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(step).to_have_text("3 of 5: layer 1 · sender 1 of 2")
    page.keyboard.press("ArrowLeft")
    expect(step).to_have_text("2 of 5: layer 1 · senders")
    page.keyboard.press(" ")
    expect(canvas.get_by_role("button", name="Play or pause")).to_have_text("Pause")
    page.keyboard.press(" ")
    expect(canvas.get_by_role("button", name="Play or pause")).to_have_text("Play")


def test_colours_follow_the_distance(page, canvas):
    fills = "nodes => nodes.map(node => node.querySelector('path').getAttribute('fill'))"
    before = canvas.locator(".kit-node").evaluate_all(fills)
    assert len(set(before)) == 6 and all(fill.startswith("rgb(") for fill in before)
    for _ in range(2):
        page.keyboard.press("ArrowRight")
    expect(canvas.locator(".kit-step")).to_have_text("3 of 5: layer 1 · sender 1 of 2")
    after = canvas.locator(".kit-node").evaluate_all(fills)
    assert sum(old != new for old, new in zip(before, after)) == 1
    expect(canvas.locator(".kit-scale")).to_have_text("distance: far 1near 0.2")


def test_a_slider_and_a_dropdown_change_the_retrieval_and_the_step_stays(page, canvas):
    for _ in range(2):
        page.keyboard.press("ArrowRight")
    set_slider(page, 1, "0.20")
    expect(canvas.locator(".kit-note")).to_have_text("0.20 · 0.709 + 0.80 · 0.244 = 0.337, place 4 → 2")
    expect(canvas.locator(".kit-step")).to_have_text("3 of 5: layer 1 · sender 1 of 2")
    page.get_by_label("question").first.select_option(index=1)
    expect(canvas.locator(".kit-question")).to_contain_text("In which town was the director")


def test_a_question_can_be_typed(page, canvas):
    typed = page.get_by_label("or type one").first
    typed.fill("Which prize did the novel <b>win</b>?")
    typed.press("Enter")
    expect(canvas.locator(".kit-question")).to_have_text("Which prize did the novel <b>win</b>?", timeout=60_000)
    expect(canvas.locator(".kit-gold")).to_have_count(0)
    page.get_by_label("question").first.select_option(index=1)
    expect(typed).to_have_value("")
    expect(canvas.locator(".kit-question")).to_contain_text("In which town was the director")


def test_two_methods_go_in_step(page):
    left, right = page.locator(".kit-canvas").nth(1), page.locator(".kit-canvas").nth(2)
    left.scroll_into_view_if_needed()
    boxes = left.bounding_box(), right.bounding_box()
    assert boxes[0]["x"] + boxes[0]["width"] <= boxes[1]["x"] + 1 and boxes[0]["y"] == boxes[1]["y"]
    for canvas, other in ((left, right), (right, left)):
        before = other.locator(".kit-step").inner_text()
        canvas.locator("input").focus()
        page.keyboard.press("ArrowRight")
        expect(other.locator(".kit-step")).not_to_have_text(before)
    assert left.locator(".kit-step").inner_text().startswith("3 of ")
    expect(right.locator(".kit-step")).to_have_text("3 of 15: step 1 · layer 1 · sender 1 of 2")
    expect(right.locator(".kit-asked")).to_have_text("Who directed the film The Glass Harbour? → Ines Moravec")
    page.keyboard.press("ArrowRight")
    expect(left.locator(".kit-step")).to_have_text("4 of 15: layer 1 · sender 1 of 1 (waits)")
    spot = "nodes => Object.fromEntries(nodes.map(n => [n.ariaLabel.split(',')[0], n.getAttribute('transform')]))"
    one, two = (each.locator(".kit-node").evaluate_all(spot) for each in (left, right))
    assert one == two


def test_nothing_is_asked_of_another_host_and_the_console_has_no_error(page, seen):
    assert page.locator("[data-mime-type='application/vnd.jupyter.error']").count() == 0
    assert page.locator(".jp-RenderedImage img").count() == 1
    assert seen.elsewhere == []
    assert seen.errors == []
