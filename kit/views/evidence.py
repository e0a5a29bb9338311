"""What was fetched, and from which documents, as HTML. Text of a document is data: all of it is escaped."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from html import escape

from kit.corpus import Corpus, Passage
from kit.corpus.pdf import label_of, structures

_BAR = re.compile(r"(?<!\\)\|")  # between two cells; one that belongs to a cell's text is escaped

#: A white sheet with dark ink in light and dark themes, as the canvas is.
SHEET = """<style>
.kit-sheet { color: #222; background: #fff; font-size: 14px; line-height: 1.35; padding: 2px 8px; }
.kit-sheet ol { list-style: none; margin: 0; padding: 0; }
.kit-sheet li { margin: 4px 0; padding: 2px 8px; border-left: 6px solid #ddd; overflow-wrap: anywhere; }
.kit-sheet li.kit-on-path { border-left-color: #cc3311; background: #fdf1ee; }
.kit-sheet p { margin: 2px 0; white-space: pre-wrap; }
.kit-sheet small { color: #5c5c5c; font-size: 12.5px; }
.kit-sheet table { border-collapse: collapse; color: #222; background: #fff; }
.kit-sheet td, .kit-sheet th { border: 1px solid #bbb; padding: 1px 8px; text-align: left; }
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
        told = [passage.document, where(passage), ways.get(passage.id, ""), "on the path" * on_path]
        head = f"<strong>{number} · {escape(passage.title)}</strong>"
        head += f" <small>{escape(' · '.join(filter(None, told)))}</small>"
        body = table_html(passage.text) if passage.kind == "table" else f"<p>{escape(passage.text)}</p>"
        items.append(f'<li class="{"kit-on-path" * on_path}">{head}{body}</li>')
    return f'{SHEET}<div class="kit-sheet"><ol aria-label="Evidence">{"".join(items)}</ol></div>'


def table_html(text: str) -> str:
    """A table passage, caption and markdown, as an HTML table; its first row are the names of the columns."""
    lines = text.splitlines()
    rows = [
        [cell.strip().replace("\\|", "|") for cell in _BAR.split(line.strip())[1:-1]]
        for line in lines
        if line.startswith("|")
    ]
    caption = " ".join(line for line in lines if line and not line.startswith("|"))
    return _table(
        f"<table><caption>{escape(caption)}</caption>", rows[:1] + rows[2:]
    )  # without the rule below the head


def documents_html(corpus: Corpus) -> str:
    """What is loaded: a row a document with the numbers of its pages, tables and passages."""
    kinds = [(structure.document, structure.kind) for structure in structures(corpus)]
    rows = [["title", "file", "pages", "tables", "passages"]]
    for name, places in corpus.documents.items():
        counts = kinds.count((name, "page")), kinds.count((name, "table")), len(places)
        rows.append([corpus.passages[places[0]].title, name, *map(str, counts)])
    begin = '<table aria-label="Documents loaded">'
    return f'{SHEET}<div class="kit-sheet">{_table(begin, rows)}</div>'


def lines_html(lines: Sequence[str], kind: str = "kit-sheet") -> str:
    """Plain lines, one below the other; ``kit-problem`` makes them an alert."""
    role = "alert" if kind == "kit-problem" else "status"
    return f'{SHEET}<div class="{kind}" role="{role}">{"".join(f"<p>{escape(line)}</p>" for line in lines)}</div>'


def _table(begin: str, rows: Sequence[Sequence[str]]) -> str:
    head, *body = [[escape(cell) for cell in row] for row in rows] or [[]]
    names = "".join(f"<th>{cell}</th>" for cell in head)
    cells = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in body)
    return f"{begin}<thead><tr>{names}</tr></thead><tbody>{cells}</tbody></table>"
