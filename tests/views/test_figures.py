import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pandas as pd
import pytest

from kit.errors import InputError
from kit.views import plots
from kit.views.figures import save_figure, show_table
from kit.views.style import Figure

TABLE = pd.DataFrame({"name": ["a", "b"], "n": [1, 2], "share": [1 / 3, None]})


def save_a_line(folder: Path) -> list[Path]:
    figure = Figure("A line")
    figure.subplots().plot([0, 1], [1, 0], marker="o")
    return save_figure(figure, TABLE, folder, "line")


def test_the_same_figure_gives_the_same_bytes_in_another_process_without_date_or_version(tmp_path):
    svg, png, csv = paths = save_a_line(tmp_path / "here")
    assert sorted((tmp_path / "here").iterdir()) == sorted(paths)
    subprocess.run([sys.executable, __file__, str(tmp_path / "there")], check=True)
    assert all(path.read_bytes() == (tmp_path / "there" / path.name).read_bytes() for path in paths)
    assert csv.read_bytes() == b"name,n,share\na,1,0.333333\nb,2,\n"
    assert "dc:date" not in svg.read_text() and "Matplotlib v" not in svg.read_text()
    assert b"Software" not in png.read_bytes() and b"tEXt" not in png.read_bytes()
    assert png.read_bytes()[16:24] == (1600).to_bytes(4, "big") + (900).to_bytes(4, "big")


PANELS = pd.DataFrame(
    {"retriever": ["bm25", "dense"], "k": [1, 1], "mean": [0.2, 0.9], "low": 0.0, "high": 1.0}
)


@pytest.mark.parametrize("kind", ["svg", "png", "pdf"])
def test_a_file_is_the_same_whatever_was_drawn_before_and_whenever(tmp_path, kind, monkeypatch):
    contents = set()
    for rank, drawn_before in enumerate((["svg"], ["png"], [])):
        monkeypatch.setenv("SOURCE_DATE_EPOCH", str(1_000_000 * rank))
        figure = plots.lines(PANELS, "A title", "k", ylabel="share")
        for other in drawn_before:
            figure.drawn(other)
        path = tmp_path / f"{rank}.{kind}"
        figure.savefig(path)
        contents.add(path.read_bytes())
        if kind != "pdf":
            assert figure.drawn(kind) == path.read_bytes()
    assert len(contents) == 1


def test_hostile_text_stays_text_in_an_svg(tmp_path, hostile):
    figure = Figure(hostile)
    figure.subplots().set_xticks([0], [hostile])
    svg, _, csv = save_figure(figure, pd.DataFrame({"name": [hostile]}), tmp_path, "a")
    root = ElementTree.parse(svg).getroot()
    tags = {re.sub("{.*}", "", element.tag) for element in root.iter()}
    assert not tags & {"script", "img", "image", "foreignObject"}
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
    table = pd.DataFrame({hostile: ["<b>"], "n": [12345], "share": [1 / 3], "none": [None]})
    page = show_table(table, "a <i>caption").to_html()
    assert "<img" not in page and "<b>" not in page and "<i>" not in page and "<script>" not in page
    assert "&lt;b&gt;" in page and "&lt;i&gt;caption" in page and "$x^2$" in page
    assert ">12,345<" in page and ">0.333<" in page and ">–<" in page
    assert "mathjax_ignore" in page


def test_numbers_have_the_decimals_that_they_need() -> None:
    columns = {
        "printed": [18.3, 22.15, None],
        "degree": [18.3, 1022.5, 4.0],
        "density": [0.0001, 0.018, 0.5],
        "share": [0.0, 1 / 3, 1.0],
        "whole": [1.0, 2.0, 3.0],
    }
    page = show_table(pd.DataFrame(columns)).to_html()
    cells = re.findall(r"<td[^>]*>([^<]*)</td>", page)
    assert cells == [
        *("18.30", "18.3", "0.0001", "0.000", "1"),
        *("22.15", "1,022.5", "0.018", "0.333", "2"),
        *("–", "4", "0.500", "1.000", "3"),
    ]


if __name__ == "__main__":  # what the other process of a test runs
    save_a_line(Path(sys.argv[1]))
