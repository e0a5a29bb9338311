"""Questions about pages and tables, by hand: four passages on two pages, one of them with a table."""

from __future__ import annotations

import pytest

from kit.corpus import Benchmark, Corpus, Passage, Question
from kit.errors import InputError
from kit.evaluation import evaluate, fetched_structures, held_passages, structure_scores
from kit.retrievers import make


@pytest.fixture
def plan() -> Benchmark:
    pages = {"a": 1, "b": 1, "c": 2, "d": 2}
    corpus = Corpus(Passage(id, "Plan", id, "plan", place, page) for place, (id, page) in enumerate(pages.items()))
    table = Passage("e", "Plan", "Table 1: Costs\n\n| x | y |\n| --- | --- |\n| 1 | 2 |", "plan", 4, 2, "table")
    questions = [
        Question("one", "What is on page 1?", "", (("a",), ("b",)), type="page"),
        Question("two", "What is on page 2?", "", (("c",), ("d",), ("e",)), type="page"),
        Question("table", "What does Table 1 say?", "", (("e",),), type="table"),
        Question("content", "Who?", "", (("a",),), type="content"),
    ]
    return Benchmark("plan", Corpus([*corpus.passages, table]), test=questions)


def test_the_edges_from_pages_and_tables(plan):
    edges = held_passages(plan.corpus)
    assert [tuple(edge) for edge in edges.itertuples(index=False)] == [
        ("plan", "page", "1", "a", 0, "text"),
        ("plan", "page", "1", "b", 1, "text"),
        ("plan", "page", "2", "c", 2, "text"),
        ("plan", "page", "2", "d", 3, "text"),
        ("plan", "page", "2", "e", 4, "table"),
        ("plan", "table", "1", "e", 4, "table"),
    ]


def test_what_is_fetched_is_scored_exactly_and_among_others(plan, alphabetical):
    methods = {"structure": make("structure"), "alphabetical": alphabetical}
    experiment = evaluate(methods, plan, ks=(2,), k=5, draws=100, progress=False)
    fetched = fetched_structures(experiment, passages=2)
    values = fetched.pivot(index=["retriever", "measure", "context"], columns="question", values="value")
    among = "all among the first 2 passages"
    assert values[["one", "two", "table"]].to_dict("index") == {
        ("structure", "Struct-EM", "what it fetches"): {"one": 1, "two": 1, "table": 1},
        ("structure", among, ""): {"one": 1, "two": 0, "table": 1},  # three passages are not among two
        ("alphabetical", "Struct-EM", "2 passages"): {"one": 1, "two": 0, "table": 0},
        ("alphabetical", "Struct-EM", "as many as asked"): {"one": 1, "two": 0, "table": 0},
        ("alphabetical", among, ""): {"one": 1, "two": 0, "table": 0},
    }
    scores = structure_scores(fetched, draws=100).set_index(["retriever", "measure", "context", "type"])
    assert scores.loc["alphabetical", "Struct-EM", "2 passages", "page"][["mean", "n"]].tolist() == [0.5, 2]


def test_rankings_that_were_cut_are_refused(plan, alphabetical):
    experiment = evaluate({"alphabetical": alphabetical}, plan, ks=(2,), draws=100, progress=False)
    with pytest.raises(InputError, match="expected rankings of all 5 passages"):
        fetched_structures(experiment)
