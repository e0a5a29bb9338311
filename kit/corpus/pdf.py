"""PDFs to passages: text by page, tables as markdown with their page (kgp.txt §3 and 8.1, Figure 8).

A page is read in the order in which the file writes its text: programs write one column after the other.
"""

import logging
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from itertools import count, groupby, pairwise
from pathlib import PurePath

import numpy as np
import pdfplumber
from pdfplumber.utils import cluster_list, cluster_objects, get_bbox_overlap, merge_bboxes, objects_to_bbox, within_bbox

from kit.corpus.sentences import split_sentences
from kit.corpus.structures import label_of
from kit.corpus.types import Passage
from kit.errors import InputError

#: Characters of a passage, about: the paper's 250, read as characters (kgp-i05 of the claims; kgp.txt 8.1, Table 3).
PASSAGE_LENGTH = 250
_WORDS = {"x_tolerance_ratio": 0.15}  # of a letter's size: the least gap between two words
_MARGIN = 0.12  # of a page's height, above and below: where running heads and feet stand
#: What a list's item or a caption begins with.
_NEW_ITEM = re.compile(r"[•▪◦‣–—-]\s|\(?(?:\d{1,2}|[a-z])[.)]\s|Tab(?:le|\.)\s*(?:\d|[A-Z]\.?\d|[IVX]+\b)")

logging.getLogger("pdfminer").setLevel(logging.ERROR)  # it warns of colours and fonts that no text depends on


@dataclass(frozen=True)
class Block:
    """A line, the ``n_lines`` of a paragraph, or (with ``rows`` of cells) a table and its caption.

    ``box`` is (x0, top, x1, bottom) in points from the page's upper left corner. ``margin`` is the text, its numbers
    aside, of a line at the page's top or bottom, where running heads and feet stand.
    """

    text: str
    box: tuple[float, float, float, float] = (0, 0, 0, 0)
    size: float = 0
    bold: bool = False
    margin: str = ""
    n_lines: int = 1
    rows: tuple[tuple[str, ...], ...] = ()


def read_document(name: str, data: bytes) -> list[Passage]:
    """The passages of a PDF, in reading order; ``page`` counts from 1.

    ``document`` is the file's name without ``.pdf``, ``title`` the PDF's own, or its largest heading on page 1, or the
    name. A text passage is whole sentences of a paragraph on a page, of about :data:`PASSAGE_LENGTH` characters, or
    items of a list; headings begin the first passage below them. A table passage is a caption and markdown, one a page.

    Raises InputError: the file is broken, encrypted, or a scan without text; one line with the file and the page.
    """
    pages, title = _open(name, data)
    repeated = Counter(text for page in pages for text in {line.margin for line in page} - {""})
    often = 2 if len(pages) < 5 else 3
    pages = [[line for line in page if repeated[line.margin] < often] for page in pages]  # no running heads
    lines = [line for page in pages for line in page if not line.rows]
    words = Counter(re.findall(r"[^\W\d_]+(?:-[^\W\d_]+)?", " ".join(line.text for line in lines).lower()))
    sizes = Counter(line.size for line in lines for _ in line.text)
    size = max(sizes, key=sizes.get, default=10.0)
    steps = [(below.box[3] - above.box[3]) / below.size for above, below in pairwise(lines) if below.size]
    # Not the median: where most paragraphs are a line, most steps lead from one paragraph to the next.
    leading = np.quantile([step for step in steps if 0.8 < step < 2.5] or [1.25], 0.25, method="lower")
    pages = [_with_captions(_paragraphs(page, leading, words)) for page in pages]
    document = re.sub(r"\.pdf$", "", PurePath(name).name, flags=re.IGNORECASE)
    headings = [block for block in pages[0] if _is_heading(block, size)]
    title = title or max(headings, key=lambda it: it.size, default=Block(re.sub(r"[-_\s]+", " ", document))).text
    return _passages(document, title, _numbered(pages), size)


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
            title = pdf.metadata.get("Title")
    except Exception as error:
        if "PDFPasswordIncorrect" in repr(error):  # pdfplumber wraps it
            raise InputError("expected a PDF that opens without a password, this one is encrypted", file=name) from None
        raise InputError(f"expected a PDF, this file is broken or none ({type(error).__name__})", file=where) from None
    if not any(pages):
        raise InputError("expected text, there is none (a scan? run text recognition on it first)", file=name)
    title = " ".join(title.replace("\x00", "").split()) if isinstance(title, str) else ""
    by_default = re.match(r"microsoft word|(?:untitled|document)\d*$|.*\.(?:docx?|tex|dvi|indd|pdf)$", title.lower())
    return pages, "" if by_default else title


def _lines_and_tables(page) -> list[Block]:
    """The upright lines of a pdfplumber page, and its tables where the first of their words stands."""
    tables, parts = _tables(page), []
    upright = page.filter(lambda thing: thing.get("upright", True))
    for word in upright.extract_words(use_text_flow=True, return_chars=True, **_WORDS):
        x, y = (word["x0"] + word["x1"]) / 2, (word["top"] + word["bottom"]) / 2
        table = next((it for it in tables if it.box[0] <= x <= it.box[2] and it.box[1] <= y <= it.box[3]), None)
        last = parts[-1] if parts and isinstance(parts[-1], list) else None
        if table:
            parts += [table] if table not in parts else []
        elif last and abs(word["bottom"] - last[-1]["bottom"]) <= 2 and word["x0"] > last[-1]["x0"]:
            last.append(word)
        else:
            parts.append([word])
    return [_line(part, page.height) if isinstance(part, list) else part for part in parts]


def _line(words: list[dict], height: float) -> Block:
    chars, box = [char for word in words for char in word["chars"]], objects_to_bbox(words)
    size = Counter(round(char["size"], 1) for char in chars).most_common(1)[0][0]
    heavy = sum(bool(re.search("bold|black", char["fontname"], re.IGNORECASE)) for char in chars)
    # A sign that the font gives no letter for is most often a bullet.
    text = re.sub(r"\(cid:\d+\)", "•", " ".join(word["text"] for word in words))
    in_margin = box[3] < _MARGIN * height or box[1] > (1 - _MARGIN) * height
    margin = re.sub(r"\d+|^[ivxl]+$", "#", text) if in_margin else ""
    return Block(text, box, size, 2 * heavy > len(chars), margin)


def _tables(page) -> list[Block]:
    """The tables of a pdfplumber page with two rows and columns or more, without captions.

    A table is ruled around its cells, or has rules across: above and below its header and below its last row.
    """
    tables: list[Block] = []
    for found in [*page.find_tables(), *_ruled_across(page)]:
        texts = [[" ".join((cell or "").split()) for cell in row] for row in found.extract(**_WORDS)]
        columns = [column for column in zip(*filter(any, texts)) if any(column)]
        known = any(get_bbox_overlap(found.bbox, table.box) for table in tables)
        if len(columns) >= 2 and len(columns[0]) >= 2 and not known:
            tables.append(Block("", found.bbox, rows=tuple(zip(*columns))))
    return tables


def _ruled_across(page) -> list:
    """pdfplumber's tables without vertical rules: three rules or more of one length, and rows of cells in between."""
    rules: dict[tuple[int, int], list[float]] = defaultdict(list)
    for edge in page.horizontal_edges:
        rules[3 * round(edge["x0"] / 3) - 2, 3 * round(edge["x1"] / 3) + 2].append(edge["top"])
    # Parted where a gap is wider than a letter is high.
    cells, tables = page.extract_words(keep_blank_chars=True, x_tolerance_ratio=1), []
    for (x0, x1), tops in rules.items():
        spans = []  # two rules, and the rows of cells between them
        for top, bottom in pairwise(min(near) for near in cluster_list(tops, 2)):
            held = within_bbox(cells, (x0, top - 1, x1, bottom + 1))
            spans.append((top, bottom, cluster_objects(held, "bottom", 2)))
        for is_table, run in groupby(spans, lambda span: bool(span[2]) and all(len(row) > 1 for row in span[2])):
            spans_of_table = list(run)
            if is_table and len(spans_of_table) > 1:
                rows = [row for _, _, rows in spans_of_table for row in rows]
                sides = sorted((cell["x0"], cell["x1"]) for row in rows for cell in row)
                ends = np.maximum.accumulate([end for _, end in sides])
                white = [start - 3 for (start, _), end in zip(sides[1:], ends) if start - end >= 6]
                settings = {"vertical_strategy": "explicit", "horizontal_strategy": "text"}
                settings["explicit_vertical_lines"] = [sides[0][0], *white, ends[-1]]
                inside = (x0, spans_of_table[0][0], x1, spans_of_table[-1][1] + 1)
                tables += page.crop(inside, strict=False).find_tables(settings)
    return tables


def _is_heading(paragraph: Block, size: float) -> bool:
    """Whether a paragraph of a document with letters of this size is a heading."""
    stands_out = paragraph.size > 1.1 * size or (paragraph.bold and paragraph.size > 0.9 * size)
    short = paragraph.n_lines <= 3 and len(paragraph.text.split()) <= 20
    return stands_out and short and not paragraph.text.endswith((".", ";", ","))


def _paragraphs(blocks: Iterable[Block], leading: float, words: Counter[str]) -> list[Block]:
    """Lines in reading order to paragraphs; tables stay where they are.

    ``leading`` is the document's usual distance of baselines in letter sizes, ``words`` its words (see `_joined`).
    """
    groups: list[list[Block]] = []
    text: list[Block] = []
    for block in blocks:
        if text and not block.rows and _belongs(text, block, leading, beneath=text is groups[-1]):
            text.append(block)
        else:
            groups.append([block])
            text = text if block.rows else groups[-1]
    return [_joined(group, words) for group in groups]


def _belongs(text: list[Block], line: Block, leading: float, *, beneath: bool) -> bool:
    """Whether a line is of the last paragraph: right beneath it, or (after a table or column) inside its sentence."""
    last = text[-1]
    if line.bold != last.bold or abs(line.size - last.size) > 0.3:
        return False
    if line.text[:1].islower() and not re.search(r"[.!?:;…][\"'”’)\]]*$", last.text):
        return True
    indented = line.box[0] - last.box[0] > 0.8 * line.size and len(text) > 1
    apart = line.box[3] - last.box[3] > 1.3 * leading * line.size or line.box[1] < last.box[1]
    return beneath and not (indented or apart or _NEW_ITEM.match(line.text))


def _joined(lines: list[Block], words: Counter[str]) -> Block:
    """Lines as one text. A hyphen at an end goes, unless the document has the word with it and never without it."""
    text = lines[0].text
    for line in lines[1:]:
        broken, rest = re.search(r"([^\W\d_]+)[-\u2010\u00ad]$", text), re.match(r"[^\W\d_]+", line.text)
        if broken and line.text[0].islower():
            word = f"{broken[1]}-{rest[0]}".lower()
            kept = words[word] and not words[word.replace("-", "")]
            text = (text if kept else text[: broken.end(1)]) + line.text
        else:
            text = f"{text} {line.text}"
    return replace(lines[0], text=text, box=merge_bboxes([line.box for line in lines]), n_lines=len(lines))


def _with_captions(blocks: list[Block]) -> list[Block]:
    """Paragraphs and tables, the captions moved from the paragraphs to the nearer table right above or below them."""
    captions = []
    for i, caption in enumerate(blocks):
        beside = [j for j in (i - 1, i + 1) if 0 <= j < len(blocks) and blocks[j].rows and not blocks[j].text]
        if beside and not caption.rows and label_of(caption.text):
            nearest = min(beside, key=lambda j: abs(sum(blocks[j].box[1::2]) - sum(caption.box[1::2])))
            blocks[nearest] = replace(blocks[nearest], text=caption.text)
            captions.append(caption)
    return [block for block in blocks if block not in captions]


def _numbered(pages: Sequence[list[Block]]) -> Iterator[list[Block]]:
    """The blocks of a document's pages, every table with a caption.

    A table at the top of a page carries on the one at the end of the page before, if it has as many columns and no
    number of its own. Any other table without a number gets the next one that no caption has.
    """
    used = {label_of(block.text) for page in pages for block in page if block.rows}
    free = (number for number in count(1) if str(number) not in used)
    before = None
    for page in pages:
        for place, table in enumerate(page):
            label = label_of(table.text)
            header = before.rows[0] if before and before.rows and not place else ()
            if table.rows and len(header) == len(table.rows[0]) and label in (None, label_of(before.text)):
                rows = table.rows if table.rows[0] == header else (header, *table.rows)
                caption = f"{before.text.removesuffix(' (continued)')} (continued)"
                page[place] = replace(table, rows=rows, text=caption)
            elif table.rows and label is None:
                page[place] = replace(table, text=f"Table {next(free)}")
        before = page[-1] if page else None
        yield page


def _passages(document: str, title: str, pages: Iterable[list[Block]], size: float) -> list[Passage]:
    passages: list[Passage] = []
    slug = re.sub(r"\s+", "_", document)
    for number, blocks in enumerate(pages, 1):
        texts: list[tuple[str, str]] = []  # with their kind
        headings: list[str] = []
        for block in blocks:
            kind, last = texts[-1] if texts and not headings else ("", "")
            is_item = kind == "text" and _NEW_ITEM.match(block.text)
            if block.rows:
                texts.append(("table", f"{block.text}\n\n{markdown(block.rows)}"))
            elif _is_heading(block, size):
                headings += [block.text] if block.text != title else []
            elif is_item and len(last) + 1 + len(block.text) <= PASSAGE_LENGTH:
                texts[-1] = ("text", f"{last}\n{block.text}")
            else:
                first, *rest = _parts(block.text)
                texts += [("text", part) for part in ("\n".join([*headings, first]), *rest)]
                headings = []
        texts += [("text", "\n".join(headings))] if headings else []  # at the end of a page, or above a table alone
        for place, (kind, text) in enumerate(texts, 1):
            id = f"{slug}#p{number}.{place}"
            passages.append(Passage(id, title, text, document, len(passages), number, kind))
    return passages


def markdown(rows: Sequence[Sequence[str]]) -> str:
    """Rows of cells as a markdown table whose header is the first row; a bar in a cell is escaped."""
    header, *rest = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in [header, ["---"] * len(header), *rest])


def _parts(paragraph: str) -> list[str]:
    """A paragraph's sentences, packed to at most :data:`PASSAGE_LENGTH` characters, or one longer sentence."""
    parts: list[str] = []
    for sentence in split_sentences(paragraph):
        if parts and len(parts[-1]) + 1 + len(sentence) <= PASSAGE_LENGTH:
            parts[-1] += f" {sentence}"
        else:
            parts.append(sentence)
    return parts
