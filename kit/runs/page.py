"""An executed notebook as one HTML page that needs nothing but itself."""

from html import escape

from jinja2 import pass_context
from latex2mathml.converter import convert
from nbconvert import HTMLExporter
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbformat import NotebookNode

# nbconvert's page loads require.js, MathJax, Mermaid and widgets from a CDN. None of it is needed: formulas are MathML,
# and a page without scripts cannot ask another host for anything. The policy makes the browser enforce that.
# A widget needs a kernel: a sentence stands in its place, and nothing in that of a bar of progress.
_TEMPLATE = """
{%- extends 'index.html.j2' -%}
{%- block html_head_js -%}
<meta http-equiv="Content-Security-Policy"
      content="default-src 'none'; img-src data:; font-src data:; style-src 'unsafe-inline'">
{%- endblock -%}
{%- block html_head_js_mathjax -%}{%- endblock -%}
{%- block html_head_js_mermaidjs -%}{%- endblock -%}
{%- block jupyter_widgets -%}{%- endblock -%}
{%- block footer -%}</html>{%- endblock -%}
{%- block data_widget_view -%}
{%- if '%|' not in output.data['text/plain'] -%}
<p><em>Here the notebook has something to explore: run it in JupyterLab.</em></p>
{%- endif -%}
{%- endblock -%}
{%- block data_png -%}
<img alt="{{ output | get_metadata('alt', 'image/png') | escape_html }}"
     src="data:image/png;base64,{{ output.data['image/png'] | escape_html }}">
{%- endblock -%}
"""


def page(notebook: NotebookNode, title: str) -> str:
    """The notebook as HTML: figures embedded, formulas as MathML, no script, a sentence in a widget's place."""
    return _Exporter(raw_template=_TEMPLATE).from_notebook_node(notebook, {"metadata": {"name": title}})[0]


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
