"""A replay in print: its frames side by side, with the same shapes, colours and places as on the canvas."""

import textwrap
from collections.abc import Sequence
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
    RankItem,
    Replay,
    clip,
)
from kit.views.style import GREY, INK, SIZE, SMALL, Figure, look, style

_MARKER = {"circle": "o", "square": "s", "diamond": "D", "star": Path.unit_regular_star(5, 0.45)}
_RING = {
    "marker": "o",
    "markerfacecolor": "none",
    "markeredgecolor": HALO,
    "markeredgewidth": 2.2,
    "linestyle": "none",
}
_SHADES = LinearSegmentedColormap.from_list("far to near", SHADES)
#: Where a label may stand, best first: how far to the right of its node and above it, and what of it stands there.
_SIDES = (
    (0, 1, "center", "bottom"),
    (0, -1, "center", "top"),
    (1, 0, "left", "center"),
    (-1, 0, "right", "center"),
)
_MOST = 6  # panels on a slide
_FEW = 12  # nodes of a picture that are all named where there is room
_LINE = 108  # letters across the page


@style()
def storyboard(replay: Replay, title: str, steps: Sequence[int] | None = None) -> Figure:
    """Frames as panels of one figure, three in a row: those of ``steps``, or up to six from first to last."""
    if steps is None:
        steps = (
            np.linspace(0, len(replay.frames) - 1, min(len(replay.frames), _MOST))
            .round()
            .astype(int)
        )
    replay = replace(replay, frames=tuple(replay.frames[step] for step in steps))
    columns = min(len(replay.frames), 3)
    rows = ceil(len(replay.frames) / columns)
    figure = Figure(title, (SIZE[0], SIZE[1] if rows == 1 else 3.4 * rows + 0.6))
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    for ax in axes:
        ax.set_axis_off()
    for ax, frame in zip(axes, replay.frames):
        words = [frame.step] * bool(frame.step)
        for text, most in ((frame.asked, 2), (frame.caption, 5 if replay.scale else 3)):
            words += textwrap.wrap(text, _LINE // columns, max_lines=most, placeholder=" …")
        ax.set_title("\n".join(words), fontsize=SMALL + 0.5, parse_math=False)
    told = {
        "title": textwrap.fill(replay.question, _LINE),
        "alignment": "left",
        "loc": "outside lower left",
    }
    figure.legend(handles=_legend(replay), ncols=4, fontsize=SMALL, **told)
    figure.draw_without_rendering()  # so that titles and legend have their room
    for ax, frame in zip(axes, replay.frames):
        if frame.states:
            _draw_graph(ax, replay, frame)
        else:
            _draw_rankings(ax, replay, frame.columns, _LINE // columns)
    return figure


def _draw_graph(ax: Axes, replay: Replay, frame: Frame) -> None:
    """Nodes and edges at their places, with the titles that there is room for: first those that matter."""
    nodes, sizes, labels = replay.by_id, {}, []
    for state in frame.states:
        sizes[state.node] = (7 if state.value is None else 4 + 8 * state.value) * (
            1 + nodes[state.node].gold
        )
    ax.set(xlim=(-0.06, 1.06), ylim=(1.08, -0.08))
    for edge in (*replay.edges, *frame.edges):
        if sizes.keys() >= {*edge.ends}:
            width = 0.6 if edge in replay.edges else 2.2 if edge.emphasised else 0.9
            _draw_edge(ax, edge, *(nodes[id] for id in edge.ends), width, sizes[edge.target])
    strong = {end for edge in frame.edges if edge.emphasised for end in edge.ends}
    ranked = {
        item.node: _standing(item, i)
        for column in frame.columns
        for i, item in enumerate(column.items, start=1)
    }
    for state in frame.states:
        node, role, size = nodes[state.node], ROLES[state.role], sizes[state.node]
        if role.halo:
            ax.plot(node.x, node.y, **_RING, markersize=size + 7, clip_on=False)
        shade = None if replay.scale is None or state.value is None else _SHADES(float(state.value))
        ax.plot(node.x, node.y, **_symbol(state.role, node.gold, size, shade))
        place = f" ({ranked[node.id]})" if node.gold and node.id in ranked else ""
        matters = (
            4 * node.gold + 2 * (node.id in strong) + (role.halo or state.role in ("seed", "named"))
        )
        if matters or len(replay.frames) == 1 or len(sizes) <= _FEW:
            labels.append((-matters, node, f"{node.label}{place}"))
    labels = [label for _, *label in sorted(labels, key=lambda label: label[0])]
    _place_labels(ax, labels, [nodes[id] for id in sizes], 9 if replay.scale else 6)


def _place_labels(
    ax: Axes, labels: Sequence[tuple[Node, str]], nodes: Sequence[Node], distance: float
) -> None:
    """Write each label so many points from its node, where it covers no node with a label and no earlier label.

    At best it covers no node at all; where there is no room, it is left out.
    """
    reach, frame = distance * ax.figure.dpi / 72 * 0.7, ax.get_window_extent()
    points = ax.transData.transform([(node.x, node.y) for node in nodes])
    around = [Bbox.from_bounds(x - reach, y - reach, 2 * reach, 2 * reach) for x, y in points]
    taken = [box for node, box in zip(nodes, around) if node in dict(labels)]
    paper = {"facecolor": "white", "alpha": 0.75, "edgecolor": "none", "pad": 0.6}
    drawn = {
        "textcoords": "offset points",
        "fontsize": 8,
        "zorder": 5,
        "bbox": paper,
        "in_layout": False,
    }
    for node, text in labels:
        mark = ax.annotate(text, (node.x, node.y), (0, 0), **drawn)
        for avoided, (right, up, ha, va) in product((taken + around, taken), _SIDES):
            mark.set(position=(right * distance, up * distance), ha=ha, va=va)
            box = mark.get_window_extent()
            if frame.count_contains(box.corners()) == 4 and not box.count_overlaps(avoided):
                taken.append(box)
                break
        else:
            mark.remove()


def _draw_edge(ax: Axes, edge: Edge, start: Node, end: Node, width: float, size: float) -> None:
    """A stroke for each kind, side by side; an arrow head at the target of a directed edge, ``size`` points wide."""
    manner = {
        "alpha": 1 if edge.emphasised else 0.5,
        "linewidth": width,
        "mutation_scale": 13,
        "shrinkA": 0,
    }
    manner |= (
        {"arrowstyle": "-|>", "shrinkB": size / 2 + 1}
        if edge.directed
        else {"arrowstyle": "-", "shrinkB": 0}
    )
    for number, kind in enumerate(edge.kinds):
        bow = {"connectionstyle": f"arc3,rad={0.08 * number}"}
        ax.annotate(
            "",
            (end.x, end.y),
            (start.x, start.y),
            arrowprops=manner | look(kind).line | bow,
            zorder=1,
        )


def _standing(item: RankItem, number: int) -> str:
    """A place in a ranking and how it changed."""
    moved = f" {'▲' if item.moved > 0 else '▼'}{abs(item.moved)}" if item.moved else ""
    return f"{item.place or number}{moved}"


def _draw_rankings(ax: Axes, replay: Replay, columns: Sequence[Column], letters: int) -> None:
    """Rankings side by side: gold items starred and heavy, lines between the places of the same passage."""
    nodes, left = replay.by_id, {}
    ax.set(xlim=(0, len(columns)), ylim=(max(len(column.items) for column in columns) + 0.2, -1))
    text = {"fontsize": SMALL, "parse_math": False, "va": "center"}
    for number, column in enumerate(columns):
        ax.text(number, -0.6, column.name, weight="bold", **text)
        for place, item in enumerate(column.items):
            node = nodes[item.node]
            rank, _, moved = _standing(item, place + 1).partition(" ")
            title = f"{'★ ' * node.gold}{clip(node.title, max(8, letters // len(columns) - 8))}"
            ink = {"weight": "bold", "color": INK} if node.gold else {"color": GREY}
            ax.text(number, place + 0.2, f"{rank}  {title} {moved}".rstrip(), **text, **ink)
            if node.id in left:
                tie = (
                    {"color": GOLD_RIM, "linewidth": 2.5}
                    if node.gold
                    else {"color": "#bbbbbb", "linewidth": 0.8}
                )
                ax.plot([number - 0.16, number - 0.03], [left[node.id] + 0.2, place + 0.2], **tie)
        left = {item.node: place for place, item in enumerate(column.items)}


def _symbol(role: str, gold: bool, size: float, fill: object = None) -> dict[str, Any]:
    look = {
        "marker": _MARKER["star" if gold else ROLES[role].shape],
        "markersize": size,
        "linestyle": "none",
    }
    rim = {"markeredgecolor": GOLD_RIM if gold else INK, "markeredgewidth": 1.8 if gold else 0.9}
    return look | rim | {"markerfacecolor": fill or ROLES[role].fill}


def _legend(replay: Replay) -> list[Line2D]:
    signs: dict[str, dict[str, Any]] = {}
    if scale := replay.scale:
        for value in (1.0, 0.5, 0.0):
            number = scale.far + value * (scale.near - scale.far)
            signs[f"{scale.name} {number:.3g}"] = _symbol(
                "plain", False, 4 + 8 * value, _SHADES(value)
            )
    for name, role in replay.roles.items():
        shade = _SHADES(0.5) if scale and not role.dashed else None
        signs[role.label] = (
            _RING | {"markersize": 9} if role.halo else _symbol(name, False, 8, shade)
        )
    if any(node.gold for node in replay.nodes):
        signs[GOLD] = _symbol("missed", True, 14)
    if scale and any(
        item.moved for frame in replay.frames for column in frame.columns for item in column.items
    ):
        signs["(7 ▲16): its place, 16 up"] = {"linestyle": "none"}
    signs |= {f"{kind} edge": look(kind).line for kind in replay.kinds}
    return [Line2D([], [], label=label, **sign) for label, sign in signs.items()]
