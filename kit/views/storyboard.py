"""A replay in print: its frames side by side, with the same shapes, colours and places as on the canvas."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from math import ceil
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.lines import Line2D
from matplotlib.path import Path

from kit.errors import InputError
from kit.views.labels import place_labels
from kit.views.replay import (
    GOLD,
    GOLD_RIM,
    HALO,
    ROLES,
    SHADES,
    Column,
    Edge,
    Frame,
    NodeState,
    RankItem,
    Replay,
    clip,
)
from kit.views.style import GREY, INK, SIZE, SMALL, Figure, look, style

_MARKER = {"circle": "o", "square": "s", "diamond": "D"}
_SHADES = LinearSegmentedColormap.from_list("far to near", SHADES)
_STAR = Path.unit_regular_star(5, 0.45)
_MOST = 6  # panels on a slide
_FEW = 12  # nodes of a replay that are all named where there is room


@style()
def storyboard(replay: Replay, title: str, steps: Sequence[int] | None = None, across: int = 3) -> Figure:
    """Frames as panels of one figure: those of ``steps``, or up to six from the first to the last.

    ``across``: at most so many in a row.
    """
    count = len(replay.frames)
    evenly = np.linspace(0, count - 1, min(count, _MOST)).round().astype(int)
    chosen = evenly.tolist() if steps is None else list(steps)
    if not chosen or not all(0 <= step < count for step in chosen):
        raise InputError(f"expected steps from 0 to {count - 1}, not {chosen}", field="steps")
    columns = min(len(chosen), across)
    rows = ceil(len(chosen) / columns)
    figure = Figure(title, (SIZE[0], SIZE[1] if rows == 1 else 3.4 * rows + 0.6))
    axes = figure.subplots(rows, columns, squeeze=False).ravel().tolist()
    frames = [replay.frames[step] for step in chosen]
    for ax in axes:
        ax.set_axis_off()
    for ax, frame in zip(axes, frames):
        words = [frame.step] * bool(frame.step)
        for text, most in ((frame.asked, 2), (frame.caption, 5 if replay.scale else 3)):
            words += textwrap.wrap(text, 108 // columns, max_lines=most, placeholder=" …")
        ax.set_title("\n".join(words), fontsize=SMALL + 0.5, parse_math=False)
    figure.legend(
        handles=_legend(replay, frames),
        title=textwrap.fill(replay.question, 108),
        alignment="left",
        loc="outside lower left",
        ncols=4,
        fontsize=SMALL,
    )
    figure.draw_without_rendering()
    for ax, frame in zip(axes, frames):
        if frame.states:
            _draw_graph(ax, replay, frame)
        elif frame.columns:
            _draw_rankings(ax, replay, frame.columns)
    return figure


def _draw_graph(ax: Axes, replay: Replay, frame: Frame) -> None:
    """Nodes and edges at their places, with the titles that there is room for."""
    nodes, sizes = replay.by_id, {}
    for state in frame.states:
        size = 7 if state.value is None else 4 + 8 * min(max(state.value, 0), 1)
        sizes[state.node] = size * (2 if nodes[state.node].gold else 1)
    ax.set(xlim=(-0.06, 1.06), ylim=(1.08, -0.08))
    for edge in replay.edges:
        if edge.source in sizes and edge.target in sizes:
            _draw_edge(ax, replay, edge, 0.6, 0.4)
    covered = []
    for edge in frame.edges:
        _draw_edge(ax, replay, edge, *((2.2, 1) if edge.emphasised else (0.9, 0.5)), sizes[edge.target])
        start, end = nodes[edge.source], nodes[edge.target]
        if edge.directed:
            covered.append((0.15 * start.x + 0.85 * end.x, 0.15 * start.y + 0.85 * end.y))  # the arrow's head
    for state in frame.states:
        node, size = nodes[state.node], sizes[state.node]
        if ROLES[state.role].halo:
            ax.plot(node.x, node.y, zorder=3, clip_on=False, **_halo(size))
        fill = _SHADES(float(state.value)) if replay.scale and state.value is not None else None
        ax.plot(node.x, node.y, zorder=3, **_symbol(state.role, node.gold, size, fill))
        covered.append((node.x, node.y))
    ranked = {item.node: _standing(item, i) for column in frame.columns for i, item in enumerate(column.items)}
    labels = []
    for state in _titled(replay, frame):
        node = nodes[state.node]
        place = f" ({ranked[node.id]})" if node.gold and node.id in ranked and not state.tag else ""
        title = clip(node.title, 14) if state.tag and state.role != "rest" else node.label
        labels.append((node.x, node.y, f"{title}{place} {state.tag}".strip(), INK))
    place_labels(ax, labels, obstacles=covered, distance=9 if replay.scale else 6, size=8)


def _titled(replay: Replay, frame: Frame) -> list[NodeState]:
    """The nodes to name where there is room, gold first; all of them where none matters more or there are few."""
    gold = {node.id for node in replay.nodes if node.gold}
    told = {end for edge in frame.edges if replay.scale and edge.emphasised for end in edge.ends}
    matter = [s for s in frame.states if s.role in ("seed", "sender", "rest", "listening") or s.node in gold | told]
    if not any(state.role == "seed" for state in frame.states) and (not replay.scale or len(frame.states) <= _FEW):
        matter += [state for state in frame.states if state not in matter]
    return sorted(matter, key=lambda state: (state.node not in gold, state.node not in told))


def _draw_edge(ax: Axes, replay: Replay, edge: Edge, width: float, alpha: float, size: float = 6) -> None:
    """A stroke for each kind, side by side; an arrow head at the target of a directed edge, ``size`` points wide."""
    start, end = (replay.by_id[id] for id in edge.ends)
    for number, kind in enumerate(edge.kinds):
        shift = 0.008 * (number - (len(edge.kinds) - 1) / 2)
        style = look(kind).line | {"marker": None, "linewidth": width, "alpha": alpha, "zorder": 1}
        ax.add_line(Line2D([start.x + shift, end.x + shift], [start.y + shift, end.y + shift], **style))
    if edge.directed:
        colour = look(edge.kinds[0]).colour if edge.kinds else INK
        head = {"arrowstyle": "-|>", "color": colour, "linewidth": 0, "shrinkB": size / 2 + 1, "mutation_scale": 13}
        ax.annotate("", (end.x, end.y), (start.x, start.y), arrowprops=head, zorder=2)


def _standing(item: RankItem, number: int) -> str:
    """A place in a ranking and how it changed."""
    moved = f" {'▲' if item.moved > 0 else '▼'}{abs(item.moved)}" if item.moved else ""
    return f"{item.place or number + 1}{moved}"


def _draw_rankings(ax: Axes, replay: Replay, columns: Sequence[Column]) -> None:
    """Rankings side by side: gold items starred and heavy, lines between the places of the same passage."""
    nodes = replay.by_id
    ax.set(xlim=(0, len(columns)), ylim=(max(len(column.items) for column in columns) + 0.2, -1))
    width = ax.get_window_extent().width / ax.figure.dpi * 72 / len(columns)  # points
    letters = max(8, int(width * 0.8 / (SMALL * 0.62)) - 5)
    left: dict[str, int] = {}
    for number, column in enumerate(columns):
        ax.text(number, -0.6, column.name, weight="bold", fontsize=SMALL + 1, parse_math=False, va="center")
        for place, item in enumerate(column.items):
            node = nodes[item.node]
            rank, _, moved = _standing(item, place).partition(" ")
            text = f"{rank}  {'★ ' if node.gold else ''}{clip(node.title, letters)} {moved}".rstrip()
            style = {"weight": "bold", "color": INK} if node.gold else {"color": GREY}
            ax.text(number, place + 0.2, text, fontsize=SMALL, parse_math=False, va="center", **style)
            if node.id in left:
                tie = {"color": GOLD_RIM, "linewidth": 2.5} if node.gold else {"color": "#bbbbbb", "linewidth": 0.8}
                ax.plot([number - 0.16, number - 0.03], [left[node.id] + 0.2, place + 0.2], **tie)
        left = {item.node: place for place, item in enumerate(column.items)}


def _halo(size: float) -> dict[str, Any]:
    face = {"markerfacecolor": "none", "markeredgecolor": HALO, "markeredgewidth": 2.2}
    return {"marker": "o", "markersize": size + 7, "linestyle": "none", **face}


def _symbol(role: str, gold: bool, size: float, fill: object = None) -> dict[str, Any]:
    return {
        "marker": _STAR if gold else _MARKER[ROLES[role].shape],
        "markersize": size,
        "markerfacecolor": ROLES[role].fill if fill is None else fill,
        "markeredgecolor": GOLD_RIM if gold else INK,
        "markeredgewidth": 1.8 if gold else 0.9,
        "linestyle": "none",
    }


def _legend(replay: Replay, frames: Sequence[Frame]) -> list[Line2D]:
    roles = {state.role for frame in frames for state in frame.states}
    edges = [*replay.edges, *(edge for frame in frames for edge in frame.edges)]
    handles = []
    if scale := replay.scale:
        for value, where in ((1.0, f" ({scale.ends[1]})"), (0.5, ""), (0.0, f" ({scale.ends[0]})")):
            label = f"{scale.name} {scale.far + value * (scale.near - scale.far):.3g}{where}"
            handles.append(Line2D([], [], label=label, **_symbol("plain", False, 4 + 8 * value, _SHADES(value))))
    for name, role in ROLES.items():
        if name in roles:
            shade = _SHADES(0.5) if scale and not role.dashed else None
            look_of = _halo(2) if role.halo else _symbol(name, False, 8, shade)
            handles.append(Line2D([], [], label=role.label, **look_of))
    if any(node.gold for node in replay.nodes):
        handles.append(Line2D([], [], label=GOLD, **_symbol("missed", True, 14)))
        if any(item.moved for frame in frames if frame.states for column in frame.columns for item in column.items):
            handles.append(Line2D([], [], linestyle="none", label="(7 ▲16): its place, 16 up"))
    kinds = sorted({kind for edge in edges for kind in edge.kinds})
    return handles + [Line2D([], [], label=f"{kind} edge", **look(kind).line | {"marker": None}) for kind in kinds]
