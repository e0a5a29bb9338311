"""What glyphs of PDFs stand for."""

import pytest

from kit.corpus.pdf import read_document
from kit.corpus.pdf.glyphs import readable, with_bullets

TOLD = "a.pdf, page 1: glyphs whose letter the file does not tell are read as \ufffd"
FONT = b"/Type /Font /Subtype /Type1 /BaseFont /Times-Roman"


def document(codes: bytes, font: bytes, meanings: bytes = b"") -> bytes:
    """A PDF whose one line has these codes; ``meanings`` is the font's map to Unicode (6 0 R)."""
    shown = b"BT /F1 10 Tf 50 480 Td (%s) Tj ET" % codes
    bodies = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 400 600] /Contents 4 0 R "
        b"/Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(shown), shown),
        b"<< %s >>" % font,
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(meanings), meanings),
    ]
    content = b"%PDF-1.4\n"
    starts = []
    for index, body in enumerate(bodies, 1):
        starts.append(len(content))
        content += b"%d 0 obj\n%s\nendobj\n" % (index, body)
    table = b"".join(b"%010d 00000 n \n" % start for start in starts)
    trailer = b"trailer << /Size 7 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % len(content)
    return content + b"xref\n0 7\n0000000000 65535 f \n" + table + trailer


def read(data: bytes) -> tuple[list[str], list[str]]:
    notes = []
    passages = read_document("a.pdf", data, notes=notes)
    return [passage.text for passage in passages], notes


def test_names_of_glyphs_become_letters():
    names = b"/f_i /ffi /g123 /oneoldstyle"
    font = FONT + b" /Encoding << /Type /Encoding /Differences [1 %s] >>" % names
    assert read(document(rb"\001sh in the o\002ce, \004820", font)) == (
        ["fish in the office, 1820"],
        [],
    )


def test_a_glyph_without_meaning_is_a_bullet_alone_and_told_in_a_word():
    names = b"/g123"
    font = FONT + b" /Encoding << /Type /Encoding /Differences [1 %s] >>" % names
    assert read(document(rb"\001 Pears and \001 har\001est and har\001est", font)) == (
        ["• Pears and • har\ufffdest and har\ufffdest"],
        [TOLD],
    )


@pytest.mark.parametrize("code", [b"0000", b"000c", b"e123", b"ffff"])
def test_codes_that_are_no_characters_never_enter_a_word(code):
    meanings = b"""begincmap 1 begincodespacerange <00> <ff> endcodespacerange
    2 beginbfchar <01> <%s> <02> <fb01> endbfchar endcmap"""
    data = document(rb"a har\001est of \002sh", FONT + b" /ToUnicode 6 0 R", meanings % code)
    assert read(data) == (["a har\ufffdest of fish"], [TOLD])


def test_letters_that_stand_behind_forms():
    forms = {
        "ﬀ": "ff",
        "ﬄ": "ffl",
        "ﬆ": "st",
        "ﻻ": "لا",
        "\uf730": "0",
        "\uf761": "a",
        "\uf77a": "z",
        "²": "²",
        "é": "é",
        "\x07": "\ufffd",
        "(cid:7)": "\ufffd",
    }
    assert {form: readable(form) for form in forms} == forms
    assert with_bullets("\ufffd pears\n\ufffdapples \ufffd a\ufffdb") == (
        "• pears\n•apples • a\ufffdb"
    )
