"""What a reader sees of a canvas: names that cover nothing, and all of it at a narrow width."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page

from kit.corpus import Benchmark, example, load
from kit.paths import ROOT
from kit.views import Explorer, Replay, explore
from kit.views.replay_page import replay_page

pytestmark = pytest.mark.browser

HAND = example()
NARROW = 900  # pixels: a notebook beside something else
#: The labels and nodes that are seen, each as its name and its box.
DRAWN = """() => {
  const all = kind => [...document.querySelectorAll(kind)];
  const box = node => {
    const { x, y, right, bottom } = node.getBoundingClientRect();
    return [x, y, right, bottom];
  };
  const seen = all(".kit-label").filter(node => getComputedStyle(node).display !== "none");
  const nodes = all(".kit-node");
  return {
    labels: seen.map(node => [node.textContent, box(node)]),
    nodes: nodes.map(node => [node.ariaLabel, box(node.querySelector("path"))]),
    picture: box(document.querySelector(".kit-stage")),
    cut: all(".kit-canvas").filter(node => node.scrollWidth > node.clientWidth).length,
    across: document.documentElement.scrollWidth,
  };
}"""


def overlap(one: list[float], other: list[float]) -> float:
    """By how many pixels two boxes overlap, the narrower way."""
    across = min(one[2], other[2]) - max(one[0], other[0])
    down = min(one[3], other[3]) - max(one[1], other[1])
    return min(across, down)


def check_names(page: Page) -> None:
    """No name covers another or a node, and none is cut."""
    drawn = page.evaluate(DRAWN)
    labels = drawn["labels"]
    assert labels
    for i, (name, box) in enumerate(labels):
        for other, other_box in labels[i + 1 :]:
            assert overlap(box, other_box) < 3, (name, other)
        for node, node_box in drawn["nodes"]:
            # The corners of a circle's box are free.
            assert overlap(box, node_box) < 4, (name, node)
        left, top, right, bottom = drawn["picture"]
        assert box[0] >= left - 1 and box[2] <= right + 1
        assert box[1] >= top - 1 and box[3] <= bottom + 1


@pytest.fixture(scope="module")
def atlas() -> Benchmark:
    return load(ROOT / "data" / "atlas")


@pytest.fixture(scope="module")
def of_atlas(atlas: Benchmark) -> Explorer:
    return explore("kgp-tfidf", atlas, atlas.test[:3])


@pytest.fixture
def show(opened, tmp_path: Path) -> Callable[[Replay], Page]:
    """Opens the page of a replay in a narrow window."""

    def show_page(replay: Replay) -> Page:
        page = opened.page
        page.set_viewport_size({"width": NARROW, "height": 900})
        file = tmp_path / "page.html"
        file.write_text(replay_page(replay, "Steps").html, "utf-8")
        page.goto(file.as_uri())
        page.locator(".kit-node").first.wait_for()
        return page

    return show_page


@pytest.mark.parametrize("method", ["gnn-ret", "kgp-tfidf", "bgr", "ras"])
@pytest.mark.parametrize("question", HAND.test, ids=lambda question: question.id)
def test_names_cover_nothing_at_any_step_of_the_example(show, method, question) -> None:
    replay = explore(method, HAND, [question]).replay()
    page = show(replay)
    for _ in replay.frames:
        check_names(page)
        page.get_by_role("button", name="One step on").click()


@pytest.mark.parametrize("index", range(3))
def test_names_cover_nothing_at_any_step_of_a_large_corpus(show, atlas, of_atlas, index) -> None:
    replay = of_atlas.replay(question=atlas.test[index].id)
    page = show(replay)
    for _ in replay.frames:
        check_names(page)
        page.get_by_role("button", name="One step on").click()
    drawn = page.evaluate(DRAWN)
    assert drawn["cut"] == 0 and drawn["across"] <= NARROW


def test_the_name_of_what_is_in_hand_is_on_top(show) -> None:
    page = show(explore("gnn-ret", HAND, HAND.test).replay())
    node = page.locator(".kit-node").nth(1)
    node.hover()
    last = page.locator(".kit-label").last
    assert node.get_attribute("aria-label").startswith(last.text_content().removesuffix("…"))
    assert "kit-same" in last.get_attribute("class")
