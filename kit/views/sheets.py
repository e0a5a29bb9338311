"""Passages and lines as HTML to read beside a canvas. All text is escaped: it is data."""

import re
from collections.abc import Sequence
from html import escape

import pandas as pd
from pandas import DataFrame

from kit.corpus import Passage
from kit.corpus.structures import label_of
from kit.corpus.types import Texts

#: Between two cells; a bar that belongs to a cell's text is escaped.
_BAR = re.compile(r"(?<!\\)\|")


def evidence_html(passages: Sequence[Passage]) -> str:
    """A numbered list of passages with title, document, table and page; tables as tables."""
    items = []
    for passage in passages:
        head = f"<strong>{escape(passage.title)}</strong>"
        source = f"<small>{escape(_source(passage))}</small>"
        body = f"<p>{escape(passage.text)}</p>"
        if passage.kind == "table":
            body = table_html(passage.text)
        items.append(f"<li>{head} {source}{body}</li>")

    listed = "".join(items)
    return f'<div class="kit-sheet"><ol aria-label="Evidence">{listed}</ol></div>'


def _source(passage: Passage) -> str:
    """Where a passage stands: its document, and in it the table and page."""
    parts = []
    label = label_of(passage.text)
    if passage.kind == "table" and label:
        parts.append(f"Table {label}")
    if passage.page is not None:
        parts.append(f"page {passage.page}")
    if not parts:
        parts.append(f"§{passage.position + 1}")
    return f"{passage.document} · {', '.join(parts)}"


def table_html(text: str) -> str:
    """A table passage, caption and markdown, as an HTML table.

    Its first row are the names of the columns; a rule stands below it.
    """
    rows = []
    words = []
    for line in map(str.strip, text.splitlines()):
        if line.startswith("|"):
            cells = _BAR.split(line)[1:-1]
            rows.append([cell.strip().replace("\\|", "|") for cell in cells])
        else:
            words.append(line)

    head = rows[0] if rows else []
    table = DataFrame(rows[2:]).reindex(columns=range(len(head)))
    caption = escape(" ".join(words).strip())
    with pd.option_context("display.max_colwidth", None):
        html = table.set_axis(head, axis=1).to_html(
            index=False,
            border=0,
            na_rep="",
        )
    labelled = html.replace("<table", f'<table aria-label="{caption}"', 1)
    return f"<p><strong>{caption}</strong></p>{labelled}"


def lines_html(lines: Texts, kind: str = "kit-sheet", role: str = "status") -> str:
    """Lines of text as paragraphs in a box of this CSS class and ARIA role."""
    paragraphs = "".join(f"<p>{escape(line)}</p>" for line in lines)
    return f'<div class="{kind}" role="{role}">{paragraphs}</div>'
