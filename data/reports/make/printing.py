"""The invented reports as PDFs: pages, headings, columns, running heads and feet, ruled tables, tables over two pages.

The same report gives the same bytes: no date, no random id, standard fonts, nothing compressed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from io import BytesIO
from typing import Literal

import msgspec
from reportlab.lib import colors
from reportlab.lib.pagesizes import A5, landscape
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import (
    BaseDocTemplate,
    CondPageBreak,
    Flowable,
    Frame,
    KeepTogether,
    PageBreak,
    PageTemplate,
    Paragraph,
    Spacer,
    Table,
    TableStyle,
)

_MARGIN, _GAP = 15 * mm, 6 * mm
_BODY = ParagraphStyle(
    "body", fontName="Times-Roman", fontSize=9, leading=11.5, spaceAfter=6, alignment=4, embeddedHyphenation=1
)
_HEADING = ParagraphStyle("heading", fontName="Helvetica-Bold", fontSize=11, leading=14, spaceBefore=5, spaceAfter=3)
_TITLE = ParagraphStyle("title", fontName="Helvetica-Bold", fontSize=15, leading=19, spaceAfter=8)
_CAPTION = ParagraphStyle("caption", fontName="Helvetica-Oblique", fontSize=8.5, leading=11, spaceAfter=3)
_WORD = re.compile(r"[a-z]{9,}")


class TableText(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A table of a report: its ``label`` and ``caption`` (``""``: printed without), pages, cells, and what to ask it.

    ``rows`` has a row a line, cells parted by ``|``; ``asks`` pairs of a question's words and its answer.
    """

    label: str
    caption: str
    pages: tuple[int, ...]
    columns: tuple[str, ...]
    rows: str
    asks: tuple[tuple[str, str], ...]

    @property
    def cells(self) -> list[list[str]]:
        """The rows below the header, short ones filled up."""
        rows = ([cell.strip() for cell in line.split("|")] for line in self.rows.strip().splitlines())
        return [row + [""] * (len(self.columns) - len(row)) for row in rows]


class ContentText(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A question about what is said, whatever the page, with the words that support its answer."""

    text: str
    answer: str
    quotes: tuple[str, ...]


class Report(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A report. ``body`` is plain text: ``# `` before a heading, ``@table N`` for a table, ``---`` for a new page.

    ``pages`` has the headings that stand on each page, ``names`` what the report is called in questions. ``rules`` are
    ``around`` every cell of a table with its caption above, or ``across`` it, with its caption below.
    """

    file: str
    title: str
    head: str
    columns: int
    rules: Literal["around", "across"]
    names: tuple[str, ...]
    body: str
    pages: tuple[tuple[str, ...], ...]
    tables: tuple[TableText, ...]
    content: tuple[ContentText, ...]


def to_pdf(report: Report) -> bytes:
    """The report as a PDF file; the same bytes each time."""
    size = width, height = A5 if report.columns == 1 else landscape(A5)
    wide = (width - 2 * _MARGIN - (report.columns - 1) * _GAP) / report.columns
    frames = [
        Frame(_MARGIN + column * (wide + _GAP), _MARGIN, wide, height - 2 * _MARGIN, 0, 0, 0, 0)
        for column in range(report.columns)
    ]
    sink = BytesIO()
    document = BaseDocTemplate(
        sink, pagesize=size, title=report.title, author=report.head, pageCompression=0, invariant=1
    )
    document.addPageTemplates(PageTemplate(frames=frames, onPage=lambda canvas, page: _margins(canvas, page, report)))
    document.build([Paragraph(report.title, _TITLE), *_flow(report, wide)])
    return sink.getvalue()


def _margins(canvas: Canvas, document: BaseDocTemplate, report: Report) -> None:
    """The running head and the foot."""
    canvas.setFont("Helvetica", 8)
    width, height = document.pagesize
    canvas.drawString(_MARGIN, height - 10 * mm, report.head)
    canvas.drawCentredString(width / 2, 9 * mm, f"Page {document.page} of {len(report.pages)}")


def _flow(report: Report, wide: float) -> Iterator[Flowable]:
    tables = {table.label: table for table in report.tables}
    heading: list[Flowable] = []
    for block in re.split(r"\n\s*\n", report.body.strip()):
        if block == "---":
            yield PageBreak()
        elif block.startswith("# "):
            heading = [CondPageBreak(25 * mm), Paragraph(block[2:], _HEADING)]
        elif block.startswith("@table "):
            yield from _table(tables[block.removeprefix("@table ")], report, wide)
        else:
            text = block.replace("&", "&amp;")
            if report.columns > 1:
                text = _WORD.sub(lambda word: "\u00ad".join(re.findall(".{1,4}(?=.{4})|.+", word[0])), text)
            yield KeepTogether([*heading, Paragraph(text, _BODY)]) if heading else Paragraph(text, _BODY)
            heading = []


def _table(table: TableText, report: Report, wide: float) -> Iterator[Flowable]:
    across = report.rules == "across"
    black = colors.black
    boxes = [("GRID", (0, 0), (-1, -1), 0.5, black), ("BACKGROUND", (0, 0), (-1, 0), colors.whitesmoke)]
    lines = [("LINEABOVE", (0, 0), (-1, 0), 1, black), ("LINEBELOW", (0, 0), (-1, 0), 0.5, black)]
    lines += [("LINEBELOW", (0, -1), (-1, -1), 1, black)]
    style = [("FONT", (0, 0), (-1, 0), "Helvetica-Bold", 7.5), ("FONT", (0, 1), (-1, -1), "Helvetica", 7.5)]
    style += [("BOTTOMPADDING", (0, 0), (-1, -1), 4)]
    first = wide * 0.34
    widths = [first] + [(wide - first) / (len(table.columns) - 1)] * (len(table.columns) - 1)
    printed = Table(
        [list(table.columns), *table.cells],
        widths,
        repeatRows=1,
        style=TableStyle(style + (lines if across else boxes)),
    )
    caption = [Paragraph(f"Table {table.label}: {table.caption}", _CAPTION)] if table.caption else []
    parts = [printed, Spacer(0, 3), *caption] if across else [*caption, printed]
    yield from [Spacer(0, 3), *(parts if len(table.pages) > 1 else [KeepTogether(parts)]), Spacer(0, 8)]
