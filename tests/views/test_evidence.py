"""Evidence as HTML: tables are tables, numbers stand at the right, and no text is taken for markup."""

from __future__ import annotations

from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from kit.corpus import Corpus, Passage
from kit.corpus.pdf import markdown
from kit.views.evidence import documents_html, evidence_html, table_html, where

TABLE = Passage(
    "plan#p2.1",
    "Plan",
    "Table 3: Costs\n\n| item | pounds |\n| --- | --- |\n| a \\| b | 1,200 |",
    "plan",
    0,
    2,
    "table",
)
TEXT = Passage("plan#p2.2", "Plan", "A <b>bridge</b>.", "plan", 1, 2)


class Cells(HTMLParser):
    """The texts of a table's cells, row by row, as a browser would show them."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self._inside = False
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
            self._inside = True

    def handle_endtag(self, tag):
        self._inside = self._inside and tag not in ("td", "th")

    def handle_data(self, data):
        if self._inside:
            self.rows[-1][-1] += data


def test_a_table_is_shown_as_one():
    assert table_html(TABLE.text) == (
        "<table><caption>Table 3: Costs</caption><thead><tr><th>item</th><th>pounds</th></tr></thead>"
        "<tbody><tr><td>a | b</td><td>1,200</td></tr></tbody></table>"
    )


words = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z"), exclude_characters="\\"), max_size=8)


@given(st.integers(1, 4).flatmap(lambda n: st.lists(st.lists(words, min_size=n, max_size=n), min_size=2, max_size=4)))
def test_the_cells_of_any_table_are_those_of_its_markdown(rows):
    assert Cells(table_html(f"Table 1: <i>\n\n{markdown(rows)}")).rows == rows


def test_passages_are_numbered_and_those_on_the_path_are_told():
    html = evidence_html([TABLE, TEXT], {TEXT.id: "a seed, score 0.5"}, {TEXT.id})
    one, two = html.split("<li ")[1:]
    assert "<strong>1 · Plan</strong> <small>plan · Table 3, page 2</small>" in one
    assert one.startswith('class="">') and two.startswith('class="kit-on-path">')
    assert "plan · page 2 · a seed, score 0.5 · on the path</small><p>A &lt;b&gt;bridge&lt;/b&gt;.</p>" in two


def test_where_a_passage_stands():
    assert [where(it) for it in (TABLE, TEXT, Passage("x", "X", "x", "x", 4))] == ["Table 3, page 2", "page 2", "§5"]


def test_documents_are_counted():
    rows = Cells(documents_html(Corpus([TABLE, TEXT, Passage("x", "X", "x", "x")]))).rows
    assert rows[1:] == [
        ["Plan", "plan", "1", "1", "2"],
        ["X", "x", "0", "0", "1"],
    ]
