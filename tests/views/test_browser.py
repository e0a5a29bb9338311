"""The widgets as a reader meets them: in JupyterLab, with mouse and keyboard."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

pytestmark = pytest.mark.browser

SETUP = """
import pandas as pd
from kit.corpus import Corpus, Passage
from kit.errors import InputError
from kit.graphs import build
from kit.views import *
HOSTILE = {hostile!r}
"""
STORY = """
nodes = tuple(Node(f"n{i}", HOSTILE if i == 0 else f"Port {i}", HOSTILE if i == 0 else f"Text of port {i}.",
                   (i % 10) / 9, (i // 10) / 5, gold=i == 0) for i in range(60))
edges = tuple(Edge(f"n{i}", f"n{(i * 7 + j) % 60}", ("knn", "tfidf"), HOSTILE) for i in range(60) for j in range(1, 6))
def scene(step):
    marks = tuple(Mark(node.id, "seed" if i <= step else "reached", note=HOSTILE) for i, node in enumerate(nodes))
    ranking = Column(HOSTILE, tuple(Entry(f"n{(i + step) % 10}", 0.5, 1) for i in range(10)))
    return Scene(f"round {step}", f"caption {step} {HOSTILE}", marks, edges, (ranking,))
GraphCanvas(Story(nodes, tuple(scene(step) for step in range(3)), HOSTILE), HOSTILE)
"""
GRAPH = """
passages = [("Marrow", "Marrow is a port on the Halle."), ("Tilsby", "Tilsby lies on the Halle."), (HOSTILE, HOSTILE)]
corpus = Corpus(Passage(f"p{i}", title, text, "d", i) for i, (title, text) in enumerate(passages))
explore_graph({"structure": build("structure", corpus), "tfidf": build("tfidf", corpus, n_keywords=5)}, range(3))
"""
FAILS = """
import ipywidgets
def tell(mood):
    if mood == "bad":
        raise InputError(HOSTILE)
    return Story((Node("a", "Only one"),), (Scene(marks=(Mark("a"),)),))
Explorer("moods", {"mood": ipywidgets.Dropdown(options=["good", "bad"])}, tell)
"""
TABLE = "show_table(pd.DataFrame({'title': [HOSTILE, '$a$ and $b$'], 'n': [1234, 5]}), HOSTILE)"
FIGURE = "storyboard(Story(nodes, (scene(1),)), HOSTILE)"


@pytest.fixture(scope="module")
def seen(opened, tmp_path_factory, hostile):
    with opened(
        tmp_path_factory.mktemp("lab"), [SETUP.format(hostile=hostile), STORY, GRAPH, FAILS, TABLE, FIGURE]
    ) as seen:
        yield seen


@pytest.fixture
def page(seen) -> Page:
    return seen.page


@pytest.fixture
def story(page: Page) -> Locator:
    """The first canvas, at its first step and with nothing in hand."""
    canvas = page.locator(".kit-canvas").nth(0)
    canvas.scroll_into_view_if_needed()
    canvas.locator("input").focus()
    for key in ("Escape", "0", "ArrowLeft", "ArrowLeft"):
        page.keyboard.press(key)
    expect(canvas.locator(".kit-step")).to_have_text("1 of 3: round 0")
    return canvas


def places(canvas: Locator) -> list[str]:
    return canvas.locator(".kit-node").evaluate_all("nodes => nodes.map(node => node.getAttribute('transform'))")


def shifts(old: list[str], new: list[str]) -> set[tuple[int, ...]]:
    """How far the nodes moved between two lists of ``translate(x y)``, in whole pixels."""
    pairs = [[[float(part) for part in each[10:-1].split()] for each in both] for both in zip(old, new)]
    return {tuple(round(b - a) for a, b in zip(*pair)) for pair in pairs}


def until(page: Page, holds: Callable[[], bool]) -> None:
    """Wait up to five seconds: the picture is drawn with the next frame of the screen."""
    for _ in range(50):
        if holds():
            return
        page.wait_for_timeout(100)
    assert holds()


def test_all_cells_show_what_they_should(page, seen):
    assert page.locator(".kit-canvas").count() == 3
    assert page.locator("[data-mime-type='application/vnd.jupyter.error']").count() == 0
    assert page.locator(".jp-RenderedImage img[width='960']").count() == 1
    assert page.locator(".kit-canvas").nth(0).locator(".kit-node").count() == 60


def test_keys_on_the_step_bar_step_and_play_and_positions_stay(page, story):
    step, before = story.locator(".kit-step"), places(story)
    page.keyboard.press("ArrowRight")
    expect(step).to_have_text("2 of 3: round 1")
    assert places(story) == before
    page.keyboard.press("ArrowLeft")
    expect(step).to_have_text("1 of 3: round 0")
    page.keyboard.press(" ")
    expect(story.get_by_role("button", name="Play or pause")).to_have_text("Pause")
    expect(step).to_have_text("3 of 3: round 2", timeout=8000)
    expect(story.get_by_role("button", name="Play or pause")).to_have_text("Play", timeout=8000)  # ends by itself


def test_hover_shows_a_passage_and_leaving_puts_it_away(page, story):
    detail = story.locator(".kit-detail")
    story.locator(".kit-node").nth(55).hover()
    expect(detail).to_contain_text("Text of port 55.")
    expect(story.locator(".kit-tip")).to_have_text("Port 55")
    story.locator(".kit-legend").hover()
    expect(detail).to_have_text("Point at a passage to read it.")


def test_keys_walk_the_graph_and_pin_a_passage(page, story):
    detail = story.locator(".kit-detail")
    story.locator(".kit-node").nth(11).focus()
    page.keyboard.press("ArrowRight")
    expect(detail).to_contain_text("Text of port 12.")
    page.keyboard.press("ArrowDown")
    expect(detail).to_contain_text("Text of port 22.")
    page.keyboard.press("Enter")
    story.locator(".kit-node").nth(55).hover()
    expect(detail).to_contain_text("Text of port 22.")
    page.keyboard.press("Escape")
    story.locator(".kit-node").nth(54).hover()
    expect(detail).to_contain_text("Text of port 54.")
    assert story.locator(".kit-stage [tabindex='0']").count() == 1  # the Tab key stops once


def test_the_notebook_does_not_take_the_keys(page, story):
    cells = page.locator(".jp-Notebook .jp-Cell").count()
    story.locator(".kit-node").nth(11).focus()
    for key in "ddxab":
        page.keyboard.press(key)
    assert page.locator(".jp-Notebook .jp-Cell").count() == cells
    assert story.evaluate("root => root.contains(document.activeElement)")


def test_wheel_zooms_once_the_picture_was_clicked_and_drag_pans(page, story):
    before, picture = places(story), story.locator(".kit-stage > svg")
    box = picture.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2 + 15
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 40, y + 5)
    page.mouse.up()
    until(page, lambda: shifts(before, places(story)) == {(40, 5)})
    moved = places(story)
    page.mouse.wheel(0, -300)
    until(page, lambda: len(shifts(moved, places(story))) > 1)
    page.keyboard.press("0")
    until(page, lambda: places(story) == before)


def test_the_dropdown_changes_the_picture(page):
    canvas = page.locator(".kit-canvas").nth(1)
    canvas.scroll_into_view_if_needed()
    expect(canvas.locator(".kit-caption")).to_have_text("structure: 2 links between 3 passages")
    before = places(canvas)
    page.locator(".widget-dropdown select").nth(0).select_option("tfidf")
    expect(canvas.locator(".kit-caption")).to_contain_text("tfidf: ")
    expect(canvas.locator(".kit-legend")).to_contain_text("tfidf edge")
    assert places(canvas) == before


def test_an_edge_tells_what_its_ends_share(page):
    canvas = page.locator(".kit-canvas").nth(1)
    page.locator(".widget-dropdown select").nth(0).select_option("tfidf")
    expect(canvas.locator(".kit-caption")).to_contain_text("tfidf: ")
    canvas.locator(".kit-hit").first.hover(force=True)
    expect(canvas.locator(".kit-detail")).to_contain_text("both have")


def test_an_error_in_a_callback_is_shown_to_the_reader(page):
    canvas = page.locator(".kit-canvas").nth(2)
    page.locator(".widget-dropdown select").nth(1).select_option("bad")
    expect(canvas.get_by_role("alert")).to_contain_text("<img src=x onerror=")
    expect(canvas.locator(".kit-node")).to_have_count(1)


def test_hostile_text_is_shown_and_never_run(page, story):
    story.locator(".kit-node").first.hover()
    for part in (
        ".kit-question",
        ".kit-caption",
        ".kit-detail strong",
        ".kit-detail p",
        ".kit-tip",
        ".kit-column h4",
        "li .kit-title",
    ):
        assert story.locator(part).filter(has_text="<script>window.HACKED=2</script>").count(), part
    table = page.locator("table").filter(has_text="1,234")
    expect(table).to_contain_text("$a$ and $b$")
    assert page.evaluate("() => window.HACKED") is None
    assert page.locator(".kit-canvas img, .kit-canvas script, table img, table script").count() == 0
    assert page.locator("mjx-container").count() == 0


def test_nothing_is_asked_of_another_host_and_the_console_has_no_error(seen):
    assert seen.elsewhere == []
    assert seen.errors == []
