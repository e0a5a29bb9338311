"""Cells that are run again, in a kernel."""

from collections.abc import Callable, Iterator

import pytest
from jupyter_client.manager import run_kernel

START = """
from ipywidgets.widgets.widget import _instances
from kit.corpus import example
from kit.views import SideBySide, explore
hand = example()
"""
ONE = "one = explore('gnn-ret', hand, hand.test); one"
PAIR = "pair = SideBySide(*(explore('gnn-ret', hand, hand.test, top_k=k) for k in (2, 3))); pair"
APART = "left = explore('bm25', hand, hand.test); right = explore('dense', hand, hand.test)"
AGAIN = "SideBySide(left, right)"

Run = Callable[..., str]


@pytest.fixture(scope="module")
def run() -> Iterator[Run]:
    """Runs a cell, of this id if it is given, and returns what it prints."""
    with run_kernel() as client:

        def run_cell(code: str, cell_id: str = "") -> str:
            printed = []

            def listen(message: dict) -> None:
                content = message["content"]
                assert message["msg_type"] != "error", "\n".join(content["traceback"])
                if message["msg_type"] == "stream" and content["name"] == "stdout":
                    printed.append(content["text"])

            client.session.metadata = {"cellId": cell_id} if cell_id else {}
            client.execute_interactive(code, output_hook=listen, timeout=120)
            return "".join(printed)

        run_cell(START)
        yield run_cell


def count(run: Run) -> int:
    return int(run("print(len(_instances))"))


def test_a_cell_that_is_run_again_closes_the_widgets_of_its_earlier_run(run):
    before = count(run)
    for cell in (ONE, PAIR):
        run(cell)
        once = count(run)
        assert once > before
        for _ in range(4):
            run(cell)
        assert count(run) == once
        before = once


def test_an_edited_cell_is_the_same_cell_and_others_are_not(run):
    run(ONE, "a")
    once = count(run)
    run(ONE + "  # edited", "a")
    assert count(run) == once
    run(ONE, "b")
    assert count(run) > once


def test_explorers_of_another_cell_stay_open(run):
    run(APART)
    run(AGAIN)
    once = count(run)
    run(AGAIN)
    assert count(run) == once
    open_ones = "print([explorer.comm is not None for explorer in (left, right)])"
    assert run(open_ones) == "[True, True]\n"
    run("left.controls['question'].value = 'river'")
    shown = "print(left.canvas.replay['question'] == right.canvas.replay['question'] != '')"
    assert run(shown) == "True\n"
