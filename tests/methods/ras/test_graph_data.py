"""A question's graph as numbers: what the network sees, by hand."""

import numpy as np
import pytest

from kit.corpus import Query
from kit.methods.loops.steps import Trajectory
from kit.methods.ras.graph_data import NodeFeatures, node_features, to_data, value_of
from kit.text.placeholders import Mention

QUERY = Query("q", "Who?")


def test_values_of_dates_and_numbers() -> None:
    assert [value_of(text) for text in ("1,200", "1950", "seven", "Oll", "twelve")] == [
        1200,
        1950,
        7,
        None,
        None,
    ]
    days = [value_of(text) for text in ("1 January 1901", "31 December 1901", "March 1901")]
    assert days == pytest.approx([1901 + 1 / 367, 1901 + 365 / 367, 1901 + 60 / 367])


def test_features_of_nodes_by_hand(grow) -> None:
    nodes = ["ada", "1901", "bo", "1905", "orm"]
    mentions = [Mention(0, 3, "Ada"), Mention(5, 9, "1903")]
    third = 1 / 3
    features = node_features(grow(("1901",), ("1905",)), nodes, mentions)
    assert features == pytest.approx(
        np.array(
            [
                [1, 0, 0, 0, 1, 0, 0, 0, 0, 0],
                [0, 1, 0, third, 0, 1, -1, 1, -1, 1],  # the least of both, below 1903
                [0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
                [0, 1, 1, third, 0, 1, 1, -1, 1, 1],
                [0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            ]
        )
    )
    assert node_features(Trajectory(QUERY), [], []).shape == (0, 10)


def test_values_among_others_are_told_apart_by_hand(grow) -> None:
    trajectory = grow(("1901", "Bo"))
    [alone, nobody] = node_features(trajectory, ["1901", "bo"], [])
    # A single value is neither least nor greatest; no number in the question, no side.
    assert NodeFeatures(*alone) == pytest.approx((0, 1, 1, 1 / 3, 0, 1, 0, 0, 0, 0))
    assert NodeFeatures(*nobody) == pytest.approx((0, 1, 1, 1 / 3, 0, 0, 0, 0, 0, 0))


def test_a_graph_for_pyg_has_each_triple_both_ways(grow) -> None:
    texts = ("Ada", "born", "1901", "Bo", "1905", "of", "Orm")
    vectors = {text: np.full(32, n, np.float32) for n, text in enumerate(texts)}
    question = np.ones(32, np.float32)
    data = to_data(grow(("1901",)), question, vectors, answers=["orm", "yes"])
    assert data.names == ["Ada", "1901", "Bo", "1905", "Orm"] and data.x.shape == (5, 32)
    assert data.edge_index.T.tolist() == [[0, 1], [2, 3], [2, 4], [1, 0], [3, 2], [4, 2]]
    assert data.edge_attr.shape == (6, 33) and data.edge_attr[:, -1].tolist() == [1, 1, 1, 0, 0, 0]
    assert data.right.tolist() == [False] * 4 + [True]
    assert data.right_closed[0].nonzero().ravel().tolist() == [0]
    assert data.x[:, 0].tolist() == [0, 2, 3, 4, 6]
    assert data.edge_attr[:, 0].tolist() == [1, 1, 5] * 2
    assert data.question.tolist() == [question.tolist()]
    empty = to_data(Trajectory(QUERY), question, {})
    assert (empty.num_nodes, empty.edge_index.shape, empty.edge_attr.shape) == (0, (2, 0), (0, 33))
