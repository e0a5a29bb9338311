import networkx as nx
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from kit.corpus import Corpus, Passage
from kit.views.layout import apart, arrange, spring
from tests.views.frames.traces import graph_of


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


def test_pieces_with_supports_get_most_of_the_picture():
    corpus = Corpus(Passage(f"p{i}", f"Port {i}", "A port.", f"d{i}", 0) for i in range(10))
    graph = graph_of(corpus, (0, 1), (1, 2), (2, 3), (4, 5), (0, 8))
    drawn = [f"p{i}" for i in range(10)]
    edges, positions = arrange(drawn, 8, 2, graph)
    assert len(edges) == 5 and set(positions) == set(drawn)
    supports = np.array([positions[f"p{i}"] for i in range(4)])
    assert supports[:, 0].max() < 0.8 and np.ptp(supports, axis=0).min() > 0.5
    assert all(positions[f"p{i}"][0] > 0.8 for i in (4, 5, 6, 7, 9))
    assert nearest(positions) >= 0.12
    # What comes later moves none of the first.
    _, fewer = arrange(drawn[:8], 8, 2, graph)
    assert all(positions[name] == position for name, position in fewer.items())
