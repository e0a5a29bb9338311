"""Words on a figure, next to what they name and not on top of each other."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.transforms import Bbox

from kit.views.style import SMALL

#: Where a label may stand, best first: its offset in distances from the point, and how it is aligned.
_SIDES = [(0, 1, "center", "bottom"), (0, -1, "center", "top"), (1, 0, "left", "center"), (-1, 0, "right", "center")]
_SIDES += [(x, y, "left" if x > 0 else "right", "bottom" if y > 0 else "top") for x in (0.8, -0.8) for y in (0.8, -0.8)]
_SIDES += [(1.4, 1.1, "right", "bottom"), (-1.4, 1.1, "left", "bottom")]  # for a point at the edge


def place_labels(
    axes: Axes,
    labels: Sequence[tuple[float, float, str, str]],
    *,
    obstacles: Sequence[tuple[float, float]] = (),
    distance: float = 6,
    size: float = SMALL,
) -> int:
    """Write each label (x, y, text, colour) beside its point where it covers no labelled point and no earlier label.

    Tries ten places, first where the label covers none of the points ``obstacles`` either; leaves a label out where
    none is free, so the most important ones come first. ``distance`` is in typographic points. Returns the number of
    labels written.
    """
    axes.figure.draw_without_rendering()
    renderer, frame, written = axes.figure.canvas.get_renderer(), axes.get_window_extent(), 0
    reach = distance * axes.figure.dpi / 72 * 0.7

    def boxes(points: Sequence[tuple[float, float]]) -> list[Bbox]:
        on_page = axes.transData.transform(points) if len(points) else ()
        return [Bbox.from_bounds(x - reach, y - reach, 2 * reach, 2 * reach) for x, y in on_page]

    taken, soft = boxes([(x, y) for x, y, *_ in labels]), boxes(obstacles)
    for x, y, text, colour in labels:
        mark = axes.annotate(text, (x, y), (0, 0), textcoords="offset points", color=colour, fontsize=size, zorder=5)
        mark.set_in_layout(False)
        mark.set_bbox({"facecolor": "white", "alpha": 0.75, "edgecolor": "none", "pad": 0.6})
        for avoided, side in ((boxes, side) for boxes in (taken + soft, taken) for side in _SIDES):
            right, up, horizontal, vertical = side
            mark.set(position=(right * distance, up * distance), ha=horizontal, va=vertical)
            box = mark.get_window_extent(renderer)
            inside = frame.x0 <= box.x0 and box.x1 <= frame.x1 and frame.y0 <= box.y0 and box.y1 <= frame.y1
            if inside and not any(box.overlaps(other) for other in avoided):
                taken.append(box)
                written += 1
                break
        else:
            mark.remove()
    return written
