"""Words on a figure, next to what they name and not on top of each other."""

from collections.abc import Sequence
from itertools import product

from matplotlib.axes import Axes
from matplotlib.transforms import Bbox

from kit.views.style import SMALL

#: Where a label may stand, best first: to the right of its point and above it, in distances.
_SIDES = ((0, 1), (0, -1), (1, 0), (-1, 0), (0.8, 0.8), (0.8, -0.8), (-0.8, 0.8), (-0.8, -0.8))

Point = tuple[float, float]
Label = tuple[float, float, str, str]  # x, y, text, colour


def place_labels(
    axes: Axes, labels: Sequence[Label], *, obstacles: Sequence[Point] = (), distance: float = 6, size: float = SMALL
) -> None:
    """Write each label beside its point, where it covers no labelled point and no earlier label.

    Tries places that cover none of the points ``obstacles`` first, and leaves out what has no free place: so the most
    important labels come first. ``distance`` is in typographic points.
    """
    axes.figure.draw_without_rendering()
    reach, frame = distance * axes.figure.dpi / 72 * 0.7, axes.get_window_extent()
    points = axes.transData.transform([*(label[:2] for label in labels), *obstacles] or [(0, 0)])
    around = [Bbox.from_bounds(x - reach, y - reach, 2 * reach, 2 * reach) for x, y in points]
    taken, soft = around[: len(labels)], around[len(labels) :]
    for x, y, text, colour in labels:
        mark = axes.annotate(text, (x, y), (0, 0), textcoords="offset points", color=colour, fontsize=size, zorder=5)
        mark.set_in_layout(False)
        mark.set_bbox({"facecolor": "white", "alpha": 0.75, "edgecolor": "none", "pad": 0.6})
        for avoided, (right, up) in product((taken + soft, taken), _SIDES):
            aside = "left" if right > 0 else "right" if right < 0 else "center"
            above = "bottom" if up > 0 else "top" if up < 0 else "center"
            mark.set(position=(right * distance, up * distance), ha=aside, va=above)
            box = mark.get_window_extent()
            if frame.count_contains(box.corners()) == 4 and not box.count_overlaps(avoided):
                taken.append(box)
                break
        else:
            mark.remove()
