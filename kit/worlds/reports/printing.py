"""The invented reports as PDFs: pages, headings, columns, running heads and feet, ruled tables, tables over two pages.

The same report gives the same bytes: no date, no random id, standard fonts, nothing compressed.
"""

import re
from collections.abc import Iterator
from io import BytesIO
from typing import Literal

import msgspec
from reportlab import platypus
from reportlab.lib import colors
from reportlab.lib.pagesizes import A5, landscape
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.pdfgen.canvas import Canvas

_MARGIN, _GAP = 15 * mm, 6 * mm
_BODY = ParagraphStyle(
    "body",
    fontName="Times-Roman",
    fontSize=9,
    leading=11.5,
    spaceAfter=6,
    alignment=4,
    embeddedHyphenation=1,
)
_HEADING = ParagraphStyle(
    "heading", fontName="Helvetica-Bold", fontSize=11, leading=14, spaceBefore=5, spaceAfter=3
)
_TITLE = ParagraphStyle("title", fontName="Helvetica-Bold", fontSize=15, leading=19, spaceAfter=8)
_CAPTION = ParagraphStyle(
    "caption", fontName="Helvetica-Oblique", fontSize=8.5, leading=11, spaceAfter=3
)


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
        rows = (
            [cell.strip() for cell in line.split("|")] for line in self.rows.strip().splitlines()
        )
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
        platypus.Frame(
            _MARGIN + column * (wide + _GAP), _MARGIN, wide, height - 2 * _MARGIN, 0, 0, 0, 0
        )
        for column in range(report.columns)
    ]
    sink = BytesIO()
    about = {"title": report.title, "author": report.head}
    document = platypus.BaseDocTemplate(
        sink, pagesize=size, pageCompression=0, invariant=1, **about
    )

    def margins(canvas: Canvas, document: platypus.BaseDocTemplate) -> None:
        """The running head and the foot."""
        canvas.setFont("Helvetica", 8)
        canvas.drawString(_MARGIN, height - 10 * mm, report.head)
        canvas.drawCentredString(width / 2, 9 * mm, f"Page {document.page} of {len(report.pages)}")

    document.addPageTemplates(platypus.PageTemplate(frames=frames, onPage=margins))
    document.build([platypus.Paragraph(report.title, _TITLE), *_flow(report, wide)])
    return sink.getvalue()


def _flow(report: Report, wide: float) -> Iterator[platypus.Flowable]:
    tables = {table.label: table for table in report.tables}
    heading: list[platypus.Flowable] = []
    for block in re.split(r"\n\s*\n", report.body.strip()):
        if block == "---":
            yield platypus.PageBreak()
        elif block.startswith("# "):
            heading = [platypus.CondPageBreak(25 * mm), platypus.Paragraph(block[2:], _HEADING)]
        elif block.startswith("@table "):
            yield from _table(tables[block.removeprefix("@table ")], report, wide)
        else:
            text = block.replace("&", "&amp;")
            if report.columns > 1:
                text = re.sub(
                    r"[a-z]{9,}",
                    lambda word: "\u00ad".join(re.findall(".{1,4}(?=.{4})|.+", word[0])),
                    text,
                )
            paragraph = platypus.Paragraph(text, _BODY)
            yield platypus.KeepTogether([*heading, paragraph]) if heading else paragraph
            heading = []


def _table(table: TableText, report: Report, wide: float) -> Iterator[platypus.Flowable]:
    across = report.rules == "across"
    black = colors.black
    boxes = [
        ("GRID", (0, 0), (-1, -1), 0.5, black),
        ("BACKGROUND", (0, 0), (-1, 0), colors.whitesmoke),
    ]
    lines = [("LINEABOVE", (0, 0), (-1, 0), 1, black), ("LINEBELOW", (0, 0), (-1, 0), 0.5, black)]
    lines += [("LINEBELOW", (0, -1), (-1, -1), 1, black)]
    style = [
        ("FONT", (0, 0), (-1, 0), "Helvetica-Bold", 7.5),
        ("FONT", (0, 1), (-1, -1), "Helvetica", 7.5),
    ]
    style += [("BOTTOMPADDING", (0, 0), (-1, -1), 4), *(lines if across else boxes)]
    first, n_others = wide * 0.34, len(table.columns) - 1
    widths = [first] + [(wide - first) / n_others] * n_others
    printed = platypus.Table([list(table.columns), *table.cells], widths, repeatRows=1, style=style)
    caption = (
        [platypus.Paragraph(f"Table {table.label}: {table.caption}", _CAPTION)]
        if table.caption
        else []
    )
    parts = [printed, platypus.Spacer(0, 3), *caption] if across else [*caption, printed]
    parts = parts if len(table.pages) > 1 else [platypus.KeepTogether(parts)]
    yield from [platypus.Spacer(0, 3), *parts, platypus.Spacer(0, 8)]
