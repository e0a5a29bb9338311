"""A story in print: the scenes of a widget side by side, with the same shapes, colours and places."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from math import ceil

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.lines import Line2D
from matplotlib.path import Path

from kit.errors import InputError
from kit.views.labels import place_labels
from kit.views.story import GOLD, GOLD_RIM, HALO, ROLES, SHADES, Column, Edge, Entry, Mark, Scene, Story, clip
from kit.views.style import GREY, INK, SIZE, SMALL, Figure, look, panels, styled

_MARKER = {"circle": "o", "square": "s", "diamond": "D"}
_SHADES = LinearSegmentedColormap.from_list("far to near", SHADES)
_STAR = Path.unit_regular_star(5, 0.45)
_MOST = 6  # panels on a slide
_SHORT = 14  # letters of a title before a number
_FEW = 12  # nodes of a replay that are all named where there is room


@styled
def storyboard(story: Story, title: str, steps: Sequence[int] | None = None, across: int = 3) -> Figure:
    """Scenes of a story as panels of one figure: those of ``steps``, or up to six from the first to the last.

    ``across``: at most so many in a row.
    """
    count = len(story.scenes)
    chosen = (
        list(steps)
        if steps is not None
        else np.unique(np.linspace(0, count - 1, min(count, _MOST)).round().astype(int)).tolist()
    )
    if not chosen or not all(0 <= step < count for step in chosen):
        raise InputError(f"expected steps from 0 to {count - 1}, not {chosen}", field="steps")
    columns = min(len(chosen), across)
    rows = ceil(len(chosen) / columns)
    figure = Figure(title, (SIZE[0], SIZE[1] if rows == 1 else 3.4 * rows + 0.6))
    axes = [ax for row in panels(figure, rows, columns) for ax in row]
    letters = 108 // columns
    for ax, step in zip(axes, chosen):
        scene = story.scenes[step]
        words = [scene.step] * bool(scene.step)
        for text, most in ((scene.asked, 2), (scene.caption, 5 if story.scale else 3)):
            words += textwrap.wrap(text, letters, max_lines=most, placeholder=" …")
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
        places = {entry.node: _standing(entry, i) for column in scene.columns for i, entry in enumerate(column.entries)}
        draw_graph(ax, story, scene.marks, scene.edges, places)
    elif scene.columns:
        draw_rankings(ax, story, scene.columns)


def draw_graph(
    ax: Axes, story: Story, marks: Sequence[Mark], edges: Sequence[Edge] = (), places: Mapping[str, str] | None = None
) -> None:
    """Nodes and edges on axes of their own, at their places in the story, with the titles that there is room for.

    ``places`` are the places in a ranking to write beside the titles of supports.
    """
    nodes, sizes = story.by_id, {mark.node: _size(story, mark) for mark in marks}
    ax.set(xlim=(-0.06, 1.06), ylim=(1.08, -0.08))
    for edge in story.edges:
        if edge.source in sizes and edge.target in sizes:
            draw_edge(ax, story, edge, faint=True)
    for edge in edges:
        draw_edge(ax, story, edge, sizes.get(edge.target, 6))
    for mark in marks:
        node = nodes[mark.node]
        if ROLES[mark.role].halo:
            ax.plot(node.x, node.y, zorder=3, clip_on=False, **_halo(sizes[mark.node]))
        fill = _SHADES(float(mark.value)) if story.scale and mark.value is not None else None
        size = sizes[mark.node] / (2 if node.gold else 1)
        ax.plot(node.x, node.y, zorder=3, **_symbol(mark.role, node.gold, size, fill))
    titled = _titled(story, marks, edges)
    labels, tags = [], []
    for mark in titled:
        node = nodes[mark.node]
        place = f" ({places[mark.node]})" if node.gold and places and mark.node in places and not mark.tag else ""
        title = clip(node.title, _SHORT) if mark.tag and mark.role != "rest" else node.label
        if label := f"{title}{place} {mark.tag}".strip():
            labels.append((node.x, node.y, label, INK))
            tags.append(mark.tag)
    others = [mark for mark in marks if mark.tag and mark not in titled]
    labels += [(nodes[mark.node].x, nodes[mark.node].y, mark.tag, INK) for mark in others]
    covered = [(nodes[mark.node].x, nodes[mark.node].y) for mark in marks]
    for start, end in ((nodes[edge.source], nodes[edge.target]) for edge in edges if edge.directed):
        covered.append((0.15 * start.x + 0.85 * end.x, 0.15 * start.y + 0.85 * end.y))  # the arrow's head
    place_labels(ax, labels, instead=tags, obstacles=covered, distance=9 if story.scale else 6, size=8)


def _titled(story: Story, marks: Sequence[Mark], edges: Sequence[Edge]) -> list[Mark]:
    """The nodes to name where there is room, gold first; all of them where none matters more or there are few."""
    gold = {node.id for node in story.nodes if node.gold}
    told = {end for edge in edges if story.scale and edge.emphasised for end in (edge.source, edge.target)}
    matter = [mark for mark in marks if mark.role in ("seed", "sender", "rest") or mark.node in gold | told]
    if not any(mark.role == "seed" for mark in marks) and (not story.scale or len(marks) <= _FEW):
        matter += [mark for mark in marks if mark not in matter]
    return sorted(matter, key=lambda mark: (mark.node not in gold, mark.node not in told))


def _size(story: Story, mark: Mark) -> float:
    """The width of a node's symbol in points."""
    size = 7 if mark.value is None else 4 + 8 * min(max(mark.value, 0), 1)
    return size * (2 if story.by_id[mark.node].gold else 1)


def _standing(entry: Entry, number: int) -> str:
    """A place in a ranking and how it changed."""
    moved = f" {'▲' if entry.moved > 0 else '▼'}{abs(entry.moved)}" if entry.moved else ""
    return f"{entry.place or number + 1}{moved}"


def draw_edge(ax: Axes, story: Story, edge: Edge, size: float = 6, *, faint: bool = False) -> None:
    """A stroke for each kind, side by side; an arrow head at the target of a directed edge, ``size`` points wide."""
    nodes = story.by_id
    (x1, y1), (x2, y2) = ((nodes[id].x, nodes[id].y) for id in (edge.source, edge.target))
    width, alpha = (2.2, 1) if edge.emphasised else (0.6, 0.4) if faint else (0.9, 0.5)
    for number, kind in enumerate(edge.kinds):
        shift = 0.008 * (number - (len(edge.kinds) - 1) / 2)
        style = look(kind).line | {"marker": None, "linewidth": width, "alpha": alpha, "zorder": 1}
        ax.add_line(Line2D([x1 + shift, x2 + shift], [y1 + shift, y2 + shift], **style))
    if edge.directed:
        colour = look(edge.kinds[0]).colour if edge.kinds else INK
        head = {"arrowstyle": "-|>", "color": colour, "linewidth": 0, "shrinkB": size / 2 + 1, "mutation_scale": 13}
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
            rank, _, moved = _standing(entry, place).partition(" ")
            if entry.indent is not None:
                rank = f"{'     ' * entry.indent}{'↳' if entry.indent else ''}"
            text = f"{rank}  {'★ ' if node.gold else ''}{clip(node.title, letters)}{f' {moved}' if moved else ''}"
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


def _halo(size: float) -> dict[str, object]:
    face = {"markerfacecolor": "none", "markeredgecolor": HALO, "markeredgewidth": 2.2}
    return {"marker": "o", "markersize": size + 7, "linestyle": "none", **face}


def _symbol(role: str, gold: bool, size: float, fill: object = None) -> dict[str, object]:
    marker = _STAR if gold else _MARKER[ROLES[role].shape]
    rim = GOLD_RIM if gold else INK
    return {
        "marker": marker,
        "markersize": size * (2 if gold else 1),
        "markerfacecolor": ROLES[role].fill if fill is None else fill,
        "markeredgecolor": rim,
        "markeredgewidth": 1.8 if gold else 0.9,
        "linestyle": "none",
    }


def _legend(story: Story, steps: Sequence[int]) -> list[Line2D]:
    scenes = [story.scenes[step] for step in steps]
    roles = {mark.role for scene in scenes for mark in scene.marks}
    edges = [*story.edges, *(edge for scene in scenes for edge in scene.edges)]
    kinds = sorted({kind for edge in edges for kind in edge.kinds})
    handles, fill = [], None
    if story.scale:
        fill = _SHADES(0.5)
        far, near = (f" ({word})" for word in story.scale.ends)
        for value, where in ((1.0, near), (0.5, ""), (0.0, far)):
            number = story.scale.far + value * (story.scale.near - story.scale.far)
            label = f"{story.scale.name} {number:.3g}{where}"
            handles.append(Line2D([], [], label=label, **_symbol("plain", False, 4 + 8 * value, _SHADES(value))))
    for name, role in ROLES.items():
        if name in roles and role.halo:
            handles.append(Line2D([], [], label=role.label, **_halo(2)))
        elif name in roles:
            shown = None if role.dashed else fill
            handles.append(Line2D([], [], label=role.label, **_symbol(name, False, 8, shown)))
    if any(node.gold for node in story.nodes):
        handles.append(Line2D([], [], label=GOLD, **_symbol("missed", True, 7)))
        if any(scene.columns and not any(mark.tag for mark in scene.marks) for scene in scenes if scene.marks):
            handles.append(Line2D([], [], linestyle="none", label="(7 ▲16): its place, 16 up"))
    return handles + [Line2D([], [], label=f"{kind} edge", **look(kind).line | {"marker": None}) for kind in kinds]
