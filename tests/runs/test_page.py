"""The page of a notebook asks no other host and runs nothing."""

import re

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from kit.runs.page import page

HOSTILE = '<img src=x onerror="document.title=1"></script><script>document.title=1</script>'


def notebook() -> NotebookNode:
    widget = {"application/vnd.jupyter.widget-view+json": {"model_id": "a"}, "text/plain": "Canvas(of-a-widget)"}
    progress = {**widget, "text/plain": "graphs:   0%|          | 0/12 [00:00<?, ?graph/s]"}
    outputs = [
        new_output("display_data", progress),
        new_output("display_data", widget),
        new_output("display_data", {"text/plain": HOSTILE}),
        new_output("stream", text=HOSTILE),
        new_output("display_data", {"image/png": "aGVsbG8="}, metadata={"image/png": {"alt": 'Recall "falls" & <b>'}}),
    ]
    text = "# Distances\n\n$h_i < 3$ and\n\n$$h_i = \\min_{j} d_{ij}$$\n"
    made = new_notebook(cells=[new_markdown_cell(text), new_code_cell("draw()", outputs=outputs, execution_count=1)])
    made.metadata["widgets"] = {
        "application/vnd.jupyter.widget-state+json": {"state": {"a": {"text": "state-of-a-widget"}}}
    }
    return made


def test_no_script_and_a_policy_that_forbids_every_request() -> None:
    html = page(notebook(), "01_graphs")
    assert "<script" not in html
    assert "default-src 'none'" in html
    assert not re.findall(r"""(?:src|href|url\()\s*=?\s*["']?(?!data:|#)(\w+:|//)""", html)
    assert "<title>01_graphs</title>" in html


def test_formulas_are_mathml_and_figures_are_embedded() -> None:
    html = page(notebook(), "01_graphs")
    assert html.count("<math ") == 2 and 'display="block"' in html
    assert "<mo>min</mo>" in html and "$" not in html.partition("<main>")[2]
    assert '<img alt=\'Recall "falls" &amp; &lt;b&gt;\' src="data:image/png;base64,aGVsbG8="/>' in html


def test_a_broken_formula_is_shown_as_it_stands() -> None:
    text = "and $\\left( a < b$"
    html = page(new_notebook(cells=[new_markdown_cell(text)]), "01_graphs")
    assert "<code>\\left( a &lt; b</code>" in html


def test_a_sentence_stands_in_a_widgets_place_and_its_state_is_left_out() -> None:
    original = notebook()
    html = page(original, "01_graphs")
    assert html.count("run it in JupyterLab") == 1 and "graph/s" not in html
    assert "of-a-widget" not in html
    assert original.metadata["widgets"] and len(original.cells[1].outputs[1].data) == 2


def test_text_of_an_output_stays_text() -> None:
    body = page(notebook(), "01_graphs").partition("<main>")[2]
    assert body.count("&lt;img src=x onerror=") == 2
    assert "<img src=x" not in body
