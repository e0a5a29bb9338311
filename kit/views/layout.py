"""Edges between passages, and positions that are the same on each run."""

from collections.abc import Iterable, Sequence
from itertools import product

import networkx as nx
import numpy as np
from msgspec.structs import replace
from numpy import ndarray
from scipy.stats import rankdata
from sklearn.preprocessing import minmax_scale

from kit.corpus.types import Texts
from kit.graphs import PassageGraph
from kit.views.replay import MIDDLE, Edge, Positions

_SHAPE = (2.0, 1.0)  # width and height of the picture
_LEAST_GAP = 0.13  # between two nodes, in heights of the picture
_MAIN = 0.72  # of the width: for the piece with the supports, where there are others
_STRIP = 0.95  # of the width: where those begin that are joined to nothing
_TERMS = 8  # that a label tells


def links(part: PassageGraph) -> list[Edge]:
    """The edges of a small graph, with what their ends share."""
    passages = part.corpus.passages
    edges = []
    for source, target, data in part.to_networkx().edges(data=True):
        terms = list(dict.fromkeys(filter(None, data["shared"].split("; "))))
        label = ", ".join(terms[:_TERMS])
        if terms:
            label = f"both have {label}"
        if len(terms) > _TERMS:
            label += " …"
        edge = Edge(
            passages[source].id,
            passages[target].id,
            tuple(data["kinds"].split("+")),
            label,
        )
        edges.append(edge)
    return edges


def arrange(
    drawn: Texts, n_fixed: int, n_main: int, graph: PassageGraph
) -> tuple[list[Edge], Positions]:
    """The edges between passages, and where these are drawn.

    The first ``n_fixed`` have positions that the others do not change. The pieces of their graph
    with one of the first ``n_main`` get most of the picture; the others are in a strip at its
    right. The rest are next to their neighbours, or in the strip.
    """
    rows = [graph.corpus.row[passage] for passage in drawn]
    edges = [_as_one_kind(edge) for edge in links(graph.subgraph(rows))]
    joined = nx.empty_graph(drawn)
    joined.add_edges_from(edge.ends for edge in edges)
    fixed = drawn[:n_fixed]
    positions = _core(joined.subgraph(fixed), fixed, n_main)

    others = [passage for passage in drawn if passage not in positions]
    start = dict(positions)
    for rank, passage in enumerate(others):
        around = [positions[other] for other in joined[passage] if other in positions]
        if around:
            start[passage] = np.mean(around, axis=0)
        else:
            start[passage] = (_STRIP, rank / len(others))
    layout = nx.spring_layout(
        joined,
        k=0.15,
        pos=start,
        fixed=list(positions),
        iterations=30,
        seed=0,
    )
    wanted = {passage: tuple(layout[passage].clip(0, 1)) for passage in others}
    return edges, apart(wanted, positions)


def _core(joined: nx.Graph, drawn: Texts, n_main: int) -> Positions:
    """Positions of what is always drawn: pieces with one of the first large, others beside them."""
    main = set()
    for passage in drawn[: max(n_main, 1)]:
        main |= nx.node_connected_component(joined, passage)
    graph = nx.empty_graph(passage for passage in drawn if passage in main)
    graph.add_edges_from(joined.subgraph(main).edges)

    beside = []  # those of one piece are below each other
    for passage in drawn:
        if passage not in main and passage not in beside:
            piece = nx.node_connected_component(joined, passage)
            beside += sorted(piece, key=drawn.index)
    width = _MAIN if beside else 1.0
    positions = {}
    for passage, (x, y) in spring(graph).items():
        positions[passage] = (width * x, y)

    wanted = {}
    for rank, passage in enumerate(beside):
        wanted[passage] = (1.0, rank / max(len(beside) - 1, 1))
    return apart(wanted, positions)


def _as_one_kind(edge: Edge) -> Edge:
    """An edge as a faint line, with its kinds in its label."""
    label = ", ".join(edge.kinds)
    if edge.label:
        label += f": {edge.label}"
    return replace(
        edge,
        kinds=("graph",),
        label=label,
    )


def spring(graph: nx.Graph) -> Positions:
    """Positions in [0, 1]² by springs along the edges, none on top of another.

    A few outliers would press all others together, so a position is half the springs' and half its
    rank's, each way. Source: Fruchterman and Reingold.
    """
    if len(graph) < 2:
        return dict.fromkeys(graph, MIDDLE)
    layout = nx.spring_layout(
        graph,
        pos=nx.circular_layout(graph),
        k=1.6 / np.sqrt(len(graph)),
        iterations=60,
        seed=0,
    )
    points = np.array([layout[node] for node in graph]).round(6)  # (nodes, 2)
    ranks = rankdata(points, method="ordinal", axis=0)
    spread = minmax_scale(minmax_scale(points) + minmax_scale(ranks))
    return apart(dict(zip(graph, spread)))


def apart(wanted: Positions, fixed: Positions | None = None) -> Positions:
    """The positions ``fixed``, and each of ``wanted``, as near as there is room to what it wants.

    Those of ``wanted`` are placed in their order.
    """
    positions = dict(fixed or {})
    n = len(positions) + len(wanted) or 1
    gap = min(_LEAST_GAP, 0.9 / np.sqrt(n))
    grid = [np.linspace(0, 1, round(2 * side / gap) + 1) for side in _SHAPE]
    spots = np.array(list(product(*grid)))  # (spots, 2)

    for node, position in wanted.items():
        candidates = np.concatenate([[position], spots])
        taken = np.array(list(positions.values())).reshape(-1, 1, 2)
        room = _distances(candidates, taken).min(axis=0, initial=gap)
        detour = _distances(candidates, position)
        # Where there is no room left, the emptiest spot.
        best = np.lexsort((detour, -room.round(6)))[0]
        positions[node] = tuple(candidates[best].round(4).tolist())
    return positions


def _distances(points: ndarray, others: ndarray) -> ndarray:
    """The distances between points (…, 2), in heights of the picture."""
    gaps = (points - others) * _SHAPE
    return np.hypot(gaps[..., 0], gaps[..., 1])


def places_of(graphs: Iterable[PassageGraph], rows: Sequence[int]) -> Positions:
    """Where some passages stand, from the edges of all graphs together: the same in each."""
    together = nx.empty_graph(len(rows))
    for graph in graphs:
        together.add_edges_from(graph.subgraph(rows).to_networkx().edges)

    positions = spring(together).values()
    return {graph.corpus.passages[row].id: position for row, position in zip(rows, positions)}
