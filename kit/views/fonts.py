"""Scripts that the figures' own font lacks are drawn with the fonts that the machine has."""

import unicodedata
import warnings
from functools import cache
from pathlib import Path

from matplotlib.figure import Figure
from matplotlib.font_manager import FontPath, findfont, fontManager, get_font
from matplotlib.text import Text

from kit.errors import note

_USUAL = "DejaVu Sans"  # as in kit.mplstyle
_BOXES = "Last Resort High-Efficiency"  # matplotlib's: a box for any character

# Matplotlib's own warning is one for each character; the kit's is one for all.
warnings.filterwarnings("ignore", "Glyph .* missing from font", module=r"kit\.views")


def show_scripts(figure: Figure) -> None:
    """Give the texts of a figure the fonts that have their letters."""
    texts = figure.findobj(Text)
    names = families("".join(text.get_text() for text in texts))
    if names == [_USUAL]:
        return

    for text in texts:
        text.set_fontfamily(names)
    for ax in figure.axes:
        ax.tick_params(labelfontfamily=names)  # some labels are made while it is drawn


def families(text: str) -> list[str]:
    """The fonts that have the letters of a text between them, the usual one first.

    A warning names the scripts of letters that no font of the machine has.
    """
    letters = frozenset(letter for letter in text if unicodedata.category(letter)[0] in "LM")
    return [_USUAL, *_others(letters - _drawn(findfont(_USUAL), letters))]


@cache
def _others(missing: frozenset[str]) -> list[str]:
    """Fonts for these letters: at each step the one that has most of them, best without serifs."""
    names = []
    while missing:
        drawn = {name: _drawn(path, missing) for name, path in _fonts().items()}
        best = max(sorted(drawn), key=lambda name: (len(drawn[name]), "Sans" in name))
        if not drawn[best]:
            scripts = {unicodedata.name(letter, "OTHER").split()[0] for letter in missing}
            listed = ", ".join(sorted(scripts))
            line = f"this machine has no font for some letters of a figure (script: {listed})"
            note(f"{line}; install one, such as Noto Sans")
            break
        names.append(best)
        missing -= drawn[best]
    return names


def _fonts() -> dict[str, FontPath]:
    """A font of each family, upright where there is one."""
    fonts = {}
    for font in sorted(fontManager.ttflist, key=lambda font: font.style != "normal"):
        if font.name != _BOXES and Path(font.fname).exists():
            fonts.setdefault(font.name, FontPath(font.fname, font.index))
    return fonts


def _drawn(path: FontPath, letters: frozenset[str]) -> frozenset[str]:
    """Those of the letters that a font has."""
    glyphs = get_font(path)
    return frozenset(letter for letter in letters if glyphs.get_char_index(ord(letter)))
