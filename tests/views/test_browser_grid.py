"""The grid of settings as a reader meets it: chosen, typed, evaluated and stopped by keyboard."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

pytestmark = pytest.mark.browser

SLOW = 60_000  # milliseconds, for a machine that has much else to do
CELLS = [
    """from functools import partial
from time import sleep
from kit.corpus.example import example
from kit.runs.sweep import sweep_retriever
from kit.views import explore_settings
from tqdm.auto import tqdm

def evaluate(name, cells):
    for _ in tqdm(range(200 if name == "tfidf" else 3), desc="wait", unit="cell"):
        sleep(0.3)
    if "<img" in str(cells):
        raise RuntimeError(str(cells))
    return sweep_retriever(name, cells, example())
""",
    "explorer = explore_settings(evaluate, ['gnn-ret', 'tfidf'])\nexplorer",
    "times = globals().get('times', 0) + 1\ntimes",
]


@pytest.fixture
def table(page) -> Locator:
    return page.get_by_role("table", name="Cells of the grid")


@pytest.fixture
def button(page) -> Locator:
    return page.locator("button.jupyter-button")


@pytest.fixture
def bar(page) -> Locator:
    """The bar that the evaluation displays."""
    return page.locator(".widget-output .widget-hbox", has_text="wait")


def told(page: Page) -> Locator:
    """The line that says how large the grid is."""
    return page.locator("[role=status] p").first


def evaluated(page: Page) -> None:
    """Wait until the grid that was asked for is there."""
    expect(page.locator("button.jupyter-button")).to_have_text("evaluate", timeout=SLOW)


def test_a_grid_is_chosen_typed_and_evaluated_by_keyboard(page, button, bar, table):
    page.get_by_label("retriever").focus()
    page.keyboard.press("Tab")
    expect(page.get_by_label("setting", exact=True)).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("ControlOrMeta+A")
    page.keyboard.type("1, 2, 5")
    page.keyboard.press("Tab")
    expect(page.get_by_label("2nd setting")).to_be_focused()
    page.keyboard.type("al")  # the list goes to alpha
    expect(page.get_by_label("its values")).to_have_value("0.25, 0.5", timeout=SLOW)
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(button).to_be_focused()
    expect(told(page)).to_have_text("6 cells of gnn-ret; top_k is 5 by default, alpha is 0.5 by default.", timeout=SLOW)
    page.keyboard.press("Enter")
    expect(button).to_have_text("stop", timeout=SLOW)
    expect(page.get_by_label("retriever")).to_be_disabled()
    expect(bar).to_be_visible(timeout=SLOW)
    evaluated(page)
    expect(bar).to_have_count(0)
    expect(table.locator("tbody tr")).to_have_count(6)
    expect(table.locator("tbody tr").last).to_contain_text("baseline")
    expect(page.get_by_role("img", name="gnn-ret: Recall@5 by top_k and alpha")).to_be_visible()


def test_the_keyboard_stays_where_it_is(page, button):
    button.focus()
    page.keyboard.press("Enter")
    expect(button).to_have_text("stop", timeout=SLOW)
    evaluated(page)
    expect(button).to_be_focused()
    page.keyboard.press("Shift+Tab")
    expect(page.get_by_label("its values")).to_be_focused()
    assert page.locator(".jp-CodeCell").count() == len(CELLS)


def test_what_is_typed_is_text_and_what_goes_wrong_is_told(page, button, bar, table):
    field = page.get_by_label("values", exact=True)
    field.fill('<img src=x onerror="window.HACKED=1">')
    button.click()
    problem = page.locator(".kit-problem[role=alert] p")
    expect(problem).to_contain_text("RuntimeError: [{'top_k': '<img src=x", timeout=SLOW)
    expect(table.locator("tbody tr")).to_have_count(6)
    field.fill("1,,2")
    button.click()
    expect(problem).to_have_text("field top_k: expected values with commas between, not '1,,2'", timeout=SLOW)
    assert page.evaluate("window.HACKED") is None
    field.fill("1, 5")
    button.click()
    expect(problem).to_have_count(0, timeout=SLOW)
    evaluated(page)
    expect(table.locator("tbody tr")).to_have_count(4)


def test_what_settings_mean_is_opened_by_keyboard(page):
    summary = page.get_by_text("what gnn-ret does, and what its settings mean")
    summary.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("graph is a builder's name or a union (build), top_k the paper's K")).to_be_visible()
    page.keyboard.press("Enter")


def test_it_is_stopped_and_an_interrupt_leaves_it_in_use(page, button, bar, table):
    rows = table.locator("tbody tr").count()
    page.get_by_label("retriever").select_option("tfidf")
    expect(told(page)).to_contain_text("1 cell of tfidf", timeout=SLOW)
    button.focus()
    page.keyboard.press("Enter")
    expect(bar).to_be_visible(timeout=SLOW)
    page.evaluate("() => void window.jupyterapp.commands.execute('notebook:interrupt-kernel')")
    page.wait_for_timeout(1500)
    expect(button).to_have_text("stop")
    page.keyboard.press("Enter")
    expect(page.locator(".kit-problem[role=alert] p")).to_contain_text("stopped", timeout=SLOW)
    evaluated(page)
    expect(bar).to_have_count(0)
    expect(table.locator("tbody tr")).to_have_count(rows)
    page.get_by_label("retriever").select_option("gnn-ret")
    expect(told(page)).to_contain_text("2 cells of gnn-ret", timeout=SLOW)
    button.click()
    expect(table.locator("tbody tr")).to_have_count(2, timeout=SLOW)
    expect(page.locator(".kit-problem[role=alert] p")).to_have_count(0)
    evaluated(page)


def test_another_cell_runs_meanwhile(page, button, bar):
    page.get_by_label("retriever").select_option("tfidf")
    expect(told(page)).to_contain_text("1 cell of tfidf", timeout=SLOW)
    button.click()
    expect(bar).to_be_visible(timeout=SLOW)
    other = page.locator(".jp-CodeCell").last
    expect(other.locator(".jp-OutputArea-output")).to_have_text("1")
    other.locator(".cm-content").click()
    page.keyboard.press("ControlOrMeta+Enter")
    expect(other.locator(".jp-OutputArea-output")).to_have_text("2", timeout=SLOW)
    page.wait_for_timeout(1000)  # until a click is not the second of a double click
    button.click()
    evaluated(page)
    expect(page.locator(".widget-hbox", has_text="wait")).to_have_count(0)


def test_nothing_is_asked_of_another_host_and_the_console_has_no_error(page, seen):
    assert page.locator("[data-mime-type='application/vnd.jupyter.error']").count() == 0
    assert seen.elsewhere == []
    assert seen.errors == []
