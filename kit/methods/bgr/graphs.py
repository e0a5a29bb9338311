"""BGR's graphs of evidence: what a search along paths has to decide, and how two of them become one (bgr.txt §5).

A path is a tuple of rows, from the question on (forward) or from a last piece of evidence back to it (backward). Edges
lead from the earlier evidence to the later one, whichever way they were found; the question is :data:`QUESTION`.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

import networkx as nx

from kit.corpus import EvidenceGraph

QUESTION = -1
Rule = Literal["code", "eq3", "text"]
Path = tuple[int, ...]
Edge = tuple[int, int]


def decisions(graph: EvidenceGraph, backward: bool = False) -> dict[Path, tuple[int, ...]]:
    """What is to be found next, by path: the children of the path's last node (backward: its parents), Eqs. 1 and 2.

    All paths that lead through the graph count, and of each all beginnings: the empty one finds the sources (backward:
    the sinks, bgr-i11), and one whose end has nothing after it says that the search is to stop.
    """
    successors = graph.to_networkx()
    if backward:
        successors = successors.reverse(copy=False)
    ends = [node for node in range(graph.n_nodes) if not successors.in_degree(node)]
    found: dict[Path, tuple[int, ...]] = {(): tuple(ends)}
    paths = [(node,) for node in ends]
    while paths:
        path = paths.pop()
        found[path] = tuple(sorted(successors[path[-1]]))
        paths += [(*path, node) for node in found[path]]
    return found


def edges_of(steps: Iterable[tuple[Path, Sequence[int]]], backward: bool) -> list[Edge]:
    """The edges that a search has found, in its order: ``steps`` are paths with what was found next.

    A path that goes no further backward ends at the question (bgr-i11).
    """
    edges: dict[Edge, None] = {}
    for path, found in steps:
        if not backward:
            edges |= dict.fromkeys((path[-1] if path else QUESTION, row) for row in found)
        elif path:
            edges |= dict.fromkeys((row, path[-1]) for row in found or [QUESTION])
    return list(edges)


def acyclic(edges: Iterable[Edge]) -> nx.DiGraph:
    """The edges in their order, but for those that would close a cycle.

    As in a question's own graph, it leads to what has no parent, and to nothing else.
    """
    graph = nx.DiGraph()
    graph.add_node(QUESTION)
    for parent, child in edges:
        graph.add_nodes_from([node for node in (parent, child) if node not in graph])
        if not nx.has_path(graph, child, parent):
            graph.add_edge(parent, child)
    for node in [node for node in graph if node != QUESTION]:
        if not graph.in_degree(node):
            graph.add_edge(QUESTION, node)
        elif graph.in_degree(node) > 1 and graph.has_edge(QUESTION, node):
            graph.remove_edge(QUESTION, node)
    return graph


def bsc(forward: Iterable[Edge], backward: Iterable[Edge]) -> float:
    """Eq. 4: the share of edges that both graphs have, of those that one of them has; 0 without any (bgr-i04)."""
    forward, backward = set(forward), set(backward)
    return len(forward & backward) / len(forward | backward) if forward | backward else 0.0


def merge(
    forward: Sequence[Edge], backward: Sequence[Edge], gamma: float, rule: Rule = "code"
) -> list[Edge]:
    """Eq. 3, in the three readings that the paper and its code leave (bgr-i01); a guarded union is that of bgr-i02.

    ===== ================ =====================================
    rule  BSC > γ          else
    ===== ================ =====================================
    code  backward         backward, and forward where it is new
    eq3   the guarded      backward
          union
    text  backward         the edges of both
    ===== ================ =====================================
    """
    agree = bsc(forward, backward) > gamma
    if rule == "text" and not agree:
        return [edge for edge in backward if edge in set(forward)]
    return union(backward, forward) if agree == (rule == "eq3") else list(backward)


def union(first: Sequence[Edge], second: Sequence[Edge]) -> list[Edge]:
    """All edges of the first, and those of the second whose child no edge has led to before (bgr-i02)."""
    reached, edges = {child for _, child in first}, list(first)
    for parent, child in second:
        if child not in reached:
            reached.add(child)
            edges.append((parent, child))
    return edges


def depth_first(
    found: dict[Path, Sequence[int]], path: Path = ()
) -> Iterator[tuple[Path, Sequence[int]]]:
    """The steps of a search in the order of §5.1: a path as far as it goes, then its neighbour."""
    if path in found:
        yield path, found[path]
        for row in found[path]:
            yield from depth_first(found, (*path, row))
