"""An executed notebook as one HTML page that needs nothing but itself."""

from __future__ import annotations

import re
from html import escape

from jinja2 import pass_context
from latex2mathml.converter import convert
from nbconvert import HTMLExporter
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbformat import NotebookNode

_WIDGET = "application/vnd.jupyter.widget-view+json"
_PROGRESS = re.compile(r"\d%\|")  # a bar of tqdm
_IN_PLACE_OF_A_WIDGET = "<p><em>Here the notebook has something to explore: run it in JupyterLab.</em></p>"

# nbconvert's page loads require.js, MathJax and Mermaid from a CDN. None of it is needed: formulas are MathML, and a
# page without scripts cannot ask another host for anything. The policy makes the browser enforce that.
_TEMPLATE = """
{%- extends 'index.html.j2' -%}
{%- block html_head_js -%}
<meta http-equiv="Content-Security-Policy"
      content="default-src 'none'; img-src data:; font-src data:; style-src 'unsafe-inline'">
{%- endblock -%}
{%- block html_head_js_mathjax -%}{%- endblock -%}
{%- block html_head_js_mermaidjs -%}{%- endblock -%}
"""


def page(notebook: NotebookNode, title: str) -> str:
    """The notebook as HTML: figures embedded, formulas as MathML, no script, a sentence in a widget's place."""
    still = NotebookNode(notebook, metadata={**notebook.metadata, "title": title})
    still.metadata.pop("widgets", None)
    still.cells = [
        NotebookNode(cell, outputs=[_still(output) for output in cell.outputs if not _is_progress(output)])
        if cell.cell_type == "code"
        else cell
        for cell in notebook.cells
    ]
    return _Exporter(raw_template=_TEMPLATE).from_notebook_node(still)[0]


def _is_progress(output: NotebookNode) -> bool:
    data = output.get("data", {})
    return _WIDGET in data and bool(_PROGRESS.search(data.get("text/plain", "")))


def _still(output: NotebookNode) -> NotebookNode:
    """The output without what needs a kernel, and with the words that describe a picture, which nbconvert drops."""
    data, about = output.get("data", {}), output.get("metadata", {}).get("image/png", {})
    if _WIDGET in data:
        return NotebookNode(output, data={"text/html": _IN_PLACE_OF_A_WIDGET})
    if "image/png" in data and "alt" in about:
        picture = f'<img alt="{escape(about["alt"])}" src="data:image/png;base64,{data["image/png"]}">'
        return NotebookNode(output, data={"text/html": picture})
    return output


class _MathMLRenderer(IPythonRenderer):
    def inline_math(self, body: str, display: str = "inline") -> str:
        try:
            return convert(body, display=display)
        except Exception:  # the converter's errors have no common base, and a formula must not cost a run its page
            return f"<code>{escape(body)}</code>"

    def block_math(self, body: str) -> str:
        return self.inline_math(body, "block")


class _Exporter(HTMLExporter):
    @pass_context
    def markdown2html(self, context: object, source: str) -> str:
        return MarkdownWithMath(renderer=_MathMLRenderer(escape=False, exclude_anchor_links=True)).render(source)
