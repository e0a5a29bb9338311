"""Tables of a PDF: found by their rules, named by the caption beside them, as markdown (kgp.txt §3, Figure 8).

And the structures of documents, pages and tables, with the passages that each of them holds.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import count, groupby, pairwise

import msgspec
import numpy as np
from pdfplumber.utils import cluster_objects, get_bbox_overlap

from kit.corpus.pdf.layout import Block, Box
from kit.corpus.types import Corpus

#: "Table 3", "Tab. A1", "Table IV", "Table 2.1": what a caption begins with.
CAPTION = re.compile(
    r"(?i:tab(?:le|\.))\s*(?i:no\.?\s*)?(?P<label>[A-Z]?\.?\d+(?:\.\d+)*|[IVXLC]+\b)(?=\s*[.:–—|-]|\s+[A-Z(]|\s*$)"
)
_REACH = 30.0  # points between a table and its caption, at most
_ROMAN = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}


class Structure(msgspec.Struct, frozen=True):
    """A page or a table: ``kind`` is ``page`` or ``table``, ``label`` its number as text ("3", "A1")."""

    document: str
    kind: str
    label: str

    def __str__(self) -> str:
        return f"{self.kind} {self.label} of {self.document}"


def structures(corpus: Corpus) -> dict[Structure, np.ndarray]:
    """Each page and table to the rows of what it holds, in the order of the documents and of their reading.

    A page holds the passages and tables on it; a table holds its parts, of which it has one a page.
    """
    pages, tables = defaultdict(list), defaultdict(list)
    order = {}
    for document, rows in corpus.documents.items():
        for row in rows.tolist():
            passage = corpus.passages[row]
            if passage.page is not None:
                pages[Structure(document, "page", str(passage.page))].append(row)
            if passage.kind == "table" and (label := label_of(passage.text)):
                tables[Structure(document, "table", label)].append(row)
        order |= pages | tables
    return {structure: np.array(rows) for structure, rows in order.items()}


def markdown(rows: Sequence[Sequence[str]]) -> str:
    """Rows of cells as a markdown table whose header is the first row; a bar in a cell is escaped."""
    header, *rest = [[" ".join(cell.split()).replace("|", "\\|") for cell in row] for row in rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in [header, ["---"] * len(header), *rest])


def label_of(text: str) -> str | None:
    """The number that a table's text begins with, Roman numbers as 3 and not III; None for any other text."""
    found = CAPTION.match(text)
    return found and arabic(found["label"])


def arabic(label: str) -> str:
    """A table's number in the one way in which the kit writes it: ``iv`` is ``4``, ``a.1`` is ``A1``."""
    label = label.upper()
    if not set(label) <= _ROMAN.keys():
        return label[0] + label[1:].lstrip(".") if label[0].isalpha() else label
    values = [_ROMAN[letter] for letter in label]
    return str(sum(-a if a < b else a for a, b in zip(values, [*values[1:], 0])))


def tables_of(page) -> list[Block]:
    """The tables of a pdfplumber page with two rows and columns or more, without captions.

    A table is ruled around its cells, or has rules across: above and below its header and below its last row.
    """
    tables: list[Block] = []
    for found in [*page.find_tables(), *_ruled_across(page)]:
        texts = [[" ".join((cell or "").split()) for cell in row] for row in found.extract(x_tolerance_ratio=0.15)]
        columns = [column for column in zip(*filter(any, texts)) if any(column)]
        known = any(get_bbox_overlap(found.bbox, table.box) for table in tables)
        if len(columns) >= 2 and len(columns[0]) >= 2 and not known:
            tables.append(Block("", found.bbox, rows=tuple(zip(*columns))))
    return tables


def _ruled_across(page) -> list:
    """pdfplumber's tables without vertical rules: three rules or more of one length, and rows of cells in between."""
    rules: dict[tuple[int, int], set[float]] = defaultdict(set)
    for edge in page.horizontal_edges:
        rules[3 * round(edge["x0"] / 3) - 2, 3 * round(edge["x1"] / 3) + 2].add(round(edge["top"], 1))
    # Parted where a gap is wider than a letter is high.
    cells, tables = page.extract_words(keep_blank_chars=True, x_tolerance_ratio=1), []
    for (x0, x1), tops in rules.items():

        def rows(span: tuple[float, float], x0: float = x0, x1: float = x1) -> list[list[dict]]:
            inside = [it for it in cells if span[0] - 1 <= it["top"] and it["bottom"] <= span[1] + 1]
            return cluster_objects([it for it in inside if x0 <= it["x0"] and it["x1"] <= x1], "bottom", 2)

        def is_parted(span: tuple[float, float], rows=rows) -> bool:
            return bool(rows(span)) and all(len(row) > 1 for row in rows(span))

        for parted, run in groupby(pairwise(sorted(tops)), is_parted):
            spans = list(run)
            if parted and len(spans) > 1:
                of_table = [row for span in spans for row in rows(span)]
                sides = sorted((cell["x0"], cell["x1"]) for row in of_table for cell in row)
                ends = np.maximum.accumulate([end for _, end in sides])
                white = [start - 3 for (start, _), end in zip(sides[1:], ends) if start - end >= 6]
                lower = [max(cell["bottom"] for cell in row) + 0.1 for row in of_table]
                lines = {
                    "explicit_vertical_lines": [x0, *white, x1],
                    "explicit_horizontal_lines": [spans[0][0], *lower],
                }
                ways = {"vertical_strategy": "explicit", "horizontal_strategy": "explicit"}
                tables += page.crop((x0, spans[0][0], x1, spans[-1][1] + 1), strict=False).find_tables(lines | ways)
    return tables


def with_captions(blocks: Sequence[Block]) -> list[Block]:
    """Paragraphs and tables in reading order, the captions moved from the paragraphs to their tables.

    A caption belongs to the nearest table above or below it.
    """
    blocks: list[Block | None] = list(blocks)
    captions = [i for i, block in enumerate(blocks) if not block.rows and label_of(block.text)]
    tables = [i for i, block in enumerate(blocks) if block.rows]
    for distance, i, j in sorted((_distance(blocks[i].box, blocks[j].box), i, j) for i in captions for j in tables):
        if distance <= _REACH and blocks[i] and not blocks[j].text:
            blocks[j], blocks[i] = replace(blocks[j], text=blocks[i].text), None
    return [block for block in blocks if block]


def number(pages: Sequence[Sequence[Block]]) -> list[list[Block]]:
    """The blocks of a document's pages, every table with a caption.

    A table at the top of a page carries on the one at the end of the page before, if it has as many columns and no
    number of its own. Any other table without a number gets the next one that no caption has.
    """
    used = {label_of(block.text) for blocks in pages for block in blocks if block.rows}
    numbered: list[list[Block]] = []
    last = 0
    for blocks in map(list, pages):
        before = numbered[-1][-1] if numbered and numbered[-1] else None
        for place, table in enumerate(blocks):
            if not table.rows:
                continue
            label = label_of(table.text)
            header = before.rows[0] if before and before.rows and not place else ()
            if len(header) == len(table.rows[0]) and label in (None, label_of(before.text)):
                rows = table.rows if table.rows[0] == header else (header, *table.rows)
                blocks[place] = replace(
                    table, rows=rows, text=f"{before.text.removesuffix(' (continued)')} (continued)"
                )
            elif label is None:
                last = next(n for n in count(last + 1) if str(n) not in used)
                used.add(str(last))
                blocks[place] = replace(table, text=f"Table {last}")
            elif label.isdigit():
                last = int(label)
        numbered.append(blocks)
    return numbered


def _distance(caption: Box, table: Box) -> float:
    """Points between a caption and a table above or below it; infinity for things beside each other."""
    beside = min(caption[2], table[2]) <= max(caption[0], table[0])
    return np.inf if beside else max(table[1] - caption[3], caption[1] - table[3], 0.0)
