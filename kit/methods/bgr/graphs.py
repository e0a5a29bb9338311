"""BGR's graphs of evidence: what a search is to decide, and how two graphs become one.

    G = G_F ∪ G_B  if BSC(G_F, G_B) > γ,  else G_B                                        (3)
    BSC(G_F, G_B) = |Edge_F ∩ Edge_B| / |Edge_F ∪ Edge_B|                                 (4)

The paper's symbols (BGR §5) and the names here: Edge_F and Edge_B are ``forward`` and
``backward``, γ is ``gamma``. A path is a tuple of nodes: from the question on (forward), or from a
last piece of evidence back to it (backward). Edges lead from the earlier evidence to the later one,
whichever way they were found; the question is :data:`QUESTION`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

import networkx as nx

from kit.corpus import EvidenceGraph

FORWARD = "forward"
BACKWARD = "backward"
DIRECTIONS = (FORWARD, BACKWARD)

QUESTION = -1
Reading = Literal["code", "eq3", "text"]
NodePath = tuple[int, ...]
Edge = tuple[int, int]  # parent, child
Edges = Sequence[Edge]
Step = tuple[NodePath, Sequence[int]]  # a path, and the nodes that come next on it


def decisions(graph: EvidenceGraph, backward: bool = False) -> dict[NodePath, tuple[int, ...]]:
    """What is to be found next, by path: the children of its last node, or backward its parents.

    These are the right answers of Eqs. 1 and 2. All beginnings of all paths through the graph
    count. The empty one finds the sources (backward: the sinks, bgr-i11). Where nothing comes next,
    the search is to stop.
    """
    return dict(decisions_of(graph.to_networkx(), backward))


def decisions_of(graph: nx.DiGraph, backward: bool) -> Iterator[tuple[NodePath, tuple[int, ...]]]:
    """The same of any acyclic graph of evidence, without the question, path by path."""
    successors = graph.reverse(copy=False) if backward else graph
    starts = [node for node in sorted(graph) if not successors.in_degree(node)]
    yield (), tuple(starts)

    paths = [(node,) for node in starts]
    while paths:
        path = paths.pop()
        next_nodes = tuple(sorted(successors[path[-1]]))
        yield path, next_nodes
        paths += [(*path, node) for node in next_nodes]


def depth_first(
    next_nodes: Mapping[NodePath, Sequence[int]], path: NodePath = ()
) -> Iterator[Step]:
    """The steps of a search in the order of §5.1: a path as far as it goes, then its neighbour."""
    if path in next_nodes:
        yield path, next_nodes[path]
        for node in next_nodes[path]:
            yield from depth_first(next_nodes, (*path, node))


def edges_of(steps: Iterable[Step], backward: bool) -> Edges:
    """The edges that the steps of a search found, each once, in their order.

    A path that goes no further backward ends at the question (bgr-i11).
    """
    edges = []
    for path, next_nodes in steps:
        if not backward:
            end = path[-1] if path else QUESTION
            edges += [(end, node) for node in next_nodes]
        elif path:
            edges += [(node, path[-1]) for node in next_nodes or [QUESTION]]
    return list(dict.fromkeys(edges))


def acyclic(edges: Edges) -> nx.DiGraph:
    """The edges in their order, but for those that would close a cycle.

    As in a question's own graph, the question leads to what has no parent, and to nothing else. So
    an edge that a search found, from the question to what has another parent, is no longer there;
    Eq. 4 compares graphs after this, not what the searches found (bgr-i02).
    """
    graph = nx.DiGraph()
    graph.add_node(QUESTION)
    for parent, child in edges:
        graph.add_nodes_from((parent, child))
        if not nx.has_path(graph, child, parent):
            graph.add_edge(parent, child)

    for node in list(graph):
        if node == QUESTION:
            continue
        n_parents = graph.in_degree(node)
        if not n_parents:
            graph.add_edge(QUESTION, node)
        elif n_parents > 1 and graph.has_edge(QUESTION, node):
            graph.remove_edge(QUESTION, node)
    return graph


def bsc(forward: Edges, backward: Edges) -> float:
    """Eq. 4: the share of all edges that both graphs have; 0 without any (bgr-i04)."""
    union = {*forward, *backward}
    if not union:
        return 0.0
    return len(set(forward).intersection(backward)) / len(union)


def merge(
    forward: Edges,
    backward: Edges,
    gamma: float,
    rule: Reading = "code",
) -> Edges:
    """Eq. 3, in the three readings that the paper and its code leave (bgr-i01).

    ===== ================ =====================================
    rule  BSC > γ          else
    ===== ================ =====================================
    code  backward         backward, and forward where it is new
    eq3   the guarded      backward
          union
    text  backward         the edges of both
    ===== ================ =====================================

    The guarded union is that of :func:`guarded_union`.
    """
    agree = bsc(forward, backward) > gamma
    if rule == "text" and not agree:
        return [edge for edge in backward if edge in set(forward)]
    if agree == (rule == "eq3"):
        return guarded_union(backward, forward)
    return list(backward)


def guarded_union(first: Edges, second: Edges) -> Edges:
    """All edges of the first, and those of the second whose child has no edge yet (bgr-i02)."""
    edges = list(first)
    reached = {child for _, child in first}
    for parent, child in second:
        if child not in reached:
            reached.add(child)
            edges.append((parent, child))
    return edges
