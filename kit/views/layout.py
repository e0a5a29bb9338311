"""Passages as nodes, what joins them as edges, and where they stand: computed once, the same on each run."""

from collections.abc import Collection, Hashable, Mapping, Sequence
from itertools import product
from typing import Any

import networkx as nx
import numpy as np
from msgspec.structs import replace
from scipy.stats import rankdata
from sklearn.preprocessing import minmax_scale

from kit.corpus import Corpus, Question
from kit.graphs import PassageGraph
from kit.views.replay import Edge, Frame, Node, Replay, clip

_SHAPE = (2.0, 1.0)  # width and height of the picture

Place = tuple[float, float]


def passage_node(corpus: Corpus, id: str, places: Mapping[str, Place], gold: Collection[str]) -> Node:
    """The passage as a node at its place, if it has one. Those of a document, which share its title, say which."""
    passage = corpus[id]
    page = f"p. {passage.page} · {clip(passage.text, 40)} · " if passage.page else f"§{passage.position + 1} "
    title = f"{page if len(corpus.documents[passage.document]) > 1 else ''}{passage.title}"
    return Node(id, title, passage.text, *places.get(id, (0.5, 0.5)), gold=id in gold)


def make_replay(
    frames: Sequence[Frame], corpus: Corpus, question: Question | None, places: Mapping[str, Place], **more: Any
) -> Replay:
    """The replay of frames: what they show as nodes, supports first, and the question; ``more`` as of Replay.

    ``nodes`` of these are what is no passage. A question that was typed has no answer.
    """
    known, gold = {node.id: node for node in more.pop("nodes", ())}, question.supporting_ids if question else ()
    shown = dict.fromkeys(id for frame in frames for id in frame.shown)
    ids = dict.fromkeys([*(id for id in gold if id in shown), *shown])
    nodes = tuple(known.get(id) or passage_node(corpus, id, places, gold) for id in ids)
    asked = "\nAnswer: ".join(filter(None, (question.text, question.answer))) if question else ""
    return Replay(nodes, tuple(frames), asked, **more)


def links(part: PassageGraph) -> tuple[Edge, ...]:
    """The edges of a small graph, with what their ends share."""
    passages, edges = part.corpus.passages, []
    for source, target, joined in part.to_networkx().edges(data=True):
        terms = list(dict.fromkeys(map(str, joined["shared"])))
        label = f"both have {', '.join(terms[:8])}{' …' * (len(terms) > 8)}" if terms else ""
        edges.append(Edge(passages[source].id, passages[target].id, joined["kinds"], label))
    return tuple(edges)


def arrange(drawn: Sequence[str], base: int, graph: PassageGraph) -> tuple[tuple[Edge, ...], dict[str, Place]]:
    """The edges between passages, and where these stand.

    Those of the first ``base`` that are joined to one another stand by springs, the others next to their neighbours.
    """
    found = links(graph.subgraph([graph.corpus.row[id] for id in drawn]))
    told = [": ".join(filter(None, (", ".join(edge.kinds), edge.label))) for edge in found]
    edges = tuple(replace(edge, kinds=("graph",), label=label) for edge, label in zip(found, told))
    joined = nx.empty_graph(drawn)
    joined.add_edges_from(edge.ends for edge in edges)
    first = nx.Graph(pair for pair in joined.edges if set(drawn[:base]).issuperset(pair))
    places = spring(first or nx.empty_graph(drawn[:base]))
    others = [id for id in drawn if id not in places]
    near = {id: [places[other] for other in joined[id] if other in places] or [(0.5, 1.0)] for id in others}
    start = places | {id: np.mean(around, axis=0) for id, around in near.items()}
    found = nx.spring_layout(joined, k=0.15, pos=start, fixed=[*places], iterations=30, seed=0)
    return edges, apart({id: tuple(found[id].clip(0, 1)) for id in others}, places)


def spring(graph: nx.Graph) -> dict[Hashable, Place]:
    """Places in [0, 1]² by springs along the edges (Fruchterman and Reingold), none on top of another.

    A few outliers would press all others together, so a place is half the springs' and half its rank's, each way.
    """
    if len(graph) < 2:
        return dict.fromkeys(graph, (0.5, 0.5))
    start, room = nx.circular_layout(graph), 1.6 / np.sqrt(len(graph))
    found = nx.spring_layout(graph, pos=start, k=room, iterations=60, seed=0)
    places = np.array([found[node] for node in graph]).round(6)
    ranks = rankdata(places, method="ordinal", axis=0)
    return apart(dict(zip(graph, minmax_scale(minmax_scale(places) + minmax_scale(ranks)))))


def apart(wanted: Mapping[Hashable, Place], fixed: Mapping[Hashable, Place] | None = None) -> dict[Hashable, Place]:
    """The places ``fixed``, and each of ``wanted``, in their order, as near as there is room to what it wants."""
    found = dict(fixed or {})
    least = min(0.13, 0.9 / np.sqrt(len(found) + len(wanted) or 1))  # between two nodes, in heights of the picture
    spots = np.array([*product(*(np.linspace(0, 1, round(2 * side / least) + 1) for side in _SHAPE))])
    for node, place in wanted.items():
        here = np.concatenate([[place], spots])
        taken = np.array([*found.values()]).reshape(-1, 1, 2)
        room = np.hypot(*np.moveaxis((here - taken) * _SHAPE, -1, 0)).min(axis=0, initial=least)
        far = np.hypot(*((here - place) * _SHAPE).T)
        best = np.lexsort((far, -room.round(6)))[0]  # where there is no room left, the emptiest spot
        found[node] = tuple(here[best].round(4).tolist())
    return found
