"""A story in print: the scenes of a widget side by side, with the same shapes, colours and places."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from math import ceil

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.path import Path

from kit.errors import InputError
from kit.views.labels import place_labels
from kit.views.story import GOLD, GOLD_RIM, ROLES, Column, Edge, Mark, Scene, Story, clip
from kit.views.style import GREY, INK, SIZE, SMALL, Figure, look, panels, styled

_MARKER = {"circle": "o", "square": "s"}
_STAR = Path.unit_regular_star(5, 0.45)
_MOST = 6  # panels on a slide


@styled
def storyboard(story: Story, title: str, steps: Sequence[int] | None = None) -> Figure:
    """Scenes of a story as panels of one figure: those of ``steps``, or up to six from the first to the last."""
    count = len(story.scenes)
    chosen = (
        list(steps)
        if steps is not None
        else np.unique(np.linspace(0, count - 1, min(count, _MOST)).round().astype(int)).tolist()
    )
    if not chosen or not all(0 <= step < count for step in chosen):
        raise InputError(f"expected steps from 0 to {count - 1}, not {chosen}", field="steps")
    columns = min(len(chosen), 3)
    rows = ceil(len(chosen) / columns)
    figure = Figure(title, (SIZE[0], SIZE[1] if rows == 1 else 3.4 * rows + 0.6))
    axes = [ax for row in panels(figure, rows, columns) for ax in row]
    letters = 108 // columns
    for ax, step in zip(axes, chosen):
        scene = story.scenes[step]
        words = [scene.step] * bool(scene.step) + textwrap.wrap(scene.caption, letters, max_lines=3, placeholder=" …")
        ax.set_title("\n".join(words), fontsize=SMALL + 0.5, parse_math=False)
    for ax in axes:
        ax.set_axis_off()
    asked = textwrap.fill(story.question, 108)
    figure.legend(
        handles=_legend(story, chosen), title=asked, alignment="left", loc="outside lower left", ncols=4, fontsize=SMALL
    )
    figure.draw_without_rendering()
    for ax, step in zip(axes, chosen):
        draw_scene(ax, story, story.scenes[step])
    return figure


def draw_scene(ax: Axes, story: Story, scene: Scene) -> None:
    """The graph of a scene, or its rankings where it has no graph."""
    ax.set_axis_off()
    if scene.marks:
        draw_graph(ax, story, scene.marks, scene.edges)
    elif scene.columns:
        draw_rankings(ax, story, scene.columns)


def draw_graph(ax: Axes, story: Story, marks: Sequence[Mark], edges: Sequence[Edge] = ()) -> None:
    """Nodes and edges on axes of their own, at their places in the story, with the titles that there is room for."""
    nodes = story.by_id
    ax.set(xlim=(-0.06, 1.06), ylim=(1.08, -0.08))
    for edge in edges:
        draw_edge(ax, story, edge)
    for mark in marks:
        node = nodes[mark.node]
        size = 7 if mark.value is None else 4 + 8 * min(max(mark.value, 0), 1)
        ax.plot(node.x, node.y, zorder=3, **_symbol(mark.role, node.gold, size))
    titled = [mark for mark in marks if mark.role == "seed" or nodes[mark.node].gold]
    if not any(mark.role == "seed" for mark in marks):  # then no node matters more than another, but for the gold
        titled += [mark for mark in marks if mark not in titled]
    titled.sort(key=lambda mark: not nodes[mark.node].gold)
    labels = [
        (nodes[mark.node].x, nodes[mark.node].y, nodes[mark.node].label, INK)
        for mark in titled
        if nodes[mark.node].title
    ]
    others = [(nodes[mark.node].x, nodes[mark.node].y) for mark in marks]
    place_labels(ax, labels, obstacles=others, size=8)


def draw_edge(ax: Axes, story: Story, edge: Edge) -> None:
    """A stroke for each kind, side by side, and an arrow head at the target of a directed edge."""
    nodes = story.by_id
    (x1, y1), (x2, y2) = ((nodes[id].x, nodes[id].y) for id in (edge.source, edge.target))
    width, alpha = (2.2, 1) if edge.emphasised else (0.9, 0.5)
    for number, kind in enumerate(edge.kinds):
        shift = 0.008 * (number - (len(edge.kinds) - 1) / 2)
        style = look(kind).line | {"marker": None, "linewidth": width, "alpha": alpha, "zorder": 1}
        ax.add_line(Line2D([x1 + shift, x2 + shift], [y1 + shift, y2 + shift], **style))
    if edge.directed:
        head = {"arrowstyle": "-|>", "color": INK, "linewidth": 0, "shrinkB": 6}
        ax.annotate("", (x2, y2), (x1, y1), arrowprops=head, zorder=2)


def draw_rankings(ax: Axes, story: Story, columns: Sequence[Column]) -> None:
    """Rankings side by side: gold entries starred and heavy, lines between the places of the same passage."""
    nodes = story.by_id
    longest = max(len(column.entries) for column in columns)
    ax.set(xlim=(0, len(columns)), ylim=(longest + 0.2, -1))
    width = ax.get_window_extent().width / ax.figure.dpi * 72 / len(columns)  # points
    letters = max(8, int(width * 0.8 / (SMALL * 0.62)) - 5)
    for number, column in enumerate(columns):
        ax.text(number, -0.6, column.name, weight="bold", fontsize=SMALL + 1, parse_math=False, va="center")
        for place, entry in enumerate(column.entries):
            node = nodes[entry.node]
            moved = f" {'▲' if entry.moved > 0 else '▼'}{abs(entry.moved)}" if entry.moved else ""
            text = f"{place + 1}  {'★ ' if node.gold else ''}{clip(node.title, letters)}{moved}"
            weight, colour = ("bold", INK) if node.gold else ("normal", GREY)
            ax.text(
                number, place + 0.2, text, fontsize=SMALL, weight=weight, color=colour, parse_math=False, va="center"
            )
        if number:
            _ties(ax, story, columns[number - 1], column, number)


def _ties(ax: Axes, story: Story, left: Column, right: Column, number: int) -> None:
    places = {entry.node: place for place, entry in enumerate(right.entries)}
    nodes = story.by_id
    for place, entry in enumerate(left.entries):
        if entry.node in places:
            gold = nodes[entry.node].gold
            line = {"color": GOLD_RIM, "linewidth": 2.5} if gold else {"color": "#bbbbbb", "linewidth": 0.8}
            ax.plot([number - 0.16, number - 0.03], [place + 0.2, places[entry.node] + 0.2], **line)


def _symbol(role: str, gold: bool, size: float) -> dict[str, object]:
    marker = _STAR if gold else _MARKER[ROLES[role].shape]
    rim = GOLD_RIM if gold else INK
    return {
        "marker": marker,
        "markersize": size * (2 if gold else 1),
        "markerfacecolor": ROLES[role].fill,
        "markeredgecolor": rim,
        "markeredgewidth": 1.8 if gold else 0.9,
        "linestyle": "none",
    }


def _legend(story: Story, steps: Sequence[int]) -> list[Line2D]:
    scenes = [story.scenes[step] for step in steps]
    roles = {mark.role for scene in scenes for mark in scene.marks}
    kinds = sorted({kind for scene in scenes for edge in scene.edges for kind in edge.kinds})
    handles = [
        Line2D([], [], label=role.label, **_symbol(name, False, 8)) for name, role in ROLES.items() if name in roles
    ]
    if any(node.gold for node in story.nodes):
        handles.append(Line2D([], [], label=GOLD, **_symbol("missed", True, 7)))
    return handles + [Line2D([], [], label=f"{kind} edge", **look(kind).line | {"marker": None}) for kind in kinds]
