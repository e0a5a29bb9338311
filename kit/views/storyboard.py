"""A replay in print: the frames in which something happens, side by side.

Where nodes are ranked, a panel is the ranking with the edges as arcs
(:mod:`kit.views.storyboard_ranks`); else it is the graph (:mod:`kit.views.storyboard_graph`).
"""

import textwrap
from collections.abc import Mapping, Sequence
from math import log
from typing import NamedTuple

from matplotlib.legend import Legend
from msgspec.structs import replace

from kit.views.replay import Frame, Replay
from kit.views.storyboard_graph import draw_graph, graph_height
from kit.views.storyboard_ranks import ROW, Row, draw_ranks, rows_of
from kit.views.storyboard_signs import legend_signs
from kit.views.style import SIZE, SMALL, Figure, style

_FEWEST, _MOST = 3, 5  # frames of a storyboard
_SHARE = 0.2  # of the greatest change: a frame in which less changes is left out
_LISTED = (10, 6)  # passages of a ranking besides the supports: in one row of panels, and in more
_LETTERS = 13.0  # of small type, in an inch
# Inches:
_MARGIN = 0.1  # around the page
_GUTTER = 0.3  # between panels
_GAP = 0.14  # between rows of panels
_LINE = 0.17  # the height of a line of small type
_TITLE_LINE = 0.27
_HEAD = 0.05  # between the lines above a panel and the panel


class Panel(NamedTuple):
    """A frame or one ranking of it, with the lines above it by their style.

    ``rows`` is the ranking by passage; without it, the panel is a graph.
    """

    frame: Frame
    lines: Sequence[tuple[str, str]]
    rows: Mapping[str, Row]


@style()
def storyboard(replay: Replay, title: str, steps: Sequence[int] | None = None) -> Figure:
    """Frames as panels of one figure, up to three in a row.

    They are those of ``steps``, or :func:`eventful_steps`.
    """
    if steps is None:
        steps = eventful_steps(replay)
    replay = replace(replay, frames=[replay.frames[step] for step in steps])
    n = sum(max(1, len(_rankings(replay, frame))) for frame in replay.frames)
    n_across = 2 if n == 4 else min(n, 3)
    width = (SIZE[0] - 2 * _MARGIN - (n_across - 1) * _GUTTER) / n_across
    panels = _panels(replay, width, _LISTED[n > n_across])

    figure = Figure(title)
    figure.set_layout_engine("none")
    legend = _legend(figure, replay)
    top = _write_head(figure, replay)
    bands = [panels[start : start + n_across] for start in range(0, n, n_across)]
    heights = [_height(replay, band, n) for band in bands]
    bottom = legend.get_window_extent().height / figure.dpi if legend else 0.0
    height = top + sum(heights) + len(bands) * _GAP + bottom
    for text in figure.texts:
        text.set_y(1 - text.get_position()[1] / height)
    figure.set_size_inches(SIZE[0], height)
    for band, band_height in zip(bands, heights):
        _draw_band(figure, replay, band, (top, band_height, width))
        top += band_height + _GAP
    return figure


# ---- which frames


def eventful_steps(replay: Replay) -> list[int]:
    """The first and the last frame, and up to three in which the supports' ranks change most.

    Where no rank changes, the frame in which most edges stand out is between them.
    """
    n = len(replay.frames)
    if n <= _FEWEST + 1:
        return list(range(n))
    changes = [_change(replay, step) for step in range(n)]
    strong = [sum(edge.emphasised for edge in frame.edges) for frame in replay.frames]
    inner = sorted(range(1, n - 1), key=lambda step: (-changes[step], -strong[step], step))
    least = max(_SHARE * changes[inner[0]], 1e-9)
    n_events = sum(changes[step] >= least for step in inner)
    n_inner = min(max(n_events, _FEWEST - 2), _MOST - 2)
    return [0, *sorted(inner[:n_inner]), n - 1]


def _change(replay: Replay, step: int) -> float:
    """How much the supports' ranks change in a step, as logarithms: near the top counts most.

    A support that is reached for the first time counts 1.
    """
    rows = _first_ranking(replay, replay.frames[step])
    reached_before = _reached(replay, replay.frames[step - 1])
    first_reached = _reached(replay, replay.frames[step]) - reached_before
    change = 0.0
    for node in replay.nodes:
        row = rows.get(node.id)
        if node.gold and row and row.moved:
            change += abs(log((row.rank + row.moved) / row.rank))
        elif node.gold and node.id in first_reached:
            change += 1
    return change


def _first_ranking(replay: Replay, frame: Frame) -> dict[str, Row]:
    return next(map(_by_passage, (rows_of(replay, column) for column in frame.columns)), {})


def _by_passage(rows: Sequence[Row]) -> dict[str, Row]:
    return {row.node.id: row for row in rows}


def _reached(replay: Replay, frame: Frame) -> set[str]:
    """The passages that a frame has: as nodes, or ranked where no support is a node."""
    roles = {state.node: state.role for state in frame.states}
    if any(node.gold and node.id in roles for node in replay.nodes):
        return {name for name, role in roles.items() if role != "missed"}
    return {name for name, row in _first_ranking(replay, frame).items() if row.rank}


# ---- the page


def _write_head(figure: Figure, replay: Replay) -> float:
    """Title and question, from the top down in inches; where what follows begins."""
    title = figure.get_suptitle()
    top = 0.08
    figure.suptitle(title, x=0.01, y=top, ha="left", va="top")
    top += _TITLE_LINE * (title.count("\n") + 1) + 0.02
    question = "   Answer: ".join(replay.question.split("\nAnswer: "))
    lines = textwrap.wrap(question, round(SIZE[0] * _LETTERS * 0.92))
    if lines:
        figure.text(0.01, top, "\n".join(lines), fontsize=SMALL + 1, va="top", parse_math=False)
    return top + 1.1 * _LINE * len(lines) + 0.14


def _legend(figure: Figure, replay: Replay) -> Legend | None:
    """What the signs mean, in as many columns as there is room for."""
    signs = legend_signs(replay)
    for n_columns in range(min(len(signs), 6), 0, -1):
        legend = figure.legend(
            handles=signs,
            ncols=n_columns,
            fontsize=SMALL,
            loc="lower left",
            bbox_to_anchor=(0, 0),
            handletextpad=0.5,
            columnspacing=1.4,
        )
        if n_columns == 1 or legend.get_window_extent().width < figure.bbox.width:
            return legend
        legend.remove()
    return None


def _rankings(replay: Replay, frame: Frame) -> Sequence:
    """The rankings of a frame that are a panel each; where there are none, its graph is one."""
    return frame.columns if replay.by_rank or not frame.states else ()


def _panels(replay: Replay, width: float, listed: int) -> list[Panel]:
    """A panel per frame, or per ranking of a frame that has several; ``width`` in inches."""
    panels = []
    for frame in replay.frames:
        rankings = _rankings(replay, frame)
        if len(rankings) < 2:
            rows = [row for column in rankings for row in rows_of(replay, column, listed)]
            panels.append(Panel(frame, _lines(replay, frame, width), _by_passage(rows)))
            continue
        for column in rankings:
            rows = _by_passage(rows_of(replay, column, listed))
            panels.append(Panel(frame, [(column.name, "bold")], rows))
    return panels


def _lines(replay: Replay, frame: Frame, width: float) -> list[tuple[str, str]]:
    """The step, its sub-question, and what happens."""
    letters = round(width * _LETTERS)
    lines = [(frame.step, "bold")] if frame.step else []
    sub_question = frame.sub_question
    if replay.question.startswith(sub_question):
        sub_question = ""
    caption = frame.caption or ", ".join(column.name for column in frame.columns)
    for text, font, most in ((sub_question, "italic", 2), (caption, "normal", 3)):
        wrapped = textwrap.wrap(text, letters, max_lines=most, placeholder=" …")
        lines += [(line, font) for line in wrapped]
    return lines


def _height(replay: Replay, band: Sequence[Panel], n_panels: int) -> float:
    """The height of a row of panels in inches, with the lines above it."""
    heights = [0.0]
    for panel in band:
        if panel.rows:
            heights += [row.bottom * ROW / 72 for row in panel.rows.values()]
        elif panel.frame.states:
            heights.append(graph_height(replay, alone=n_panels == 1))
    return max(heights) + _HEAD + _LINE * max(len(panel.lines) for panel in band)


def _draw_band(
    figure: Figure, replay: Replay, band: Sequence[Panel], box: tuple[float, float, float]
) -> None:
    """Panels side by side; ``box`` is their top, their height, and the width of one, in inches."""
    top, height, width = box
    page_width, page_height = figure.get_size_inches()
    head = _HEAD + _LINE * max(len(panel.lines) for panel in band)
    before = None
    for index, panel in enumerate(band):
        left = (_MARGIN + index * (width + _GUTTER)) / page_width
        _write_lines(figure, panel.lines, left, top)
        bottom = 1 - (top + height) / page_height
        inner = height - head
        ax = figure.add_axes((left, bottom, width / page_width, inner / page_height))
        ax.set_axis_off()
        ax.set(xlim=(0, 72 * width), ylim=(72 * inner, 0))
        if panel.rows:
            compared = before and before.frame.sub_question == panel.frame.sub_question
            rows_before = before.rows if compared else {}
            draw_ranks(ax, replay, panel.frame, panel.rows, rows_before)
        elif panel.frame.states:
            draw_graph(ax, replay, panel.frame)
        before = panel


def _write_lines(figure: Figure, lines: Sequence[tuple[str, str]], left: float, top: float) -> None:
    page_height = figure.get_figheight()
    for line, (text, font) in enumerate(lines):
        figure.text(
            left,
            1 - (top + line * _LINE) / page_height,
            text,
            fontsize=SMALL,
            va="top",
            weight="bold" if font == "bold" else "normal",
            fontstyle="italic" if font == "italic" else "normal",
            parse_math=False,
        )
