import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pandas as pd
import pytest

from kit.errors import InputError
from kit.views.figures import save_figure, show_table
from kit.views.style import Figure

TABLE = pd.DataFrame({"name": ["a", "b"], "n": [1, 2], "share": [1 / 3, None]})


def save_a_line(folder: Path) -> None:
    figure = Figure("A line, with its label")
    ax = figure.subplots()
    ax.plot([0, 1], [1, 0], marker="o")
    ax.annotate("here", (0.5, 0.5))
    save_figure(figure, pd.DataFrame({"x": [0, 1], "y": [1 / 3, 2 / 3]}), folder, "line")


def test_the_same_figure_gives_the_same_bytes_in_another_process(tmp_path):
    save_a_line(tmp_path / "here")
    subprocess.run([sys.executable, __file__, str(tmp_path / "there")], check=True)
    for name in ("line.svg", "line.png", "line.csv"):
        assert (tmp_path / "here" / name).read_bytes() == (tmp_path / "there" / name).read_bytes()
    assert (tmp_path / "here" / "line.csv").read_bytes() == b"x,y\n0,0.333333\n1,0.666667\n"


def test_no_date_version_or_address_of_a_library_is_in_a_picture(tmp_path):
    figure = Figure("t")
    figure.subplots()
    svg, png, _ = paths = save_figure(figure, TABLE, tmp_path, "a")
    assert [path.name for path in paths] == ["a.svg", "a.png", "a.csv"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv", "a.png", "a.svg"]
    assert "dc:date" not in svg.read_text() and "Matplotlib v" not in svg.read_text()
    assert b"Software" not in png.read_bytes() and b"tEXt" not in png.read_bytes()
    assert png.read_bytes()[16:24] == (1600).to_bytes(4, "big") + (900).to_bytes(4, "big")


def test_hostile_text_stays_text_in_an_svg(tmp_path, hostile):
    figure = Figure(hostile)
    ax = figure.subplots()
    ax.set_xlabel(hostile)
    ax.set_xticks([0], [hostile])
    svg, _, csv = save_figure(figure, pd.DataFrame({"name": [hostile]}), tmp_path, "a")
    root = ElementTree.parse(svg).getroot()
    tags = {re.sub("{.*}", "", element.tag) for element in root.iter()}
    assert not tags & {"script", "img", "image", "foreignObject", "text"}  # letters are outlines
    assert "<img" not in svg.read_text() and "&lt;img" in svg.read_text()
    assert pd.read_csv(csv)["name"].tolist() == [hostile]


def test_nothing_is_written_when_a_part_cannot_be(tmp_path):
    for name in ("", "../a", "a/b", ".hidden", "a:b"):
        with pytest.raises(InputError, match="plain file name"):
            save_figure(Figure("t"), TABLE, tmp_path, name)
    with pytest.raises(AttributeError):
        save_figure(Figure("t"), None, tmp_path, "a")
    assert not list(tmp_path.iterdir())


def test_a_table_is_escaped_and_its_numbers_are_formatted(hostile):
    page = show_table(
        pd.DataFrame({hostile: ["<b>"], "n": [12345], "share": [1 / 3], "none": [None]}), "a <i>caption"
    ).to_html()
    assert "<img" not in page and "<b>" not in page and "<i>" not in page and "<script>" not in page
    assert "&lt;b&gt;" in page and "&lt;i&gt;caption" in page and "$x^2$" in page
    assert ">12,345<" in page and ">0.333<" in page and ">–<" in page
    assert "mathjax_ignore" in page


if __name__ == "__main__":  # what the other process of a test runs
    save_a_line(Path(sys.argv[1]))
