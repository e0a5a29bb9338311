"""The claims about peers, on tables by hand: two encoders, two questions of one and two hops."""

import pandas as pd
import pytest

from kit.evaluation import Experiment
from kit.evaluation.encoders import change_of_gain, mean_gain
from kit.lab.claims import peers

DRAWS = {"seed": 0, "n_resamples": 50}


def experiment(values: dict[str, list[float]]) -> Experiment:
    """Retrievers with their recall of each question, the same at every cut-off."""
    rows = []
    for name, recalls in values.items():
        for question, recall in enumerate(recalls):
            row = {"retriever": name, "question": f"q{question}", "hops": question % 3 + 1}
            rows.append(row | {f"recall@{k}": recall for k in (2, 5, 10)})
    return Experiment(
        pd.DataFrame(rows), {name: {} for name in values}, {}, None, (), (2, 5, 10), DRAWS
    )


@pytest.fixture
def experiments():
    graphs = {name: [0.5, 1.0, 0.5] for name in peers.GRAPHS}
    small = experiment({"dense": [0.5, 0.5, 0.0], "raptor": [0.5, 0.0, 0.0], **graphs})
    large = experiment({"dense": [0.5, 1.0, 0.5], "raptor": [0.5, 1.0, 0.5], **graphs})
    return {"small": small, "large": large}


def test_each_encoder_is_a_case(experiments) -> None:
    for claim, first, second in (
        (peers.peers_01, 1 / 3, 0),
        (peers.peers_02, 0, 0),
        (peers.peers_03, 0, 0),
        (peers.peers_04, -1 / 6, 0),
    ):
        measured = list(claim(experiments))
        assert [part.case for part in measured] == ["small", "large"]
        assert [part.effect.value for part in measured] == pytest.approx([first, second])
        assert all(part.trained == () for part in measured)


def test_one_by_one_is_judged_on_several_hops_alone() -> None:
    reranked = experiment({"gnn-ret": [0.0, 1.0, 0.5], "anew": [1.0, 0.5, 0.5]})
    [measured] = peers.peers_05(reranked, "anew")
    assert measured.effect.value == pytest.approx(-0.25)
    assert measured.effect.n == 2


def test_the_gain_is_that_with_the_second_encoder(experiments) -> None:
    measured = list(peers.peers_06(experiments))
    assert [part.criterion for part in measured] == ["Recall@2", "Recall@10"]
    assert measured[0].effect.value == pytest.approx(0)
    first = mean_gain(experiments["small"], peers.GRAPHS, "dense", "recall@2")
    assert first.value == pytest.approx(1 / 3)
    change = change_of_gain(experiments, peers.GRAPHS, "dense", "recall@2")
    assert change.value == pytest.approx(-1 / 3)
    assert list(peers.peers_06({"small": experiments["small"]})) == []
