"""A folder of pages, or of slides, one per executed notebook, with an index."""

import re
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

from nbformat import NotebookNode

from kit import paths
from kit.files import atomic_write
from kit.lab.pages.rendering import STYLE, Renderer, page_of
from kit.lab.pages.slides import slides_of

_HERE = Path(__file__).parent
_SLIDES_STYLE = STYLE + (_HERE / "slides.css").read_text("utf-8")
_SLIDES_SCRIPT = (_HERE / "slides.js").read_text("utf-8")
_NO_WORDS = ("", "!", "#", "|")  # how what is no paragraph begins
_TITLE = "Graph-based retrieval for multi-hop questions"

Notebooks = Mapping[str, NotebookNode]  # executed ones, by their names


class Source(NamedTuple):
    """What a page is made of: a notebook's cells, or a text beside the lessons (no cells)."""

    name: str
    words: str
    cells: Sequence[NotebookNode] = ()

    @property
    def title(self) -> str:
        """The first heading; where there is none, the name."""
        heading = re.search(r"^# (.+)$", self.words, re.M)
        if not heading:
            return self.name
        return heading[1].strip()

    @property
    def purpose(self) -> str:
        """The first paragraph below a heading of the second level: why, or what one will learn."""
        _, _, section = self.words.partition("\n## ")
        _, *paragraphs = section.split("\n\n")
        for paragraph in paragraphs:
            text = paragraph.strip()
            if text[:1] not in _NO_WORDS:
                return text
        return ""


Sources = Mapping[str, Source]  # by the names of their pages, in order


def write_pages(notebooks: Notebooks, folder: Path) -> Path:
    """Write a page per notebook, one per text beside the lessons, and the index; return its file.

    Pages of these names are replaced.
    """
    sources = {}
    for name, notebook in notebooks.items():
        sources[name] = source_of(notebook, name)
    for file in sorted(paths.NOTEBOOKS.glob("*.md")):
        text = file.read_text("utf-8")
        sources[file.stem] = Source(file.stem, text)

    for name, source in sources.items():
        renderer = Renderer(name, sources)
        if source.cells:
            content = renderer.cells(source.cells)
        else:
            content = renderer.markdown(source.words)
        navigation = _navigation(name, sources)
        body = f"{navigation}<main>{content}</main>"
        page = page_of(source.title, body, STYLE)
        _write(folder, name, page)
    return _write_index(folder, sources)


def write_slides(notebooks: Notebooks, folder: Path) -> Path:
    """Write the slides of each notebook, and the index; return its file."""
    sources = {name: source_of(notebook, name) for name, notebook in notebooks.items()}
    for name, source in sources.items():
        renderer = Renderer(name, sources)
        sections = []
        for cells in slides_of(notebooks[name]):
            content = renderer.cells(cells)
            sections.append(f"<section><div>{content}</div></section>")
        body = "".join(sections)
        page = page_of(source.title, body, _SLIDES_STYLE, _SLIDES_SCRIPT)
        _write(folder, name, page)
    return _write_index(folder, sources)


def source_of(notebook: NotebookNode, name: str) -> Source:
    """A notebook as what a page is made of."""
    words = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    return Source(name, "\n\n".join(words), notebook.cells)


# ---- how pages are joined


def _write(folder: Path, name: str, page: str) -> Path:
    file = folder / f"{name}.html"
    atomic_write(file, page.encode())
    return file


def _navigation(name: str, sources: Sources) -> str:
    """Links to the index, and to the pages before and after."""
    names = list(sources)
    index = names.index(name)
    before = names[:index][-1:]
    after = names[index + 1 :][:1]

    up = "../" * name.count("/")
    links = _link(f"{up}index", "All pages")
    for other in before:
        title = sources[other].title
        links += _link(up + other, f"← {title}")
    for other in after:
        title = sources[other].title
        links += _link(up + other, f"{title} →")
    return f"<nav>{links}</nav>"


def _link(page: str, text: str) -> str:
    label = escape(text)
    return f'<a href="{page}.html">{label}</a>'


def _write_index(folder: Path, sources: Sources) -> Path:
    renderer = Renderer("index", sources)
    entries = ""
    for name, source in sources.items():
        link = _link(name, source.title)
        purpose = renderer.markdown(source.purpose) if source.cells else ""
        entries += f"<dt>{link}</dt><dd>{purpose}</dd>"
    listing = f'<dl class="kit-index">{entries}</dl>'
    body = f"<main><h1>{_TITLE}</h1>{listing}</main>"
    page = page_of(_TITLE, body, STYLE)
    return _write(folder, "index", page)
