"""Tables of a PDF: found by their rules, named by the caption beside them, as markdown (kgp.txt §3, Figure 8).

And the structures of documents, pages and tables, with the passages that each of them holds.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count, groupby, pairwise

import msgspec
import numpy as np
from pdfplumber.utils import cluster_objects

from kit.corpus.pdf.layout import Box, TextBlock
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


@dataclass(frozen=True)
class Table:
    """A table, or the part of it that stands on one page. ``caption`` is its first line, with its number."""

    rows: tuple[tuple[str, ...], ...]
    box: Box
    caption: str = ""

    @property
    def text(self) -> str:
        """The caption, and below it the table as markdown."""
        return f"{self.caption}\n\n{markdown(self.rows)}"


def structures(corpus: Corpus) -> dict[Structure, np.ndarray]:
    """Each page and table to the rows of what it holds, in the order of the documents and of their reading.

    A page holds the passages and tables on it; a table holds its parts, of which it has one a page.
    """
    held: dict[Structure, list[int]] = {}
    for document, rows in corpus.documents.items():
        of_document = [(row, corpus.passages[row]) for row in rows.tolist()]
        pages = [(row, "page", it.page) for row, it in of_document if it.page is not None]
        tables = [(row, "table", label_of(it.text)) for row, it in of_document if it.kind == "table"]
        for row, kind, label in [*pages, *tables]:
            if label is not None:
                held.setdefault(Structure(document, kind, str(label)), []).append(row)
    return {structure: np.array(rows) for structure, rows in held.items()}


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


def tables_of(page) -> list[Table]:
    """The tables of a pdfplumber page with two rows and columns or more, without captions.

    A table is ruled around its cells, or has rules across: above and below its header and below its last row.
    """
    found = [Table(_cells(it.extract(x_tolerance_ratio=0.15)), it.bbox) for it in page.find_tables()]
    found = [table for table in found if _is_table(table)]
    across = [table for table in _ruled_across(page) if _is_table(table)]
    return found + [table for table in across if not any(_overlap(table.box, it.box) for it in found)]


def with_captions(things: Sequence) -> list:
    """Paragraphs and tables in reading order, the captions moved from the paragraphs to their tables.

    A caption belongs to the nearest table above or below it.
    """
    captions = [i for i, thing in enumerate(things) if isinstance(thing, TextBlock) and label_of(thing.text)]
    tables = [i for i, thing in enumerate(things) if isinstance(thing, Table)]
    things = list(things)
    for distance, i, j in sorted((_distance(things[i].box, things[j].box), i, j) for i in captions for j in tables):
        if distance <= _REACH and things[i] and not things[j].caption:
            things[j], things[i] = replace(things[j], caption=things[i].text), None
    return [thing for thing in things if thing]


def number(pages: Sequence[Sequence]) -> list[list]:
    """The things of a document's pages, every table with a caption.

    A table at the top of a page carries on the one at the end of the page before, if it has as many columns and no
    number of its own. Any other table without a number gets the next one that no caption has.
    """
    used = {label_of(thing.caption) for things in pages for thing in things if isinstance(thing, Table)}
    numbered, last, before = [], 0, None
    for things in pages:
        things = list(things)
        for place, table in enumerate(things):
            if not isinstance(table, Table):
                continue
            label = label_of(table.caption)
            if before and not place and label in (None, label_of(before.caption)) and _alike(before, table):
                rows = table.rows if table.rows[0] == before.rows[0] else (before.rows[0], *table.rows)
                caption = f"{before.caption.removesuffix(' (continued)')} (continued)"
                things[place] = replace(table, rows=rows, caption=caption)
            elif label is None:
                last = next(n for n in count(last + 1) if str(n) not in used)
                used.add(str(last))
                things[place] = replace(table, caption=f"Table {last}")
            elif label.isdigit():
                last = int(label)
        before = things[-1] if things and isinstance(things[-1], Table) else None
        numbered.append(things)
    return numbered


def _alike(table: Table, other: Table) -> bool:
    return len(table.rows[0]) == len(other.rows[0])


def _cells(rows: Sequence[Sequence[str | None]]) -> tuple[tuple[str, ...], ...]:
    """Cells without line breaks; rows and columns without any text are left out."""
    texts = [[" ".join((cell or "").split()) for cell in row] for row in rows]
    texts = [row for row in texts if any(row)]
    return tuple(zip(*(column for column in zip(*texts) if any(column))))


def _is_table(table: Table) -> bool:
    return len(table.rows) >= 2 and len(table.rows[0]) >= 2


def _ruled_across(page) -> list[Table]:
    """Tables without vertical rules: three rules or more of one length, with parted cells from each to the next."""
    rules: dict[tuple[int, int], set[float]] = {}
    for edge in page.horizontal_edges:
        rules.setdefault((3 * round(edge["x0"] / 3) - 2, 3 * round(edge["x1"] / 3) + 2), set()).add(
            round(edge["top"], 1)
        )
    words, tables = page.extract_words(x_tolerance_ratio=0.15), []
    for (x0, x1), tops in rules.items():
        spans = [
            (above, below, _rows(words, (x0, above - 1, x1, below + 1))) for above, below in pairwise(sorted(tops))
        ]
        for parted, run in groupby(spans, lambda span: bool(span[2]) and all(map(_is_parted, span[2]))):
            tops, bottoms, rows = zip(*run)
            if parted and len(rows) >= 2:
                tables.append(Table(_columns([row for part in rows for row in part]), (x0, tops[0], x1, bottoms[-1])))
    return tables


def _rows(words: list[dict], box: Box) -> list[list[dict]]:
    """The words of a region, row by row, from left to right."""
    inside = [it for it in words if box[0] <= it["x0"] and it["x1"] <= box[2]]
    inside = [it for it in inside if box[1] <= it["top"] and it["bottom"] <= box[3]]
    return [sorted(row, key=lambda word: word["x0"]) for row in cluster_objects(inside, "bottom", 2)]


def _is_parted(row: list[dict]) -> bool:
    """Whether there is a gap of more than a letter's height in a row of words."""
    return any(right["x0"] - left["x1"] > right["bottom"] - right["top"] for left, right in pairwise(row))


def _columns(rows: list[list[dict]]) -> tuple[tuple[str, ...], ...]:
    """Rows of words to rows of cells: a column ends where no row has a word over a strip of some points."""
    starts, end = [], -np.inf
    for x0, x1 in sorted((word["x0"], word["x1"]) for row in rows for word in row):
        starts += [x0] if x0 - end >= 6 else []
        end = max(end, x1)
    cells = [[""] * len(starts) for _ in rows]
    for place, row in enumerate(rows):
        for word in row:
            column = int(np.searchsorted(starts, word["x0"], side="right")) - 1
            cells[place][column] = f"{cells[place][column]} {word['text']}".strip()
    return _cells(cells)


def _distance(caption: Box, table: Box) -> float:
    """Points between a caption and a table above or below it; infinity for things beside each other."""
    beside = min(caption[2], table[2]) <= max(caption[0], table[0])
    return np.inf if beside else max(table[1] - caption[3], caption[1] - table[3], 0.0)


def _overlap(a: Box, b: Box) -> bool:
    return min(a[2], b[2]) > max(a[0], b[0]) and min(a[3], b[3]) > max(a[1], b[1])
