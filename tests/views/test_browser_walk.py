"""The explorer of KGP as a reader meets it: in JupyterLab, with mouse and keyboard."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, expect

pytestmark = pytest.mark.browser

CELLS = [
    "from kit.corpus.example import example\nfrom kit.views import *\nhand = example()\nquestions = hand.test[::-1]",
    "walk = {'budget': 6, 'branching': 3, 'depth': 3}\nexplore_kgp(hand, questions, **walk)",
    "one, two = (explore_kgp(hand, questions, agent=name, **walk) for name in ('kgp-tfidf', 'kgp-dense'))",
    "side_by_side(one, two)",
    "explore_kgp(hand, questions, **walk).storyboard('A walk')",
]


@pytest.fixture
def canvas(page) -> Locator:
    """The first canvas at its first step."""
    canvas = page.locator(".kit-canvas").nth(0)
    canvas.scroll_into_view_if_needed()
    canvas.locator("input").focus()
    for key in ("Escape", *["ArrowLeft"] * 6):
        page.keyboard.press(key)
    expect(canvas.locator(".kit-step")).to_have_text("1 of 6: seeds")
    return canvas


def test_the_path_grows_step_by_step(page, canvas):
    expect(canvas.locator("li")).to_have_count(2)
    places = "nodes => Object.fromEntries(nodes.map(n => [n.ariaLabel.split(',')[0], n.getAttribute('transform')]))"
    before = canvas.locator(".kit-node").evaluate_all(places)
    for _ in range(3):
        canvas.get_by_role("button", name="One step on").click()
    expect(canvas.locator(".kit-step")).to_have_text("4 of 6: hop 2 · path 1 of 2")
    expect(canvas.locator(".kit-caption")).to_contain_text("the best of 2 neighbours")
    expect(canvas.locator(".kit-stage .kit-halo")).to_have_count(2)
    expect(canvas.locator(".kit-strong .kit-arrow")).to_have_count(2)
    expect(canvas.locator(".kit-note")).to_have_text("visited now: scores 0.239")
    after = canvas.locator(".kit-node").evaluate_all(places)
    assert before.items() <= after.items()


def test_the_tree_is_indented_and_the_ranking_is_numbered(page, canvas):
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    expect(canvas.locator("li").nth(2)).to_contain_text("Selby Quay")
    lefts = canvas.locator("li").evaluate_all("rows => rows.map(row => row.getBoundingClientRect().x)")
    assert lefts[0] < lefts[1] < lefts[2]
    expect(canvas.locator("li .kit-rank").nth(1)).to_have_text("↳")
    for _ in range(2):
        page.keyboard.press("ArrowRight")
    expect(canvas.locator(".kit-step")).to_have_text("6 of 6: result")
    expect(canvas.locator("li .kit-rank").nth(1)).to_have_text("2")
    expect(canvas.locator("h4")).to_have_text("3 of 3 supports in the first 10")


def test_another_agent_and_a_typed_question(page, canvas):
    page.get_by_label("agent").first.select_option("kgp-dense")
    expect(canvas.locator(".kit-caption")).to_contain_text("0.756 to 0.582", timeout=60_000)
    typed = page.get_by_label("or type one").first
    typed.fill("Which prize did the novel <b>win</b>?")
    typed.press("Enter")
    expect(canvas.locator(".kit-question")).to_have_text("Which prize did the novel <b>win</b>?", timeout=60_000)
    page.get_by_label("question").first.select_option(index=1)
    page.get_by_label("question").first.select_option(index=0)
    page.get_by_label("agent").first.select_option("kgp-tfidf")
    expect(canvas.locator(".kit-caption")).to_contain_text("0.556 to 0.366", timeout=60_000)


def test_two_agents_go_in_step(page):
    left, right = page.locator(".kit-canvas").nth(1), page.locator(".kit-canvas").nth(2)
    left.scroll_into_view_if_needed()
    left.locator("input").focus()
    page.keyboard.press("ArrowRight")
    for canvas in (left, right):
        expect(canvas.locator(".kit-step")).to_have_text("2 of 6: hop 1 · path 1 of 2")


def test_nothing_is_asked_of_another_host_and_the_console_has_no_error(page, seen):
    assert page.locator("[data-mime-type='application/vnd.jupyter.error']").count() == 0
    assert page.locator(".jp-RenderedImage img").count() == 1
    assert seen.elsewhere == []
    assert seen.errors == []
