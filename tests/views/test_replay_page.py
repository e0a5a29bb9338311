"""A replay as a page of its own, and what a saved notebook shows of a widget without a kernel."""

import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from ipywidgets import Dropdown
from playwright.sync_api import expect

from kit.views import Column, Edge, Explorer, Frame, Node, NodeState, RankItem, Replay, SideBySide
from kit.views.replay_page import replay_page

WIDGET = "application/vnd.jupyter.widget-view+json"


def story(hostile: str, mood: str = "calm") -> Replay:
    """Two frames over two nodes; all that a corpus says in them would do harm as markup."""
    nodes = [Node("a", hostile, hostile, gold=True), Node("b", "Marrow", "A port.", 0.9, 0.9)]
    frames = []
    for step in range(2):
        frame = Frame(
            f"round {step}",
            f"{mood} {step} {hostile}",
            [NodeState("a", "seed", note=hostile), NodeState("b")],
            [Edge("a", "b", ("knn",), hostile)],
            [Column(hostile, [RankItem("b", 0.5), RankItem("a", 0.4)])],
        )
        frames.append(frame)
    return Replay(nodes, frames, hostile)


def test_text_stands_in_the_page_as_data(hostile: str) -> None:
    page = replay_page(story(hostile), hostile)
    assert hostile not in page.html and "<img" not in page.html
    assert page.html.count("<script") == page.html.count("</script") == 2
    assert "http://" not in page.html.replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in page.html
    assert len(repr(page)) < 50  # what a notebook would keep beside it as text


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_steps_by_slider_and_keys(opened, tmp_path: Path, hostile: str, scheme) -> None:
    file = tmp_path / "page.html"
    file.write_text(replay_page(story(hostile), hostile).html, "utf-8")
    page = opened.page
    page.emulate_media(color_scheme=scheme)
    page.goto(file.as_uri())
    step = page.locator(".kit-step")
    expect(step).to_have_text("1 of 2: round 0")
    page.locator(".kit-bar input").focus()
    page.keyboard.press("ArrowRight")
    expect(step).to_have_text("2 of 2: round 1")
    page.get_by_role("button", name="One step back").click()
    expect(step).to_have_text("1 of 2: round 0")
    page.locator(".kit-node").nth(1).hover()
    expect(page.locator(".kit-detail")).to_contain_text("A port.")
    sheet = page.locator(".kit-canvas").evaluate("node => getComputedStyle(node).backgroundColor")
    heading = page.locator("h1").evaluate("node => getComputedStyle(node).color")
    assert sheet == {"light": "rgb(255, 255, 255)", "dark": "rgb(23, 23, 23)"}[scheme]
    assert heading == {"light": "rgb(0, 0, 0)", "dark": "rgb(228, 228, 228)"}[scheme]
    edge = page.locator(".kit-edge").first.evaluate("node => getComputedStyle(node).filter")
    lighter = "invert(1) hue-rotate(180deg) brightness(1.3)"
    assert edge == {"light": "none", "dark": lighter}[scheme]
    assert page.evaluate("window.HACKED") is None
    assert opened.errors == [] and opened.elsewhere == []


def explorer(hostile: str, mood: str) -> Explorer:
    moods = Dropdown(options=["calm", "wild"], value=mood, description="mood")
    return Explorer("Ports", {"mood": moods}, lambda mood: story(hostile, mood))


def outputs_of(widget: object) -> list[nbformat.NotebookNode]:
    """What a notebook keeps of a widget that a cell displays."""
    InteractiveShell.instance()  # without one, display only prints
    try:
        with capture_output() as shown:
            widget._ipython_display_()
    finally:
        InteractiveShell.clear_instance()
    return [nbformat.v4.new_output("display_data", dict(output.data)) for output in shown.outputs]


def test_a_widget_is_kept_live_and_as_a_page(hostile: str) -> None:
    live, page = outputs_of(explorer(hostile, "wild"))
    assert WIDGET in live.data and "text/html" not in live.data
    assert WIDGET not in page.data and "Ports · mood wild" in page.data["text/html"]


@pytest.mark.browser
def test_a_saved_notebook_shows_the_replay_in_place_of_the_widget(
    opened, tmp_path: Path, hostile: str
) -> None:
    """As JupyterLab saves it: both outputs are there, the state of the widgets is not."""
    pair = SideBySide(explorer(hostile, "calm"), explorer(hostile, "wild"))
    cell = nbformat.v4.new_code_cell("pair", outputs=outputs_of(pair))
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), tmp_path / "saved.ipynb")
    export = [sys.executable, "-m", "nbconvert", "--to", "html", tmp_path / "saved.ipynb"]
    subprocess.run(export, check=True, capture_output=True)

    page = opened.page
    page.goto((tmp_path / "saved.html").as_uri())
    live, saved = page.locator(".jp-OutputArea-child").all()
    expect(live).to_be_hidden()  # it could only say that there is no widget
    frame = saved.frame_locator("iframe")
    expect(frame.locator("h1")).to_have_text(["Ports · mood calm", "Ports · mood wild"])
    left, right = frame.locator(".kit-canvas").all()
    expect(right.locator(".kit-caption")).to_contain_text("wild 0 <img")
    left.get_by_role("button", name="One step on").click()
    for canvas in (left, right):  # both at the same step
        expect(canvas.locator(".kit-step")).to_have_text("2 of 2: round 1")
    assert page.evaluate("window.HACKED") is None
