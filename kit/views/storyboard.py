"""A replay in print: the frames in which something happens, side by side.

Where nodes are ranked, a panel is the ranking with the edges as arcs
(:mod:`kit.views.storyboard_ranks`); else it is the graph (:mod:`kit.views.storyboard_graph`).
"""

import textwrap
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from matplotlib.legend import Legend
from msgspec.structs import replace

from kit.views.replay import Column, Frame, Replay
from kit.views.storyboard_frames import eventful_steps
from kit.views.storyboard_graph import draw_graph, graph_height
from kit.views.storyboard_ranks import ROW, Row, draw_ranks, rows_of
from kit.views.storyboard_signs import legend_signs
from kit.views.style import SIZE, SMALL, Figure, style

_LISTED = 10  # passages of a ranking besides the supports, in one row of panels
_LISTED_LESS = 6  # the same in more rows of panels
_LETTERS = 13.0  # of small type, in an inch
# Inches:
_MARGIN = 0.1  # around the page
_GUTTER = 0.3  # between panels
_GAP = 0.14  # between rows of panels
_LINE = 0.17  # the height of a line of small type
_QUESTION_LINE = 0.19
_TITLE_LINE = 0.27
_HEAD = 0.05  # between the lines above a panel and the panel


class Line(NamedTuple):
    """A line above a panel."""

    text: str
    weight: str = "normal"
    slant: str = "normal"


class Panel(NamedTuple):
    """A frame or one ranking of it, with the lines above it.

    ``rows`` is the ranking by passage; without it, the panel is a graph.
    """

    frame: Frame
    lines: Sequence[Line]
    rows: Mapping[str, Row]


class Band(NamedTuple):
    """Panels side by side; ``top``, ``height`` and ``width`` (of a panel) are in inches."""

    panels: Sequence[Panel]
    top: float
    height: float
    width: float

    @property
    def head(self) -> float:
        """The height of the lines above the panels."""
        return _head(self.panels)


@style()
def storyboard(replay: Replay, title: str, steps: Sequence[int] | None = None) -> Figure:
    """Frames as panels of one figure, up to three in a row.

    They are those of ``steps``; by default, those in which the supports' ranks change most
    (:func:`~kit.views.storyboard_frames.eventful_steps`).
    """
    if steps is None:
        steps = eventful_steps(replay)
    replay = replace(replay, frames=[replay.frames[step] for step in steps])
    n_panels = sum(len(_columns(replay, frame)) for frame in replay.frames)
    n_across = 2 if n_panels == 4 else min(n_panels, 3)
    room = SIZE[0] - 2 * _MARGIN - (n_across - 1) * _GUTTER
    width = room / n_across
    listed = _LISTED if n_panels == n_across else _LISTED_LESS
    panels = _panels(replay, width, listed)

    figure = Figure(title)
    figure.set_layout_engine("none")
    legend = _legend(figure, replay)
    top = _write_head(figure, replay)
    bands = []
    for start in range(0, n_panels, n_across):
        beside = panels[start : start + n_across]
        height = _height(replay, beside, alone=n_panels == 1)
        bands.append(Band(beside, top, height, width))
        top += height + _GAP
    if legend:
        top += legend.get_window_extent().height / figure.dpi
    _set_height(figure, top)
    for band in bands:
        _draw_band(figure, replay, band)
    return figure


# ---- the page


def _write_head(figure: Figure, replay: Replay) -> float:
    """Title and question, from the top down in inches; where what follows begins."""
    title = figure.get_suptitle()
    top = 0.08
    figure.suptitle(title, x=0.01, y=top, ha="left", va="top")
    n_lines = title.count("\n") + 1
    top += _TITLE_LINE * n_lines + 0.02

    question = replay.question.replace("\nAnswer: ", "   Answer: ")
    letters = round(0.92 * SIZE[0] * _LETTERS)
    lines = textwrap.wrap(question, letters)
    if lines:
        figure.text(
            0.01,
            top,
            "\n".join(lines),
            fontsize=SMALL + 1,
            va="top",
            parse_math=False,
        )
    return top + _QUESTION_LINE * len(lines) + 0.14


def _set_height(figure: Figure, height: float) -> None:
    """Make the page so high; what is written on it keeps its distance from the top."""
    for text in figure.texts:
        _, top = text.get_position()
        text.set_y(1 - top / height)
    figure.set_size_inches(SIZE[0], height)


def _legend(figure: Figure, replay: Replay) -> Legend | None:
    """What the signs mean, in as many columns as there is room for."""
    signs = legend_signs(replay)
    most = min(len(signs), 6)
    for n_columns in range(most, 0, -1):
        legend = figure.legend(
            handles=signs,
            ncols=n_columns,
            fontsize=SMALL,
            loc="lower left",
            bbox_to_anchor=(0, 0),
            handletextpad=0.5,
            columnspacing=1.4,
        )
        width = legend.get_window_extent().width
        if n_columns == 1 or width < figure.bbox.width:
            return legend
        legend.remove()
    return None


# ---- panels


def _columns(replay: Replay, frame: Frame) -> Sequence[Column | None]:
    """What of a frame is a panel each: its rankings, or its graph (None)."""
    if frame.columns and (replay.by_rank or not frame.states):
        return frame.columns
    return [None]


def _panels(replay: Replay, width: float, listed: int) -> list[Panel]:
    """The panels of all frames; ``width`` is that of one in inches."""
    panels = []
    for frame in replay.frames:
        columns = _columns(replay, frame)
        for column in columns:
            rows = {}
            if column:
                ranked = rows_of(replay, column, listed)
                rows = {row.node.id: row for row in ranked}
            lines = _lines(replay, frame, width)
            if column and len(columns) > 1:
                lines = [Line(column.name, weight="bold")]
            panels.append(Panel(frame, lines, rows))
    return panels


def _lines(replay: Replay, frame: Frame, width: float) -> list[Line]:
    """The step, its sub-question, and what happens."""
    letters = round(width * _LETTERS)
    lines = []
    if frame.step:
        lines.append(Line(frame.step, weight="bold"))
    if not replay.question.startswith(frame.sub_question):
        for text in _wrapped(frame.sub_question, letters, 2):
            lines.append(Line(text, slant="italic"))
    caption = frame.caption or ", ".join(column.name for column in frame.columns)
    return lines + [Line(text) for text in _wrapped(caption, letters, 3)]


def _wrapped(text: str, letters: int, n_lines: int) -> list[str]:
    return textwrap.wrap(text, letters, max_lines=n_lines, placeholder=" …")


def _head(panels: Sequence[Panel]) -> float:
    n_lines = max(len(panel.lines) for panel in panels)
    return _HEAD + _LINE * n_lines


def _height(replay: Replay, panels: Sequence[Panel], alone: bool) -> float:
    """The height of panels side by side in inches, with the lines above them."""
    heights = [0.0]
    for panel in panels:
        if panel.rows:
            lowest = max(row.bottom for row in panel.rows.values())
            heights.append(lowest * ROW / 72)
        elif panel.frame.states:
            heights.append(graph_height(replay, alone))
    return _head(panels) + max(heights)


def _draw_band(figure: Figure, replay: Replay, band: Band) -> None:
    page_width, page_height = figure.get_size_inches()
    height = band.height - band.head
    bottom = page_height - band.top - band.height
    left = _MARGIN
    before = None
    for panel in band.panels:
        _write_lines(figure, panel.lines, left, band.top)
        corner = (left / page_width, bottom / page_height)
        size = (band.width / page_width, height / page_height)
        ax = figure.add_axes((*corner, *size))
        ax.set_axis_off()
        ax.set(xlim=(0, 72 * band.width), ylim=(72 * height, 0))
        if panel.rows:
            rows_before = _rows_before(before, panel)
            draw_ranks(ax, replay, panel.frame, panel.rows, rows_before)
        elif panel.frame.states:
            draw_graph(ax, replay, panel.frame)
        before = panel
        left += band.width + _GUTTER


def _rows_before(before: Panel | None, panel: Panel) -> Mapping[str, Row]:
    """The rows of the panel to the left, where that answers the same sub-question."""
    if before and before.frame.sub_question == panel.frame.sub_question:
        return before.rows
    return {}


def _write_lines(figure: Figure, lines: Sequence[Line], left: float, top: float) -> None:
    """Write lines below each other; their corner is given in inches."""
    page_width, page_height = figure.get_size_inches()
    for line in lines:
        figure.text(
            left / page_width,
            1 - top / page_height,
            line.text,
            fontsize=SMALL,
            va="top",
            weight=line.weight,
            fontstyle=line.slant,
            parse_math=False,
        )
        top += _LINE
