"""The tables of QSGNN's paper, of our questions and methods."""

from types import SimpleNamespace

import pytest

from kit.corpus import example
from kit.evaluation import Experiment, evaluate
from kit.lab.claims import qsgnn_tables as tables
from kit.lab.claims.qsgnn_networks import NEGATIVES, WHOLE, grid_of
from kit.methods import make

HAND = example()


@pytest.fixture(scope="module")
def experiment() -> Experiment:
    return evaluate(["dense", "bm25"], HAND, ks=(2, 5))


def paper(name: str = "atlas", learns: bool = True) -> SimpleNamespace:
    """What a paper's notebook begins with, as far as grids and loops need it."""
    scale = SimpleNamespace(n_ablated=8, n_train_ablated=4)
    benchmark = SimpleNamespace(name=name)
    training = HAND if learns else None
    return SimpleNamespace(scale=scale, training=training, benchmark=benchmark, questions=HAND.test)


def test_tables_are_in_percent_and_name_methods(experiment: Experiment) -> None:
    table = tables.table_of(experiment)
    assert table.columns.tolist() == ["method", "Recall@2", "Recall@5"]
    assert table["method"].tolist() == ["dense retrieval", "BM25"]
    assert table["Recall@5"].max() > 1

    by_hops = tables.table_by_hops(experiment)
    assert by_hops.columns.tolist() == ["method", "2 hops", "3 hops"]
    assert by_hops.iloc[-1].tolist() == ["questions", 1, 1]


def test_sizes_and_counts_are_those_of_graph_and_questions() -> None:
    network = make("qsgnn", start="untrained", documents=0, dimension=16)
    network.index(HAND.corpus)
    assert tables.graph_sizes(network)["number"].tolist() == [6, 10, 6]
    counts = tables.question_counts({"test": HAND.test})
    assert counts.to_dict("records") == [{"questions": "test", "2 hops": 1, "3 hops": 1, "all": 2}]


def test_loops_that_gold_fields_think_for_say_so() -> None:
    loops = tables.loops_for(paper("other"), policies=("ircot", "selfask"))
    names = ["ircot", "selfask", "ircot, rgnn-ret", "rgnn-ret"]
    assert list(loops) == [f"{name} (gold)" for name in names]
    nothing = paper("other")
    nothing.questions = ()
    assert tables.loops_for(nothing) == {}


def test_a_grid_grows_with_the_scale_and_says_what_nobody_learned() -> None:
    small = grid_of(paper(), "class")
    assert "no fine-tuning" in small.changes and "10 negatives" not in small.changes
    assert small.base["epochs"] == 1
    wide = grid_of(paper(), "paper")
    group = wide.groups["negatives of 103 (Table 12)"]
    assert group[0] == "30 negatives" and len(group) == len(NEGATIVES)
    assert wide.changes["a quarter of the synthetic"] == {"synthetic": 2}
    unlabelled = grid_of(paper(learns=False), "class")
    assert unlabelled.base["epochs"] == 0 and "no fine-tuning" not in unlabelled.changes
    assert all(labels[0] == WHOLE for labels in unlabelled.groups.values())
