"""What was fetched, and from which documents, as HTML. Text of a document is data: all of it is escaped."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from html import escape

from kit.corpus import Corpus, Passage
from kit.corpus.pdf import label_of, structures

_BAR = re.compile(r"(?<!\\)\|")  # between two cells; one that belongs to a cell's text is escaped
_NUMBER = re.compile(r"[-+−]?[\d.,\s]*\d[\d.,\s]*%?")

#: A white sheet with dark ink in light and dark themes, as the canvas is.
SHEET = """<style>
.kit-sheet { color: #222; background: #fff; font-size: 14px; line-height: 1.35; padding: 2px 8px; }
.kit-sheet ol { list-style: none; margin: 0; padding: 0; }
.kit-sheet li { margin: 4px 0; padding: 2px 8px; border-left: 6px solid #ddd; overflow-wrap: anywhere; }
.kit-sheet li.kit-on-path { border-left-color: #cc3311; background: #fdf1ee; }
.kit-sheet p { margin: 2px 0; white-space: pre-wrap; }
.kit-sheet small { color: #5c5c5c; font-size: 12.5px; }
.kit-sheet small b { color: #a3230a; }
.kit-sheet table { border-collapse: collapse; color: #222; background: #fff; }
.kit-sheet td, .kit-sheet th { border: 1px solid #bbb; padding: 1px 8px; text-align: left; }
.kit-sheet td.kit-number { text-align: right; }
.kit-sheet caption { text-align: left; font-weight: 600; color: #222; }
.kit-problem { color: #7a0000; background: #fdecea; border-left: 4px solid #b00020; padding: 4px 8px; }
.kit-problem p { margin: 0; overflow-wrap: anywhere; }
</style>"""


def where(passage: Passage) -> str:
    """Where a passage stands: its table and its page, as far as it has them."""
    table = label_of(passage.text) if passage.kind == "table" else None
    parts = [f"Table {table}"] * bool(table) + [f"page {passage.page}"] * (passage.page is not None)
    return ", ".join(parts) or f"§{passage.position + 1}"


def evidence_html(passages: Sequence[Passage], ways: Mapping[str, str], marked: Collection[str] = ()) -> str:
    """Numbered passages with document, title and place; tables as tables.

    ``ways`` says of an id how its passage was come by. Those of ``marked`` are told to lie on the path.
    """
    items = []
    for number, passage in enumerate(passages, start=1):
        on_path = passage.id in marked
        told = [escape(part) for part in (passage.document, where(passage), ways.get(passage.id, "")) if part]
        head = f"<strong>{number} · {escape(passage.title)}</strong> <small>{' · '.join(told)}"
        head += " · <b>on the path</b></small>" if on_path else "</small>"
        body = table_html(passage.text) if passage.kind == "table" else f"<p>{escape(passage.text)}</p>"
        items.append(f'<li class="{"kit-on-path" * on_path}">{head}{body}</li>')
    return f'{SHEET}<div class="kit-sheet"><ol aria-label="Evidence">{"".join(items)}</ol></div>'


def table_html(text: str) -> str:
    """A table passage, caption and markdown, as an HTML table; its first row are the names of the columns."""
    lines = text.splitlines()
    caption = " ".join(line for line in lines if line and not line.startswith("|"))
    rows = [_cells(line) for line in lines if line.startswith("|")]
    rows = [row for number, row in enumerate(rows) if number != 1]  # the rule below the head
    head, *body = rows or [[]]
    return f"<table><caption>{escape(caption)}</caption>{_rows(head, body)}</table>"


def documents_html(corpus: Corpus) -> str:
    """What is loaded: a row a document with the numbers of its pages, tables and passages, and their sums."""
    kinds = [(structure.document, structure.kind) for structure in structures(corpus)]
    counts = {
        name: (kinds.count((name, "page")), kinds.count((name, "table")), len(rows))
        for name, rows in corpus.documents.items()
    }
    rows = [(corpus.passages[rows[0]].title, name, *counts[name]) for name, rows in corpus.documents.items()]
    rows.append((f"{len(rows)} document{'s' * (len(rows) != 1)}", "", *map(sum, zip(*counts.values()))))
    names = ("title", "file", "pages", "tables", "passages")
    return sheet_html("Documents loaded", names, [[str(value) for value in row] for row in rows])


def sheet_html(name: str, head: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    """A table of plain text under the name that a screen reader tells; numbers stand at the right."""
    table = f'<table aria-label="{escape(name)}">{_rows(head, body)}</table>'
    return f'{SHEET}<div class="kit-sheet">{table}</div>'


def lines_html(lines: Sequence[str], kind: str = "kit-sheet") -> str:
    """Plain lines, one below the other; ``kit-problem`` makes them an alert."""
    role = "alert" if kind == "kit-problem" else "status"
    return f'{SHEET}<div class="{kind}" role="{role}">{"".join(f"<p>{escape(line)}</p>" for line in lines)}</div>'


def _cells(line: str) -> list[str]:
    return [cell.strip().replace("\\|", "|") for cell in _BAR.split(line.strip())[1:-1]]


def _rows(head: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    """The inside of a table; numbers stand at the right."""
    names = "".join(f"<th>{escape(name)}</th>" for name in head)
    rows = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in body)
    return f"<thead><tr>{names}</tr></thead><tbody>{rows}</tbody>"


def _cell(text: str) -> str:
    kind = "kit-number" if _NUMBER.fullmatch(text) else "kit-text"
    return f'<td class="{kind}">{escape(text)}</td>'
