"""What training adds to a small network, beside the same asked one question at a time."""

from pathlib import Path

import pytest

from kit.corpus import Benchmark, example
from kit.evaluation.metrics import recall_at
from kit.evaluation.training_curves import first_questions, what_training_adds
from kit.methods import make

HAND = example()
TEACHING = [
    Benchmark("choosing", HAND.corpus, dev=HAND.test),
    Benchmark("teaching", HAND.corpus, train=HAND.test),
]
LITTLE = {"synthetic": 0, "epochs": 2, "documents": 4, "learning_rate": 0.01}


def test_a_row_per_width_number_of_questions_and_hop_count(own_store: Path) -> None:
    n_questions = len(HAND.test)
    table = what_training_adds(
        "qsgnn",
        TEACHING,
        HAND,
        questions=[0, n_questions],
        widths=[8, 16],
        n_resamples=50,
        **LITTLE,
    )
    hops = sorted({question.hops for question in HAND.test})
    keys = [(width, n, hop) for width in (8, 16) for n in (0, n_questions) for hop in hops]
    assert list(zip(table["dimension"], table["questions"], table["hops"])) == keys
    assert (table.query("questions == 0")["difference"] == 0).all()
    assert table.groupby(["dimension", "questions"])["n"].sum().eq(n_questions).all()

    before = make("qsgnn", start="untrained", dimension=8, **LITTLE)
    before.index(HAND.corpus)
    after = before.variant()
    after.learn(TEACHING)
    after.index(HAND.corpus)
    of_hops = [question for question in HAND.test if question.hops == hops[-1]]
    gain = 0
    for question in of_hops:
        for retriever, sign in ((after, 1), (before, -1)):
            gain += sign * recall_at(question, retriever.retrieve(question.text, 5).ids, 5)
    row = table.query(f"dimension == 8 and questions == {n_questions} and hops == {hops[-1]}")
    assert row["difference"].item() == pytest.approx(gain / len(of_hops))


def test_of_each_benchmark_the_same_share_teaches() -> None:
    twice = [*HAND.test, *HAND.test]
    worlds = [*TEACHING, Benchmark("more", HAND.corpus, train=twice)]
    n = len(HAND.test)
    assert [len(world.train) for world in first_questions(worlds, n)] == [
        0,
        round(n / 3),
        round(2 * n / 3),
    ]
    assert [len(world.train) for world in first_questions(worlds, 100)] == [0, n, 2 * n]
