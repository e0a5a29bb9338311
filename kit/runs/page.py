"""An executed notebook as one HTML page that needs nothing but itself."""

from html import escape
from pathlib import Path

from jinja2 import pass_context
from latex2mathml.converter import convert
from nbconvert import HTMLExporter
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbformat import NotebookNode

_TEMPLATE = Path(__file__).with_name("page.html.j2")


def page(notebook: NotebookNode, title: str) -> str:
    """The notebook as HTML: figures embedded, formulas as MathML, no script, a sentence in a widget's place."""
    return _Exporter(raw_template=_TEMPLATE.read_text("utf-8")).from_notebook_node(
        notebook, {"metadata": {"name": title}}
    )[0]


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
