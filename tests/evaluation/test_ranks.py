from __future__ import annotations

from kit.corpus.example import example
from kit.evaluation import evaluate, first_and_last


def test_ranks_of_sources_and_sinks() -> None:
    experiment = evaluate(["dense"], example(), ks=(2,), k=3, progress=False)
    # harbour, novel, moravec, … for the town; harbour, novel, quay, … for the river.
    table = first_and_last(experiment, "dense").set_index("question")
    assert table.loc["town", ["hops", "first", "last"]].tolist() == [2, 1, 3]
    assert table.loc["river", ["hops", "first", "last"]].tolist() == [3, 1, 3]
    shorter = evaluate(["dense"], example(), ks=(2,), k=2, progress=False)
    assert first_and_last(shorter, "dense")["last"].tolist() == [3, 3]  # not found: the place after the end
