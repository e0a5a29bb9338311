"""A graph as a panel of a storyboard: large nodes, and labels that cover nothing."""

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch
from msgspec.structs import replace

from kit.views.replay import ROLES, Edge, Frame, Node, NodeState, Replay
from kit.views.storyboard_labels import Labels
from kit.views.storyboard_signs import draw_node, edges_between
from kit.views.style import look

_FEW = 14  # nodes of a picture that are all named where there is room
_NAMED = ("seed", "named", "question")  # roles of nodes whose titles matter
_MARGIN = np.array([56.0, 24.0])  # points: free beside the nodes, and above and below them
_LEAST, _MOST = 7.0, 13.0  # points: the size of a node
_LOW = 2.6  # inches: the height of a panel beside others
_HIGH = 4.0  # inches: of one alone
_LEVEL = 0.35  # inches: the room for a node


def graph_height(replay: Replay, alone: bool) -> float:
    """The height of a panel in inches: room for the nodes that are one above another."""
    nodes = replay.by_id
    levels = set()
    for frame in replay.frames:
        levels.update(nodes[state.node].y for state in frame.states)
    most = _HIGH if alone else _LOW
    return min(most, 0.5 + _LEVEL * len(levels))


def draw_graph(ax: Axes, replay: Replay, frame: Frame) -> None:
    """Draw nodes and edges, and the titles that there is room for.

    The data units of ``ax`` are points. A node has the same position in all panels.
    """
    nodes = _spread(ax, replay)
    crowd = min(1.0, (_FEW / len(nodes)) ** 0.5)  # the more nodes there are, the smaller they are
    sizes = {state.node: crowd * _size(state) for state in frame.states}
    edges = edges_between(replay, frame, sizes.keys())
    for edge in edges:
        _draw_edge(ax, edge, nodes, sizes[edge.target])
    for state in frame.states:
        draw_node(ax, nodes[state.node], state, sizes[state.node], replay)

    labels = Labels(ax, nodes, sizes, edges)
    for name, text in _titles(replay, frame).items():
        labels.write(name, text)


def _spread(ax: Axes, replay: Replay) -> dict[str, Node]:
    """The nodes that any panel draws, at positions that fill the panel."""
    shown = {state.node for frame in replay.frames for state in frame.states}
    drawn = [node for node in replay.nodes if node.id in shown]
    points = np.array([node.position for node in drawn])  # (nodes, 2)
    low = points.min(axis=0)
    extent = points.max(axis=0) - low
    is_flat = extent == 0
    shares = (points - low) / np.where(is_flat, 1, extent)
    shares[:, is_flat] = 0.5
    size = ax.get_window_extent().size * 72 / ax.figure.dpi
    points = _MARGIN + shares * (size - 2 * _MARGIN)

    nodes = {}
    for node, (x, y) in zip(drawn, points.tolist()):
        nodes[node.id] = replace(node, x=x, y=y)
    return nodes


def _size(state: NodeState) -> float:
    """A node's size in points."""
    if state.value is None:
        return _LEAST + 2
    return _LEAST + (_MOST - _LEAST) * state.value


def _draw_edge(ax: Axes, edge: Edge, nodes: Mapping[str, Node], size: float) -> None:
    """A stroke for each kind, side by side; strong where something moved along the edge."""
    width = 0.9
    alpha = 0.45
    if edge.emphasised:
        width = 2.4
        alpha = 1.0
    elif edge.directed:
        width = 1.4
        alpha = 0.8
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


def _titles(replay: Replay, frame: Frame) -> dict[str, str]:
    """The nodes that matter with their titles, first those that matter most.

    A support that moved has its ranks beside it. All nodes are named where there are few of them
    or one picture alone.
    """
    moved = {item.node: item for item in frame.items if item.moved and item.rank}
    every = len(replay.frames) == 1 or len(frame.states) <= _FEW
    nodes = replay.by_id
    weights = {}
    for state in frame.states:
        weights[state.node] = _weight(state, nodes[state.node], frame)

    titles = {}
    for name in sorted(weights, key=lambda name: -weights[name]):
        if weights[name] or every:
            titles[name] = nodes[name].title
            if nodes[name].gold and name in moved:
                titles[name] += f" {moved[name].in_words}"
    return titles


def _weight(state: NodeState, node: Node, frame: Frame) -> int:
    """How much a node matters: as a support, at an edge that stands out, by its role."""
    weight = 4 if node.gold else 0
    if any(edge.emphasised and node.id in edge.ends for edge in frame.edges):
        weight += 2
    if ROLES[state.role].halo or state.role in _NAMED:
        weight += 1
    return weight
