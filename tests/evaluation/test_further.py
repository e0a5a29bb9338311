"""nDCG, average precision and precision by hand, where two of three passages are supports."""

from math import log2

import pytest

from kit.corpus import example
from kit.errors import InputError
from kit.evaluation import evaluate
from kit.evaluation.further import read_measure, with_measures


@pytest.fixture(scope="module")
def experiment():
    hand = example()
    return evaluate(["bm25"], hand.asking(hand.test[:1]), ks=(3, 6), progress=False)


def test_measures_are_those_by_hand(experiment) -> None:
    measured = with_measures(experiment, ["nDCG@6", "AP", "P@3"])
    [question] = experiment.questions
    ids = experiment.rankings["bm25"][question.id].ids
    ranks = [rank for rank, name in enumerate(ids, 1) if name in question.supporting_ids]
    assert len(ranks) == len(question.supporting_ids)
    gained = sum(1 / log2(rank + 1) for rank in ranks)
    best = sum(1 / log2(rank + 1) for rank in range(1, len(ranks) + 1))
    [row] = measured.table.to_dict("records")
    assert row["nDCG@6"] == pytest.approx(gained / best)
    precisions = [n / rank for n, rank in enumerate(ranks, 1)]
    assert row["AP"] == pytest.approx(sum(precisions) / len(ranks))
    assert row["P@3"] == pytest.approx(sum(rank <= 3 for rank in ranks) / 3)


def test_they_stand_in_every_table(experiment) -> None:
    measured = with_measures(experiment, ["P@3"])
    assert measured.metrics[-1] == "P@3" and "P@3" not in experiment.metrics
    assert "P@3" in measured.text()
    assert measured.record()["results"][0]["P@3"] == measured.table["P@3"].mean()


def test_what_finds_nothing_gets_nothing() -> None:
    hand = example()
    unknown = hand.test[0].__class__("unknown", "谁出生在港口？", "", (("harbour",),))
    silent = evaluate(["bm25"], hand.asking([unknown]), ks=(3,), progress=False)
    assert with_measures(silent, ["nDCG@3"]).table["nDCG@3"].tolist() == [0]


@pytest.mark.parametrize("name", ["", "nDC@10", "P", "AP@x", "P()@"])
def test_an_unknown_measure_is_told_in_a_line(name: str) -> None:
    with pytest.raises(InputError, match="a measure of ir_measures such as nDCG@10"):
        read_measure(name)
