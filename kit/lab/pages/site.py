"""A folder of pages, or of slides, one per executed notebook, with an index."""

import re
from collections.abc import Mapping
from html import escape
from pathlib import Path

from nbformat import NotebookNode

from kit import paths
from kit.errors import InputError
from kit.files import atomic_write
from kit.lab.pages.rendering import STYLE, Renderer, page_of

_HERE = Path(__file__).parent
_SLIDES_STYLE = STYLE + (_HERE / "slides.css").read_text("utf-8")
_SLIDES_SCRIPT = (_HERE / "slides.js").read_text("utf-8")
_STARTS = ("slide", "subslide")
_LEFT_OUT = ("skip", "notes")
_TITLE = "Graph-based retrieval for multi-hop questions"

_NO_WORDS = ("", "!", "#", "|")  # how what is no paragraph begins

Notebooks = Mapping[str, NotebookNode]
Titles = Mapping[str, str]  # by the names of pages


def write_pages(notebooks: Notebooks, folder: Path) -> Path:
    """Write a page per notebook, one per text beside the lessons, and the index; return its file.

    ``notebooks`` are executed ones by their names. Pages of these names are replaced.
    """
    texts = {file.stem: file.read_text("utf-8") for file in sorted(paths.NOTEBOOKS.glob("*.md"))}
    titles = {name: title_of(_words(notebook), name) for name, notebook in notebooks.items()}
    titles |= {name: title_of(text, name) for name, text in texts.items()}
    for name in titles:
        renderer = Renderer(name, titles)
        if name in texts:
            content = renderer.markdown(texts[name])
        else:
            content = renderer.cells(notebooks[name].cells)
        body = f"{_navigation(name, titles)}<main>{content}</main>"
        atomic_write(folder / f"{name}.html", page_of(titles[name], body, STYLE).encode())
    purposes = {name: purpose_of(_words(notebook)) for name, notebook in notebooks.items()}
    return _write_index(folder, titles, purposes)


def write_slides(notebooks: Notebooks, folder: Path) -> Path:
    """Write the slides of each notebook that has some, and the index; return its file."""
    tagged = {name: notebook for name, notebook in notebooks.items() if has_slides(notebook)}
    titles = {name: title_of(_words(notebook), name) for name, notebook in tagged.items()}
    for name, notebook in tagged.items():
        renderer = Renderer(name, titles)
        slides = [renderer.cells(cells) for cells in slides_of(notebook)]
        body = "".join(f"<section><div>{slide}</div></section>" for slide in slides)
        page = page_of(titles[name], body, _SLIDES_STYLE, _SLIDES_SCRIPT)
        atomic_write(folder / f"{name}.html", page.encode())
    return _write_index(folder, titles, {})


def has_slides(notebook: NotebookNode) -> bool:
    """Whether any cell is tagged as the start of a slide."""
    return any(_slide_type(cell) in _STARTS for cell in notebook.cells)


def slides_of(notebook: NotebookNode) -> list[list[NotebookNode]]:
    """The cells of each slide, by what JupyterLab's property inspector calls the slide type.

    A cell without one, and a fragment, goes on with the slide before it.
    """
    slides = []
    for cell in notebook.cells:
        kind = _slide_type(cell)
        if kind in _LEFT_OUT:
            continue
        if kind in _STARTS or not slides:
            slides.append([])
        slides[-1].append(cell)
    return slides


def _slide_type(cell: NotebookNode) -> str:
    return cell.metadata.get("slideshow", {}).get("slide_type", "")


def expect_slides(notebooks: Notebooks) -> None:
    """Raise ``InputError`` where no notebook has a slide."""
    if not any(has_slides(notebook) for notebook in notebooks.values()):
        raise InputError(
            f"expected a cell with the slide type 'slide' in one of: {', '.join(notebooks)}",
            field="--slides",
        )


# ---- words of a notebook


def _words(notebook: NotebookNode) -> str:
    return "\n\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")


def title_of(text: str, name: str) -> str:
    """The first heading; where there is none, the name."""
    heading = re.search(r"^# (.+)$", text, re.M)
    return heading[1].strip() if heading else name


def purpose_of(text: str) -> str:
    """The first paragraph below a heading of the second level: why, or what one will learn."""
    _, _, section = text.partition("\n## ")
    paragraphs = [part.strip() for part in section.split("\n\n")[1:]]
    return next((part for part in paragraphs if part[:1] not in _NO_WORDS), "")


# ---- how pages are joined


def _navigation(name: str, titles: Titles) -> str:
    """Links to the index, and to the pages before and after."""
    names = list(titles)
    index = names.index(name)
    links = {"index": "All pages"}
    if index > 0:
        links[names[index - 1]] = f"← {titles[names[index - 1]]}"
    if index < len(names) - 1:
        links[names[index + 1]] = f"{titles[names[index + 1]]} →"
    up = "../" * name.count("/")
    anchors = [f'<a href="{up}{page}.html">{escape(text)}</a>' for page, text in links.items()]
    return f"<nav>{''.join(anchors)}</nav>"


def _write_index(folder: Path, titles: Titles, purposes: Titles) -> Path:
    renderer = Renderer("index", titles)
    entries = []
    for name, title in titles.items():
        purpose = renderer.markdown(purposes.get(name, ""))
        entries.append(f'<dt><a href="{name}.html">{escape(title)}</a></dt><dd>{purpose}</dd>')
    body = f'<main><h1>{_TITLE}</h1><dl class="kit-index">{"".join(entries)}</dl></main>'
    file = folder / "index.html"
    atomic_write(file, page_of(_TITLE, body, STYLE).encode())
    return file
