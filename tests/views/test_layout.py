import networkx as nx
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from kit.views.layout import apart, spring


def nearest(positions: dict) -> float:
    """The least distance between two positions, in heights of a picture twice as wide as high."""
    points = np.array(list(positions.values())) * (2, 1)
    gaps = np.hypot(*np.moveaxis(points[:, None] - points[None], -1, 0)) + np.eye(len(points)) * 9
    return gaps.min()


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 30), st.integers(0, 99))
def test_springs_keep_to_the_picture_apart_and_are_the_same_twice(n, seed):
    graph = nx.gnp_random_graph(n, 0.15, seed=seed)
    positions = spring(graph)
    assert positions == spring(graph)
    assert set(positions) == set(range(n))
    assert all(0 <= x <= 1 and 0 <= y <= 1 for x, y in positions.values())
    assert n < 2 or nearest(positions) > 0.12


def test_who_comes_later_stands_as_near_to_the_place_it_wants_as_there_is_room():
    positions = apart({"free": (0.1, 0.1), "crowded": (0.5, 0.5)}, {"a": (0.5, 0.5)})
    assert positions["a"] == (0.5, 0.5) and positions["free"] == (0.1, 0.1)
    assert 0.13 <= nearest(positions) < 0.2
    full = apart({i: (0.5, 0.5) for i in range(300)})
    assert all(0 <= x <= 1 and 0 <= y <= 1 for x, y in full.values()) and nearest(full) > 0.04
