"""PDFs to passages: text by page, tables as markdown with their page (kgp.txt §3 and 8.1)."""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from io import BytesIO
from pathlib import PurePath

import msgspec
import pdfplumber

from kit.corpus.pdf import layout, tables
from kit.corpus.sentences import split_sentences
from kit.corpus.types import Corpus, Passage
from kit.errors import InputError

#: Characters of a passage, about: the paper's 250, read as characters (kgp-i05 of the claims; kgp.txt 8.1, Table 3).
PASSAGE_LENGTH = 250
_NO_TITLE = re.compile(
    r"^(?:microsoft word\b.*|untitled\d*|document\d*|.*\.(?:docx?|tex|dvi|indd|pdf))?$", re.IGNORECASE
)

logging.getLogger("pdfminer").setLevel(logging.ERROR)  # it warns of colours and fonts that no text depends on


def read_documents(files: Mapping[str, bytes]) -> Corpus:
    """The passages of PDFs that are given as bytes, by file name. Nothing is written to disk.

    Raises:
        InputError: no file, two of one name, or a file that :func:`read_document` can't read.
    """
    if not files:
        raise InputError("expected at least one PDF")
    corpus = Corpus(passage for name, data in files.items() for passage in read_document(name, data))
    if len(corpus.row) < len(corpus):
        raise InputError("expected PDFs with different names")
    return corpus


def read_document(name: str, data: bytes) -> list[Passage]:
    """The passages of a PDF, in reading order.

    ``document`` is the file's name without ``.pdf``, ``title`` the PDF's own (or its largest heading on page 1, or the
    name), ``page`` counts the PDF's pages from 1. A text passage is made of whole sentences of one paragraph on one
    page, about :data:`PASSAGE_LENGTH` characters of them, or of items of a list; the headings above a paragraph begin
    its first passage. A table passage is a caption, ``Table 3: ...``, and markdown; a table that runs over pages is a
    passage a page.

    Raises:
        InputError: the file is empty, broken, encrypted, or a scan without text; one line with the file and the page.
    """
    pages, title = _open(name, data)
    widths = {page.width for page in pages}
    gutters = {width: layout.find_gutter([page for page in pages if page.width == width]) for width in widths}
    lines = [layout.lines_of(page.words, gutters[page.width]) for page in pages]
    lines = layout.without_running_heads(lines, [page.height for page in pages])
    every = [line for of_page in lines for line in of_page]
    size, bold, leading = layout.usual(every)
    vocabulary = Counter(re.findall(r"[^\W\d_]+(?:-[^\W\d_]+)?", " ".join(line.text for line in every).lower()))
    blocks = []
    for page, of_page in zip(pages, lines):
        held = [replace(table, column=layout.column_of(table.box, gutters[page.width])) for table in page.tables]
        ordered = layout.in_reading_order([*of_page, *held])
        blocks.append(tables.with_captions(layout.paragraphs_of(ordered, leading, vocabulary)))
    document = PurePath(name).name.removesuffix(".pdf").removesuffix(".PDF")
    headings = [it for it in blocks[0] if not it.rows and layout.is_heading(it, size, bold)]
    largest = max(headings, key=lambda heading: heading.size).text if headings else ""
    title = title or largest or re.sub(r"[-_\s]+", " ", document)
    return _passages(document, title, tables.number(blocks), size, bold)


def _open(name: str, data: bytes) -> tuple[list[layout.Page], str]:
    """The pages, and the title that the file gives itself, or ``""``."""
    if not data:
        raise InputError("expected a PDF, the file is empty", file=name)
    pages, where, pictures = [], name, 0
    # pdfminer raises whatever a broken file makes it stumble over, of no common class but Exception.
    try:
        with pdfplumber.open(BytesIO(data)) as pdf:
            for number, page in enumerate(pdf.pages, 1):
                where = f"{name}, page {number}"
                found = tables.tables_of(page)
                words = layout.words_of(page, found)
                pages.append(layout.Page(float(page.width), float(page.height), found, words))
                pictures += len(page.images)
                page.close()
            title = pdf.metadata.get("Title")
    except Exception as error:
        if "PDFPasswordIncorrect" in repr(error):  # pdfplumber wraps it
            raise InputError("expected a PDF that opens without a password, this one is encrypted", file=name) from None
        raise InputError(f"expected a PDF, this file is broken or none ({type(error).__name__})", file=where) from None
    if not pages:
        raise InputError("expected at least one page, the PDF has none or is broken", file=name)
    if not any(page.words or page.tables for page in pages):
        reason = "there is only a picture (a scan: run text recognition on it first)" if pictures else "there is none"
        raise InputError(f"expected text, {reason}", file=f"{name}, page 1")
    title = " ".join(title.replace("\x00", "").split()) if isinstance(title, str) else ""
    return pages, "" if _NO_TITLE.match(title) else title


def _passages(document: str, title: str, pages: list[list[layout.Block]], size: float, bold: bool) -> list[Passage]:
    passages: list[Passage] = []
    slug = re.sub(r"\s+", "_", document)

    def add(page: int, text: str, kind: str = "text") -> None:
        place = sum(passage.page == page for passage in passages) + 1
        passages.append(Passage(f"{slug}#p{page}.{place}", title, text, document, len(passages), page, kind))

    for number, blocks in enumerate(pages, 1):
        headings: list[str] = []
        for block in blocks:
            last = passages[-1] if passages and not headings else None
            is_item = last and (last.page, last.kind) == (number, "text") and layout.NEW_ITEM.match(block.text)
            if block.rows:
                add(number, f"{block.text}\n\n{tables.markdown(block.rows)}", "table")
            elif layout.is_heading(block, size, bold):
                headings += [block.text] if block.text != title else []
            elif is_item and len(last.text) + 1 + len(block.text) <= PASSAGE_LENGTH:
                passages[-1] = msgspec.structs.replace(last, text=f"{last.text}\n{block.text}")
            else:
                first, *rest = _parts(block.text)
                for part in ["\n".join([*headings, first]), *rest]:
                    add(number, part)
                headings = []
        if headings:  # at the end of a page, or above a table alone
            add(number, "\n".join(headings))
    return passages


def _parts(paragraph: str) -> list[str]:
    """A paragraph's sentences, packed to at most :data:`PASSAGE_LENGTH` characters, or one longer sentence."""
    parts: list[str] = []
    for sentence in split_sentences(paragraph):
        if parts and len(parts[-1]) + 1 + len(sentence) <= PASSAGE_LENGTH:
            parts[-1] += f" {sentence}"
        else:
            parts.append(sentence)
    return parts
