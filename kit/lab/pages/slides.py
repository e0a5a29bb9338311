"""Which cells of a notebook make a slide.

Where cells have slide types (JupyterLab's property inspector gives them), these say it. Other
notebooks have a slide per heading, and one per picture with the words that follow it.
"""

from copy import deepcopy

from nbformat import NotebookNode

_STARTS = ("slide", "subslide")
_LEFT_OUT = ("skip", "notes")
_PICTURES = {"image/png", "image/svg+xml"}
_REPLAY = "kit-page"  # of a replay's frame

Slide = list[NotebookNode]


def slides_of(notebook: NotebookNode) -> list[Slide]:
    """The cells of each slide."""
    kinds = {_slide_type(cell) for cell in notebook.cells}
    if kinds.isdisjoint(_STARTS):
        return _by_pictures(notebook)
    return _by_types(notebook)


def _by_types(notebook: NotebookNode) -> list[Slide]:
    """A cell without a type, and a fragment, goes on with the slide before it."""
    slides = []
    for cell in notebook.cells:
        kind = _slide_type(cell)
        if kind in _LEFT_OUT:
            continue
        if kind in _STARTS or not slides:
            slides.append([])
        slides[-1].append(cell)
    return slides


def _by_pictures(notebook: NotebookNode) -> list[Slide]:
    """The code of pictures is folded; a picture right below a heading shares its slide."""
    slides = []
    for cell in notebook.cells:
        is_heading = cell.cell_type == "markdown" and cell.source.startswith("#")
        is_picture = _shows_picture(cell)
        if is_heading or (is_picture and not _is_bare(slides)) or not slides:
            slides.append([])
        slides[-1].append(_folded(cell) if is_picture else cell)
    return slides


def _slide_type(cell: NotebookNode) -> str:
    slideshow = cell.metadata.get("slideshow", {})
    return slideshow.get("slide_type", "")


def _shows_picture(cell: NotebookNode) -> bool:
    for output in cell.get("outputs", ()):
        data = output.get("data", {})
        if not _PICTURES.isdisjoint(data) or _REPLAY in data.get("text/html", ""):
            return True
    return False


def _is_bare(slides: list[Slide]) -> bool:
    """Whether the last slide has only a heading as yet."""
    if not slides:
        return False
    cells = slides[-1]
    return len(cells) == 1 and "\n" not in cells[0].source.strip()


def _folded(cell: NotebookNode) -> NotebookNode:
    copy = deepcopy(cell)
    copy.metadata["jupyter"] = {"source_hidden": True}
    return copy
