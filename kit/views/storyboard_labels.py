"""Labels of a graph in print: each beside its node, where it covers no node and no other label."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke
from matplotlib.text import Annotation
from matplotlib.transforms import Bbox
from numpy import ndarray

from kit.views.fonts import families
from kit.views.replay import Edge, Node, clip
from kit.views.style import INK

_TYPE = 9.0  # points
_LETTERS = (48, 28, 16, 9)  # of a label; the fewer where the many have no room
_DISTANCES = (1.0, 1.6, 2.4)
_SAMPLES = 40  # points of an edge that a label should not cover
_HALO = [withStroke(linewidth=2.5, foreground="white")]
#: Where a label may be, best first: to the right of its node and above it, in distances; and
#: which share of the label is to the left of that point, and below it.
_SIDES = (
    (0, 1, 0.5, 0),
    (0, -1, 0.5, 1),
    (1, 0, 0, 0.5),
    (-1, 0, 1, 0.5),
    (0.7, 0.7, 0, 0),
    (-0.7, 0.7, 1, 0),
    (0.7, -0.7, 0, 1),
    (-0.7, -0.7, 1, 1),
)


class Labels:
    """The labels of a panel; ``sizes`` are those of its nodes in points."""

    def __init__(
        self,
        ax: Axes,
        nodes: Mapping[str, Node],
        sizes: Mapping[str, float],
        edges: Iterable[Edge],
    ) -> None:
        self.ax = ax
        self.nodes = nodes
        self.sizes = sizes
        self.panel = ax.get_window_extent()
        self.pixels = ax.figure.dpi / 72  # of a point
        self.points = {}
        self.taken = []
        for name in sizes:
            centre = ax.transData.transform(nodes[name].position)
            reach = self._reach(name) * self.pixels
            self.points[name] = centre
            self.taken.append(Bbox([centre - reach, centre + reach]))

        shares = np.linspace(0, 1, _SAMPLES)[:, None]
        strokes = [np.empty((0, 2))]
        for edge in edges:
            start = self.points[edge.source]
            end = self.points[edge.target]
            strokes.append(start + shares * (end - start))
        self.strokes = np.concatenate(strokes)  # (points, 2)

    def write(self, name: str, text: str) -> None:
        """Write a node's label; where there is no room, it is left out.

        At best it covers no edge either.
        """
        node = self.nodes[name]
        label = self.ax.annotate(
            "",
            node.position,
            (0, 0),
            textcoords="offset points",
            fontsize=_TYPE,
            fontfamily=families(text),
            color=INK,
            weight="bold" if node.gold else "normal",
            ha="left",
            va="bottom",
            path_effects=_HALO,
            zorder=5,
        )
        anything = np.empty((0, 2))
        for avoided in (self.strokes, anything):
            for offset, box in self._choices(label, name, text):
                if self._is_free(box, avoided):
                    label.set_position(offset)
                    self.taken.append(box)
                    return
        label.remove()

    def _reach(self, name: str) -> float:
        """How far from its centre a node's sign reaches, in points: a star's tips do."""
        return 0.9 * self.sizes[name] + 2

    def _choices(
        self, label: Annotation, name: str, text: str
    ) -> Iterator[tuple[Sequence[float], Bbox]]:
        """Where the label may be: its offset in points, and its box in pixels."""
        reach = self._reach(name) * self.pixels
        point = self.points[name]
        for letters in _LETTERS:
            label.set_text(clip(text, letters))
            size = label.get_window_extent().size
            for distance in _DISTANCES:
                for right, up, left_share, low_share in _SIDES:
                    x = right * distance * reach - left_share * size[0]
                    y = up * distance * reach - low_share * size[1]
                    corner = self._inside(point + np.array([x, y]), size)
                    yield (corner - point) / self.pixels, Bbox([corner, corner + size])

    def _inside(self, corner: ndarray, size: ndarray) -> ndarray:
        """The lower left corner of a label, moved into the panel where it reaches beyond.

        A pixel is left, as what touches the panel's edge does not count as inside.
        """
        return corner.clip(self.panel.min + 1, self.panel.max - size - 1)

    def _is_free(self, box: Bbox, avoided: ndarray) -> bool:
        if self.panel.count_contains(box.corners()) < 4:
            return False
        return not box.count_overlaps(self.taken) and not box.count_contains(avoided)
