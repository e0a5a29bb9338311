"""PDFs to passages: text by page, tables as markdown with their page (kgp.txt §3 and 8.1, Figure 8)."""

import logging
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import accumulate, count, groupby, pairwise
from pathlib import PurePath
from statistics import mode

import pdfplumber
from pdfplumber.utils import get_bbox_overlap, obj_to_bbox, within_bbox

from kit.corpus.sentences import split_sentences
from kit.corpus.structures import label_of
from kit.corpus.types import Passage
from kit.errors import InputError

#: Characters of a passage, about: the paper's 250, read as characters (kgp-i05 of the claims; kgp.txt 8.1, Table 3).
PASSAGE_LENGTH = 250
_WORDS = {"x_tolerance_ratio": 0.15}  # of a letter's size: the least gap between two words

logging.getLogger("pdfminer").setLevel(
    logging.ERROR
)  # it warns of colours and fonts that no text depends on


@dataclass(eq=False)
class Block:
    """A line, a paragraph, or with ``rows`` of cells a table and its caption."""

    text: str
    box: tuple[
        float, float, float, float
    ]  # x0, top, x1, bottom in points from the page's corner; of the last line
    size: float = 0
    bold: bool = False
    margin: str = ""  # the text, its numbers aside, of a line at the page's top or bottom: maybe a running head
    rows: Sequence[Sequence[str]] = ()


def read_document(name: str, data: bytes) -> list[Passage]:
    """The passages of a PDF, in reading order; ``document`` is the file's name without ``.pdf``.

    ``title`` is the PDF's own, or its first heading on page 1, or the name. A text passage is whole sentences of a
    paragraph on a page; headings begin the first one below them. A table passage is a caption and markdown, one a page.

    Raises InputError: the file is broken, encrypted, or a scan without text; one line with the file and the page.
    """
    pages, title = _open(name, data)
    repeated = Counter(text for page in pages for text in {line.margin for line in page} - {""})
    pages = [
        [line for line in page if repeated[line.margin] < 2] for page in pages
    ]  # no running heads
    usual_size = mode([line.size for page in pages for line in page for _ in line.text] or [0])
    compounds = set(
        re.findall(
            r"[^\W\d_]+-[^\W\d_]+", " ".join(line.text for page in pages for line in page).lower()
        )
    )
    pages = [_paragraphs(page, compounds) for page in pages]
    _caption_tables(pages)
    stand_out = [it for page in pages for it in page if it.bold or it.size > 1.1 * usual_size]
    headings = {
        it
        for it in stand_out
        if len(it.text.split()) <= 20 and not it.text.endswith((".", ";", ","))
    }
    document = re.sub(r"\.pdf$", "", PurePath(name).name, flags=re.IGNORECASE)
    title = title or next(
        (it.text for it in pages[0] if it in headings), re.sub(r"[-_\s]+", " ", document)
    )
    passages: list[Passage] = []
    for number, blocks in enumerate(pages, 1):
        for place, (kind, text) in enumerate(_texts(blocks, headings, title), 1):
            id = f"{'_'.join(document.split())}#p{number}.{place}"
            passages.append(Passage(id, title, text, document, len(passages), number, kind))
    return passages


def _open(name: str, data: bytes) -> tuple[list[list[Block]], str]:
    """The lines and tables of each page, and the title that the file gives itself, or ``""``."""
    pages, where = [], name
    # pdfminer raises whatever a broken file makes it stumble over, of no common class but Exception.
    try:
        with pdfplumber.open(BytesIO(data)) as pdf:
            for number, page in enumerate(pdf.pages, 1):
                where = f"{name}, page {number}"
                pages.append(_lines_and_tables(page))
                page.close()
            title = " ".join(str(pdf.metadata.get("Title") or "").split())
    except Exception as error:
        if "PDFPasswordIncorrect" in repr(error):  # pdfplumber wraps it
            raise InputError(
                "expected a PDF that opens without a password, this one is encrypted", file=name
            ) from None
        raise InputError(
            f"expected a PDF, this file is broken or none ({type(error).__name__})", file=where
        ) from None
    if not any(pages):
        raise InputError(
            "expected text, there is none (a scan? run text recognition on it first)", file=name
        )
    return pages, "" if re.match("untitled|microsoft word", title, re.IGNORECASE) else title


def _lines_and_tables(page) -> list[Block]:
    """The upright lines of a pdfplumber page, and its tables, without captions, where their first line stands."""
    tables: list[Block] = []
    for found in [*page.find_tables(), *_ruled_across(page)]:
        texts = [
            [" ".join((cell or "").split()) for cell in row] for row in found.extract(**_WORDS)
        ]
        columns = [column for column in zip(*filter(any, texts)) if any(column)]
        known = any(get_bbox_overlap(found.bbox, table.box) for table in tables)
        if len(columns) >= 2 and len(columns[0]) >= 2 and not known:
            tables.append(Block("", found.bbox, rows=list(zip(*columns))))
    blocks = {}  # in the order in which the file writes its text: programs write one column after the other
    for line in page.filter(lambda it: it.get("upright", True)).extract_text_lines(
        use_text_flow=True, **_WORDS
    ):
        size, bold = mode(
            (round(char["size"], 1), "bold" in char["fontname"].lower()) for char in line["chars"]
        )
        text = re.sub(
            r"\(cid:\d+\)", "•", line["text"]
        )  # what a font has no letter for is most often a bullet
        margin = (
            re.sub(r"\d+|^[ivxl]+$", "#", text)
            if not 0.12 < line["top"] / page.height < 0.88
            else ""
        )
        x, y = (line["x0"] + line["x1"]) / 2, (line["top"] + line["bottom"]) / 2
        around = (
            it for it in tables if it.box[0] <= x <= it.box[2] and it.box[1] <= y <= it.box[3]
        )
        blocks[next(around, Block(text, obj_to_bbox(line), size, bold, margin))] = True
    return list(blocks)


def _ruled_across(page) -> Iterator[pdfplumber.table.Table]:
    """Tables without vertical rules: three rules or more of one length, and columns of words in between."""
    words = page.extract_words(**_WORDS)
    rules = sorted(
        (round(it["x0"]), round(it["x1"]), it["top"]) for it in page.debug_tablefinder().edges
    )
    for (x0, x1), alike in groupby(
        rules, lambda rule: rule[:2]
    ):  # no words are as narrow as a vertical rule
        spans = [(x0 - 2, above[2] - 1, x1 + 2, below[2] + 1) for above, below in pairwise(alike)]
        for has_columns, run in groupby(
            spans, lambda span: len(_column_sides(within_bbox(words, span))) > 2
        ):
            first, *rest = run
            if has_columns and rest:
                box = (*first[:2], *rest[-1][2:])
                settings = {"vertical_strategy": "explicit", "horizontal_strategy": "text"}
                settings["explicit_vertical_lines"] = _column_sides(within_bbox(words, box))
                yield from page.crop(box, strict=False).find_tables(settings)


def _column_sides(words: list[dict]) -> list[float]:
    """Where columns of words begin, in points from the page's left, and where the last one ends."""
    sides = sorted((word["x0"], word["x1"]) for word in words)
    ends = list(accumulate((end for _, end in sides), max))
    inner = [
        start - 3 for (start, _), end in zip(sides[1:], ends) if start - end > 8
    ]  # wider than a space
    return [sides[0][0], *inner, ends[-1]] if sides else []


def _paragraphs(blocks: list[Block], compounds: set[str]) -> list[Block]:
    """Lines in reading order to paragraphs; tables stay. A hyphen at a line's end goes, but for known ``compounds``."""

    def mend(broken: re.Match) -> str:
        return f"{broken[1]}-" if f"{broken[1]}-{broken[2]}".lower() in compounds else broken[1]

    paragraphs = blocks[:1]
    for line in blocks[1:]:
        last = paragraphs[-1]
        begins_one = re.match(r"[•▪◦‣–-] |\(?(?:\d{1,2}|[a-z])[.)] ", line.text) or label_of(
            line.text
        )
        is_beneath = 0 < line.box[3] - last.box[3] <= 1.6 * line.size and not begins_one
        is_in_sentence = line.text[:1].islower() and not re.search(
            r"[.!?:;…]\W*$", last.text
        )  # of the column before
        if (
            line.size
            and (line.size, line.bold) == (last.size, last.bold)
            and (is_beneath or is_in_sentence)
        ):
            last.text += f"\n{line.text}"
            last.box = line.box
        else:
            paragraphs.append(line)
    for it in paragraphs:
        it.text = re.sub(r"([^\W\d_]+)[-\u2010\u00ad]\n(?=([^\W\d_A-Z]+))", mend, it.text).replace(
            "\n", " "
        )
    return paragraphs


def _caption_tables(pages: list[list[Block]]) -> None:
    """Move captions to the nearer table right above or below them, and give the other tables the next free number.

    But a table at the top of a page carries on the one at the end of the page before, if it has as many columns.
    """
    for blocks in pages:
        for caption in [it for it in blocks if label_of(it.text)]:
            at, height = blocks.index(caption), sum(caption.box[1::2])
            beside = [it for it in blocks[max(at - 1, 0) : at + 2] if it.rows and not it.text]
            if beside:
                min(beside, key=lambda it: abs(sum(it.box[1::2]) - height)).text = caption.text
                blocks.remove(caption)
    used = {label_of(it.text) for blocks in pages for it in blocks if it.rows}
    free = (number for number in count(1) if str(number) not in used)
    for before, blocks in pairwise([[], *pages]):
        for table in (it for it in blocks if it.rows and not it.text):
            header = before[-1].rows[0] if table is blocks[0] and before and before[-1].rows else ()
            if len(header) == len(table.rows[0]):
                table.text = f"{before[-1].text.removesuffix(' (continued)')} (continued)"
                table.rows = table.rows if table.rows[0] == header else [header, *table.rows]
            else:
                table.text = f"Table {next(free)}"


def _texts(blocks: list[Block], headings: set[Block], title: str) -> Iterator[tuple[str, str]]:
    """Kind and text of each passage of a page."""
    above = ""  # headings that wait for text
    for block in blocks:
        if block.rows:
            yield "table", f"{block.text}\n\n{markdown(block.rows)}"
        elif block in headings:
            above += f"{block.text}\n" if block.text != title else ""
        else:
            part = ""
            for sentence in split_sentences(block.text):
                if part and len(part) + 1 + len(sentence) > PASSAGE_LENGTH:
                    yield "text", above + part
                    above = part = ""
                part += f" {sentence}" if part else sentence
            yield "text", above + part
            above = ""
    if above:
        yield "text", above.rstrip("\n")


def markdown(rows: Sequence[Sequence[str]]) -> str:
    """Rows of cells as a markdown table whose header is the first row; a bar in a cell is escaped."""
    header, *rest = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in [header, ["---"] * len(header), *rest])
