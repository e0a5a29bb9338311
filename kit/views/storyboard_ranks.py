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
from kit.views.replay import GOLD_RIM, Column, Edge, Frame, Node, NodeState, RankItem, Replay
from kit.views.storyboard_signs import draw_node, edges_between
from kit.views.style import GREY, INK, look

ROW = 16.0  # points: the height of a row
_GOLD_ROW = 1.75  # the height of a support's, in rows: its title has two lines
_GAP = 0.5  # the height of the gap between two ranks that do not follow each other, in rows
_TYPE = 9.0  # points
_ARCS = 52.0  # points: the width of the widest arc
_LEAST_ARC = 8.0  # points
_NODE = 12.0  # points: from the arcs to a node, and from there to its rank
_TITLE = 6.0  # points: from the rank to the title
_DIGIT = 6.0  # points: the width of a digit of a rank
_LINK = 14.0  # points: how far left of the panel a line from the panel before begins
_LEAST, _MOST = 7.5, 12.0  # points: the size of the farthest and of the nearest node
_TAIL = 20  # letters: as much of the end of a long title is kept
_CURVE = [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4]


class Row(NamedTuple):
    """A passage of a ranking; ``top`` is in rows from the top of the panel.

    One that was not found has no item.
    """

    node: Node
    top: float
    item: RankItem | None = None

    @property
    def bottom(self) -> float:
        return self.top + (_GOLD_ROW if self.node.gold else 1.0)

    @property
    def y(self) -> float:
        """The middle of the row in points."""
        return ROW * (self.top + self.bottom) / 2

    @property
    def rank(self) -> int | None:
        return self.item and self.item.rank

    @property
    def label(self) -> str:
        """The title; a support's with its ranks before and after, where these differ."""
        title = " ".join(self.node.title.split())
        if not self.item:
            return f"{title} (not\N{NO-BREAK SPACE}found)"
        if self.node.gold and self.item.moved:
            return f"{title} {self.item.in_words}"
        return title


def rows_of(replay: Replay, column: Column, listed: int) -> list[Row]:
    """The first so many passages of a ranking, and the supports.

    Those that the ranking lacks come last.
    """
    nodes = replay.by_id
    supports = [node.id for node in replay.nodes if node.gold]
    items = {}
    for position, item in enumerate(column.items, start=1):
        rank = item.rank or position
        if rank <= listed or item.node in supports:
            items[item.node] = replace(item, rank=rank)

    rows = []
    top = 0.0
    last_rank = 0
    for name in dict.fromkeys([*items, *supports]):
        row = Row(nodes[name], top, items.get(name))
        rank = row.rank or last_rank
        if rank > last_rank + 1 or last_rank == rank > 0:
            row = row._replace(top=top + _GAP)
        rows.append(row)
        top = row.bottom
        last_rank = rank
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
    has_nodes = any(other.states or other.edges for other in replay.frames)
    x = _NODE
    if has_nodes:
        x += _ARCS
    for edge in edges_between(replay, frame, rows.keys()):
        _draw_arc(ax, edge, rows, x)

    states = {state.node: state for state in frame.states}
    n_digits = max(len(f"{row.rank or 0}") for row in rows.values())
    x_rank = x + _NODE + _DIGIT * n_digits
    for row in rows.values():
        _draw_link(ax, before.get(row.node.id), row, x)
        if has_nodes or row.node.gold:
            state = _state(replay, row, states)
            node = replace(row.node, x=x, y=row.y)
            draw_node(ax, node, state, _size(state), replay)
        _write_row(ax, row, x_rank)


def _state(replay: Replay, row: Row, states: Mapping[str, NodeState]) -> NodeState:
    """The state of a passage in the frame; of one that its graph leaves out, as it is ranked."""
    name = row.node.id
    if not row.item:
        return NodeState(name, "missed")
    value = None
    if replay.scale and row.item.score is not None:
        value = replay.scale.value(row.item.score)
    return states.get(name, NodeState(name, "plain", value))


def _size(state: NodeState) -> float:
    return _LEAST + (_MOST - _LEAST) * (state.value or 0)


# ---- words


def _write_row(ax: Axes, row: Row, x: float) -> None:
    """The rank left of ``x`` and the title right of it; a support's are bold."""
    rank = f"{row.rank or '–'}"
    title = row.label
    texts = [
        ax.text(x, row.y, rank, ha="right"),
        ax.text(x + _TITLE, row.y, title, linespacing=1.05, parse_math=False),
    ]
    for text in texts:
        text.set(fontsize=_TYPE, va="center", color=GREY)
        if row.node.gold:
            text.set(weight="bold", color=INK)
    texts[1].set_fontfamily(families(title))

    _, right = ax.get_xlim()
    n_lines = 2 if row.node.gold else 1
    fit(texts[1], right - x - _TITLE, n_lines)


def fit(text: Text, width: float, n_lines: int) -> None:
    """Break a text that is wider than so many points; its middle is left out where it must be.

    What tells homonyms apart is at the end, in brackets, and so are ranks.
    """
    whole = text.get_text()
    if not whole:
        return
    points = text.get_window_extent().width * 72 / text.figure.dpi
    letters = int(width * len(whole) / points)
    for n in range(len(whole), 0, -1):
        lines = textwrap.wrap(_shortened(whole, n), letters)
        if len(lines) <= n_lines:
            text.set_text("\n".join(lines))
            return


def _shortened(text: str, letters: int) -> str:
    """The beginning and the end of a text that has more letters."""
    if len(text) <= letters:
        return text
    tail = min(letters // 2, _TAIL)
    begin = text[: letters - tail].rstrip()
    end = text[len(text) - tail :].lstrip()
    return f"{begin}…{end}"


# ---- lines


def _draw_link(ax: Axes, before: Row | None, row: Row, x: float) -> None:
    """A line to a support from the height that it had in the panel before."""
    if not (row.node.gold and row.item and before and before.item):
        return
    end = x - _NODE / 2
    middle = (end - _LINK) / 2
    points = [(-_LINK, before.y), (middle, before.y), (middle, row.y), (end, row.y)]
    link = FancyArrowPatch(
        path=Path(points, _CURVE),
        arrowstyle="-",
        fill=False,
        color=GOLD_RIM,
        linewidth=2.5,
        alpha=0.55,
        clip_on=False,
        zorder=1,
    )
    ax.add_patch(link)


def _draw_arc(ax: Axes, edge: Edge, rows: Mapping[str, Row], x: float) -> None:
    """An edge between two rows: strong where something moved along it, else pale."""
    start = rows[edge.source].y
    end = rows[edge.target].y
    highest = max(row.y for row in rows.values())
    reach = _LEAST_ARC + (_ARCS - _LEAST_ARC) * abs(start - end) / highest
    turn = x - reach * 4 / 3
    points = [(x, start), (turn, start), (turn, end), (x, end)]

    is_arrow = edge.emphasised and edge.directed
    arc = FancyArrowPatch(
        path=Path(points, _CURVE),
        arrowstyle="-|>" if is_arrow else "-",
        fill=is_arrow,
        shrinkB=9,
        mutation_scale=12,
        color=look(edge.kinds[0]).colour,
        linewidth=0.6,
        alpha=0.4,
        zorder=1,
    )
    if edge.emphasised:
        arc.set(linewidth=2.2, alpha=1.0, zorder=2)
    elif edge.directed:
        arc.set(linewidth=1.3, alpha=0.6)
    ax.add_patch(arc)
