"""The directions in which the text of a page runs, and the page turned for each."""

from collections import Counter
from collections.abc import Callable, Iterator
from copy import copy
from itertools import product
from math import atan2, degrees

from pdfplumber.page import Page

from kit.corpus.pdf.glyphs import readable

SLANT = 15  # degrees, at most, by which a line that is read leaves its direction
OVERLAP = 0.4  # of a letter's width and height: one drawn nearer to its like is the same again

Letter = dict  # a char of pdfplumber


def quarter_turns(letter: Letter) -> int | None:
    """How many quarter turns, counter-clockwise, a letter is from upright; None: aslant."""
    across, up, *_ = letter["matrix"]
    angle = degrees(atan2(up, across))
    turns = round(angle / 90)
    return None if abs(angle - 90 * turns) > SLANT else turns % 4


def upright_views(page: Page) -> Iterator[Page]:
    """The page as often as text on it runs in one direction, turned so that this is upright.

    Each holds the letters of its direction, once where the file draws them twice, for bold or for
    a shadow. The direction of most letters comes first. Letters that stand aslant are in none.
    Glyphs are what they stand for (:func:`kit.corpus.pdf.glyphs.readable`).
    """
    directions = Counter(map(quarter_turns, page.chars))
    directions.pop(None, None)
    for turns, _ in directions.most_common():
        view = _turned(page, turns)
        for letter in view.chars:
            letter["text"] = readable(letter["text"])
        yield view.filter(_upright_once())


def unread_on(page: Page) -> Iterator[str]:
    """What is on a page that no view of it shows."""
    if page.images and not page.chars:
        yield "pictures without text are left out (a scan?)"
    if None in map(quarter_turns, page.chars):
        yield "letters aslant are left out (a watermark?)"


def _turned(page: Page, turns: int) -> Page:
    if not turns:
        return page
    content = copy(page.page_obj)
    content.rotate = (content.rotate + 90 * turns) % 360
    content.attrs = content.attrs | {"Rotate": content.rotate}
    return Page(page.pdf, content, page.page_number, page.initial_doctop)


def _upright_once() -> Callable[[dict], bool]:
    """A test that elements pass which are no letters, or upright and not drawn before."""
    drawn = set()

    def is_new(element: dict) -> bool:
        if element["object_type"] != "char":
            return True
        if quarter_turns(element) != 0:
            return False

        width = round(element["width"], 2)
        height = round(element["height"], 2)
        column = int(element["x0"] / (OVERLAP * width or 1))
        line = int(element["top"] / (OVERLAP * height or 1))

        glyph = ((element["text"], width, height),)
        around = product(glyph, range(column - 1, column + 2), range(line - 1, line + 2))
        is_first = drawn.isdisjoint(around)
        drawn.add((*glyph, column, line))
        return is_first

    return is_new
