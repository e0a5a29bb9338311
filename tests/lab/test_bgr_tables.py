"""The tables of BGR's paper, of a made experiment."""

from kit.corpus import example
from kit.evaluation import evaluate
from kit.lab.claims.bgr_tables import by_structure, structure_counts, table_of
from kit.methods import make

HAND = example()


def test_tables_have_a_row_per_method_and_structure() -> None:
    methods = {"bm25": make("bm25"), "dense": make("dense")}
    measured = evaluate(methods, HAND, ks=(2,), graphs=True, progress=False, n_resamples=100)
    table = table_of(measured, ("dense", "bm25"), ("gm",))
    assert table["retriever"].tolist() == ["Dense retrieval", "BM25"]
    assert list(table) == ["retriever", "graph match"]

    apart = by_structure(measured, ("dense",), ("gm",))
    assert apart["questions"].sum() == len(HAND.test)
    assert set(apart["structure"]) == {"SC MH"}


def test_structures_are_counted_by_split() -> None:
    [row] = structure_counts({"test": HAND.test}).to_dict("records")
    assert row == {"split": "test", "SC SH": 0, "SC MH": 2, "MC SH": 0, "MC MH": 0, "all": 2}
