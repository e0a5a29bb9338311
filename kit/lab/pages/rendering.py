"""Cells of an executed notebook as HTML that asks no host for anything.

nbconvert renders the cells. Formulas become MathML, which browsers show without a script. Pictures
stand in the page itself, and links lead to other pages of the site, or to the web.
"""

import mimetypes
import posixpath
from base64 import b64encode
from collections.abc import Collection, Sequence
from copy import deepcopy
from html import escape
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert
from nbconvert.exporters import HTMLExporter
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbformat import NotebookNode
from nbformat.v4 import new_notebook
from pygments.formatters import HtmlFormatter

from kit import paths
from kit.lab.student import BEGIN, END

CODE_STYLE = HtmlFormatter(style="default").get_style_defs(".highlight")
_PAGES = (".ipynb", ".md")  # files that have a page
#: Code that a notebook hides is folded.
_TEMPLATE = """{%- extends 'index.html.j2' -%}
{% block input_group %}
{%- if cell.metadata.get("jupyter", {}).get("source_hidden") -%}
<details class="code"><summary>Code</summary>{{ super() }}</details>
{%- else -%}
{{ super() }}
{%- endif -%}
{% endblock input_group %}"""
_SET_MINUS = ("&#x029F5;", "&#x02216;")  # few fonts have the first
_PNG = "image/png"
_MATHML = "http://www.w3.org/1998/Math/MathML"


class Renderer:
    """Renders what stands in one notebook, or in one file of Markdown.

    ``name`` is its path in ``notebooks/`` without the suffix, and ``pages`` are the names of all
    pages of the site, to which links can lead.
    """

    def __init__(self, name: str, pages: Collection[str]) -> None:
        self._folder = posixpath.dirname(name)
        self._pages = pages
        self._exporter = _Exporter(self)

    def cells(self, cells: Sequence[NotebookNode]) -> str:
        """Cells with their outputs."""
        shown = [_shown(cell) for cell in cells]
        notebook = new_notebook(cells=shown, metadata={"language_info": {"name": "python"}})
        html, _ = self._exporter.from_notebook_node(notebook)
        return html

    def markdown(self, text: str) -> str:
        """Text in Markdown."""
        return MarkdownWithMath(renderer=_Words(self)).render(text)

    def address(self, url: str) -> str | None:
        """Where a link leads from this page; None where it leads out of the site."""
        if url.startswith("#") or ":" in url:
            return url
        file, hash_sign, fragment = url.partition("#")
        name, suffix = posixpath.splitext(posixpath.normpath(posixpath.join(self._folder, file)))
        if suffix not in _PAGES or name not in self._pages:
            return None
        return posixpath.relpath(f"{name}.html", self._folder or ".") + hash_sign + fragment

    def picture(self, url: str) -> str | None:
        """A picture beside the notebook as an address that holds it; None where there is none."""
        if url.startswith("data:"):
            return url
        file = (paths.NOTEBOOKS / self._folder / url).resolve()
        kind, _ = mimetypes.guess_type(file.name)
        if not file.is_file() or not file.is_relative_to(paths.ROOT) or not kind:
            return None
        return f"data:{kind};base64,{b64encode(file.read_bytes()).decode()}"


def _shown(cell: NotebookNode) -> NotebookNode:
    """A cell without markers of solutions, its figures with a text for those who see none."""
    copy = deepcopy(cell)
    lines = [line for line in cell.source.split("\n") if line.strip() not in (BEGIN, END)]
    copy.source = "\n".join(lines)
    for output in copy.get("outputs", ()):
        if _PNG in output.get("data", ()):
            output.metadata.setdefault(_PNG, {}).setdefault("alt", "Figure")
    return copy


class _Words(IPythonRenderer):
    """Markdown with formulas, pictures and links that work in a page alone."""

    def __init__(self, page: Renderer) -> None:
        super().__init__(escape=False, exclude_anchor_links=False, anchor_link_text="")
        self._page = page

    def inline_math(self, body: str) -> str:
        return formula(body)

    def block_math(self, body: str) -> str:
        return formula(body, display="block")

    def latex_environment(self, name: str, body: str) -> str:
        return formula(f"\\begin{{{name}}}{body}\\end{{{name}}}", display="block")

    def link(self, text: str, url: str, title: str | None = None) -> str:
        address = self._page.address(url)
        return super().link(text, address, title) if address else text

    def image(self, text: str, url: str, title: str | None = None) -> str:
        picture = self._page.picture(url)
        return f'<img src="{picture}" alt="{escape(text)}">' if picture else f"<em>{text}</em>"


class _Exporter(HTMLExporter):
    """nbconvert's, without prompts, and with words as :class:`_Words` renders them."""

    def __init__(self, page: Renderer, **settings: Any) -> None:
        self._page = page
        super().__init__(
            template_name="basic",
            raw_template=_TEMPLATE,
            exclude_input_prompt=True,
            exclude_output_prompt=True,
            **settings,
        )

    def default_filters(self) -> Any:
        yield from super().default_filters()
        yield "markdown2html", self._page.markdown


def formula(latex: str, display: str = "inline") -> str:
    """A formula as MathML; as it was written where that can't be."""
    try:
        return convert(latex, xmlns=_MATHML, display=display).replace(*_SET_MINUS)
    except Exception:  # whatever latex2mathml makes of what it does not know
        return f"<code>{escape(latex)}</code>"


def page_of(title: str, body: str, style: str, script: str = "") -> str:
    """A whole page. Its policy lets nothing be loaded, whatever the body holds."""
    tag = f"<script>{script}</script>" if script else ""
    return f"""<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title><style>{CODE_STYLE}{style}</style></head>
<body>{body}{tag}</body>
</html>
"""


_INLINE = "'unsafe-inline'"  # what stands in the page itself
_POLICY = "; ".join(
    [
        "default-src 'none'",
        "img-src data:",
        "font-src data:",
        f"style-src {_INLINE}",
        f"script-src {_INLINE}",
        "base-uri 'none'",
        "form-action 'none'",
    ]
)
STYLE = Path(__file__).with_name("page.css").read_text("utf-8")
