"""Schematic drawings of methods, from files that say which boxes there are and which arrows.

``notebooks/drawings/NAME.toml`` is drawn as ``NAME.svg`` beside it, by

    python -m kit.views.drawings
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import msgspec

from kit.errors import InputError
from kit.files import atomic_write
from kit.paths import NOTEBOOKS
from kit.views.style import GREY, INK, SMALL, Figure, style

DRAWINGS = NOTEBOOKS / "drawings"

Place = tuple[float, float]  # (0, 0) is below left, (1, 1) above right
SHAPES = {"box": "round,pad=0.5", "circle": "circle,pad=0.4", "words": "round,pad=0.2"}
FILLS = {"question": "#332288", "passage": "#cfe8f5", "entity": "#f6e3b4", "plain": "white"}


class Box(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A part of a method: its words, the place of its middle, its shape, and what it stands for."""

    text: str
    at: Place
    shape: Literal["box", "circle", "words"] = "box"
    kind: Literal["question", "passage", "entity", "plain"] = "plain"


class Arrow(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"start": "from"}):
    """From a box to a box, with words beside it; ``bend`` is a share of its length."""

    start: str
    to: str
    words: str = ""
    dashed: bool = False
    bend: float = 0.0


class Drawing(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A drawing: its sentence, its boxes by name, its arrows, its size in inches."""

    title: str
    boxes: dict[str, Box]
    arrows: Sequence[Arrow] = ()
    size: tuple[float, float] = (8.0, 3.4)


def read_drawing(file: Path) -> Drawing:
    """The drawing that a file describes. Raises :class:`InputError` for one that cannot be read."""
    try:
        drawing = msgspec.toml.decode(file.read_bytes(), type=Drawing)
    except msgspec.DecodeError as error:
        raise InputError(str(error), file=file.name) from None
    for arrow in drawing.arrows:
        for name in (arrow.start, arrow.to):
            if name not in drawing.boxes:
                raise InputError(f"expected a box, not {name!r}", file=file.name, field="arrows")
    return drawing


@style()
def draw(drawing: Drawing) -> Figure:
    """The figure of a drawing."""
    figure = Figure(drawing.title, drawing.size)
    ax = figure.subplots()
    ax.set_axis_off()
    ax.set_xlim(0, 1)
    ax.set_ylim(-0.1, 1.1)

    patches = {}
    for name, box in drawing.boxes.items():
        rim = "none" if box.shape == "words" else INK
        patch = {"boxstyle": SHAPES[box.shape], "facecolor": FILLS[box.kind], "edgecolor": rim}
        colour = "white" if box.kind == "question" else INK
        words = ax.text(
            *box.at, box.text, ha="center", va="center", color=colour, bbox=patch, zorder=3
        )
        patches[name] = words.get_bbox_patch()

    for arrow in drawing.arrows:
        start = drawing.boxes[arrow.start].at
        end = drawing.boxes[arrow.to].at
        ax.annotate(
            "",
            end,
            start,
            zorder=1,
            arrowprops={
                "arrowstyle": "-|>",
                "color": GREY,
                "linestyle": "--" if arrow.dashed else "-",
                "patchA": patches[arrow.start],
                "patchB": patches[arrow.to],
                "shrinkA": 3,
                "shrinkB": 3,
                "connectionstyle": f"arc3,rad={arrow.bend}",
            },
        )
        _write_beside_arrow(figure, arrow, start, end)
    return figure


def _write_beside_arrow(figure: Figure, arrow: Arrow, start: Place, end: Place) -> None:
    """The words of an arrow in the middle of it, on the side to which it bends."""
    width, height = figure.get_size_inches()
    across = (end[0] - start[0]) * width
    up = (end[1] - start[1]) * height
    # The middle of a quadratic curve is half as far away as its control point.
    x = (start[0] + end[0]) / 2 + arrow.bend * up / 2 / width
    y = (start[1] + end[1]) / 2 - arrow.bend * across / 2 / height
    behind = {"boxstyle": "round,pad=0.2", "facecolor": "white", "edgecolor": "none"}
    figure.axes[0].text(
        x, y, arrow.words, ha="center", va="center", fontsize=SMALL, bbox=behind, zorder=2
    )


def write_drawings(folder: Path = DRAWINGS) -> list[Path]:
    """Draw all files of a folder."""
    written = []
    for file in sorted(folder.glob("*.toml")):
        svg = file.with_suffix(".svg")
        atomic_write(svg, draw(read_drawing(file)).drawn("svg"))
        written.append(svg)
    return written


if __name__ == "__main__":
    for path in write_drawings():
        print(path)
