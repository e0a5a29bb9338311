from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kit.views.layout import beside, flanks, rings, spring


def nearest(places: dict) -> float:
    """The least distance between two places, in heights of a picture twice as wide as high."""
    points = np.array(list(places.values())) * (2, 1)
    gaps = np.hypot(*np.moveaxis(points[:, None] - points[None], -1, 0)) + np.eye(len(points)) * 9
    return gaps.min()


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 30), st.data())
def test_springs_keep_to_the_picture_apart_and_are_the_same_twice(n, data):
    graph = nx.empty_graph(n)
    pairs = st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=60)
    graph.add_edges_from(pair for pair in data.draw(pairs) if pair[0] != pair[1])
    places = spring(graph)
    assert places == spring(graph)
    assert set(places) == set(range(n))
    assert all(0 <= x <= 1 and 0 <= y <= 1 for x, y in places.values())
    assert n == 1 or nearest(places) > 0.02


def test_nothing_and_one_node_have_places():
    assert spring(nx.Graph()) == {}
    assert spring(nx.empty_graph(1)) == {0: (0.5, 0.5)}


def test_rings_put_seeds_in_the_centre_and_what_stands_apart_at_the_right():
    places = rings(["s1", "s2"], [f"n{i}" for i in range(40)], ["g1", "g2"])
    assert len(places) == 44 and nearest(places) > 0.05
    assert all(0 <= x <= 1 and 0 <= y <= 1 for x, y in places.values())
    assert places["g1"] == (0.95, 1 / 3) and places["g2"] == (0.95, 2 / 3)
    centre = np.array([0.44, 0.5])
    assert np.hypot(*(np.array(places["s1"]) - centre)) < min(
        np.hypot(*(np.array(places[f"n{i}"]) - centre)) for i in range(40)
    )
    assert rings(["s"], [], [])["s"] == (0.44, 0.5)


@pytest.mark.parametrize("n", [0, 1, 2, 5, 16])
def test_one_in_the_middle_and_the_others_at_its_sides(n):
    places = flanks(list(range(n)))
    assert list(places) == list(range(n))
    assert all(0 <= x <= 1 and 0 <= y <= 1 for x, y in places.values())
    assert n == 0 or nearest(places | {-1: (0.5, 0.5)}) > 0.1
    assert [i for i in range(n) if places[i][0] < 0.5] == list(range((n + 1) // 2))


def test_who_comes_later_stands_as_near_to_the_place_it_wants_as_there_is_room():
    fixed = {"a": (0.5, 0.5)}
    places = beside(fixed, {"free": (0.1, 0.1), "crowded": (0.5, 0.5)})
    assert places["free"] == (0.1, 0.1)
    assert places["crowded"] != (0.5, 0.5)
    assert 0.13 <= nearest(fixed | places) < 0.25
    full = beside({}, {i: (0.5, 0.5) for i in range(300)})
    assert len(full) == 300 and all(0 <= x <= 1 and 0 <= y <= 1 for x, y in full.values())
