"""The invented reports: the committed files are those that the project makes, and reading gives back what they say."""

import re

from kit.corpus import load
from kit.corpus.pdf import read_document
from kit.corpus.structures import Structure, structures
from kit.paths import ROOT
from kit.worlds.reports import reports, write

FOLDER = ROOT / "data" / "reports"


def test_the_committed_files_are_made_again_byte_for_byte(tmp_path):
    made = write(tmp_path)
    assert {path.name for path in made} == {path.name for path in FOLDER.iterdir()} - {
        "README.md",
        "make",
    }
    assert [
        path.name for path in made if path.read_bytes() != (FOLDER / path.name).read_bytes()
    ] == []


def test_every_page_has_its_headings_and_every_table_its_cells():
    corpus = load(FOLDER).corpus
    passages, held = corpus.passages, structures(corpus)
    lines = {
        one: "\n".join(passages[row].text for row in rows).splitlines()
        for one, rows in held.items()
    }
    wanted = set()
    for report in reports():
        for number, headings in enumerate(report.pages, 1):
            wanted.add(page := Structure(report.file, "page", str(number)))
            assert {heading for heading in headings if not heading.endswith(", continued")} <= set(
                lines[page]
            )
        for table in report.tables:
            wanted.add(one := Structure(report.file, "table", table.label))
            assert [passages[row].page for row in held[one]] == list(table.pages)
            assert {f"| {' | '.join(row)} |" for row in [table.columns, *table.cells]} <= set(
                lines[one]
            )
    assert held.keys() == wanted


def test_every_paragraph_comes_back_and_nothing_else():
    for report in reports():
        passages = read_document(f"{report.file}.pdf", (FOLDER / f"{report.file}.pdf").read_bytes())
        found = " ".join(" ".join(it.text.split()) for it in passages if it.kind == "text")
        blocks = [" ".join(block.split()) for block in re.split(r"\n\s*\n", report.body.strip())]
        written = [
            block.removeprefix("# ")
            for block in blocks
            if block != "---" and not block.startswith("@")
        ]
        assert found == " ".join(written)
        assert {it.title for it in passages} == {report.title}


def test_questions_ask_about_pages_tables_both_and_content():
    benchmark = load(FOLDER)
    for questions in (benchmark.dev, benchmark.test):
        assert {question.type for question in questions} == {
            "page",
            "table",
            "page and table",
            "content",
        }
    dev, test = (
        [it.text for it in of if it.type != "content"] for of in (benchmark.dev, benchmark.test)
    )
    assert 2 * len(test) >= len(dev) > 100 and not set(dev) & set(test)
