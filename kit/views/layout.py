"""Passages as nodes, what joins them as edges, and where they stand: computed once, the same on each run."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from math import cos, pi, sin
from typing import TYPE_CHECKING

import networkx as nx
import numpy as np
from msgspec.structs import replace

from kit.corpus import Corpus
from kit.views.replay import Edge, Node

if TYPE_CHECKING:
    from kit.graphs import PassageGraph

_ASPECT = 2.0  # width to height of the picture
_ROUNDS = 60
_ROOM = 0.13  # between a node that comes later and all others, in heights of the picture
_MOST_SHARED = 8  # keywords told of an edge

Place = tuple[float, float]


def passage_node(
    corpus: Corpus, id: str, places: Mapping[str, Place], gold: Collection[str], *, part: bool = True
) -> Node:
    """The passage as a node at its place, if it has one; ``part``: with its number in a document of several."""
    passage = corpus[id]
    number = f"§{passage.position + 1} " if part and len(corpus.documents[passage.document]) > 1 else ""
    return Node(id, f"{number}{passage.title}", passage.text, *places.get(id, (0.5, 0.5)), gold=id in gold)


def links(part: PassageGraph) -> tuple[Edge, ...]:
    """The edges of a small graph, with what their ends share."""
    found: dict[tuple[int, int], dict[str, None]] = {}
    for kind in part.kinds:
        for source, target in part.edges(kind).T.tolist():
            found.setdefault((min(source, target), max(source, target)), {})[kind] = None
    ids, edges = [passage.id for passage in part.corpus.passages], []
    for (source, target), kinds in found.items():
        terms = [str(term) for kind in kinds for term in part.relations[kind].shared(source, target)]
        told = list(dict.fromkeys(terms))
        more = f" and {len(told) - _MOST_SHARED} more" if len(told) > _MOST_SHARED else ""
        label = f"both have {', '.join(told[:_MOST_SHARED])}{more}" if told else ""
        edges.append(Edge(ids[source], ids[target], tuple(kinds), label))
    return tuple(edges)


def arrange(drawn: Sequence[str], base: int, graph: PassageGraph) -> tuple[tuple[Edge, ...], dict[str, Place]]:
    """The edges between passages, and where these stand.

    Those of the first ``base`` that are joined to one another stand by springs, the others next to their neighbours.
    """
    edges = []
    for edge in links(graph.subgraph([graph.corpus.row[id] for id in drawn])):
        label = ": ".join(filter(None, (", ".join(edge.kinds), edge.label)))
        edges.append(replace(edge, kinds=("graph",), label=label))
    joined = nx.Graph()
    joined.add_nodes_from(drawn)
    joined.add_edges_from(edge.ends for edge in edges)
    first = joined.subgraph(drawn[:base])
    core = [id for id in drawn[:base] if first.degree(id)] or drawn[:base]
    firm = nx.Graph()  # built in the order of ``drawn``, which decides how springs come to rest
    firm.add_nodes_from(core)
    firm.add_edges_from((a, b) for a in core for b in core if first.has_edge(a, b))
    places, wanted = spring(firm), {}
    for id in (id for id in drawn if id not in places):
        near = [places[other] for other in joined[id] if other in places]
        wanted[id] = tuple(np.mean(near, axis=0).tolist()) if near else (0.5, 1.0)
    return tuple(edges), places | beside(places, wanted)


def spring(graph: nx.Graph) -> dict[Hashable, Place]:
    """Places in [0, 1]² by springs along the edges (Fruchterman and Reingold), no two closer than a node is wide.

    A few outliers would press all others together, so a place is half the springs' and half its rank's, each way.
    """
    if not graph:
        return {}
    nodes = list(graph)
    angles = [2 * pi * i / len(nodes) - pi / 2 for i in range(len(nodes))]
    start = {node: (cos(angle), sin(angle)) for node, angle in zip(nodes, angles)}
    room = 1.6 / np.sqrt(len(nodes))
    found = nx.spring_layout(graph, pos=start, k=room, iterations=_ROUNDS, seed=0)
    places = np.array([found[node] for node in nodes])
    ranks = places.round(6).argsort(axis=0, kind="stable").argsort(axis=0)
    return dict(zip(nodes, _apart(_fill(_fill(places) + _fill(ranks)))))


def beside(fixed: Mapping[Hashable, Place], wanted: Mapping[Hashable, Place]) -> dict[Hashable, Place]:
    """Places for the nodes of ``wanted``, in their order: each as near as there is room to the place that it wants.

    ``fixed`` are the places of other nodes, which stay.
    """
    rows, columns = 11, 21
    spots = np.array([(x / (columns - 1), y / (rows - 1)) for y in range(rows) for x in range(columns)])
    taken = [np.asarray(place) * (_ASPECT, 1) for place in fixed.values()]
    found = {}
    for node, place in wanted.items():
        want = np.asarray(place) * (_ASPECT, 1)
        here = np.concatenate([[want], spots * (_ASPECT, 1)])
        room = np.full(len(here), 9.0)
        for other in taken:
            room = np.minimum(room, np.hypot(*(here - other).T))
        # Where there is no room left, the emptiest spot.
        lack = np.clip(_ROOM - room, 0, None).round(6)
        best = here[np.lexsort((np.hypot(*(here - want).T), lack))[0]]
        taken.append(best)
        found[node] = tuple(np.round(best / (_ASPECT, 1), 4).tolist())
    return found


def _fill(places: np.ndarray) -> np.ndarray:
    """The places stretched to fill [0, 1] both ways; a direction in which all agree goes to the middle."""
    low, size = places.min(axis=0), np.ptp(places, axis=0)
    return np.where(size > 1e-9, (places - low) / np.where(size > 1e-9, size, 1), 0.5)


def _apart(places: np.ndarray) -> list[tuple[float, float]]:
    """The places moved until neighbours are a node's width apart (or as far as the room allows)."""
    least = min(0.09, 0.55 / np.sqrt(len(places)))
    places = places * (_ASPECT, 1)
    for _ in range(_ROUNDS):
        gap = places[:, None] - places[None]
        distance = np.hypot(*np.moveaxis(gap, -1, 0)) + np.eye(len(places)) * 9
        lack = np.clip(least * 1.5 - distance, 0, None) / 2
        if not lack.any():
            break
        # two nodes on one spot part along a direction that depends on their numbers alone
        stuck = distance < 1e-9
        turn = np.arange(len(places))
        gap[stuck] = np.stack([np.cos(turn[:, None] - turn), np.sin(turn[:, None] - turn)], -1)[stuck]
        distance = np.where(stuck, 1, distance)
        places = places + (gap / distance[..., None] * lack[..., None]).sum(axis=1)
    return [(float(x), float(y)) for x, y in np.round(_fill(places / (_ASPECT, 1)), 4)]
