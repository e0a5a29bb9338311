"""Pages and slides of executed notebooks: whole, offline, joined by links that work."""

import re
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from kit.errors import InputError
from kit.lab.pages.rendering import Renderer, formula
from kit.lab.pages.site import Source, write_pages, write_slides
from kit.lab.pages.slides import slides_of
from kit.lab.runner import run

FIRST = r"""# 1 · Messages & more

## Why

![A drawing](drawings/first.svg)

What one *learns*: $h_i \leftarrow \alpha h_i$.

$$m = \min_{j \in S_{O \setminus Y}} h_j$$

See [the next](02_second.ipynb#Why), [the words](GLOSSARY.md), [a draft](99_draft.ipynb),
[the tables](papers/kgp.ipynb) and [the web](https://example.org/paper)."""


def output(**data: str):
    kinds = {"html": "text/html", "png": "image/png"}
    return new_output("display_data", data={kinds[kind]: value for kind, value in data.items()})


@pytest.fixture
def notebooks(project, monkeypatch) -> dict:
    monkeypatch.setattr("kit.paths.NOTEBOOKS", project.notebooks)
    monkeypatch.setattr("kit.paths.ROOT", project.notebooks.parent)
    (project.notebooks / "drawings").mkdir()
    (project.notebooks / "drawings" / "first.svg").write_text("<svg/>")
    (project.notebooks / "GLOSSARY.md").write_text("# Words\n\nBack to [1](01_first.ipynb).")
    code = new_code_cell("### BEGIN SOLUTION\nx = 1\n### END SOLUTION")
    code.outputs = [output(png="AAAA"), output(html="<table><tr><td>7</td></tr></table>")]
    hidden = new_code_cell("secret = 2", metadata={"jupyter": {"source_hidden": True}})
    first = new_notebook(cells=[new_markdown_cell(FIRST), code, hidden])
    second = new_notebook(cells=[new_markdown_cell("# 2 · Rounds")])
    paper = new_notebook(cells=[new_markdown_cell("# KGP\n\nThe [lesson](../01_first.ipynb)")])
    return {"01_first": first, "02_second": second, "papers/kgp": paper}


def test_a_page_holds_all_that_it_shows(notebooks: dict, tmp_path: Path) -> None:
    write_pages(notebooks, tmp_path / "site")
    page = (tmp_path / "site" / "01_first.html").read_text()
    assert "<title>1 · Messages &amp; more</title>" in page
    assert page.count("<math") == 2 and "<mi>∖</mi>" in page and "$" not in page
    assert '<img alt="A drawing" src="data:image/svg+xml;base64,PHN2Zy8+"/>' in page
    assert '<img alt="Figure" src="data:image/png;base64,AAAA"/>' in page
    assert "<td>7</td>" in page and "SOLUTION" not in page
    assert page.count("<details") == 1 and "secret" in page.partition("<details")[2]
    assert not re.search(r"<script|<link|src=\"(?!data:)|url\(", page)
    assert "default-src 'none'" in page


def test_links_lead_to_pages_of_the_site_and_to_the_web(notebooks: dict, tmp_path: Path) -> None:
    index = write_pages(notebooks, tmp_path / "site")
    page = (tmp_path / "site" / "01_first.html").read_text()
    links = set(re.findall(r'href="([^"]+)"', page.partition("<main>")[2]))
    web = "https://example.org/paper"
    wanted = {"02_second.html#Why", "GLOSSARY.html", "papers/kgp.html", web}
    assert {link for link in links if not link.startswith("#")} == wanted
    assert "a draft" in page
    for file in (tmp_path / "site").rglob("*.html"):
        for link in re.findall(r'href="(?!https:)([^"#]+)', file.read_text()):
            assert (file.parent / link).is_file(), f"{file.name}: {link}"
    text = index.read_text()
    listed = re.findall(r'<dt><a href="(.+?)\.html">', text)
    assert listed == ["01_first", "02_second", "papers/kgp", "GLOSSARY"]
    assert "What one <em>learns</em>: <math" in text


def test_title_and_purpose() -> None:
    first = Source("01_first", FIRST)
    assert first.title == "1 · Messages & more" and first.purpose.startswith("What one *learns*")
    nothing = Source("02_second", "no heading")
    assert nothing.title == "02_second" and nothing.purpose == ""


def test_what_is_no_formula_is_shown_as_it_was_written(monkeypatch) -> None:
    assert formula("a < b").startswith("<math") and "&#x0003C;" in formula("a < b")
    monkeypatch.setattr("kit.lab.pages.rendering.convert", lambda *_, **__: 1 / 0)
    assert formula("a < b") == "<code>a &lt; b</code>"


def test_no_picture_outside_of_the_project_is_read(notebooks: dict, tmp_path: Path) -> None:
    (tmp_path.parent / "outside.svg").write_text("<svg/>")
    page = Renderer("01_first", []).markdown("![private](../../outside.svg)")
    assert page == "<p><em>private</em></p>\n"


def tagged(text: str, kind: str = ""):
    metadata = {"slideshow": {"slide_type": kind}} if kind else {}
    return new_markdown_cell(text, metadata=metadata)


def test_slides_begin_where_a_cell_says_so(notebooks: dict, tmp_path: Path) -> None:
    cells = [tagged("# A", "slide"), tagged("more"), tagged("aside", "notes")]
    cells += [tagged("b", "subslide"), tagged("c", "fragment"), tagged("left out", "skip")]
    notebook = new_notebook(cells=cells)
    texts = [[cell.source for cell in slide] for slide in slides_of(notebook)]
    assert texts == [["# A", "more"], ["b", "c"]]

    index = write_slides({"03_third": notebook, **notebooks}, tmp_path / "slides")
    assert "03_third.html" in index.read_text() and (index.parent / "papers/kgp.html").exists()
    page = (tmp_path / "slides" / "03_third.html").read_text()
    assert page.count("<section>") == 2 and "ArrowRight" in page


def test_without_slide_types_each_heading_and_each_picture_has_one() -> None:
    figure = new_code_cell("draw()", outputs=[output(png="AAAA")])
    replay = new_code_cell("explorer", outputs=[output(html='<div class="kit-page"></div>')])
    plain = new_code_cell("x = 1")
    cells = [tagged("# A\n\nWhy"), plain, tagged("## Figures"), figure, tagged("What to see")]
    cells += [new_code_cell("draw()", outputs=figure.outputs), tagged("More"), replay]
    slides = slides_of(new_notebook(cells=cells))
    texts = [[cell.source for cell in slide] for slide in slides]
    assert texts == [
        ["# A\n\nWhy", "x = 1"],
        ["## Figures", "draw()", "What to see"],
        ["draw()", "More"],
        ["explorer"],
    ]
    assert slides[1][1].metadata == {"jupyter": {"source_hidden": True}}
    assert figure.metadata == plain.metadata == {}


def test_what_has_not_finished_is_run_first(project, tmp_path: Path, capsys) -> None:
    project.write_logging("01_first", "6 * 7")
    project.write("02_broken", "1 / 0")
    site = tmp_path / "site"
    options = {"data": project.data, "notebooks": project.notebooks, "html": site}
    options["parameters"] = {"log": str(project.log)}
    assert run(["1"], **options) == 0 and run(**options) == 1
    assert project.logged == ["01_first"]
    assert capsys.readouterr().out.endswith(f"pages: {site / 'index.html'}\n")
    assert "<pre>42</pre>" in (site / "01_first.html").read_text()
    assert not (site / "02_broken.html").exists()


def test_bad_folders_run_nothing(project, tmp_path: Path) -> None:
    project.write_logging("01_first")
    options = {"data": project.data, "notebooks": project.notebooks}
    with pytest.raises(InputError, match="expected a folder other than that of --html"):
        run(html=tmp_path / "site", slides=tmp_path / "site", **options)
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="file: can't be written"):
        run(html=tmp_path / "file", **options)
    assert not project.output.exists()
