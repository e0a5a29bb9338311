"""Words on a figure, next to what they name and not on top of each other."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from matplotlib.axes import Axes
from matplotlib.transforms import Bbox

from kit.views.style import SMALL

#: Where a label may stand, best first: offset in units of (distance from the point), horizontal and vertical alignment.
_SIDES = (
    ((0, 1), "center", "bottom"),
    ((0, -1), "center", "top"),
    ((1, 0), "left", "center"),
    ((-1, 0), "right", "center"),
    ((0.8, 0.8), "left", "bottom"),
    ((-0.8, 0.8), "right", "bottom"),
    ((0.8, -0.8), "left", "top"),
    ((-0.8, -0.8), "right", "top"),
    ((1.4, 1.1), "right", "bottom"),  # for a point at the right edge, and the left one
    ((1.4, -1.1), "right", "top"),
    ((-1.4, 1.1), "left", "bottom"),
    ((-1.4, -1.1), "left", "top"),
)


def place_labels(
    axes: Axes,
    labels: Sequence[tuple[float, float, str, str]],
    *,
    instead: Sequence[str] = (),
    obstacles: Sequence[tuple[float, float]] = (),
    distance: float = 6,
    size: float = SMALL,
) -> int:
    """Write each label (x, y, text, colour) beside its point where it covers no labelled point and no earlier label.

    Tries twelve places, first where the label covers none of the points ``obstacles`` either, then anywhere; leaves a
    label out where none is free, so the most important ones come first. ``instead``: for each of the first labels a
    shorter text, to try where the text has no room at the four nearest places. ``distance`` is in typographic points.
    Returns the number of labels written.
    """
    figure = axes.figure
    figure.draw_without_rendering()
    renderer = figure.canvas.get_renderer()
    frame = axes.get_window_extent(renderer)
    reach = distance * figure.dpi / 72 * 0.7
    taken = _boxes(axes, [(x, y) for x, y, *_ in labels], reach)
    soft = _boxes(axes, obstacles, reach)
    written = 0
    for (x, y, text, colour), short in zip_longest(labels, instead, fillvalue=""):
        mark = axes.annotate(text, (x, y), (0, 0), textcoords="offset points", color=colour, fontsize=size, zorder=5)
        mark.set_in_layout(False)
        mark.set_bbox({"facecolor": "white", "alpha": 0.75, "edgecolor": "none", "pad": 0.6})
        for words, (right, up), horizontal, vertical, avoided in (
            (words, *side, boxes)
            for words in (text, short)
            if words
            for boxes in (taken + soft, taken)
            for side in (_SIDES[:4] if short else _SIDES)
        ):
            mark.set(text=words, position=(right * distance, up * distance), ha=horizontal, va=vertical)
            box = mark.get_window_extent(renderer)
            inside = frame.x0 <= box.x0 and box.x1 <= frame.x1 and frame.y0 <= box.y0 and box.y1 <= frame.y1
            if inside and not any(box.overlaps(other) for other in avoided):
                taken.append(box)
                written += 1
                break
        else:
            mark.remove()
    return written


def _boxes(axes: Axes, points: Sequence[tuple[float, float]], reach: float) -> list[Bbox]:
    """A square on the page around each point."""
    on_page = axes.transData.transform(points) if len(points) else ()
    return [Bbox.from_bounds(x - reach, y - reach, 2 * reach, 2 * reach) for x, y in on_page]
