"""Where the first and the last support of a chain stand."""

from __future__ import annotations

from msgspec.structs import replace

from kit.corpus import Benchmark
from kit.corpus.example import example
from kit.evaluation import ends_of_chains, evaluate


def test_ranks_of_sources_and_sinks() -> None:
    experiment = evaluate(["dense"], example(), ks=(2,), k=3, progress=False)
    # harbour, novel, moravec, … for the town; harbour, novel, quay, … for the river.
    table = ends_of_chains(experiment, "dense").set_index("question")
    assert table.loc["town", ["hops", "first", "last"]].tolist() == [2, 1, 3]
    assert table.loc["river", ["hops", "first", "last"]].tolist() == [3, 1, 3]
    shorter = evaluate(["dense"], example(), ks=(2,), k=2, progress=False)
    assert ends_of_chains(shorter, "dense")["last"].tolist() == [3, 3]  # not found: the place after the end
    found = [ends_of_chains(experiment, "dense", k)[["first", "last"]].to_numpy().tolist() for k in (1, 2, 3)]
    assert found == [[[1, 0], [1, 0]], [[1, 0], [1, 0]], [[1, 1], [1, 1]]]


def test_questions_without_an_order_have_no_ends() -> None:
    hand = example()
    unordered = [replace(question, evidence=None) for question in hand.test]
    experiment = evaluate(["bm25"], Benchmark("unordered", hand.corpus, test=unordered), ks=(2,), progress=False)
    assert ends_of_chains(experiment, "bm25").empty
    assert ends_of_chains(experiment, "bm25", 2).columns.tolist() == ["question", "hops", "first", "last"]
