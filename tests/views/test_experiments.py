"""Titles of figures say no more than the numbers behind them."""

from dataclasses import replace
from types import SimpleNamespace

import pandas as pd
import pytest

from kit.evaluation import Experiment, evaluate
from kit.views import experiments
from kit.views.names import listed, metric_name, name_of, said
from kit.views.sentences import best_sentence, headline
from kit.worlds.atlas import generate


def compared(*rows: tuple) -> pd.DataFrame:
    table = pd.DataFrame(rows, columns=["retriever", "difference", "low", "high", "n"])
    return table.assign(baseline="dense", metric="recall@5")


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        (
            ("gnn-ret", 0.091, 0.06, 0.12, 300),
            "GNN-Ret adds 9.1 points of Recall@5 to dense retrieval",
        ),
        (
            ("2 rounds", -0.33, -0.43, -0.23, 300),
            "2 rounds lose 33.0 points of Recall@5 against dense retrieval",
        ),
        (
            ("bm25", -0.02, -0.03, -0.01, 300),
            "BM25 loses 2.0 points of Recall@5 against dense retrieval",
        ),
        (
            ("gnn-ret", 0.091, -0.01, 0.2, 300),
            "No difference to dense retrieval in Recall@5 is more than chance",
        ),
        (
            ("gnn-ret", 0.5, 0.3, 0.7, 29),
            "29 questions are too few to tell methods apart from dense retrieval in Recall@5",
        ),
    ],
)
def test_a_title_announces_what_holds(row: tuple, sentence: str) -> None:
    assert headline(compared(row)) == sentence


def test_a_title_does_not_deny_what_a_small_group_shows() -> None:
    table = compared(("gnn-ret", 0.2, 0.1, 0.3, 21), ("gnn-ret", 0.01, -0.1, 0.1, 60))
    by_hops = table.assign(hops=[4, 2])
    assert headline(by_hops, "hops").endswith("more than chance among 30 questions or more")


def test_of_several_differences_the_largest_that_holds_is_announced() -> None:
    table = compared(("bm25", -0.3, -0.7, 0.1, 50), ("gnn-ret", 0.05, 0.01, 0.09, 50))
    assert headline(table).startswith("GNN-Ret adds 5.0 points")
    by_hops = table.assign(hops=[2, 3])
    assert headline(by_hops, "hops").endswith(" for questions of 3 hops")


def test_of_many_differences_chance_makes_some_that_look_real() -> None:
    table = compared(("bm25", 0.03, 0.001, 0.06, 50), ("gnn-ret", 0.05, 0.01, 0.09, 50))
    corrected = table.assign(p_holm=[0.3, 0.04])
    assert headline(corrected).startswith("GNN-Ret adds")
    assert headline(corrected.assign(p_holm=0.3)).startswith("No difference")


def test_the_best_is_named_only_where_its_interval_is_apart() -> None:
    rows = [("gnn-ret", 0.8, 0.75, 0.85, 90), ("dense", 0.6, 0.55, 0.65, 90)]
    table = pd.DataFrame(rows, columns=["retriever", "mean", "low", "high", "n"])
    table["metric"] = "recall@5"
    assert best_sentence(table, "recall@5").startswith("GNN-Ret has the highest Recall@5, 0.800")
    close = table.assign(low=[0.6, 0.55])
    assert best_sentence(close, "recall@5") == "Recall@5 lies between 0.600 and 0.800"
    assert best_sentence(close.assign(mean=0.6), "recall@5") == "Recall@5 is 0.600 for all"
    third = close.iloc[1:].assign(retriever="bm25", mean=0.2, low=0.1, high=0.3)
    widely = best_sentence(pd.concat([close, third]), "recall@5")
    assert widely == "Recall@5 goes from 0.200 for BM25 to 0.800 for GNN-Ret"


def test_names_in_words() -> None:
    assert name_of("gnn-ret, untrained") == "GNN-Ret, untrained"
    assert name_of("ircot, rgnn-ret, own answer") == "IRCoT over RGNN-Ret, own answer"
    assert name_of("ircot (gold), rgnn-ret") == "IRCoT (gold) over RGNN-Ret"
    assert name_of("fuse(bm25, gnn-ret)") == "BM25 + GNN-Ret"
    assert name_of("rerank(fuse(bm25, dense), mdr, 50)") == (
        "BM25 + dense retrieval, reranked by MDR"
    )
    assert name_of("no messages") == "no messages"
    assert said("graph-reranker") == "the graph reranker" and said("dense") == "dense retrieval"
    assert metric_name("full@10") == "Full@10"
    assert listed(["a"]) == "a" and listed(["a", "b", "c"]) == "a, b and c"


@pytest.fixture(scope="module")
def experiment() -> Experiment:
    benchmark = generate(size="small")
    few = benchmark.asking(benchmark.test[:40])
    return evaluate(["bm25", "tfidf", "dense"], few, ks=(2, 5), n_resamples=200, progress=False)


@pytest.mark.parametrize(
    "draw",
    [
        experiments.means,
        experiments.by_cut_off,
        experiments.by_group,
        experiments.along_hops,
        lambda experiment: experiments.by_group(experiment, "shape"),
        lambda experiment: experiments.gains(experiment, "dense"),
        lambda experiment: experiments.gains_by(experiment, "dense", only=["bm25"]),
        lambda experiment: experiments.parts(experiment, {"words": ["tfidf", "bm25"]}),
    ],
)
def test_every_figure_brings_its_numbers(experiment: Experiment, draw) -> None:
    figure = draw(experiment)
    assert len(figure.table) and figure.title
    assert figure.drawn("png").startswith(b"\x89PNG")


def test_gains_of_no_questions_are_nothing_to_compare(experiment: Experiment) -> None:
    without_any = replace(experiment, table=experiment.table.iloc[:0])
    assert experiments.gains_by(without_any, "dense").title == "There is nothing to compare"


def test_the_fall_along_hops_is_that_of_all_retrievers(experiment: Experiment) -> None:
    title = experiments.along_hops(experiment).title
    assert title == "That Recall@5 falls for all with more hops is not sure here"  # few questions

    summary = experiment.summary("hops")
    summary = summary.assign(n=40, low=1 / summary["hops"], mean=1 / summary["hops"])
    summary["high"] = summary["low"]
    title = experiments.along_hops(SimpleNamespace(summary=lambda by: summary)).title
    assert title.startswith("Recall@5 falls for all: from 1.00 or more with one hop to 0.")

    of_two = summary[summary["hops"] == 2]
    title = experiments.along_hops(SimpleNamespace(summary=lambda by: of_two)).title
    assert title == "All questions have 2 hops"
