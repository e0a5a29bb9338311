"""A page of a PDF as lines and paragraphs in reading order: columns, headings, running heads, hyphens at line ends."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise

import numpy as np
from pdfplumber.utils import cluster_objects, objects_to_bbox

Box = tuple[float, float, float, float]  # x0, top, x1, bottom, in points from the page's upper left corner

_GUTTER = 8  # points: the least gap between two columns
_MARGIN = 0.12  # of a page's height, above and below: where running heads and feet stand
#: What a list's item or a caption begins with.
NEW_ITEM = re.compile(r"[•▪◦‣–—-]\s|\(?(?:\d{1,2}|[a-z])[.)]\s|Tab(?:le|\.)\s*(?:\d|[A-Z]\.?\d|[IVX]+\b)")
_NO_LETTER = re.compile(r"\(cid:\d+\)")
_SENTENCE_END = re.compile(r"[.!?:;…][\"'”’)\]]*$")
_HYPHEN = re.compile(r"([^\W\d_]+)[-\u2010\u00ad]$")


@dataclass(frozen=True)
class Block:
    """A line of one column, the ``n_lines`` of a paragraph, or (with ``rows`` of cells) a table and its caption.

    ``column`` is None for what runs across both columns, or where there is one.
    """

    text: str
    box: Box
    size: float = 0
    bold: bool = False
    column: int | None = None
    n_lines: int = 1
    rows: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class Page:
    """A page as it is read: its size, its tables without captions, and the words outside of them."""

    width: float
    height: float
    tables: list[Block]
    words: list[dict]


def words_of(page, tables: Sequence[Block]) -> list[dict]:
    """The upright words of a pdfplumber page that lie outside the tables."""
    words = page.filter(lambda thing: thing.get("upright", True)).extract_words(
        x_tolerance_ratio=0.15, return_chars=True
    )
    for table in tables:
        x0, top, x1, bottom = table.box
        words = [
            word
            for word in words
            if not (x0 <= (word["x0"] + word["x1"]) / 2 <= x1 and top <= (word["top"] + word["bottom"]) / 2 <= bottom)
        ]
    for word in words:  # a sign that the font gives no letter for; alone, it is a bullet
        word["text"] = "•" if _NO_LETTER.fullmatch(word["text"]) else _NO_LETTER.sub("\ufffd", word["text"])
    return words


def find_gutter(pages: Sequence[Page]) -> float | None:
    """The middle of the white strip between two columns, from all pages of one width.

    A strip in the pages' middle half that few lines cross and that has text on both sides.
    """
    width = pages[0].width
    cover = np.zeros(int(width) + 2)  # lines over each point of the width
    for word in (word for page in pages for word in page.words):
        cover[max(0, int(word["x0"])) : int(word["x1"]) + 1] += 1
    for x0, top, x1, bottom in (table.box for page in pages for table in page.tables):
        cover[max(0, int(x0)) : int(x1) + 1] += (bottom - top) / 12
    for white, strip in groupby(range(int(width * 0.25), len(cover)), lambda x: cover[x] < 0.25 * cover.max()):
        start, *_, stop = [*(points := list(strip)), points[-1] + 1]
        beside = min(cover[:start].max(initial=0), cover[stop:].max(initial=0))
        if white and start < width * 0.75 and stop - start >= _GUTTER and beside >= 5:
            return (start + stop) / 2
    return None


def lines_of(words: list[dict], gutter: float | None) -> list[Block]:
    """Words to lines: words on one baseline, parted at the gutter unless the line runs across it."""
    lines = []
    for row in cluster_objects(words, "bottom", 2):
        row.sort(key=lambda word: word["x0"])
        gaps = enumerate(pairwise(row), 1)
        cut = [n for n, (a, b) in gaps if gutter and a["x1"] <= gutter <= b["x0"] and b["x0"] - a["x1"] >= _GUTTER]
        for part in [row[: cut[0]], row[cut[0] :]] if cut else [row]:
            chars, box = [char for word in part for char in word["chars"]], objects_to_bbox(part)
            size = Counter(round(char["size"], 1) for char in chars).most_common(1)[0][0]
            heavy = sum(bool(re.search("bold|black", char["fontname"], re.IGNORECASE)) for char in chars)
            text = " ".join(word["text"] for word in part)
            lines.append(Block(text, box, size, 2 * heavy > len(chars), column_of(box, gutter)))
    return lines


def column_of(box: Box, gutter: float | None) -> int | None:
    return None if gutter is None else 0 if box[2] <= gutter else 1 if box[0] >= gutter else None


def without_running_heads(pages: Sequence[list[Block]], heights: Sequence[float]) -> list[list[Block]]:
    """The lines without those that stand again and again, their numbers aside, at the top or bottom of the pages."""

    def shape(line: Block, height: float) -> tuple[str, float] | None:
        in_margin = line.box[3] < _MARGIN * height or line.box[1] > (1 - _MARGIN) * height
        return (re.sub(r"\d+|^[ivxl]+$", "#", line.text), line.size) if in_margin else None

    shapes = [[shape(line, height) for line in lines] for lines, height in zip(pages, heights)]
    count = Counter(shape for of_page in shapes for shape in set(of_page) - {None})
    running = {shape for shape, n in count.items() if n >= (2 if len(pages) < 5 else 3)}
    return [[line for line, shape in zip(*page) if shape not in running] for page in zip(pages, shapes)]


def in_reading_order(blocks: Iterable[Block]) -> list[Block]:
    """Lines and tables from top to bottom; between two that run across the columns, first the left column."""
    ordered, columns = [], ([], [])
    for block in sorted(blocks, key=lambda block: (block.box[1], block.box[0])):
        if block.column is None:
            ordered += [*columns[0], *columns[1], block]
            columns = ([], [])
        else:
            columns[block.column].append(block)
    return [*ordered, *columns[0], *columns[1]]


def paragraphs_of(blocks: Iterable[Block], leading: float, words: Counter[str]) -> list[Block]:
    """Lines in reading order to paragraphs; tables stay where they are.

    ``leading`` is the document's usual distance of baselines, in letter sizes; ``words`` its words, from which a hyphen
    at a line's end is judged. A paragraph that a column's end or a table interrupts goes on where the next one begins
    in mid-sentence.
    """
    groups: list[list[Block]] = []
    for block in blocks:
        texts = [group for group in groups if not group[0].rows]
        beneath = texts and texts[-1] is groups[-1] and not _begins(texts[-1], block, leading)
        if not block.rows and (beneath or (texts and _goes_on(texts[-1][-1], block))):
            texts[-1].append(block)
        else:
            groups.append([block])
    return [_paragraph(group, words) for group in groups]


def usual(lines: Sequence[Block]) -> tuple[float, bool, float]:
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


def is_heading(paragraph: Block, size: float, bold: bool) -> bool:
    """Whether a paragraph of a document with this usual size and boldness is a heading."""
    stands_out = paragraph.size > 1.1 * size or (paragraph.bold and not bold and paragraph.size > 0.9 * size)
    short = paragraph.n_lines <= 3 and len(paragraph.text.split()) <= 20
    return stands_out and short and not paragraph.text.endswith((".", ";", ","))


def _begins(group: list[Block], line: Block, leading: float) -> bool:
    """Whether a line begins a new paragraph after the lines of a group."""
    last = group[-1]
    if line.column != last.column:
        return True
    step = abs(line.size - last.size)
    other_size = step > 0.3 and (step > 0.15 * last.size or line.text[:1].isupper() or _SENTENCE_END.search(last.text))
    indented = line.box[0] - last.box[0] > 0.8 * line.size and len(group) > 1
    apart = line.box[3] - last.box[3] > 1.3 * leading * line.size or line.box[1] < last.box[1]
    return bool(other_size or line.bold != last.bold or NEW_ITEM.match(line.text) or apart or indented)


def _goes_on(last: Block, line: Block) -> bool:
    """Whether a line carries on the sentence of a line that something stands after."""
    alike = abs(line.size - last.size) <= 0.3 and line.bold == last.bold
    return alike and line.text[:1].islower() and not _SENTENCE_END.search(last.text)


def _paragraph(lines: list[Block], words: Counter[str]) -> Block:
    """Lines as one text. A hyphen at an end goes, unless the document has the word with it and never without it."""
    text = lines[0].text
    for line in lines[1:]:
        broken, rest = _HYPHEN.search(text), re.match(r"[^\W\d_]+", line.text)
        if broken and rest and line.text[0].islower():
            first, second = broken[1].lower(), rest[0].lower()
            kept = words[f"{first}-{second}"] and not words[first + second]
            text = text + line.text if kept else text[: broken.end(1)] + line.text
        else:
            text = f"{text} {line.text}"
    x0, top, x1, bottom = zip(*(line.box for line in lines))
    return replace(lines[0], text=text, box=(min(x0), min(top), max(x1), max(bottom)), n_lines=len(lines))
