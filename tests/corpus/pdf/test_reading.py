"""PDFs to passages; tests/worlds/test_reports.py has columns, running heads and feet."""

import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from reportlab.lib.pdfencrypt import StandardEncryption

from kit.corpus.pdf import read_document
from kit.errors import InputError


def texts(data: bytes) -> list[str]:
    return [passage.text for passage in read_document("a.pdf", data)]


def test_pages_documents_and_positions(pdf, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    passages = [
        *read_document("dir/My mill.pdf", pdf("One.", "", "Two.")),
        *read_document("b.PDF", pdf("Three.")),
    ]
    assert [
        (passage.id, passage.document, passage.title, passage.page, passage.position)
        for passage in passages
    ] == [
        ("My_mill#p1.1", "My mill", "My mill", 1, 0),
        ("My_mill#p3.1", "My mill", "My mill", 3, 1),
        ("b#p1.1", "b", "b", 1, 0),
    ]
    assert os.listdir(tmp_path) == []


def test_a_hyphen_at_a_lines_end_is_mended(pdf):
    lines = (
        "A good harv-\nest of the well-\nknown pear, which is well-known. The Anglo-\nSaxon one, "
        "in Saint-\nÉtienne."
    )
    [text] = texts(pdf(lines))
    assert text == (
        "A good harvest of the well-known pear, which is well-known. The Anglo- Saxon one, "
        "in Saint- Étienne."
    )


def test_a_wide_gap_begins_a_paragraph_and_headings_go_with_the_next(pdf):
    def page(canvas):
        canvas.setFont("Helvetica-Bold", 18)
        canvas.drawString(50, 500, "The Pear Report")
        canvas.setFont("Helvetica-Bold", 12)
        canvas.drawString(50, 460, "Harvest")
        canvas.setFont("Helvetica", 10)
        lines = "It was good in the north and", "poor in the south.", "Prices fell.", "End."
        for y, line in zip((440, 428, 404, 380), lines):
            canvas.drawString(50, y, line)

    passages = read_document("a.pdf", pdf(page))
    assert {passage.title for passage in passages} == {"The Pear Report"}
    first = "Harvest\nIt was good in the north and poor in the south."
    assert [passage.text for passage in passages] == [first, "Prices fell.", "End."]


def test_a_long_paragraph_is_cut_between_sentences(pdf):
    sentence = "The keeper of the lock at Selby wrote down each ship that came."
    parts = texts(pdf("\n".join([sentence] * 9)))
    assert " ".join(parts) == " ".join([sentence] * 9)
    assert [len(part) for part in parts] == [3 * len(sentence) + 2] * 3


def test_items_of_a_list_are_paragraphs(pdf):
    assert texts(pdf("These are needed:\n• a rope\n2. a lamp")) == [
        "These are needed:",
        "• a rope",
        "2. a lamp",
    ]


def scan(canvas):
    canvas.rect(50, 50, 20, 20)  # a picture, no letters


def test_a_bad_file_ends_in_one_line(pdf):
    broken = "expected a PDF, this file is broken or none (PdfminerException)"
    empty = "expected text, there is none (a scan? run text recognition on it first)"
    secret = "expected a PDF that opens without a password, this one is encrypted"
    for data, line in [
        (b"%PDF-1.4 and no more", broken),
        (pdf("One.")[:400], broken),
        (pdf("", scan), empty),
        (pdf("One.", encrypt=StandardEncryption("secret")), secret),
    ]:
        with pytest.raises(InputError) as raised:
            read_document("a.pdf", data)
        assert str(raised.value) == f"a.pdf: {line}"


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(share=st.floats(0, 1), bytes_=st.binary(min_size=1, max_size=20), cut=st.booleans())
def test_any_damage_is_told_in_one_line_or_does_no_harm(pdf, share, bytes_, cut):
    data = pdf("The mill stands at Lowick.", "It burned in 1820.")
    at = int(share * len(data))
    damaged = data[:at] + bytes_ + (b"" if cut else data[at + len(bytes_) :])
    try:
        assert all(passage.page in (1, 2) for passage in read_document("a.pdf", damaged))
    except InputError as error:
        assert "\n" not in str(error) and str(error).startswith("a.pdf")
