"""What stands on a page of a PDF: its lines and its tables."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mode

from pdfplumber.utils import obj_to_bbox

from kit.corpus.pdf.glyphs import with_bullets
from kit.corpus.types import Texts

WORD_GAP = 0.15  # the least gap between two words, in sizes of a letter
Box = tuple[float, float, float, float]
Blocks = list["Block"]
Pages = Sequence[Blocks]
MARGIN = 0.12  # the top and the bottom margin of a page, as a share of its height


@dataclass(eq=False)
class Block:
    """A line, a paragraph, or a table with its caption.

    ``box`` is x0, top, x1, bottom in points from the page's corner; that of a paragraph's last
    line. ``margin`` is the text, its numbers aside, of a line at the page's top or bottom: maybe a
    running head. Only tables have ``rows`` of cells.
    """

    text: str
    box: Box
    size: float = 0
    bold: bool = False
    margin: str = ""
    rows: Sequence[Texts] = ()

    @property
    def middle(self) -> float:
        """The height of its middle, in points from the page's top."""
        _, top, _, bottom = self.box
        return (top + bottom) / 2


def with_lines(page, tables: Sequence[Block]) -> Blocks:
    """The lines of a pdfplumber page, and its tables where their first line stands.

    They are in the order in which the file writes its text: programs write one column after the
    other.
    """
    lines = page.extract_text_lines(
        use_text_flow=True,
        x_tolerance_ratio=WORD_GAP,
    )
    blocks = [_table_around(line, tables) or _as_block(line, page.height) for line in lines]
    return list(dict.fromkeys(blocks))


def _table_around(
    line: dict,
    tables: Sequence[Block],
) -> Block | None:
    x = (line["x0"] + line["x1"]) / 2
    y = (line["top"] + line["bottom"]) / 2
    for table in tables:
        left, top, right, bottom = table.box
        if left <= x <= right and top <= y <= bottom:
            return table
    return None


def _as_block(line: dict, page_height: float) -> Block:
    size, bold = mode(
        (round(char["size"], 1), "bold" in char["fontname"].lower()) for char in line["chars"]
    )

    text = with_bullets(line["text"])
    margin = ""
    if not MARGIN < line["top"] / page_height < 1 - MARGIN:
        margin = re.sub(r"\d+|^[ivxl]+$", "#", text)
    return Block(
        text,
        obj_to_bbox(line),
        size,
        bold,
        margin,
    )
