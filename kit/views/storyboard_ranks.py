"""A ranking as a panel of a storyboard: a row per passage, edges as arcs beside the rows.

A passage that rises is seen to rise: a line leads from its row in the panel before to its row here.
"""

import textwrap
from collections.abc import Mapping
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch
from matplotlib.path import Path
from matplotlib.text import Text
from msgspec.structs import replace

from kit.views.fonts import families
from kit.views.replay import GOLD_RIM, Column, Edge, Frame, Node, NodeState, Replay
from kit.views.storyboard_signs import draw_node
from kit.views.style import GREY, INK, look

ROW = 16.0  # points: the height of a row
_GOLD_ROW = 1.75  # the height of a support's, in rows: its title has two lines
_GAP = 0.5  # the height of the gap between two ranks that do not follow each other, in rows
_TYPE = 9.0  # points
_ARCS = 52.0  # points: the width of the widest arc
_NODE = 12.0  # points: from the arcs to a node, and half of it and more
_LINK = 14.0  # points: how far left of the panel a line from the panel before begins
_DIGIT = 6.0  # points: the width of a digit of a rank
_LEAST, _MOST = 7.5, 12.0  # points: the size of the farthest and of the nearest node
_CURVE = [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4]


class Row(NamedTuple):
    """A passage of a ranking; ``height`` is that of its middle, in rows from the top.

    One that was not found has no rank.
    """

    node: Node
    height: float
    rank: int | None = None
    moved: int = 0
    score: float | None = None

    @property
    def bottom(self) -> float:
        return self.height + (_GOLD_ROW if self.node.gold else 1) / 2

    @property
    def label(self) -> str:
        """The title; a support's with its ranks before and after, where these differ."""
        title = " ".join(self.node.title.split())
        if self.node.gold and self.rank is None:
            return f"{title} (not\N{NO-BREAK SPACE}found)"
        if self.node.gold and self.moved:
            return (
                f"{title} {self.rank + self.moved}\N{NO-BREAK SPACE}→\N{NO-BREAK SPACE}{self.rank}"
            )
        return title


def rows_of(replay: Replay, column: Column, listed: int = 10) -> list[Row]:
    """The first so many passages of a ranking, and the supports.

    Those that the ranking lacks come last.
    """
    nodes = replay.by_id
    ranked = []
    for position, item in enumerate(column.items, start=1):
        row = Row(nodes[item.node], 0.0, item.rank or position, item.moved, item.score)
        if row.node.gold or row.rank <= listed:
            ranked.append(row)
    shown = {row.node.id for row in ranked}
    missed = [Row(node, 0.0) for node in replay.nodes if node.gold and node.id not in shown]

    rows = []
    top = 0.0
    rank = 0
    for row in [*ranked, *missed]:
        if rows and row.rank != rank + 1 and row.rank != rows[-1].rank:
            top += _GAP
        rank = row.rank or rank
        rows.append(row._replace(height=top + row.bottom))
        top = rows[-1].bottom
    return rows


def draw_ranks(
    ax: Axes,
    replay: Replay,
    frame: Frame,
    rows: Mapping[str, Row],
    before: Mapping[str, Row],
) -> None:
    """Draw the rows of a ranking and the edges between them.

    The data units of ``ax`` are points. ``rows`` and ``before``, those of the panel to the left
    that this one can be compared with, are by passage.
    """
    width, _ = ax.get_window_extent().size * 72 / ax.figure.dpi
    states = {state.node: state for state in frame.states}
    is_graph = any(other.states or other.edges for other in replay.frames)
    arcs = _ARCS if is_graph else 0.0
    x = arcs + _NODE
    if is_graph:
        _draw_arcs(ax, replay, frame, rows, x)

    digits = max(len(f"{row.rank or 0}") for row in rows.values())
    x_rank = x + _NODE + _DIGIT * digits
    for row in rows.values():
        y = ROW * row.height
        _draw_link(ax, row, before, x)
        if is_graph or row.node.gold:
            state = _state(replay, row, states)
            node = replace(row.node, x=x, y=y)
            draw_node(ax, node, state, _size(state), replay)
        _write_row(ax, row, x_rank, y, width)


def _state(replay: Replay, row: Row, states: Mapping[str, NodeState]) -> NodeState:
    """The state of a passage in the frame; of one that its graph leaves out, as it is ranked."""
    if row.rank is None:
        return NodeState(row.node.id, "missed")
    value = None
    if replay.scale and row.score is not None:
        value = replay.scale.value(row.score)
    return states.get(row.node.id, NodeState(row.node.id, "plain", value))


def _size(state: NodeState) -> float:
    return _LEAST + (_MOST - _LEAST) * (state.value or 0)


def _write_row(ax: Axes, row: Row, x: float, y: float, width: float) -> None:
    """The rank left of ``x`` and the title right of it; a support's are bold."""
    weight = "bold" if row.node.gold else "normal"
    colour = INK if row.node.gold else GREY
    style = {"fontsize": _TYPE, "va": "center", "weight": weight, "color": colour}
    ax.text(x, y, f"{row.rank or '–'}", ha="right", **style)
    start = x + 6
    text = ax.text(
        start,
        y,
        row.label,
        linespacing=1.05,
        fontfamily=families(row.label),
        parse_math=False,
        **style,
    )
    fit(text, width - start, 2 if row.node.gold else 1)


def fit(text: Text, width: float, n_lines: int) -> None:
    """Break a text that is wider than so many points; its middle is left out where it must be.

    What tells homonyms apart stands at the end, in brackets, and so do ranks.
    """
    whole = text.get_text()
    per_letter = text.get_window_extent().width * 72 / text.figure.dpi / max(len(whole), 1)
    letters = int(width / max(per_letter, 0.1))
    for n in range(len(whole), 0, -1):
        tail = min(n // 2, 20)
        shown = whole
        if n < len(whole):
            shown = f"{whole[: n - tail].rstrip()}…{whole[len(whole) - tail :].lstrip()}"
        lines = textwrap.wrap(shown, letters)
        if len(lines) <= n_lines:
            text.set_text("\n".join(lines))
            return


def _draw_link(ax: Axes, row: Row, before: Mapping[str, Row], x: float) -> None:
    """A line from the row that a support had in the panel before."""
    row_before = before.get(row.node.id)
    if not (row.node.gold and row.rank and row_before and row_before.rank):
        return
    start = (-_LINK, ROW * row_before.height)
    end = (x - 6, ROW * row.height)
    middle = (start[0] + end[0]) / 2
    curve = Path(
        [start, (middle, start[1]), (middle, end[1]), end],
        _CURVE,
    )
    patch = FancyArrowPatch(
        path=curve,
        arrowstyle="-",
        color=GOLD_RIM,
        linewidth=2.5,
        alpha=0.55,
        clip_on=False,
        zorder=1,
    )
    ax.add_patch(patch)


def _draw_arcs(ax: Axes, replay: Replay, frame: Frame, rows: Mapping[str, Row], x: float) -> None:
    """The edges between rows: those along which something moved strong, all others pale."""
    n = max(row.height for row in rows.values())
    moved = {frozenset(edge.ends) for edge in frame.edges}
    pale = [edge for edge in replay.edges if frozenset(edge.ends) not in moved]
    for edge in (*pale, *frame.edges):
        if rows.keys() >= set(edge.ends):
            start, end = (rows[name].height for name in edge.ends)
            reach = 8 + (_ARCS - 8) * abs(start - end) / n
            _draw_arc(ax, edge, _arc(x, ROW * start, ROW * end, reach))


def _arc(x: float, start: float, end: float, reach: float) -> Path:
    """From one height to another, so far to the left."""
    turn = x - 4 / 3 * reach
    return Path([(x, start), (turn, start), (turn, end), (x, end)], _CURVE)


def _draw_arc(ax: Axes, edge: Edge, arc: Path) -> None:
    style = "-"
    width, alpha = (1.3, 0.6) if edge.directed else (0.6, 0.4)
    if edge.emphasised:
        style = "-|>" if edge.directed else "-"
        width, alpha = (2.2, 1.0)
    patch = FancyArrowPatch(
        path=arc,
        arrowstyle=style,
        shrinkB=9,
        mutation_scale=12,
        linewidth=width,
        alpha=alpha,
        fill=style != "-",
        zorder=2 if edge.emphasised else 1,
        color=look(edge.kinds[0]).colour,
    )
    ax.add_patch(patch)
