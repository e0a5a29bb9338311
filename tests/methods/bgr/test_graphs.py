"""BGR's graphs: what a search decides, Eqs. 3 and 4 by hand, and what holds of any edges."""

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.corpus import EvidenceGraph
from kit.methods.bgr.graphs import QUESTION as Q
from kit.methods.bgr.graphs import acyclic, bsc, decisions, depth_first, edges_of, merge

DIAMOND = EvidenceGraph(4, ((0, 1), (0, 2), (1, 3), (2, 3)))
FORWARD = [(Q, 0), (0, 1), (Q, 5)]
BACKWARD = [(0, 1), (Q, 0), (2, 3), (Q, 2)]  # the edge into 1 and that into 0 are in both: 2 of 5


def test_forward_finds_children_and_backward_parents_until_there_are_none() -> None:
    assert decisions(DIAMOND) == {
        (): (0,),
        (0,): (1, 2),
        (0, 1): (3,),
        (0, 2): (3,),
        (0, 1, 3): (),
        (0, 2, 3): (),
    }
    assert decisions(DIAMOND, backward=True) == {
        (): (3,),
        (3,): (1, 2),
        (3, 1): (0,),
        (3, 2): (0,),
        (3, 1, 0): (),
        (3, 2, 0): (),
    }
    single = EvidenceGraph(1)
    expected = {(): (0,), (0,): ()}  # bgr-i11
    assert decisions(single) == decisions(single, backward=True) == expected


@pytest.mark.parametrize("backward", [False, True])
def test_following_the_decisions_gives_the_graph(backward: bool) -> None:
    steps = depth_first(decisions(DIAMOND, backward))
    edges = edges_of(steps, backward)
    assert set(edges) == {*DIAMOND.edges, (Q, 0)} == set(acyclic(edges).edges)
    assert edges[:2] == ([(1, 3), (2, 3)] if backward else [(Q, 0), (0, 1)])


def test_a_path_that_goes_nowhere_backward_ends_at_the_question() -> None:
    assert edges_of([((), (4,)), ((4,), ())], backward=True) == [(Q, 4)]
    assert edges_of([((), ())], backward=True) == edges_of([((), ())], backward=False) == []


def test_share_of_common_edges() -> None:
    assert bsc(FORWARD, BACKWARD) == 2 / 5
    assert bsc([], []) == 0 == bsc(FORWARD, [])
    assert bsc(FORWARD, FORWARD[::-1]) == 1


@pytest.mark.parametrize(
    ("rule", "gamma", "edges"),
    [
        ("code", 0.3, BACKWARD),
        ("code", 0.4, [*BACKWARD, (Q, 5)]),  # 0.4 is not above 0.4; the child 5 is new
        ("eq3", 0.3, [*BACKWARD, (Q, 5)]),
        ("eq3", 0.4, BACKWARD),
        ("text", 0.3, BACKWARD),
        ("text", 0.4, [(0, 1), (Q, 0)]),
    ],
)
def test_the_three_readings(rule: str, gamma: float, edges: list[tuple[int, int]]) -> None:
    assert merge(FORWARD, BACKWARD, gamma, rule) == edges


def test_cycles_are_not_closed_and_the_question_leads_to_sources_alone() -> None:
    graph = acyclic([(Q, 0), (0, 1), (1, 0), (Q, 1), (2, 1)])
    assert sorted(graph.edges) == [(Q, 0), (Q, 2), (0, 1), (2, 1)]


edges = st.lists(
    st.tuples(st.integers(Q, 4), st.integers(0, 4)).filter(lambda edge: edge[0] != edge[1]),
    max_size=12,
)


@given(edges, edges, st.floats(0, 1))
def test_whatever_was_found(forward: list, backward: list, gamma: float) -> None:
    forward, backward = (list(acyclic(edges).edges) for edges in (forward, backward))
    for rule in ("code", "eq3", "text"):
        merged = merge(forward, backward, gamma, rule)
        assert set(merged) <= {*forward, *backward}
        graph = acyclic(merged)
        assert nx.is_directed_acyclic_graph(graph)
        assert set(nx.descendants(graph, Q)) == set(graph) - {Q}
    reached = {child for _, child in merge(forward, backward, 1.0)}
    assert reached == {child for _, child in (*forward, *backward)}  # a union leaves nothing out
