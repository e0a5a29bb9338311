"""Pages and slides of lessons as a browser shows them: whole, and without asking any host."""

from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from kit.corpus import example
from kit.lab.pages.site import write_pages, write_slides
from kit.views import explore
from kit.views.replay_page import replay_page

HEIGHT = "element => element.getBoundingClientRect().height"
TOP = "() => Math.round(scrollY / innerHeight)"
AWAY = '<img src="https://example.org/x.png"><script src="https://example.org/x.js"></script>'


@pytest.fixture
def lesson():
    hand = example()
    replay = explore("gnn-ret", hand, hand.test[:1]).replay()
    kinds = [replay_page(replay, "GNN-Ret")._repr_html_(), AWAY]
    code = new_code_cell("explorer")
    code.outputs = [new_output("display_data", data={"text/html": html}) for html in kinds]
    slide = {"slideshow": {"slide_type": "slide"}}
    words = [r"# 1 · Messages" + "\n\n" + r"$$h_i \leftarrow \frac{h_i + m_i}{2}$$", "# End"]
    cells = [new_markdown_cell(text, metadata=slide) for text in words]
    return new_notebook(cells=[cells[0], code, cells[1]])


@pytest.mark.browser
def test_a_page_shows_formulas_and_replays_and_asks_nobody(opened, tmp_path: Path, lesson) -> None:
    write_pages({"01_first": lesson}, tmp_path)
    page = opened.page
    page.goto((tmp_path / "index.html").as_uri())
    page.click("text=1 · Messages")
    assert page.locator("math").first.evaluate(HEIGHT) > 30
    canvas = page.frame_locator("iframe").first
    assert canvas.locator(".kit-node").count() > 3
    before = canvas.locator(".kit-step").inner_text()
    canvas.get_by_text("Step", exact=True).click()
    assert canvas.locator(".kit-step").inner_text() != before
    assert opened.elsewhere == []
    assert all("Content Security Policy" in error for error in opened.errors)


@pytest.mark.browser
def test_arrow_keys_lead_from_slide_to_slide(opened, tmp_path: Path, lesson) -> None:
    write_slides({"01_first": lesson}, tmp_path)
    page = opened.page
    page.goto((tmp_path / "01_first.html").as_uri())
    tops = []
    for key in ("ArrowRight", "ArrowRight", "ArrowUp", "PageDown"):
        page.keyboard.press(key)
        page.wait_for_timeout(200)
        tops.append(page.evaluate(TOP))
    assert tops == [1, 1, 0, 1]
    assert opened.elsewhere == []
