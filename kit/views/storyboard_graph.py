"""A graph as a panel of a storyboard: large nodes, and labels that cover nothing."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import product

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch
from matplotlib.patheffects import withStroke
from matplotlib.text import Annotation
from matplotlib.transforms import Bbox
from msgspec.structs import replace
from numpy import ndarray

from kit.views.fonts import families
from kit.views.replay import ROLES, Edge, Frame, Node, NodeState, Replay, clip
from kit.views.storyboard_signs import draw_node
from kit.views.style import INK, look

_FEW = 14  # nodes of a picture that are all named where there is room
_NAMED = ("seed", "named", "question")  # roles of nodes whose titles matter
_MARGIN = (56.0, 24.0)  # points: free at the left and right of the nodes, and above and below
_LEAST, _MOST = 7.0, 13.0  # points: the size of a node
_TYPE = 9.0  # points
_MOST_HEIGHT = (2.6, 4.0)  # inches: of a panel beside others, and of one alone
_LETTERS = (28, 16, 9)  # of a label; the fewer where the many have no room
_DISTANCES = (1.0, 1.6, 2.4)
_SHARES = {"left": 0, "center": 0.5, "right": 1, "bottom": 0, "top": 1}
_SAMPLES = 40  # points of an edge that a label should not cover
#: Where a label may stand, best first: to the right of its node and above it, in distances.
_SIDES = (
    (0, 1, "center", "bottom"),
    (0, -1, "center", "top"),
    (1, 0, "left", "center"),
    (-1, 0, "right", "center"),
    (0.7, 0.7, "left", "bottom"),
    (-0.7, 0.7, "right", "bottom"),
    (0.7, -0.7, "left", "top"),
    (-0.7, -0.7, "right", "top"),
)
_HALO = [withStroke(linewidth=2.5, foreground="white")]


def graph_height(replay: Replay, alone: bool) -> float:
    """The height of a panel in inches: room for the nodes that stand one above another."""
    nodes = replay.by_id
    heights = {nodes[state.node].y for frame in replay.frames for state in frame.states}
    most = _MOST_HEIGHT[alone]
    return min(most, 0.5 + 0.35 * len(heights))


def draw_graph(ax: Axes, replay: Replay, frame: Frame) -> None:
    """Draw nodes and edges, and the titles that there is room for.

    The data units of ``ax`` are points. A node has the same position in all panels.
    """
    nodes = _spread(ax, replay)
    crowd = min(1.0, (_FEW / len(nodes)) ** 0.5)  # the more nodes there are, the smaller they are
    sizes = {state.node: crowd * _size(state) for state in frame.states}
    moved = {frozenset(edge.ends) for edge in frame.edges}
    pale = [edge for edge in replay.edges if frozenset(edge.ends) not in moved]
    drawn = [edge for edge in (*pale, *frame.edges) if sizes.keys() >= set(edge.ends)]
    for edge in drawn:
        _draw_edge(ax, edge, nodes, sizes[edge.target])

    for state in frame.states:
        draw_node(ax, nodes[state.node], state, sizes[state.node], replay)
    labels = _labels(replay, frame)
    _place_labels(ax, labels, nodes, sizes, drawn)


def _spread(ax: Axes, replay: Replay) -> dict[str, Node]:
    """The nodes that any panel draws, at positions that fill the panel."""
    shown = {state.node for frame in replay.frames for state in frame.states}
    drawn = [node for node in replay.nodes if node.id in shown]
    points = np.array([node.position for node in drawn])
    low = points.min(axis=0)
    extent = points.max(axis=0) - low
    shares = np.where(extent > 0, (points - low) / np.where(extent > 0, extent, 1), 0.5)
    room = ax.get_window_extent().size * 72 / ax.figure.dpi
    places = np.array(_MARGIN) + shares * (room - 2 * np.array(_MARGIN))
    return {node.id: replace(node, x=x, y=y) for node, (x, y) in zip(drawn, places.tolist())}


def _size(state: NodeState) -> float:
    """A node's size in points."""
    if state.value is None:
        return _LEAST + 2
    return _LEAST + (_MOST - _LEAST) * state.value


def _draw_edge(ax: Axes, edge: Edge, nodes: Mapping[str, Node], size: float) -> None:
    """A stroke for each kind, side by side; strong where something moved along the edge."""
    width, alpha = (2.4, 1.0) if edge.emphasised else (0.9, 0.45)
    if edge.directed and not edge.emphasised:
        width, alpha = (1.4, 0.8)
    for rank, kind in enumerate(edge.kinds):
        patch = FancyArrowPatch(
            nodes[edge.source].position,
            nodes[edge.target].position,
            arrowstyle="-|>" if edge.directed else "-",
            shrinkA=0,
            shrinkB=size / 2 + 2 if edge.directed else 0,
            mutation_scale=12,
            connectionstyle=f"arc3,rad={0.08 * rank}",
            linewidth=width,
            alpha=alpha,
            zorder=1,
            **look(kind).line,
        )
        ax.add_patch(patch)


# ---- labels


def _labels(replay: Replay, frame: Frame) -> list[tuple[str, str]]:
    """The nodes that matter with their titles, first those that matter most.

    A support that moved has its ranks beside it. All nodes are named where there are few of them
    or one picture alone.
    """
    moves = {item.node: item for item in frame.items if item.moved and item.rank}
    every = len(replay.frames) == 1 or len(frame.states) <= _FEW
    nodes = replay.by_id
    labels = []
    for state in frame.states:
        node = nodes[state.node]
        text = node.title
        if node.gold and node.id in moves:
            item = moves[node.id]
            text += f" {item.rank + item.moved} → {item.rank}"
        weight = _weight(state, node, frame)
        if weight or every:
            labels.append((weight, node.id, text))
    labels.sort(key=lambda label: -label[0])
    return [(name, text) for _, name, text in labels]


def _weight(state: NodeState, node: Node, frame: Frame) -> int:
    """How much a node matters: as a support, at an edge that stands out, by its role."""
    weight = 4 if node.gold else 0
    if any(edge.emphasised and node.id in edge.ends for edge in frame.edges):
        weight += 2
    if ROLES[state.role].halo or state.role in _NAMED:
        weight += 1
    return weight


def _place_labels(
    ax: Axes,
    labels: Sequence[tuple[str, str]],
    nodes: Mapping[str, Node],
    sizes: Mapping[str, float],
    edges: Iterable[Edge],
) -> None:
    """Write each label beside its node, where it covers no node and no label.

    At best it covers no edge either. Where there is no room, it is left out.
    """
    points = {name: ax.transData.transform(nodes[name].position) for name in sizes}
    taken = []
    for name, size in sizes.items():
        reach = (0.9 * size + 2) * ax.figure.dpi / 72
        taken.append(Bbox([points[name] - reach, points[name] + reach]))
    shares = np.linspace(0, 1, _SAMPLES)[:, None]
    lines = [points[edge.source] * (1 - shares) + points[edge.target] * shares for edge in edges]
    strokes = np.concatenate([np.empty((0, 2)), *lines])

    for name, text in labels:
        label = ax.annotate(
            "",
            nodes[name].position,
            (0, 0),
            textcoords="offset points",
            fontsize=_TYPE,
            fontfamily=families(text),
            color=INK,
            weight="bold" if nodes[name].gold else "normal",
            ha="left",
            va="bottom",
            path_effects=_HALO,
            zorder=5,
        )
        for avoided in (strokes, np.empty((0, 2))):
            box = _free_box(label, text, 0.9 * sizes[name] + 2, taken, avoided)
            if box:
                taken.append(box)
                break
        else:
            label.remove()


def _free_box(
    label: Annotation,
    text: str,
    reach: float,
    taken: Sequence[Bbox],
    avoided: ndarray,
) -> Bbox | None:
    """Put the label where it is within the panel and covers nothing; where that is."""
    panel = label.axes.get_window_extent()
    points = label.figure.dpi / 72
    node = label.axes.transData.transform(label.xy)
    for letters in _LETTERS:
        label.set_text(clip(text, letters))
        size = label.get_window_extent().size
        for distance, side in product(_DISTANCES, _SIDES):
            right, up, ha, va = side
            offset = reach * distance * np.array([right, up])
            corner = node + offset * points - size * [_SHARES[ha], _SHARES[va]]
            box = Bbox([corner, corner + size])
            inside = panel.count_contains(box.corners()) == 4
            if inside and not box.count_overlaps(taken) and not box.count_contains(avoided):
                label.set(position=offset, ha=ha, va=va)
                return box
    return None
