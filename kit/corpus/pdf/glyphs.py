"""What the glyphs of a PDF stand for, where its fonts do not say it in plain letters."""

import re
import unicodedata
from string import ascii_lowercase, digits

#: Stands for a glyph whose meaning the file does not tell.
UNKNOWN = "\N{REPLACEMENT CHARACTER}"
#: Old-style figures and small capitals, as Adobe's glyph list numbers them for private use.
_ADOBE = dict(zip(range(0xF730, 0xF73A), digits)) | dict(
    zip(range(0xF761, 0xF77B), ascii_lowercase)
)
#: Ligatures, and the forms that Arabic and Hebrew letters have beside others.
_FORMS = re.compile("[\ufb00-\ufdff\ufe70-\ufefc]")
#: A code that the font gives no meaning: as pdfminer writes it, or a control or private character.
_MEANINGLESS = re.compile(r"\(cid:\d+\)|[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\uf8ff\ufff0-\uffff]")
_BULLET = re.compile(rf"(?m)^{UNKNOWN}|(?<!\S){UNKNOWN}(?!\S)")


def readable(glyph: str) -> str:
    """The letters that a glyph stands for, or :data:`UNKNOWN`."""
    letters = glyph.translate(_ADOBE)
    letters = _FORMS.sub(lambda form: unicodedata.normalize("NFKC", form[0]), letters)
    return _MEANINGLESS.sub(UNKNOWN, letters)


def with_bullets(line: str) -> str:
    """A line with bullets for unknown glyphs that begin it or stand alone: most often they are."""
    return _BULLET.sub("•", line)
