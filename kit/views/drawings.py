"""Schematic drawings of methods: boxes, and arrows between them."""

from collections.abc import Mapping, Sequence

from kit.views.style import GREY, SMALL, Figure, style

Arrow = tuple[str, str, str]  # from a box to a box, and the words beside it
BOX = {"boxstyle": "round,pad=0.5", "facecolor": "white", "edgecolor": "black"}
WORDS = {"boxstyle": "round,pad=0.2", "facecolor": "white", "edgecolor": "none"}
SIZE = (8.0, 3.4)  # inches


@style()
def schema(
    title: str,
    boxes: Mapping[str, tuple[float, float]],
    arrows: Sequence[Arrow],
) -> Figure:
    """Boxes by their text, each with the place of its middle; (0, 0) is below left."""
    figure = Figure(title, SIZE)
    ax = figure.subplots()
    ax.set_axis_off()
    ax.set_ylim(-0.1, 1.1)

    drawn = {}
    for text, middle in boxes.items():
        drawn[text] = ax.text(*middle, text, ha="center", va="center", bbox=BOX)
    for start, end, words in arrows:
        ax.annotate(
            "",
            boxes[end],
            boxes[start],
            arrowprops={
                "arrowstyle": "-|>",
                "color": GREY,
                "patchA": drawn[start].get_bbox_patch(),
                "patchB": drawn[end].get_bbox_patch(),
                "shrinkA": 4,
                "shrinkB": 4,
            },
        )
        x = (boxes[start][0] + boxes[end][0]) / 2
        y = (boxes[start][1] + boxes[end][1]) / 2
        ax.text(x, y, words, ha="center", va="center", fontsize=SMALL, bbox=WORDS)
    return figure
