"""A page of a PDF as lines and paragraphs in reading order: columns, headings, running heads, hyphens at line ends."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise

import numpy as np
from pdfplumber.utils import cluster_objects

Box = tuple[float, float, float, float]  # x0, top, x1, bottom, in points from the page's upper left corner

_GUTTER = 8  # points: the least gap between two columns
_MARGIN = 0.12  # of a page's height, above and below: where running heads and feet stand
#: What a list's item or a caption begins with.
NEW_ITEM = re.compile(r"[•▪◦‣–—-]\s|\(?(?:\d{1,2}|[a-z])[.)]\s|Tab(?:le|\.)\s*(?:\d|[A-Z]\.?\d|[IVX]+\b)")
_NO_LETTER = re.compile(r"\(cid:\d+\)")
_SENTENCE_END = re.compile(r"[.!?:;…][\"'”’)\]]*$")
_HYPHEN = re.compile(r"([^\W\d_]+)[-\u2010\u00ad]$")


@dataclass(frozen=True)
class TextBlock:
    """A line of one column, or the ``n_lines`` of a paragraph. ``column`` is None for one across both, or of one."""

    text: str
    box: Box
    size: float
    bold: bool
    column: int | None = None
    n_lines: int = 1


def words_of(page, holes: Sequence[Box]) -> list[dict]:
    """The upright words of a pdfplumber page that lie outside the given boxes."""
    upright = page.filter(lambda thing: thing.get("upright", True))
    words = upright.extract_words(x_tolerance_ratio=0.15, return_chars=True)
    for word in words:  # a sign that the font gives no letter for; alone, it is a bullet
        word["text"] = "•" if _NO_LETTER.fullmatch(word["text"]) else _NO_LETTER.sub("\ufffd", word["text"])
    return [word for word in words if not any(_inside(word, hole) for hole in holes)]


def find_gutter(words: Iterable[dict], tables: Iterable[Box], width: float) -> float | None:
    """The middle of the white strip between two columns of a document, from the words of all its pages of one width.

    A strip in the page's middle half that few lines cross and that has text on both sides.
    """
    cover = np.zeros(int(width) + 2)  # lines over each point of the width
    for word in words:
        cover[max(0, int(word["x0"])) : int(word["x1"]) + 1] += 1
    for x0, top, x1, bottom in tables:
        cover[max(0, int(x0)) : int(x1) + 1] += (bottom - top) / 12
    for white, strip in groupby(range(int(width * 0.25), len(cover)), lambda x: cover[x] < 0.25 * cover.max()):
        start, *_, stop = [*(points := list(strip)), points[-1] + 1]
        beside = min(cover[:start].max(initial=0), cover[stop:].max(initial=0))
        if white and start < width * 0.75 and stop - start >= _GUTTER and beside >= 5:
            return (start + stop) / 2
    return None


def lines_of(words: list[dict], gutter: float | None) -> list[TextBlock]:
    """Words to lines: words on one baseline, parted at the gutter unless the line runs across it."""
    lines = []
    for row in cluster_objects(words, "bottom", 2):
        row.sort(key=lambda word: word["x0"])
        gaps = enumerate(pairwise(row), 1)
        cut = [n for n, (a, b) in gaps if gutter and a["x1"] <= gutter <= b["x0"] and b["x0"] - a["x1"] >= _GUTTER]
        lines += [_line(part, gutter) for part in ([row[: cut[0]], row[cut[0] :]] if cut else [row])]
    return lines


def without_running_heads(pages: Sequence[list[TextBlock]], heights: Sequence[float]) -> list[list[TextBlock]]:
    """The lines without those that stand again and again, their numbers aside, at the top or bottom of the pages."""

    def shape(line: TextBlock, height: float) -> tuple[str, float] | None:
        in_margin = line.box[3] < _MARGIN * height or line.box[1] > (1 - _MARGIN) * height
        return (re.sub(r"\d+|^[ivxl]+$", "#", line.text), line.size) if in_margin else None

    shapes = [[shape(line, height) for line in lines] for lines, height in zip(pages, heights)]
    count = Counter(shape for of_page in shapes for shape in set(of_page) - {None})
    running = {shape for shape, n in count.items() if n >= (2 if len(pages) < 5 else 3)}
    return [[line for line, shape in zip(*page) if shape not in running] for page in zip(pages, shapes)]


def in_reading_order(things: Iterable, gutter: float | None) -> list:
    """Lines and tables from top to bottom; between two that run across the gutter, first the left column."""
    ordered, columns = [], ([], [])
    for thing in sorted(things, key=lambda thing: (thing.box[1], thing.box[0])):
        column = _column(thing.box, gutter)
        if column is None:
            ordered += [*columns[0], *columns[1], thing]
            columns = ([], [])
        else:
            columns[column].append(thing)
    return [*ordered, *columns[0], *columns[1]]


def paragraphs_of(things: Iterable, leading: float, words: Counter[str]) -> list:
    """Lines in reading order to paragraphs; other things (tables) stay where they are.

    ``leading`` is the document's usual distance of baselines, in letter sizes; ``words`` its words, from which a hyphen
    at a line's end is judged. A paragraph that a column's end or a table interrupts goes on where the next one begins
    in mid-sentence.
    """
    groups: list = []
    for thing in things:
        if not isinstance(thing, TextBlock):
            groups.append(thing)
            continue
        texts = [group for group in groups if isinstance(group, list)]
        beneath = texts and texts[-1] is groups[-1] and not _begins(texts[-1], thing, leading)
        if beneath or (texts and _goes_on(texts[-1][-1], thing)):
            texts[-1].append(thing)
        else:
            groups.append([thing])
    return [_paragraph(group, words) if isinstance(group, list) else group for group in groups]


def usual(lines: Sequence[TextBlock]) -> tuple[float, bool, float]:
    """Size and boldness of most characters of a document, and the usual distance of its baselines, in letter sizes."""
    sizes = Counter()
    for line in lines:
        sizes[line.size] += len(line.text)
    bold = sum(len(line.text) * (1 if line.bold else -1) for line in lines)
    beneath = ((above, below) for above, below in pairwise(lines) if above.column == below.column and below.size)
    steps = [(below.box[3] - above.box[3]) / below.size for above, below in beneath]
    near = [step for step in steps if 0.8 < step < 2.5]
    # Not the median: where most paragraphs are a line, most steps lead from one paragraph to the next.
    leading = float(np.quantile(near, 0.25, method="lower")) if near else 1.25
    return max(sizes, key=sizes.get, default=10.0), bold > 0, leading


def is_heading(paragraph: TextBlock, size: float, bold: bool) -> bool:
    """Whether a paragraph of a document with this usual size and boldness is a heading."""
    stands_out = paragraph.size > 1.1 * size or (paragraph.bold and not bold and paragraph.size > 0.9 * size)
    short = paragraph.n_lines <= 3 and len(paragraph.text.split()) <= 20
    return stands_out and short and not paragraph.text.endswith((".", ";", ","))


def _line(row: list[dict], gutter: float | None) -> TextBlock:
    chars = [char for word in row for char in word["chars"]]
    box = (row[0]["x0"], min(w["top"] for w in row), max(w["x1"] for w in row), max(w["bottom"] for w in row))
    size = Counter(round(char["size"], 1) for char in chars).most_common(1)[0][0]
    heavy = sum("bold" in char["fontname"].lower() or "black" in char["fontname"].lower() for char in chars)
    return TextBlock(" ".join(word["text"] for word in row), box, size, 2 * heavy > len(chars), _column(box, gutter))


def _begins(group: list[TextBlock], line: TextBlock, leading: float) -> bool:
    """Whether a line begins a new paragraph after the lines of a group."""
    last = group[-1]
    if line.column != last.column:
        return not _goes_on(last, line)
    step = abs(line.size - last.size)
    other_size = step > 0.3 and (step > 0.15 * last.size or line.text[:1].isupper() or _SENTENCE_END.search(last.text))
    indented = line.box[0] - last.box[0] > 0.8 * line.size and len(group) > 1
    apart = line.box[3] - last.box[3] > 1.3 * leading * line.size or line.box[1] < last.box[1]
    return bool(other_size or line.bold != last.bold or NEW_ITEM.match(line.text) or apart or indented)


def _goes_on(last: TextBlock, line: TextBlock) -> bool:
    """Whether a line carries on the sentence of a line that something stands after."""
    alike = abs(line.size - last.size) <= 0.3 and line.bold == last.bold
    return alike and line.text[:1].islower() and not _SENTENCE_END.search(last.text)


def _paragraph(lines: list[TextBlock], words: Counter[str]) -> TextBlock:
    text = lines[0].text
    for line in lines[1:]:
        text = _joined(text, line.text, words)
    boxes = np.array([line.box for line in lines])
    box = (*boxes[:, :2].min(axis=0).tolist(), *boxes[:, 2:].max(axis=0).tolist())
    return replace(lines[0], text=text, box=box, n_lines=len(lines))


def _joined(above: str, below: str, words: Counter[str]) -> str:
    """Two lines as one text. A hyphen goes, unless the document has the word with it and not without it elsewhere."""
    broken, rest = _HYPHEN.search(above), re.match(r"[^\W\d_]+", below)
    if not broken or not rest or not below[0].islower():
        return f"{above} {below}"
    first, second = broken[1].lower(), rest[0].lower()
    kept = words[f"{first}-{second}"] and not words[first + second]
    return above + below if kept else above[: broken.end(1)] + below


def _column(box: Box, gutter: float | None) -> int | None:
    return None if gutter is None else 0 if box[2] <= gutter else 1 if box[0] >= gutter else None


def _inside(word: dict, box: Box) -> bool:
    x, y = (word["x0"] + word["x1"]) / 2, (word["top"] + word["bottom"]) / 2
    return box[0] <= x <= box[2] and box[1] <= y <= box[3]
