"""The invented reports: the project makes the committed files, and reading gives them back."""

import re

from kit.corpus import load
from kit.corpus.pdf import read_document
from kit.corpus.structures import Structure, structures
from kit.paths import ROOT
from kit.worlds.reports import reports, write

FOLDER = ROOT / "data" / "reports"


def test_the_committed_files_are_made_again_byte_for_byte(tmp_path):
    made = write(tmp_path)
    committed = {path.name for path in FOLDER.iterdir()} - {"README.md"}
    assert {path.name for path in made} == committed
    for path in made:
        assert path.read_bytes() == (FOLDER / path.name).read_bytes(), path.name


def test_every_page_has_its_headings_and_every_table_its_cells():
    corpus = load(FOLDER).corpus
    rows_of = structures(corpus)
    expected = set()

    def lines(structure):
        return "\n".join(corpus.passages[row].text for row in rows_of[structure]).splitlines()

    for report in reports():
        for page, headings in enumerate(report.pages, 1):
            structure = Structure(report.file, "page", str(page))
            expected.add(structure)
            begun = {heading for heading in headings if not heading.endswith(", continued")}
            assert begun <= set(lines(structure))
        for table in report.tables:
            structure = Structure(report.file, "table", table.label)
            expected.add(structure)
            pages = [corpus.passages[row].page for row in rows_of[structure]]
            assert pages == list(table.pages)
            printed = {f"| {' | '.join(cells)} |" for cells in [table.columns, *table.cells]}
            assert printed <= set(lines(structure))
    assert rows_of.keys() == expected


def test_every_paragraph_comes_back_and_nothing_else():
    for report in reports():
        passages = read_document(f"{report.file}.pdf", (FOLDER / f"{report.file}.pdf").read_bytes())
        texts = [passage.text for passage in passages if passage.kind == "text"]
        read = " ".join(" ".join(text.split()) for text in texts)
        blocks = [" ".join(block.split()) for block in re.split(r"\n\s*\n", report.body.strip())]
        written = [
            block.removeprefix("# ")
            for block in blocks
            if block != "---" and not block.startswith("@")
        ]
        assert read == " ".join(written)
        assert {passage.title for passage in passages} == {report.title}


def test_questions_ask_about_pages_tables_both_and_content():
    benchmark = load(FOLDER)
    for questions in (benchmark.dev, benchmark.test):
        assert {question.type for question in questions} == {
            "page",
            "table",
            "page and table",
            "content",
        }
    dev = [question.text for question in benchmark.dev if question.type != "content"]
    test = [question.text for question in benchmark.test if question.type != "content"]
    assert 2 * len(test) >= len(dev) > 100 and not set(dev) & set(test)
