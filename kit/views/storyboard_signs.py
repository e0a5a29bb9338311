"""The signs of a storyboard: nodes, rings, and the legend that explains them."""

from collections.abc import Set
from typing import Any

from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.lines import Line2D
from matplotlib.path import Path

from kit.views.names import with_minus
from kit.views.replay import (
    GOLD,
    GOLD_RIM,
    HALO,
    ROLES,
    SHADES,
    Edge,
    Frame,
    Node,
    NodeState,
    Replay,
)
from kit.views.style import INK, look

_MARKER = {
    "circle": "o",
    "square": "s",
    "diamond": "D",
    "triangle": "^",
    "star": Path.unit_regular_star(5, 0.45),
}
_SHADE = LinearSegmentedColormap.from_list("far to near", SHADES)
_IN_LEGEND = 9  # points: a node's size there
MOVE = "38 → 5"  # the legend's example of a rank before and after


def draw_node(ax: Axes, node: Node, state: NodeState, size: float, replay: Replay) -> None:
    """A node at its position, with a ring where its role has one; ``size`` in points."""
    shade = None
    if replay.scale and state.value is not None:
        shade = _SHADE(float(state.value))
    signs = [symbol(state.role, node.gold, size, shade)]
    if ROLES[state.role].halo:
        signs.insert(0, ring(size + 6))
    for sign in signs:
        sign.set_data([node.x], [node.y])
        ax.add_line(sign)


def symbol(role: str, gold: bool, size: float, shade: Any = None) -> Line2D:
    """A node's sign, its position still open; a supporting passage is a star."""
    sign = Line2D(
        [],
        [],
        marker=_MARKER[ROLES[role].shape],
        markersize=size,
        linestyle="none",
        markeredgecolor=INK,
        markeredgewidth=0.9,
        markerfacecolor=shade or ROLES[role].fill,
        clip_on=False,
        zorder=3,
    )
    if gold:
        sign.set(
            marker=_MARKER["star"],
            markersize=1.6 * size,
            markeredgecolor=GOLD_RIM,
            markeredgewidth=1.8,
        )
    return sign


def ring(size: float, fill: str = "none") -> Line2D:
    """What is drawn around a sender and a path, its position still open."""
    return Line2D(
        [],
        [],
        marker="o",
        markersize=size,
        markerfacecolor=fill,
        markeredgecolor=HALO,
        markeredgewidth=2.2,
        linestyle="none",
        clip_on=False,
        zorder=3,
    )


def edges_between(replay: Replay, frame: Frame, shown: Set[str]) -> list[Edge]:
    """The edges of a frame between nodes that are shown.

    Those of the graph come first, but for those along which something moves.
    """
    moved = {frozenset(edge.ends) for edge in frame.edges}
    edges = [edge for edge in replay.edges if frozenset(edge.ends) not in moved]
    return [edge for edge in (*edges, *frame.edges) if shown >= set(edge.ends)]


# ---- the legend


def legend_signs(replay: Replay) -> list[Line2D]:
    """What shapes, colours and lines mean: a labelled sign each."""
    signs = _role_signs(replay)
    if replay.scale and replay.roles:
        signs = _scale_signs(replay) | signs
    if _shows_gold(replay):
        signs[GOLD] = symbol("missed", True, _IN_LEGEND)
    for kind in replay.kinds:
        signs[f"{kind} edge"] = Line2D([], [], **look(kind).line)
    if any(item.moved for frame in replay.frames for item in frame.items):
        signs[f"{MOVE}: rank before and after"] = Line2D([], [], linestyle="none")

    for label, sign in signs.items():
        sign.set_label(label)
    return list(signs.values())


def _scale_signs(replay: Replay) -> dict[str, Line2D]:
    """The nearest and the farthest node."""
    scale = replay.scale
    nearest = with_minus(f"{scale.name} {scale.nearest:.3g}")
    farthest = with_minus(f"{scale.name} {scale.farthest:.3g}")
    if replay.by_rank:
        nearest = f"near to the question: {nearest}"
        farthest = f"far from it: {farthest}"
    return {
        nearest: symbol("plain", False, _IN_LEGEND + 2, _SHADE(1.0)),
        farthest: symbol("plain", False, _IN_LEGEND - 3, _SHADE(0.0)),
    }


def _role_signs(replay: Replay) -> dict[str, Line2D]:
    signs = {}
    for name, role in replay.roles.items():
        if role.halo:
            signs[role.label] = ring(_IN_LEGEND, role.fill)
        elif name not in replay.shaded_roles:
            signs[role.label] = symbol(name, False, _IN_LEGEND - 1)
        elif name != "plain":
            signs[role.label] = symbol(name, False, _IN_LEGEND - 1, _SHADE(0.5))
    return signs


def _shows_gold(replay: Replay) -> bool:
    """Whether a supporting passage is drawn, as a node or in a ranking."""
    shown = set()
    for frame in replay.frames:
        if replay.by_rank or not frame.states:
            shown.update(frame.shown)
        shown.update(state.node for state in frame.states)
    return any(node.gold and node.id in shown for node in replay.nodes)
