"""A replay in print: its frames side by side, with the canvas's shapes, colours and positions."""

import textwrap
from collections.abc import Mapping, Sequence
from itertools import product
from math import ceil
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.lines import Line2D
from matplotlib.path import Path
from matplotlib.transforms import Bbox
from msgspec.structs import replace

from kit.views.fonts import families
from kit.views.replay import (
    GOLD,
    GOLD_RIM,
    HALO,
    ROLES,
    SHADES,
    Column,
    Edge,
    Frame,
    Node,
    NodeState,
    RankItem,
    Replay,
    clip,
)
from kit.views.style import GREY, INK, SIZE, SMALL, Figure, look, style

_MARKER = {"circle": "o", "square": "s", "diamond": "D", "star": Path.unit_regular_star(5, 0.45)}
_SHADE = LinearSegmentedColormap.from_list("far to near", SHADES)
#: Where a label may stand, best first: how far to the right of its node and above it, and what of
#: it stands there.
_SIDES = (
    (0, 1, "center", "bottom"),
    (0, -1, "center", "top"),
    (1, 0, "left", "center"),
    (-1, 0, "right", "center"),
)
_MOST = 6  # panels on a slide
_FEW = 12  # nodes of a picture that are all named where there is room
_LINE = 108  # letters across the page
_TIE = ("#bbbbbb", 0.8)  # colour and width of a line between rankings
_GOLD_TIE = (GOLD_RIM, 2.5)
_NAMED = ("seed", "named")  # roles of nodes whose titles matter


@style()
def storyboard(replay: Replay, title: str, steps: Sequence[int] | None = None) -> Figure:
    """Frames as panels of one figure, three in a row.

    They are those of ``steps``, or up to six from first to last.
    """
    if steps is None:
        last = len(replay.frames) - 1
        steps = np.linspace(0, last, min(last + 1, _MOST)).round().astype(int)
    replay = replace(replay, frames=[replay.frames[step] for step in steps])
    columns = min(len(steps), 3)
    rows = ceil(len(steps) / columns)
    height = SIZE[1] if rows == 1 else 3.4 * rows + 0.6
    letters = _LINE // columns

    figure = Figure(title, (SIZE[0], height))
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    for ax in axes:
        ax.set_axis_off()
    n_lines = 5 if replay.scale else 3
    for ax, frame in zip(axes, replay.frames):
        ax.set_title(
            _heading(frame, letters, n_lines),
            fontsize=SMALL + 0.5,
            parse_math=False,
        )
    figure.legend(
        handles=_legend(replay),
        ncols=4,
        fontsize=SMALL,
        title=textwrap.fill(replay.question, _LINE),
        alignment="left",
        loc="outside lower left",
    )
    figure.draw_without_rendering()  # so that titles and legend have their room

    for ax, frame in zip(axes, replay.frames):
        if frame.states:
            _draw_graph(ax, replay, frame)
        else:
            _draw_rankings(ax, replay, frame.columns, letters)
    return figure


def _heading(frame: Frame, letters: int, n_lines: int) -> str:
    """The step, its sub-question in two lines, and its caption in so many."""
    lines = [frame.step] if frame.step else []
    for text, most in ((frame.sub_question, 2), (frame.caption, n_lines)):
        lines += textwrap.wrap(text, letters, max_lines=most, placeholder=" …")
    return "\n".join(lines)


# ---- a graph


def _draw_graph(ax: Axes, replay: Replay, frame: Frame) -> None:
    """Nodes and edges at their positions, with the titles that there is room for."""
    nodes = replay.by_id
    sizes = {state.node: _size(state, nodes[state.node]) for state in frame.states}
    ax.set(xlim=(-0.06, 1.06), ylim=(1.08, -0.08))
    for edge in (*replay.edges, *frame.edges):
        if sizes.keys() >= set(edge.ends):
            width = 2.2 if edge.emphasised else 0.9
            if edge in replay.edges:
                width = 0.6
            _draw_edge(ax, edge, nodes, width, sizes[edge.target])

    for state in frame.states:
        node = nodes[state.node]
        size = sizes[node.id]
        shade = None
        if replay.scale and state.value is not None:
            shade = _SHADE(float(state.value))
        if ROLES[state.role].halo:
            _draw_sign(ax, _ring(size + 7), node)
        _draw_sign(ax, _symbol(state.role, node.gold, size, shade), node)

    distance = 9 if replay.scale else 6
    _place_labels(ax, _labels(replay, frame), [nodes[name] for name in sizes], distance)


def _size(state: NodeState, node: Node) -> float:
    """A node's size in points."""
    size = 7 if state.value is None else 4 + 8 * state.value
    return 2 * size if node.gold else size


def _draw_sign(ax: Axes, sign: Line2D, node: Node) -> None:
    sign.set_data([node.x], [node.y])
    ax.add_line(sign)


def _labels(replay: Replay, frame: Frame) -> list[tuple[Node, str]]:
    """The titles of the nodes that matter, first those that matter most.

    A support's has its standing in the ranking. All nodes have one where there are few of them or
    one picture alone.
    """
    standings = {}
    for column in frame.columns:
        for rank, item in enumerate(column.items, start=1):
            standings[item.node] = f" ({_standing(item, rank)})"

    every = len(replay.frames) == 1 or len(frame.states) <= _FEW
    nodes = replay.by_id
    labels = []
    for state in frame.states:
        node = nodes[state.node]
        text = node.label
        if node.gold:
            text += standings.get(node.id, "")
        weight = _weight(state, node, frame)
        if weight or every:
            labels.append((weight, node, text))
    labels.sort(key=lambda label: -label[0])
    return [(node, text) for _, node, text in labels]


def _weight(state: NodeState, node: Node, frame: Frame) -> int:
    """How much a node matters: as a support, at an edge that stands out, by its role."""
    weight = 4 if node.gold else 0
    if any(edge.emphasised and node.id in edge.ends for edge in frame.edges):
        weight += 2
    if ROLES[state.role].halo or state.role in _NAMED:
        weight += 1
    return weight


def _place_labels(
    ax: Axes, labels: Sequence[tuple[Node, str]], nodes: Sequence[Node], distance: float
) -> None:
    """Write each label so many points from its node.

    It covers no node with a label and no earlier label, and at best no node at all. Where there is
    no room, it is left out.
    """
    reach = distance * ax.figure.dpi / 72 * 0.7
    panel = ax.get_window_extent()
    points = ax.transData.transform([node.position for node in nodes])
    around = [Bbox.from_bounds(x - reach, y - reach, 2 * reach, 2 * reach) for x, y in points]
    labelled = dict(labels)
    taken = [box for node, box in zip(nodes, around) if node in labelled]
    for node, text in labels:
        label = ax.annotate(
            text,
            node.position,
            (0, 0),
            textcoords="offset points",
            fontsize=8,
            fontfamily=families(text),
            zorder=5,
            bbox={"facecolor": "white", "alpha": 0.75, "edgecolor": "none", "pad": 0.6},
            in_layout=False,
        )
        for avoided, (right, up, ha, va) in product((taken + around, taken), _SIDES):
            label.set(position=(right * distance, up * distance), ha=ha, va=va)
            box = label.get_window_extent()
            if panel.count_contains(box.corners()) == 4 and not box.count_overlaps(avoided):
                taken.append(box)
                break
        else:
            label.remove()


def _draw_edge(ax: Axes, edge: Edge, nodes: Mapping[str, Node], width: float, size: float) -> None:
    """A stroke for each kind, side by side.

    A directed edge has an arrow head at its target, which is ``size`` points wide.
    """
    arrow = {"arrowstyle": "-", "shrinkB": 0}
    if edge.directed:
        arrow = {"arrowstyle": "-|>", "shrinkB": size / 2 + 1}
    alpha = 1 if edge.emphasised else 0.5
    for rank, kind in enumerate(edge.kinds):
        ax.annotate(
            "",
            nodes[edge.target].position,
            nodes[edge.source].position,
            arrowprops={
                "alpha": alpha,
                "linewidth": width,
                "mutation_scale": 13,
                "shrinkA": 0,
                "connectionstyle": f"arc3,rad={0.08 * rank}",
                **arrow,
                **look(kind).line,
            },
            zorder=1,
        )


# ---- rankings


def _standing(item: RankItem, rank: int) -> str:
    """A rank, and how it changed."""
    standing = f"{item.rank or rank}"
    if item.moved > 0:
        standing += f" ▲{item.moved}"
    if item.moved < 0:
        standing += f" ▼{-item.moved}"
    return standing


def _draw_rankings(ax: Axes, replay: Replay, columns: Sequence[Column], letters: int) -> None:
    """Rankings side by side: gold items starred and heavy, lines between those of one passage."""
    nodes = replay.by_id
    deepest = max(len(column.items) for column in columns)
    ax.set(xlim=(0, len(columns)), ylim=(deepest + 0.2, -1))
    letters = max(8, letters // len(columns) - 8)
    heights_before = {}
    for x, column in enumerate(columns):
        heights = {}
        _write(ax, x, -0.6, column.name, "bold")
        for position, item in enumerate(column.items):
            node = nodes[item.node]
            height = position + 0.2
            heights[node.id] = height
            rank, _, moved = _standing(item, position + 1).partition(" ")
            text = f"{clip(node.title, letters)} {moved}".rstrip()
            if node.gold:
                _write(ax, x, height, f"{rank}  ★ {text}", "bold", INK)
            else:
                _write(ax, x, height, f"{rank}  {text}", "normal", GREY)
            if node.id in heights_before:
                ends = [heights_before[node.id], height]
                colour, width = _GOLD_TIE if node.gold else _TIE
                ax.plot([x - 0.16, x - 0.03], ends, color=colour, linewidth=width)
        heights_before = heights


def _write(ax: Axes, x: float, y: float, text: str, weight: str, colour: str | None = None) -> None:
    ax.text(
        x,
        y,
        text,
        fontsize=SMALL,
        parse_math=False,
        va="center",
        weight=weight,
        color=colour,
    )


# ---- signs


def _symbol(role: str, gold: bool, size: float, shade: Any = None) -> Line2D:
    """A node's sign, its position still open."""
    symbol = Line2D(
        [],
        [],
        marker=_MARKER[ROLES[role].shape],
        markersize=size,
        linestyle="none",
        markeredgecolor=INK,
        markeredgewidth=0.9,
        markerfacecolor=shade or ROLES[role].fill,
    )
    if gold:
        symbol.set(
            marker=_MARKER["star"],
            markeredgecolor=GOLD_RIM,
            markeredgewidth=1.8,
        )
    return symbol


def _ring(size: float) -> Line2D:
    """What stands around a sender and a path, its position still open."""
    return Line2D(
        [],
        [],
        marker="o",
        markersize=size,
        markerfacecolor="none",
        markeredgecolor=HALO,
        markeredgewidth=2.2,
        linestyle="none",
        clip_on=False,
    )


def _legend(replay: Replay) -> list[Line2D]:
    signs = {}
    shade = None
    scale = replay.scale
    if scale:
        shade = _SHADE(0.5)
        for value in (1.0, 0.5, 0.0):
            measured = scale.farthest + value * (scale.nearest - scale.farthest)
            symbol = _symbol("plain", False, 4 + 8 * value, _SHADE(value))
            signs[f"{scale.name} {measured:.3g}"] = symbol

    for name, role in replay.roles.items():
        if role.halo:
            signs[role.label] = _ring(9)
        else:
            fill = None if role.dashed else shade
            signs[role.label] = _symbol(name, False, 8, fill)
    if any(node.gold for node in replay.nodes):
        signs[GOLD] = _symbol("missed", True, 14)
    if scale and any(map(_moves, replay.frames)):
        signs["(7 ▲16): its place, 16 up"] = Line2D([], [], linestyle="none")
    for kind in replay.kinds:
        signs[f"{kind} edge"] = Line2D([], [], **look(kind).line)

    for label, sign in signs.items():
        sign.set_label(label)
    return list(signs.values())


def _moves(frame: Frame) -> bool:
    return any(item.moved for item in frame.items)
