"""Tables of a PDF: where they are, their captions and numbers, and how they read as markdown."""

from collections.abc import Iterator, Sequence
from itertools import count, groupby, pairwise

import pdfplumber
from pdfplumber.utils import get_bbox_overlap, within_bbox

from kit.corpus.pdf.glyphs import with_bullets
from kit.corpus.pdf.layout import WORD_GAP, Block, Blocks, Box, Pages
from kit.corpus.structures import label_of
from kit.corpus.types import Texts

COLUMN_GAP = 8  # points: wider than a space
CONTINUED = " (continued)"


# ---- where they are


def tables_of(page) -> Blocks:
    """The tables of a pdfplumber page, without captions."""
    tables = []
    for candidate in [*page.find_tables(), *_ruled_across(page)]:
        rows = _rows(candidate)
        overlaps = any(get_bbox_overlap(candidate.bbox, table.box) for table in tables)
        if len(rows) >= 2 and len(rows[0]) >= 2 and not overlaps:
            tables.append(Block("", candidate.bbox, rows=rows))
    return tables


def _rows(table: pdfplumber.table.Table) -> list[tuple[str, ...]]:
    """The text of each cell; rows and columns without any are left out."""
    rows = []
    for cells in table.extract(x_tolerance_ratio=WORD_GAP):
        rows.append([with_bullets(" ".join((cell or "").split())) for cell in cells])
    columns = zip(*filter(any, rows))
    return list(zip(*filter(any, columns)))


def _ruled_across(page) -> Iterator[pdfplumber.table.Table]:
    """Tables without vertical rules: columns of words between three or more rules of one length."""
    words = page.extract_words(x_tolerance_ratio=WORD_GAP)
    for spans in _spans_between_rules(page):
        for in_columns, run in groupby(
            spans,
            lambda span: len(_column_sides(words, span)) > 2,
        ):
            first, *others = run
            if in_columns and others:
                box = (*first[:2], *others[-1][2:])
                settings = {
                    "vertical_strategy": "explicit",
                    "horizontal_strategy": "text",
                    "explicit_vertical_lines": _column_sides(words, box),
                }
                yield from page.crop(box, strict=False).find_tables(settings)


def _spans_between_rules(page) -> Iterator[list[Box]]:
    """For rules of one length, the boxes from each to the next one below.

    They may be vertical: no words are as narrow as that.
    """
    rules = sorted(
        (
            round(edge["x0"]),
            round(edge["x1"]),
            edge["top"],
        )
        for edge in page.debug_tablefinder().edges
    )
    for (left, right), alike in groupby(rules, lambda rule: rule[:2]):
        heights = [top for _, _, top in alike]
        yield [(left - 2, above - 1, right + 2, below + 1) for above, below in pairwise(heights)]


def _column_sides(
    words: Sequence[dict],
    box: Box,
) -> list[float]:
    """Where columns of the words in a box begin, and where the last one ends.

    In points from the page's left; none where there are no words.
    """
    words = within_bbox(words, box)
    if not words:
        return []
    sides = sorted((word["x0"], word["x1"]) for word in words)
    left, reach = sides[0]
    columns = [left]
    for start, end in sides:
        if start - reach > COLUMN_GAP:
            columns.append(start - 3)
        reach = max(reach, end)
    return [*columns, reach]


# ---- their captions and numbers


def caption_tables(pages: Pages) -> None:
    """Move captions to the nearer table right above or below; number the tables without one.

    They get the next free number. But a table at the top of a page carries on the one at the end
    of the page before, if it has as many columns.
    """
    used = set()
    for blocks in pages:
        captions = [block for block in blocks if label_of(block.text)]
        used.update(_move_to_table(caption, blocks) for caption in captions)

    free = (label for label in map(str, count(1)) if label not in used)
    for before, blocks in pairwise([[], *pages]):
        for earlier, table in zip(before[-1:], blocks):  # the last block and the first one
            _carry_on(earlier, table)
        for block in blocks:
            if block.rows and not block.text:
                block.text = f"Table {next(free)}"


def _move_to_table(
    caption: Block,
    blocks: Blocks,
) -> str | None:
    """Give a caption to the nearer table beside it; the number that is used, if there is one."""
    index = blocks.index(caption)
    beside = blocks[max(index - 1, 0) : index + 2]
    tables = [block for block in beside if block.rows and not block.text]
    if not tables:
        return None
    nearest = min(tables, key=lambda table: abs(table.middle - caption.middle))
    nearest.text = caption.text
    blocks.remove(caption)
    return label_of(caption.text)


def _carry_on(
    earlier: Block,
    table: Block,
) -> None:
    """Make a table without a caption a part of the earlier one if it has as many columns."""
    if not earlier.rows or not table.rows or table.text:
        return
    header = earlier.rows[0]
    if len(table.rows[0]) == len(header):
        table.text = earlier.text.removesuffix(CONTINUED) + CONTINUED
        if table.rows[0] != header:
            table.rows = [header, *table.rows]


# ---- how they read


def markdown(rows: Sequence[Texts]) -> str:
    """Rows of cells as a markdown table; the first row is its header, a bar is escaped."""
    header, *others = rows
    lines = []
    for cells in [header, ["---"] * len(header), *others]:
        escaped = [cell.replace("|", "\\|") for cell in cells]
        lines.append(f"| {' | '.join(escaped)} |")
    return "\n".join(lines)
