"""Figures of documents with pages and tables have the numbers of the documents."""

import pytest

from kit.corpus import Benchmark, example, load
from kit.evaluation import evaluate
from kit.paths import ROOT
from kit.views import pages


@pytest.fixture(scope="module")
def reports() -> Benchmark:
    return load(ROOT / "data" / "reports")


def test_what_pages_and_tables_hold(reports: Benchmark) -> None:
    table = pages.holdings(reports.corpus)
    on_pages = table[table["kind"] == "page"]
    assert sorted(on_pages["passage"]) == sorted(passage.id for passage in reports.corpus.passages)
    assert set(table[table["kind"] == "table"]["holds"]) == {"table"}
    figure = pages.structure_graph(reports.corpus)
    assert figure.title == "17 pages and 12 tables of 4 documents hold 73 passages"
    assert len(figure.axes) == 4


def test_documents_without_pages_say_so() -> None:
    assert "neither pages nor tables" in pages.structure_graph(example().corpus).title


def test_what_is_named_is_fetched_exactly(reports: Benchmark) -> None:
    names = ["kgp-tfidf", "bm25"]
    experiment = evaluate(
        names, reports, ks=(1,), k=len(reports.corpus), n_resamples=200, progress=False
    )
    figure = pages.fetched_exactly(experiment, *names[:1], names[1:])
    means = figure.table.groupby(["retriever", "context"])["mean"].max()
    assert means["kgp-tfidf", "what it fetches"] == 1
    assert means["bm25", "30 passages"] == 0
    assert figure.title.startswith("KGP (TF-IDF agent) adds")


def test_no_question_about_structures_is_said(reports: Benchmark) -> None:
    content = [question for question in reports.test if question.type == "content"]
    experiment = evaluate(["bm25"], reports.asking(content), ks=(1,), progress=False)
    assert "No question" in pages.fetched_exactly(experiment, "bm25", []).title
