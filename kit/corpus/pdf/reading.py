"""A PDF to passages."""

import logging
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from io import BytesIO
from itertools import chain, count
from pathlib import PurePath
from statistics import mode

import pdfplumber

from kit.corpus.pdf.directions import unread_on, upright_views
from kit.corpus.pdf.glyphs import UNKNOWN, readable
from kit.corpus.pdf.layout import Block, Pages, with_lines
from kit.corpus.pdf.paragraphs import compounds_of, paragraphs_of
from kit.corpus.pdf.tables import caption_tables, markdown, tables_of
from kit.corpus.sentences import split_sentences
from kit.corpus.types import Passage
from kit.errors import InputError

#: Characters of a passage, about: the paper's 250, read as characters (kgp-i05 of the claims;
#: KGP 8.1, Table 3).
PASSAGE_LENGTH = 250
HEADING_WORDS = 20  # at most
HEADING_SIZE = 1.1  # more than this, in usual sizes, if it is not bold
_NO_TEXT = "expected text, there is none (a scan? run text recognition on it first)"
_UNKNOWN_GLYPHS = f"glyphs whose letter the file does not tell are read as {UNKNOWN}"

Unread = dict[str, list[int]]  # what is not read, to the numbers of its pages

# They warn of colours, fonts and fields that no text depends on.
for library in ("pdfminer", "pdfplumber"):
    logging.getLogger(library).setLevel(logging.ERROR)


def read_document(
    name: str,
    data: bytes,
    document: str = "",
    notes: list[str] | None = None,
) -> list[Passage]:
    """The passages of a PDF, in reading order.

    ``document`` is by default the file's name without ``.pdf``. ``title`` is the PDF's own, or its
    first heading on page 1, or the name. A text passage is whole sentences of a paragraph on a
    page; headings begin the first one below them. A table passage is a caption and markdown; a
    table has one per page. ``notes`` gets a line for each kind of what is not read.

    Raises InputError: the file is broken, encrypted, or a scan without text; one line with the file
    and the page.
    """
    pages, title, unread = _open(name, data)
    _drop_running_heads(pages)
    lines = list(chain.from_iterable(pages))
    sizes = [line.size for line in lines for _ in line.text]
    compounds = compounds_of(lines)
    pages = [paragraphs_of(page, compounds) for page in pages]
    caption_tables(pages)

    headings = _headings(pages, usual_size=mode(sizes or [0]))
    document = document or re.sub(r"\.pdf$", "", PurePath(name).name, flags=re.IGNORECASE)
    first_heading = next(filter(headings.__contains__, pages[0]), None)
    if not title:
        title = first_heading.text if first_heading else re.sub(r"[-_\s]+", " ", document)

    passages = list(_passages(document, pages, headings, title))
    if not passages:
        raise InputError(_NO_TEXT, file=name)
    if notes is not None:
        notes += _told(name, unread, passages)
    return passages


def _told(name: str, unread: Unread, passages: Sequence[Passage]) -> Iterator[str]:
    """A line for each kind of what is not read, with its first page."""
    unknown = dict.fromkeys(passage.page for passage in passages if UNKNOWN in passage.text)
    for what, pages in {**unread, _UNKNOWN_GLYPHS: list(unknown)}.items():
        others = f" and {len(pages) - 1:,} more" if len(pages) > 1 else ""
        if pages:
            yield str(InputError(what, file=f"{name}, page {pages[0]}{others}"))


def _open(name: str, data: bytes) -> tuple[Pages, str, Unread]:
    """The lines and tables of each page, the title that the file gives itself, and what is unread.

    The title is ``""`` where there is none.
    """
    pages = []
    unread = defaultdict(list)
    where = name
    # pdfminer raises whatever a broken file makes it stumble over, of no common class.
    try:
        with pdfplumber.open(BytesIO(data)) as pdf:
            for page in pdf.pages:
                where = f"{name}, page {len(pages) + 1}"
                views = upright_views(page)
                blocks = [with_lines(view, tables_of(view)) for view in views]
                pages.append(list(chain.from_iterable(blocks)))
                for what in unread_on(page):
                    unread[what].append(len(pages))
                page.close()
            title = " ".join(readable(str(pdf.metadata.get("Title") or "")).split())
    except Exception as error:
        if "PDFPasswordIncorrect" in repr(error):  # pdfplumber wraps it
            raise InputError(
                "expected a PDF that opens without a password, this one is encrypted",
                file=name,
            ) from None
        raise InputError(
            f"expected a PDF, this file is broken or none ({type(error).__name__})",
            file=where,
        ) from None

    if not any(pages):
        raise InputError(_NO_TEXT, file=name)
    if re.match("untitled|microsoft word", title, re.IGNORECASE):
        title = ""
    return pages, title, unread


def _passages(
    document: str,
    pages: Pages,
    headings: set[Block],
    title: str,
) -> Iterator[Passage]:
    prefix = "_".join(document.split())
    position = count()
    for page, blocks in enumerate(pages, 1):
        for part, (kind, text) in enumerate(_texts(blocks, headings, title), 1):
            yield Passage(
                f"{prefix}#p{page}.{part}",
                title,
                text,
                document,
                position=next(position),
                page=page,
                kind=kind,
            )


def _drop_running_heads(pages: Pages) -> None:
    """Drop the lines that stand in the margins of several pages."""
    n_pages = Counter()
    for page in pages:
        n_pages.update({line.margin for line in page if line.margin})
    for page in pages:
        page[:] = [line for line in page if n_pages[line.margin] < 2]


def _headings(pages: Pages, usual_size: float) -> set[Block]:
    headings = set()
    for block in chain.from_iterable(pages):
        stands_out = block.bold or block.size > HEADING_SIZE * usual_size
        is_short = len(block.text.split()) <= HEADING_WORDS
        if stands_out and is_short and not block.text.endswith((".", ";", ",")):
            headings.add(block)
    return headings


def _texts(
    blocks: Sequence[Block],
    headings: set[Block],
    title: str,
) -> Iterator[tuple[str, str]]:
    """Kind and text of each passage of a page."""
    above = ""  # headings that wait for text
    for block in blocks:
        if block.rows:
            yield "table", f"{block.text}\n\n{markdown(block.rows)}"
        elif block not in headings:
            for part in _parts(block.text):
                yield "text", above + part
                above = ""
        elif block.text != title:
            above += f"{block.text}\n"
    if above:
        yield "text", above.rstrip("\n")


def _parts(paragraph: str) -> Iterator[str]:
    """The paragraph in parts of whole sentences, of at most about ``PASSAGE_LENGTH`` characters."""
    part = ""
    for sentence in split_sentences(paragraph):
        if part and len(part) + 1 + len(sentence) > PASSAGE_LENGTH:
            yield part
            part = ""
        part += f" {sentence}" if part else sentence
    yield part
