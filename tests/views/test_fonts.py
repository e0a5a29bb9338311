"""Letters that the figures' own font lacks, with a small font of this test's making."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen
from matplotlib.font_manager import fontManager
from matplotlib.image import imread

from kit.views import fonts, plots
from kit.views.fonts import families
from kit.views.style import Figure

HAN = "漢字"
DEVANAGARI = "हिन्दी"


def make_font(path: Path, name: str, letters: str) -> None:
    """A font whose letters are full squares."""
    pen = TTGlyphPen(None)
    pen.moveTo((0, 0))
    for corner in ((0, 1000), (1000, 1000), (1000, 0)):
        pen.lineTo(corner)
    pen.closePath()
    square = pen.glyph()

    glyph_names = {ord(letter): f"letter{rank}" for rank, letter in enumerate(letters)}
    order = [".notdef", *glyph_names.values()]
    builder = FontBuilder(1000)
    builder.setupGlyphOrder(order)
    builder.setupCharacterMap(glyph_names)
    builder.setupGlyf(dict.fromkeys(order, square))
    builder.setupHorizontalMetrics(dict.fromkeys(order, (1000, 0)))
    builder.setupHorizontalHeader(ascent=1000, descent=0)
    builder.setupNameTable({"familyName": name, "styleName": "Regular"})
    builder.setupOS2(usWeightClass=400)
    builder.setupPost()
    builder.save(path)


@pytest.fixture
def installed(tmp_path, monkeypatch) -> Iterator[None]:
    """A machine with a font that has one of the letters, and one that has both."""
    usual = [font for font in fontManager.ttflist if "DejaVu" in font.fname or "Last" in font.name]
    monkeypatch.setattr(fontManager, "ttflist", usual)
    fonts._others.cache_clear()
    for name, letters in (("A Part", HAN[0]), ("The Whole Serif", HAN), ("Whole Sans", HAN)):
        path = tmp_path / f"{name}.ttf"
        make_font(path, name, letters)
        fontManager.addfont(path)
    yield
    fonts._others.cache_clear()


def test_a_font_of_the_machine_is_found_by_its_letters(installed):
    assert families("Which film?") == ["DejaVu Sans"]
    assert families(f"Which {HAN}?") == ["DejaVu Sans", "Whole Sans"]


@pytest.mark.filterwarnings("error::UserWarning")
def test_names_in_other_scripts_are_drawn_with_them(installed, tmp_path):
    table = pd.DataFrame({"retriever": ["bm25", HAN], "mean": [0.2, 0.9], "low": 0.0, "high": 1.0})
    plots.points(table, f"A title with {HAN}").savefig(tmp_path / "a.svg")

    figure = Figure("t", (4, 2))
    figure.subplots().text(0.2, 0.3, HAN, fontsize=40, color="red")
    figure.savefig(tmp_path / "a.png")
    picture = imread(tmp_path / "a.png")
    red = (picture[..., 0] > 0.9) & (picture[..., 1] < 0.1)
    rows, columns = np.nonzero(red)
    height = rows.max() - rows.min() + 1
    width = columns.max() - columns.min() + 1
    assert red.sum() > 0.95 * height * width  # two full squares, no box with a rim
    assert width == pytest.approx(2 * height, rel=0.05)


def test_one_note_names_the_scripts_that_no_font_has():
    code = (
        "from matplotlib.font_manager import fontManager\n"
        "from kit.views.style import Figure\n"
        "fontManager.ttflist = [font for font in fontManager.ttflist if 'DejaVu' in font.fname]\n"
        f"figure = Figure({HAN + DEVANAGARI!r})\n"
        f"figure.subplots().set_xticks([0, 1], [{HAN!r}, 'Ада Ἀδα'])\n"
        "figure.drawn('png'), figure.drawn('svg')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.count("this machine has no font") == 1
    assert "(script: CJK, DEVANAGARI)" in done.stderr and "Glyph" not in done.stderr
