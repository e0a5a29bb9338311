"""A passage graph as a picture: its edges, and places that are the same on each run; as a frame of a replay, and as one
HTML page to pan, zoom and share, drawn by pyvis, that asks no host for anything.
"""

import re
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from html import escape
from itertools import product
from typing import NamedTuple

import networkx as nx
import numpy as np
from msgspec.structs import replace
from pyvis.network import Network
from scipy.stats import rankdata
from sklearn.preprocessing import minmax_scale

from kit.corpus import Benchmark
from kit.errors import InputError
from kit.graphs import PassageGraph
from kit.views.replay import (
    GOLD_RIM,
    Edge,
    Frame,
    NodeState,
    Place,
    Places,
    Replay,
    clip,
    passage_node,
)
from kit.views.style import look

MOST = 300  # passages: more would not be readable
_SHAPE = (2.0, 1.0)  # width and height of the picture
_AROUND = 60  # passages, of those around a question
_FOREIGN = re.compile(
    r"<link\b[^>]*https?://[^>]*>|<script\b[^>]*\bsrc=[^>]*>\s*</script>", re.IGNORECASE
)
_FIT = "<script>addEventListener('resize', () => network.fit()); network.fit();</script>"


def links(part: PassageGraph) -> tuple[Edge, ...]:
    """The edges of a small graph, with what their ends share."""
    passages, edges = part.corpus.passages, []
    for source, target, joined in part.to_networkx().edges(data=True):
        terms = list(dict.fromkeys(map(str, joined["shared"])))
        label = f"both have {', '.join(terms[:8])}{' …' * (len(terms) > 8)}" if terms else ""
        edges.append(Edge(passages[source].id, passages[target].id, joined["kinds"], label))
    return tuple(edges)


def arrange(
    drawn: Sequence[str], base: int, graph: PassageGraph
) -> tuple[tuple[Edge, ...], dict[str, Place]]:
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
    near = {
        id: [places[other] for other in joined[id] if other in places] or [(0.5, 1.0)]
        for id in others
    }
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


def apart(
    wanted: Mapping[Hashable, Place], fixed: Mapping[Hashable, Place] | None = None
) -> dict[Hashable, Place]:
    """The places ``fixed``, and each of ``wanted``, in their order, as near as there is room to what it wants."""
    found = dict(fixed or {})
    least = min(
        0.13, 0.9 / np.sqrt(len(found) + len(wanted) or 1)
    )  # between two nodes, in heights of the picture
    spots = np.array(
        [*product(*(np.linspace(0, 1, round(2 * side / least) + 1) for side in _SHAPE))]
    )
    for node, place in wanted.items():
        here = np.concatenate([[place], spots])
        taken = np.array([*found.values()]).reshape(-1, 1, 2)
        room = np.hypot(*np.moveaxis((here - taken) * _SHAPE, -1, 0)).min(axis=0, initial=least)
        far = np.hypot(*((here - place) * _SHAPE).T)
        best = np.lexsort((far, -room.round(6)))[
            0
        ]  # where there is no room left, the emptiest spot
        found[node] = tuple(here[best].round(4).tolist())
    return found


def places_of(graphs: Iterable[PassageGraph], rows: Sequence[int]) -> dict[str, Place]:
    """Where some passages stand, from the edges of all graphs together: the same in each of them."""
    together = nx.empty_graph(len(rows))
    for graph in graphs:
        together.add_edges_from(graph.subgraph(rows).to_networkx().edges)
    return {
        graph.corpus.passages[row].id: place for row, place in zip(rows, spring(together).values())
    }


def graph_frame(
    graph: PassageGraph, rows: Sequence[int], gold: Collection[str], places: Places, name: str
) -> Replay:
    """The links between some passages as one frame; a node is as large as it has links in the picture."""
    edges = links(graph.subgraph(rows))
    degrees = Counter(end for edge in edges for end in edge.ends)
    most = max(degrees.values(), default=1)
    nodes = [
        passage_node(graph.corpus, graph.corpus.passages[row].id, places, gold) for row in rows
    ]
    states = [NodeState(node.id, value=degrees[node.id] / most) for node in nodes]
    caption = f"{name}: {len(edges):,} links between {len(nodes)} passages"
    return Replay(tuple(nodes), (Frame("", caption, tuple(states), edges),))


class GraphPage(NamedTuple):
    """``html`` is the page. In Jupyter its scripts run in a frame that sees neither the notebook nor the server."""

    html: str

    def _repr_html_(self) -> str:
        style = "width: 100%; height: 600px; border: 1px solid #bbb"
        return f'<div><iframe sandbox="allow-scripts" srcdoc="{escape(self.html)}" style="{style}"></iframe></div>'


def graph_page(
    graph: PassageGraph,
    rows: Sequence[int] | None = None,
    gold: Collection[str] = (),
    places: Places | None = None,
) -> GraphPage:
    """The passages of ``rows`` (None: all) and what joins them; those of ``gold`` are stars.

    A passage's text and what the ends of an edge share show where the pointer rests. ``places`` as of
    :func:`places_of`, by default those of this graph. Raises InputError for more than 300 passages.
    """
    rows = range(graph.n_nodes) if rows is None else list(dict.fromkeys(map(int, rows)))
    if not 0 < len(rows) <= MOST:
        raise InputError(
            f"expected 1 to {MOST} passages to draw, not {len(rows):,}: name a question, or rows"
        )
    picture = graph_frame(graph, rows, gold, places or places_of([graph], rows), "")
    network = Network("94vh", "100%", cdn_resources="in_line")
    network.toggle_physics(False)  # passages stand where they stand, until the reader drags one
    for node in picture.nodes:
        drawn = (
            {"shape": "star", "color": GOLD_RIM, "size": 22}
            if node.gold
            else {"shape": "dot", "size": 10}
        )
        about = _told(f"{node.title}\n\n{clip(node.text, 600)}")
        network.add_node(node.id, node.label, title=about, x=node.x * 1500, y=node.y * 750, **drawn)
    for edge in picture.frames[0].edges:
        for number, kind in enumerate(edge.kinds):
            line = {
                "color": look(kind).colour,
                "dashes": [2 * length for length in look(kind).dash] or False,
            }
            bow = (
                {"smooth": {"type": "curvedCW", "roundness": 0.15 * number}}
                if number
                else {"smooth": False}
            )
            network.add_edge(
                *edge.ends, title=_told(f"{kind}: {edge.label or 'neighbours'}"), **line, **bow
            )
    legend = [
        f'<b style="color: {look(kind).colour}">{escape(kind)}</b> ' for kind in graph.relations
    ]
    shown = f'<p style="position: fixed; top: 4px; margin: 0; font: 14px sans-serif">{"".join(legend)}</p>{_FIT}'
    return GraphPage(
        _FOREIGN.sub("", network.generate_html()).replace("</body>", f"{shown}</body>")
    )


def page_around(graph: PassageGraph, benchmark: Benchmark, question: str | None) -> GraphPage:
    """The page of the whole graph, or of a test question's supports and the first of their neighbours."""
    if question is None:
        return graph_page(graph)
    asked = next((it for it in benchmark.test if it.id == question), None)
    if asked is None:
        raise InputError(f"expected the id of a test question, not {question!r}", field="question")
    supports = [graph.corpus.row[id] for id in asked.supporting_ids]
    return graph_page(
        graph, [*supports, *graph.neighbours(supports)][:_AROUND], asked.supporting_ids
    )


def _told(text: str) -> str:
    """Text for the pointer's box. pyvis takes a box in which "href" stands for markup: so the word is parted."""
    return re.sub("(?i)href", lambda match: f"{match[0][:2]}\u200b{match[0][2:]}", text)
