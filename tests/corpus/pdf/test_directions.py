"""Text of PDFs that is drawn twice, sideways, upside down or aslant, and pages without any."""

from collections.abc import Callable

import pytest
from reportlab.lib import colors
from reportlab.platypus import Table

from kit.corpus.pdf import read_document
from kit.errors import InputError

PEARS = [["Orchard", "Pears"], ["Hask", "12"], ["Marl", "9"]]
TABLE = "Table 1\n\n| Orchard | Pears |\n| --- | --- |\n| Hask | 12 |\n| Marl | 9 |"


def sheet(canvas, angle: int) -> None:
    """Two lines and a table, turned counter-clockwise about the middle of the page."""
    canvas.translate(200, 300)
    canvas.rotate(angle)
    canvas.setFont("Times-Roman", 10)
    canvas.drawString(-100, 100, "The mill burned in 1820, and")
    canvas.drawString(-100, 88, "a bell was saved.")
    table = Table(PEARS, 100, 18, style=[("GRID", (0, 0), (-1, -1), 0.5, colors.black)])
    table.wrapOn(canvas, 300, 300)
    table.drawOn(canvas, -100, 0)


def scan(canvas) -> None:
    """A page that is one picture, of one grey point, and no letters."""
    canvas.addLiteral("q 300 0 0 500 50 50 cm BI /W 1 /H 1 /BPC 8 /CS /G ID a EI Q")


def texts(data: bytes, notes: list[str] | None = None) -> list[str]:
    return [passage.text for passage in read_document("a.pdf", data, notes=notes)]


@pytest.mark.parametrize("size", [4, 10])
@pytest.mark.parametrize("shift", [0, 0.04])
def test_letters_drawn_twice_are_read_once(pdf, size, shift):
    """With true double letters, the narrowest among them; the shift is a share of the size."""
    line = "All ill bulls in Hawaii went skiing, 1110 mm."

    def bold(canvas):
        canvas.setFont("Helvetica", size)
        canvas.drawString(50, 480, line)
        canvas.drawString(50 + shift * size, 480 + shift * size, line)

    assert texts(pdf(bold)) == [line]


def test_a_table_drawn_twice_is_read_once(pdf):
    def page(canvas):
        for _ in range(2):
            canvas.saveState()
            sheet(canvas, 0)
            canvas.restoreState()

    assert texts(pdf(page)) == ["The mill burned in 1820, and a bell was saved.", TABLE]


@pytest.mark.parametrize("angle", [0, 90, 180, 270])
@pytest.mark.parametrize("is_page_rotated", [False, True])
def test_a_page_is_read_however_its_text_is_turned(pdf, angle, is_page_rotated):
    def page(canvas: Callable) -> None:
        canvas.setPageRotation(angle if is_page_rotated else 0)
        sheet(canvas, angle)

    assert texts(pdf(page)) == ["The mill burned in 1820, and a bell was saved.", TABLE]


@pytest.mark.parametrize("angle", [90, 180, 270])
def test_text_in_the_margin_follows_the_page(pdf, angle):
    def page(canvas):
        canvas.drawString(50, 480, "The mill stands at Lowick, on the river Ode.")
        canvas.translate(200, 300)
        canvas.rotate(angle)
        canvas.drawString(-100, 0, "It burned in 1820.")

    assert texts(pdf(page)) == [
        "The mill stands at Lowick, on the river Ode.",
        "It burned in 1820.",
    ]


def test_letters_aslant_are_left_out_and_told(pdf):
    def page(canvas):
        canvas.drawString(50, 480, "The mill stands at Lowick.")
        canvas.translate(200, 300)
        canvas.rotate(45)
        canvas.drawString(0, 0, "DRAFT")

    notes = []
    assert texts(pdf(page), notes) == ["The mill stands at Lowick."]
    assert notes == ["a.pdf, page 1: letters aslant are left out (a watermark?)"]


def test_a_page_of_pictures_is_told_as_a_scan(pdf):
    notes = []
    sideways = pdf("One.", scan, "", scan, lambda canvas: sheet(canvas, 90))
    assert texts(sideways, notes)[:2] == ["One.", "The mill burned in 1820, and a bell was saved."]
    assert notes == ["a.pdf, page 2 and 1 more: pictures without text are left out (a scan?)"]
    with pytest.raises(InputError, match=r"^a\.pdf: expected text, there is none \(a scan\?"):
        texts(pdf(scan, scan))


def test_a_scan_whose_pages_bear_only_a_running_head_is_told(pdf):
    def page(canvas):
        scan(canvas)
        canvas.drawString(50, 590, "Scanned for the archive")

    with pytest.raises(InputError, match="expected text, there is none"):
        texts(pdf(page, page))
