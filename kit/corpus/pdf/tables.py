"""Tables of a PDF: found by their rules, named by the caption beside them, as markdown (kgp.txt §3, Figure 8)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from kit.corpus.pdf.layout import Box, Paragraph

#: "Table 3", "Tab. A1", "Table IV", "Table 2.1": what a caption begins with.
CAPTION = re.compile(
    r"(?i:tab(?:le|\.))\s*(?i:no\.?\s*)?(?P<label>[A-Z]?\.?\d+(?:\.\d+)*|[IVXLC]+\b)(?=\s*[.:–—|-]|\s+[A-Z(]|\s*$)"
)
_REACH = 30.0  # points between a table and its caption, at most
_ROMAN = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}


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
    found = [
        Table(rows, table.bbox)
        for table in page.find_tables()
        if _is_table(rows := _cells(table.extract(x_tolerance_ratio=0.15)))
    ]
    return found + [table for table in _ruled_across(page) if not any(_overlap(table.box, it.box) for it in found)]


def with_captions(things: Sequence) -> list:
    """Paragraphs and tables in reading order, the captions moved from the paragraphs to their tables.

    A caption belongs to the nearest table above or below it.
    """
    things = list(things)
    captions = [thing for thing in things if isinstance(thing, Paragraph) and label_of(thing.text)]
    tables = [thing for thing in things if isinstance(thing, Table)]
    pairs = sorted(
        (_distance(caption.box, table.box), i, j)
        for i, caption in enumerate(captions)
        for j, table in enumerate(tables)
    )
    taken: dict[int, int] = {}
    for distance, i, j in pairs:
        if distance <= _REACH and i not in taken and j not in taken.values():
            taken[i] = j
    named = {id(tables[j]): replace(tables[j], caption=captions[i].text) for i, j in taken.items()}
    gone = {id(captions[i]) for i in taken}
    return [named.get(id(thing), thing) for thing in things if id(thing) not in gone]


def number(pages: Sequence[Sequence]) -> list[list]:
    """The things of a document's pages, every table with a caption.

    A table at the top of a page carries on the one at the end of the page before, if it has as many columns and no
    number of its own. Any other table without a number gets the next one that no caption has.
    """
    used = {label_of(thing.caption) for things in pages for thing in things if isinstance(thing, Table)}
    numbered, last, before = [], 0, None
    for things in pages:
        done = []
        for place, thing in enumerate(things):
            if isinstance(thing, Table):
                label = label_of(thing.caption)
                if before and not place and _carries_on(before, thing):
                    thing = _continued(before, thing)
                elif label is None:
                    last = next(n for n in range(last + 1, last + len(used) + 2) if str(n) not in used)
                    used.add(str(last))
                    thing = replace(thing, caption=f"Table {last}")
                elif label.isdigit():
                    last = int(label)
            done.append(thing)
        before = done[-1] if done and isinstance(done[-1], Table) else None
        numbered.append(done)
    return numbered


def _carries_on(before: Table, table: Table) -> bool:
    label = label_of(table.caption)
    return len(before.rows[0]) == len(table.rows[0]) and label in (None, label_of(before.caption))


def _continued(before: Table, table: Table) -> Table:
    """A table's next part, with the header and the caption of the first."""
    rows = table.rows if table.rows[0] == before.rows[0] else (before.rows[0], *table.rows)
    return replace(table, rows=rows, caption=f"{before.caption.removesuffix(' (continued)')} (continued)")


def _cells(rows: Sequence[Sequence[str | None]]) -> tuple[tuple[str, ...], ...]:
    """Cells without line breaks; rows and columns without any text are left out."""
    texts = [[" ".join((cell or "").split()) for cell in row] for row in rows]
    texts = [row for row in texts if any(row)]
    kept = [column for column in range(len(texts[0]) if texts else 0) if any(row[column] for row in texts)]
    return tuple(tuple(row[column] for column in kept) for row in texts)


def _is_table(rows: tuple[tuple[str, ...], ...]) -> bool:
    return len(rows) >= 2 and len(rows[0]) >= 2


def _ruled_across(page) -> list[Table]:
    """Tables without vertical rules: three rules or more of one length, with parted cells from each to the next."""
    rules: dict[tuple[int, int], set[float]] = {}
    for edge in page.horizontal_edges:
        rules.setdefault((round(edge["x0"] / 3), round(edge["x1"] / 3)), set()).add(round(edge["top"], 1))
    words, tables = page.extract_words(x_tolerance_ratio=0.15), []
    for (x0, x1), tops in rules.items():
        run: list[float] = []
        for above, below in zip(sorted(tops), [*sorted(tops)[1:], float("inf")]):
            run.append(above)
            inside = _between(words, x0 * 3 - 2, x1 * 3 + 2, above, below) if below < float("inf") else []
            if inside and all(len(_parts(row)) > 1 for row in inside):
                continue
            if len(run) >= 3:
                box = (x0 * 3 - 2.0, run[0], x1 * 3 + 2.0, run[-1])
                rows = _columns(_between(words, box[0], box[2], box[1], box[3]))
                tables += [Table(rows, box)] if _is_table(rows) else []
            run = []
    return tables


def _between(words: list[dict], x0: float, x1: float, top: float, bottom: float) -> list[list[dict]]:
    """The words of a region, row by row."""
    rows: list[list[dict]] = []
    for word in sorted(words, key=lambda word: (round(word["bottom"]), word["x0"])):
        if x0 <= word["x0"] and word["x1"] <= x1 and top - 1 <= word["top"] and word["bottom"] <= bottom + 1:
            if rows and abs(word["bottom"] - rows[-1][0]["bottom"]) < 3:
                rows[-1].append(word)
            else:
                rows.append([word])
    return rows


def _parts(row: list[dict]) -> list[list[dict]]:
    """A row's words, parted at gaps of more than a letter's height."""
    parts: list[list[dict]] = []
    for word in sorted(row, key=lambda word: word["x0"]):
        if parts and word["x0"] - parts[-1][-1]["x1"] <= word["bottom"] - word["top"]:
            parts[-1].append(word)
        else:
            parts.append([word])
    return parts


def _columns(rows: list[list[dict]]) -> tuple[tuple[str, ...], ...]:
    """Rows of words to rows of cells: a column ends where no row has a word over a strip of some points."""
    spans = sorted((word["x0"], word["x1"]) for row in rows for word in row)
    columns: list[list[float]] = []
    for x0, x1 in spans:
        if columns and x0 - columns[-1][1] < 6:
            columns[-1][1] = max(columns[-1][1], x1)
        else:
            columns.append([x0, x1])
    starts = np.array([column[0] for column in columns])
    cells = [[""] * len(columns) for _ in rows]
    for place, row in enumerate(rows):
        for word in sorted(row, key=lambda word: word["x0"]):
            column = int(np.searchsorted(starts, word["x0"], side="right")) - 1
            cells[place][column] = f"{cells[place][column]} {word['text']}".strip()
    return _cells(cells)


def _distance(caption: Box, table: Box) -> float:
    """Points between a caption and a table above or below it; infinity for things beside each other."""
    if min(caption[2], table[2]) <= max(caption[0], table[0]):
        return float("inf")
    return max(table[1] - caption[3], caption[1] - table[3], 0.0)


def _overlap(a: Box, b: Box) -> bool:
    return min(a[2], b[2]) > max(a[0], b[0]) and min(a[3], b[3]) > max(a[1], b[1])
