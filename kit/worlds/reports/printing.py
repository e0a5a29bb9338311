"""The invented reports as PDFs.

They have pages, headings, columns, running heads and feet, ruled tables, and tables over two pages.
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

Texts = tuple[str, ...]
_MARGIN = 15 * mm
_GAP = 6 * mm  # between columns
_JUSTIFIED = 4
_BODY = ParagraphStyle(
    "body",
    fontName="Times-Roman",
    fontSize=9,
    leading=11.5,
    spaceAfter=6,
    alignment=_JUSTIFIED,
    embeddedHyphenation=1,
)
_HEADING = ParagraphStyle(
    "heading",
    fontName="Helvetica-Bold",
    fontSize=11,
    leading=14,
    spaceBefore=5,
    spaceAfter=3,
)
_TITLE = ParagraphStyle(
    "title",
    fontName="Helvetica-Bold",
    fontSize=15,
    leading=19,
    spaceAfter=8,
)
_CAPTION = ParagraphStyle(
    "caption",
    fontName="Helvetica-Oblique",
    fontSize=8.5,
    leading=11,
    spaceAfter=3,
)

# Cells of a table: the first and the last one, each by column and row.
_HEADER = ((0, 0), (-1, 0))
_BELOW_HEADER = ((0, 1), (-1, -1))
_LAST_ROW = ((0, -1), (-1, -1))
_ALL = ((0, 0), (-1, -1))
# Rows of a table style: a command, its cells, and what it sets.
_FONTS = [
    ("FONT", *_HEADER, "Helvetica-Bold", 7.5),
    ("FONT", *_BELOW_HEADER, "Helvetica", 7.5),
    ("BOTTOMPADDING", *_ALL, 4),
]
_RULES = {
    "around": [
        ("GRID", *_ALL, 0.5, colors.black),
        ("BACKGROUND", *_HEADER, colors.whitesmoke),
    ],
    "across": [
        ("LINEABOVE", *_HEADER, 1, colors.black),
        ("LINEBELOW", *_HEADER, 0.5, colors.black),
        ("LINEBELOW", *_LAST_ROW, 1, colors.black),
    ],
}


class TableText(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A table of a report: its ``label``, ``caption``, pages and cells, and what to ask it.

    Without a caption (``""``) none is printed. ``rows`` has one row per line, cells parted by
    ``|``; ``asks`` pairs of a question's words and its answer.
    """

    label: str
    caption: str
    pages: tuple[int, ...]
    columns: Texts
    rows: str
    asks: tuple[tuple[str, str], ...]

    @property
    def cells(self) -> list[list[str]]:
        """The rows below the header, short ones filled up."""
        rows = []
        for line in self.rows.strip().splitlines():
            cells = [cell.strip() for cell in line.split("|")]
            n_missing = len(self.columns) - len(cells)
            rows.append(cells + [""] * n_missing)
        return rows


class ContentText(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A question about what is said, whatever the page, with the words that support its answer."""

    text: str
    answer: str
    quotes: Texts


class Report(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A report.

    ``body`` is plain text: ``# `` before a heading, ``@table N`` for a table, ``---`` for a new
    page. ``pages`` has the headings that stand on each page, ``names`` what the report is called in
    questions. ``rules`` are ``around`` every cell of a table with its caption above, or ``across``
    it, with its caption below.
    """

    file: str
    title: str
    head: str
    columns: int
    rules: Literal["around", "across"]
    names: Texts
    body: str
    pages: tuple[Texts, ...]
    tables: tuple[TableText, ...]
    content: tuple[ContentText, ...]


def to_pdf(report: Report) -> bytes:
    """The report as a PDF file; the same bytes each time."""
    size = A5 if report.columns == 1 else landscape(A5)
    width, height = size
    n_gaps = report.columns - 1
    column_width = (width - 2 * _MARGIN - n_gaps * _GAP) / report.columns
    frames = []
    for column in range(report.columns):
        frame = platypus.Frame(
            _MARGIN + column * (column_width + _GAP),
            _MARGIN,
            column_width,
            height - 2 * _MARGIN,
            leftPadding=0,
            bottomPadding=0,
            rightPadding=0,
            topPadding=0,
        )
        frames.append(frame)

    def print_margins(canvas: Canvas, document: platypus.BaseDocTemplate) -> None:
        """The running head and the foot."""
        canvas.setFont("Helvetica", 8)
        canvas.drawString(_MARGIN, height - 10 * mm, report.head)
        foot = f"Page {document.page} of {len(report.pages)}"
        canvas.drawCentredString(width / 2, 9 * mm, foot)

    sink = BytesIO()
    document = platypus.BaseDocTemplate(
        sink,
        pagesize=size,
        pageCompression=0,
        invariant=1,
        title=report.title,
        author=report.head,
    )
    document.addPageTemplates(platypus.PageTemplate(frames=frames, onPage=print_margins))
    title = platypus.Paragraph(report.title, _TITLE)
    document.build([title, *_flow(report, column_width)])
    return sink.getvalue()


def _flow(report: Report, width: float) -> Iterator[platypus.Flowable]:
    """What stands in the columns; a heading stays with the paragraph below it."""
    tables = {table.label: table for table in report.tables}
    heading: list[platypus.Flowable] = []
    for block in re.split(r"\n\s*\n", report.body.strip()):
        if block == "---":
            yield platypus.PageBreak()
        elif block.startswith("# "):
            title = platypus.Paragraph(block[2:], _HEADING)
            heading = [platypus.CondPageBreak(25 * mm), title]
        elif block.startswith("@table "):
            label = block.removeprefix("@table ")
            yield from _table(tables[label], report, width)
        else:
            text = block.replace("&", "&amp;")
            if report.columns > 1:
                text = re.sub(r"[a-z]{9,}", _hyphenated, text)
            paragraph = platypus.Paragraph(text, _BODY)
            yield platypus.KeepTogether([*heading, paragraph]) if heading else paragraph
            heading = []


def _hyphenated(word: re.Match) -> str:
    """A long word with soft hyphens, at which a line may end."""
    syllables = re.findall(".{1,4}(?=.{4})|.+", word[0])
    return "\u00ad".join(syllables)


def _table(table: TableText, report: Report, width: float) -> Iterator[platypus.Flowable]:
    """A table with its caption above or below it, on one page or over two."""
    n_others = len(table.columns) - 1
    first = width * 0.34  # the first column
    widths = [first] + [(width - first) / n_others] * n_others
    printed = platypus.Table(
        [list(table.columns), *table.cells],
        widths,
        repeatRows=1,
        style=_FONTS + _RULES[report.rules],
    )

    captions = []
    if table.caption:
        text = f"Table {table.label}: {table.caption}"
        captions.append(platypus.Paragraph(text, _CAPTION))
    parts = [*captions, printed]
    if report.rules == "across":
        parts = [printed, platypus.Spacer(0, 3), *captions]
    if len(table.pages) == 1:
        parts = [platypus.KeepTogether(parts)]
    yield from [platypus.Spacer(0, 3), *parts, platypus.Spacer(0, 8)]
