"""Tables of PDFs: rules, captions, numbers, pages, markdown; and the structures that hold them."""

import pytest
from reportlab.lib import colors
from reportlab.platypus import Table

from kit.corpus import Corpus, Passage
from kit.corpus.pdf import markdown, read_document
from kit.corpus.structures import label_of, structures

AROUND = [("GRID", (0, 0), (-1, -1), 0.5, colors.black)]
ACROSS = [
    ("LINEABOVE", (0, 0), (-1, 0), 1, colors.black),
    ("LINEBELOW", (0, 0), (-1, 0), 0.5, colors.black),
    ("LINEBELOW", (0, -1), (-1, -1), 1, colors.black),
]
PEARS = [["Orchard", "Pears"], ["Hask", "12"], ["Marl", "9"]]


def draw(canvas, rows, y, style=AROUND, x=50):
    table = Table(rows, 100, 18, style=style)
    table.wrapOn(canvas, 300, 300)
    table.drawOn(canvas, x, y)


def tables(data: bytes) -> list[Passage]:
    return [passage for passage in read_document("a.pdf", data) if passage.kind == "table"]


@pytest.mark.parametrize("style", [AROUND, ACROSS])
@pytest.mark.parametrize("caption", [470, 395])
def test_a_table_with_its_caption_above_or_below(pdf, style, caption):
    def page(canvas):
        canvas.drawString(50, 520, "The pears were counted. Table 1 has the counts.")
        canvas.drawString(50, caption, "Table 1. Pears by orchard")
        draw(canvas, PEARS, 410, style)

    text, table = read_document("a.pdf", pdf(page))
    assert text.text == "The pears were counted. Table 1 has the counts."
    lines = [
        "Table 1. Pears by orchard",
        "",
        "| Orchard | Pears |",
        "| --- | --- |",
        "| Hask | 12 |",
        "| Marl | 9 |",
    ]
    assert (table.kind, table.page, table.text.split("\n")) == ("table", 1, lines)


def test_two_tables_across_are_told_apart_by_the_text_between(pdf):
    def page(canvas):
        draw(canvas, PEARS, 410, ACROSS)
        canvas.drawString(50, 380, "Apples were counted too, by other people.")
        draw(canvas, [["Orchard", "Apples"], ["Marl", "30"]], 320, ACROSS)

    assert [(table.text[:8], table.text.count("\n")) for table in tables(pdf(page))] == [
        ("Table 1\n", 5),
        ("Table 2\n", 4),
    ]


def test_a_table_without_a_number_gets_the_next_free_one(pdf):
    def page(canvas):
        draw(canvas, PEARS, 450)
        canvas.drawString(50, 404, "Table 1: Again")
        draw(canvas, PEARS, 340)
        canvas.drawString(50, 270, "Table A.1: More")
        draw(canvas, PEARS, 205)
        draw(canvas, PEARS, 100)

    assert [label_of(table.text) for table in tables(pdf(page))] == ["2", "1", "A1", "3"]


def test_a_table_that_runs_over_pages_is_one_structure_with_a_part_a_page(pdf):
    def first(canvas):
        canvas.drawString(50, 480, "Table 4: Pears")
        draw(canvas, PEARS, 415)

    def second(canvas):
        draw(canvas, [["Brade", "7"], ["Selby", "3"]], 500)
        canvas.drawString(50, 440, "All of them were eaten.")

    passages = read_document("a.pdf", pdf(first, second))
    assert [(passage.kind, passage.page) for passage in passages] == [
        ("table", 1),
        ("table", 2),
        ("text", 2),
    ]
    lines = [
        "Table 4: Pears (continued)",
        "",
        "| Orchard | Pears |",
        "| --- | --- |",
        "| Brade | 7 |",
    ]
    assert passages[1].text.split("\n")[:5] == lines
    held = {
        str(structure): rows.tolist() for structure, rows in structures(Corpus(passages)).items()
    }
    assert held == {"page 1 of a": [0], "page 2 of a": [1, 2], "table 4 of a": [0, 1]}


def test_a_box_around_text_is_no_table(pdf):
    def page(canvas):
        canvas.rect(40, 400, 300, 60)
        canvas.drawString(50, 420, "Beware of the geese.")

    [passage] = read_document("a.pdf", pdf(page))
    assert (passage.kind, passage.text) == ("text", "Beware of the geese.")


def test_markdown_keeps_every_cell_in_its_place():
    assert markdown([["a|b", "c"], ["d e", ""]]) == "| a\\|b | c |\n| --- | --- |\n| d e |  |"


def test_what_a_caption_begins_with():
    labels = {"Table 3: Flow": "3", "TABLE IV": "4", "Tab. 2 – Dues": "2", "Table A.1. Dues": "A1"}
    labels |= {"Table 2.1 Dues": "2.1", "Table No. 5: Dues": "5"}
    none = [
        "Table 3 shows the flow.",
        "Tables are made of oak.",
        "Table Mountain",
        "See Table 3: Flow",
    ]
    assert {text: label_of(text) for text in [*labels, *none]} == labels | dict.fromkeys(none)
